package emitasm

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Args are what a call of a region passes. Integers (offsets, strides, ends of
// loops) join as functions ask for them, so the fields after them have names
// until all functions are printed.
type Args struct{ *plan.Link }

// newArgs lists the buffers and scalars of a region; integers come as they are
// needed.
func newArgs(r *plan.Region) *Args {
	a := &Args{&plan.Link{PartialVector: r.Across == plan.Rows}}
	set := map[*plan.Local]bool{}
	plan.Walk(r.Body, func(n plan.Node) {
		if let, ok := n.(*plan.Let); ok {
			set[let.To] = true
		}
	})
	seen := map[any]bool{}
	buffer := func(b *plan.Buffer) {
		if b = b.Base(); !seen[b] {
			seen[b] = true
			a.Bufs = append(a.Bufs, b)
		}
	}
	plan.Walk(r.Body, func(n plan.Node) {
		if c, ok := n.(*plan.If); ok && c.Present != nil {
			buffer(c.Present)
		}
		plan.EachAccess(n, func(x plan.Access) { buffer(x.Buf) })
		plan.EachRef(n, func(l *plan.Local) {
			if !set[l] && !seen[l] {
				seen[l] = true
				a.Scalars = append(a.Scalars, l)
			}
		})
	})
	return a
}

// fields declares the fields of the struct.
func (a *Args) fields() string {
	var b strings.Builder
	kind := func(name string, n int, typ func(i int) string) {
		for i := range n {
			fmt.Fprintf(&b, "%s%d", name, i)
			if i+1 < n && typ(i+1) == typ(i) {
				b.WriteString(", ")
				continue
			}
			fmt.Fprintf(&b, " %s\n", typ(i))
		}
	}
	kind("P", len(a.Bufs), func(i int) string {
		return map[ir.Elem]string{ir.Real: "*float32", ir.Int: "*int32", ir.Bool: "*bool"}[a.Bufs[i].Elem]
	})
	kind("N", len(a.Ints), func(int) string { return "int" })
	kind("S", len(a.Scalars), func(int) string { return "[2]float32 // the number, and nothing" })
	if a.PartialVector {
		b.WriteString("Tail int // rows in the last vector\n")
	}
	return b.String()
}

// field is the operand of a field; the register of the arguments is that of a target.
func (a *Args) field(n int) string { return fmt.Sprintf("%d(ARGS)", 8*n) }

func (a *Args) pointer(b *plan.Buffer) string {
	for i, x := range a.Bufs {
		if x == b {
			return a.field(i)
		}
	}
	panic("emitasm: BUG: a region has no buffer " + b.Name)
}

// integer is the field of a whole number that is known at the call.
func (a *Args) integer(x plan.Index) string {
	for i, y := range a.Ints {
		if x.Equal(y) {
			return a.field(len(a.Bufs) + i)
		}
	}
	a.Ints = append(a.Ints, x)
	return a.field(len(a.Bufs) + len(a.Ints) - 1)
}

// scalar is the field of a scalar; scalars come after all integers, so their
// place is known once the region was printed.
func (a *Args) scalar(l *plan.Local) string {
	for i, x := range a.Scalars {
		if x == l {
			return fmt.Sprintf("SCALAR%d", i)
		}
	}
	panic("emitasm: BUG: a region has no scalar " + l.Name)
}

func (a *Args) tail() string { return "TAILFIELD" }

// resolve inserts the fields after the integers into printed lines.
func (a *Args) resolve(line string) string {
	if i := strings.Index(line, "SCALAR"); i >= 0 {
		var n int
		fmt.Sscanf(line[i:], "SCALAR%d", &n)
		word := fmt.Sprintf("SCALAR%d", n)
		return strings.Replace(line, word, a.field(len(a.Bufs)+len(a.Ints)+n), 1)
	}
	return strings.Replace(line, "TAILFIELD", a.field(len(a.Bufs)+len(a.Ints)+len(a.Scalars)), 1)
}

// elemBytes is the size of an entry.
func elemBytes(b *plan.Buffer) int {
	if b.Elem == ir.Bool {
		return 1
	}
	return 4
}
