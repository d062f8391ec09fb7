package plan_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// TestTransposeOf: which loops copy rows to columns, and from where.
func TestTransposeOf(t *testing.T) {
	n, m := shape.Sym("n"), shape.Sym("m")
	j, r := &plan.Var{Name: "j"}, &plan.Var{Name: "r"}
	from := &plan.Buffer{Name: "a", Elem: ir.Real, Dims: []shape.Poly{n, m}}
	to := &plan.Buffer{Name: "b", Elem: ir.Real, Dims: []shape.Poly{m, n}}
	square := &plan.Buffer{Name: "c", Elem: ir.Real, Dims: []shape.Poly{n, n}}
	loop := func(v *plan.Var, end shape.Poly, body plan.Node) *plan.Loop {
		return &plan.Loop{Kind: plan.Plain, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(end)}, Body: []plan.Node{body}}
	}
	at := func(b *plan.Buffer, xs ...plan.Index) plan.Access { return plan.Access{Buf: b, Index: xs} }
	set := func(x plan.Access, y plan.Access) *plan.Store {
		return &plan.Store{To: x, Vals: []plan.Expr{plan.Load{Access: y}}}
	}
	last := plan.Fixed(n.Sub(shape.Int(1))).Add(plan.At(r), shape.Int(-1))
	add := set(at(to, plan.At(j), plan.At(r)), at(from, plan.At(r), plan.At(j)))
	add.Add = true
	for _, c := range []struct {
		name, first, stride string
		in                  *plan.Loop
	}{
		{"rows to columns", "a[0, 0]", "m", loop(j, m, loop(r, n, set(at(to, plan.At(j), plan.At(r)), at(from, plan.At(r), plan.At(j)))))},
		{"from the last row", "a[n - 1, 0]", "-m", loop(j, m, loop(r, n, set(at(to, plan.At(j), plan.At(r)), at(from, last, plan.At(j)))))},
		{"the other loop outside", "", "", loop(r, n, loop(j, m, set(at(to, plan.At(j), plan.At(r)), at(from, plan.At(r), plan.At(j)))))},
		{"rows to rows", "", "", loop(j, n, loop(r, n, set(at(square, plan.At(j), plan.At(r)), at(from, plan.At(j), plan.At(r)))))},
		{"in place", "", "", loop(j, n, loop(r, n, set(at(square, plan.At(j), plan.At(r)), at(square, plan.At(r), plan.At(j)))))},
		{"a sum", "", "", loop(j, m, loop(r, n, add))},
	} {
		got := plan.TransposeOf(c.in)
		switch {
		case got == nil && c.first != "":
			t.Errorf("%s: no transposition", c.name)
		case got != nil && (got.From.String() != c.first || got.Stride.String() != c.stride):
			t.Errorf("%s: from %s, %s apart; want %s, %s", c.name, got.From, got.Stride, c.first, c.stride)
		}
	}
}
