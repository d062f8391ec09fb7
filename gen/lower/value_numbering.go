package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Hash-based value numbering of a step.

// A numbering assigns equal numbers to values that are computed in the same
// way from the same leaves.
type numbering struct {
	ids map[string]int
	of  map[*ir.Value]int
}

func newNumbering() *numbering { return &numbering{map[string]int{}, map[*ir.Value]int{}} }

// number returns the number of a value; a value that was not met is a leaf.
func (n *numbering) number(v *ir.Value) int {
	if id, ok := n.of[v]; ok {
		return id
	}
	return n.set(v, fmt.Sprintf("leaf %p", v))
}

func (n *numbering) set(v *ir.Value, key string) int {
	id, ok := n.ids[key]
	if !ok {
		id = len(n.ids) + 1
		n.ids[key] = id
	}
	n.of[v] = id
	return id
}

// body numbers the values of a list of instructions; those that have a number
// already keep it.
func (n *numbering) body(ins []*ir.Instr) {
	for _, in := range ins {
		if in.Out == nil {
			continue
		}
		if _, ok := n.of[in.Out]; !ok {
			n.set(in.Out, n.key(in))
		}
	}
}

func (n *numbering) key(in *ir.Instr) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v %v", in.Op, in.Coef, in.Over)
	for _, a := range in.Loops {
		fmt.Fprintf(&b, " %p", a)
	}
	for _, a := range in.Out.Axes {
		fmt.Fprintf(&b, " %p", a)
	}
	n.subs(&b, in.Guard)
	n.subs(&b, in.To)
	n.args(&b, in)
	if in.Op == ir.SizeOf {
		fmt.Fprintf(&b, " %v", in.Poly)
	}
	if in.Solve != nil {
		fmt.Fprintf(&b, " %p", in.Solve)
	}
	return b.String()
}

// args writes the arguments, factors of a product in an order of their own.
func (n *numbering) args(b *strings.Builder, in *ir.Instr) {
	var all []string
	for _, a := range in.Args {
		var arg strings.Builder
		fmt.Fprintf(&arg, " #%d", n.number(a.Val))
		n.subs(&arg, a.Sub)
		all = append(all, arg.String())
	}
	if in.Op == ir.Prod {
		slices.Sort(all)
	}
	for _, a := range all {
		b.WriteString(a)
	}
}

func (n *numbering) subs(b *strings.Builder, subs []ir.Sub) {
	b.WriteString(" [")
	for _, s := range subs {
		fmt.Fprintf(b, "%v %s", s.Terms, s.Const)
		if s.Indirect != nil {
			fmt.Fprintf(b, " #%d", n.number(s.Indirect.Val))
			n.subs(b, s.Indirect.Sub)
		}
		b.WriteString(", ")
	}
	b.WriteString("]")
}

// merge is common subexpression elimination: equal instructions of a program
// become one; replace redirects the readers of a value.
func merge(f *ir.Func, replace func(old, new *ir.Value)) {
	n := newNumbering()
	first := map[int]*ir.Value{}
	var body []*ir.Instr
	for _, in := range f.Body {
		if in.Out == nil {
			body = append(body, in)
			continue
		}
		id := n.set(in.Out, n.key(in))
		if v := first[id]; v != nil {
			replace(in.Out, v)
			continue
		}
		first[id] = in.Out
		body = append(body, in)
	}
	f.Body = body
}
