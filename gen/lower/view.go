package lower

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Views: values that lie where their argument does, under other axes (ir.Reshape) or as operands of
// products (ir.Narrow).

// view gives a view its buffer.
func (r *region) view(in *ir.Instr) {
	from := in.Args[0].Val
	buf := r.buffer(from)
	view := &plan.Buffer{Elem: buf.Elem, Dims: dims(in.Out.Axes)}
	if in.Op == ir.Narrow {
		view.Name, view.Of, view.Role, view.NarrowOf = r.l.fresh(buf.Name+".operand"), nameOf(from), plan.Operand, buf
	} else {
		view.Name, view.Role, view.ViewOf = r.l.fresh(buf.Name+".view"), plan.View, buf
	}
	r.l.k.Work = append(r.l.k.Work, view)
	r.l.places[in.Out] = whole(view)
}

// narrow makes an operand.
func (r *region) narrow(in *ir.Instr) []plan.Node {
	return []plan.Node{&plan.Narrow{Buf: r.buffer(in.Out)}}
}

// buffer is where the entries of a value are.
func (r *region) buffer(v *ir.Value) *plan.Buffer {
	return r.place(v)(make([]plan.Index, len(v.Axes))).Buf
}

// nameOf is the name that the page has for a value, or for those that it was concatenated from; of any other
// value it says in which equation it is.
func nameOf(v *ir.Value) string {
	switch d := v.Def; {
	case d == nil || !v.Temporary():
		return v.Name
	case d.Op.Info().View:
		return nameOf(d.Args[0].Val)
	case d.Op == ir.Stack:
		var names []string
		for _, a := range d.Args {
			if n := nameOf(a.Val); !a.Val.IsWindow() && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		return strings.Join(names, ", ")
	default:
		return "a value in " + d.Eq[strings.LastIndexByte(d.Eq, '.')+1:]
	}
}
