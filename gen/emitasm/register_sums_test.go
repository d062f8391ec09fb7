package emitasm_test

import (
	"fmt"
	"testing"

	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// TestSumsInRegisters: which nests keep entries in registers. What is added to must be the same in
// all iterations, and nothing else may see it meanwhile.
func TestSumsInRegisters(t *testing.T) {
	n := shape.Sym("n")
	m, p := &plan.Var{Name: "m"}, &plan.Var{Name: "p"}
	row, col := plan.At(m), plan.At(p)
	matrix := func(name string) *plan.Buffer {
		return &plan.Buffer{Name: name, Elem: ir.Real, Dims: []shape.Poly{n, n}}
	}
	a, x := matrix("a"), matrix("x")
	y := &plan.Buffer{Name: "y", Elem: ir.Real, Dims: []shape.Poly{n}}
	load := func(b *plan.Buffer, xs ...plan.Index) plan.Expr {
		return plan.Load{Access: plan.Access{Buf: b, Index: xs}}
	}
	e := &plan.Local{Name: "e"}
	let := &plan.Let{To: e, Val: load(a, row, row)}
	onto := func(b *plan.Buffer, v plan.Expr, xs ...plan.Index) plan.Node {
		return &plan.Store{To: plan.Access{Buf: b, Index: xs}, Vals: []plan.Expr{plan.Fma{A: plan.Ref{To: e}, B: v, C: load(b, xs...)}}}
	}
	loop := func(v *plan.Var, body ...plan.Node) *plan.Loop {
		return &plan.Loop{Kind: plan.Reduction, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(n)}, Body: body}
	}
	sum := onto(y, load(x, row, col), col)
	triangle := loop(p, sum)
	triangle.Hi = []plan.Index{row}
	down := loop(m, let, loop(p, sum))
	down.Down = true
	var many, sums []plan.Node
	for i := range 6 {
		b := &plan.Buffer{Name: fmt.Sprint("y", i), Elem: ir.Real, Dims: y.Dims}
		many = append(many, onto(b, plan.Prod{Coef: 1, Args: []plan.Expr{load(matrix(fmt.Sprint("p", i)), row, col), load(matrix(fmt.Sprint("q", i)), row, col)}}, col))
		sums = append(sums, onto(b, load(x, row, col), col))
	}
	for _, c := range []struct {
		name string
		in   *plan.Loop
		want bool
	}{
		{"a weighted sum of rows", loop(m, let, loop(p, sum)), true},
		{"without a scalar", loop(m, loop(p, onto(y, load(x, row, col), col))), true},
		{"two sums", loop(m, let, loop(p, sum, onto(&plan.Buffer{Name: "z", Elem: ir.Real, Dims: y.Dims}, load(x, row, col), col))), true},

		{"an entry for each iteration", loop(m, let, loop(p, onto(a, load(x, row, col), row, col))), false},
		{"a sum that is read", loop(m, let, loop(p, onto(y, load(y, row), col))), false},
		{"a sum that the scalar reads", loop(m, &plan.Let{To: e, Val: load(y, row)}, loop(p, sum)), false},
		{"one entry twice", loop(m, let, loop(p, sum, sum)), false},
		{"a store that is no sum", loop(m, let, loop(p, &plan.Store{To: plan.Access{Buf: y, Index: []plan.Index{col}}, Vals: []plan.Expr{load(x, row, col)}})), false},
		{"columns that end with the row", loop(m, let, triangle), false},
		{"a function of each row", loop(m, &plan.Let{To: e, Val: plan.Call{Op: ir.Exp, Args: []plan.Expr{load(a, row, row)}}}, loop(p, sum)), false},
		{"something behind", loop(m, let, loop(p, sum), let), false},
		{"rows from last to first", down, false},
		{"a Boolean of each row", loop(m, &plan.Let{To: e, Val: load(&plan.Buffer{Name: "given", Elem: ir.Bool, Dims: y.Dims}, row)}, loop(p, sum)), false},
		{"more pointers than registers", loop(m, let, loop(p, many[:5]...)), false},
		{"five sums", loop(m, let, loop(p, sums[:5]...)), true},
		{"more sums than registers", loop(m, let, loop(p, sums...)), false},
	} {
		if got := emitasm.SumsInRegisters(c.in); got != c.want {
			t.Errorf("%s: sums are in registers is %v, want %v", c.name, got, c.want)
		}
	}
}
