package emitasm_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// TestRowsAtOnce: which rows of a nest run at once. Sums keep their order and no
// row sees what another one writes.
func TestRowsAtOnce(t *testing.T) {
	n := shape.Sym("n")
	i, j, m := &plan.Var{Name: "i"}, &plan.Var{Name: "j"}, &plan.Var{Name: "m"}
	row, col := plan.At(i), plan.At(j)
	buffer := func(name string, axes int) *plan.Buffer {
		return &plan.Buffer{Name: name, Elem: ir.Real, Dims: []shape.Poly{n, n}[:axes]}
	}
	a, b, x, y := buffer("a", 2), buffer("b", 2), buffer("x", 1), buffer("y", 1)
	at := func(b *plan.Buffer, xs ...plan.Index) plan.Access { return plan.Access{Buf: b, Index: xs} }
	load := func(b *plan.Buffer, xs ...plan.Index) plan.Expr { return plan.Load{Access: at(b, xs...)} }
	set := func(to plan.Access, v plan.Expr) plan.Node { return &plan.Store{To: to, Vals: []plan.Expr{v}} }
	s, total := &plan.Local{Name: "s"}, &plan.Local{Name: "total"}
	begin := &plan.Let{To: s, Val: plan.Num{}}
	loop := func(v *plan.Var, body ...plan.Node) *plan.Loop {
		return &plan.Loop{Kind: plan.Plain, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(n)}, Body: body}
	}
	sum := func(to *plan.Local) plan.Node {
		return &plan.Accumulate{To: to, Set: true, Val: plan.Fma{A: load(a, row, col), B: load(x, col), C: plan.Ref{To: to}}}
	}
	onto := func(to plan.Access) plan.Node {
		return set(to, plan.Fma{A: load(a, row, col), B: load(x, row), C: plan.Load{Access: to}})
	}
	add := &plan.Accumulate{To: total, Set: true, Val: plan.Lin{Coef: []float64{1, 1}, Args: []plan.Expr{plan.Ref{To: total}, plan.Ref{To: s}}}}
	short := loop(j, sum(s))
	short.Hi = []plan.Index{row}
	back := plan.At(i).Add(plan.Fixed(shape.Int(1)), shape.Int(-1))
	for _, c := range []struct {
		name string
		in   []plan.Node
		want bool
	}{
		{"a matrix times a vector", []plan.Node{begin, loop(j, sum(s)), set(at(y, row), plan.Ref{To: s})}, true},
		{"a transposed matrix times a vector", []plan.Node{loop(j, onto(at(y, col)))}, true},
		{"a matrix that is written where it is read", []plan.Node{begin, loop(j, sum(s), set(at(a, row, col), plan.Num{V: 1}))}, true},
		{"a total behind the lanes", []plan.Node{begin, loop(j, sum(s)), add}, true},
		{"sums at a distance", []plan.Node{begin, loop(j, sum(s)), set(at(y, row.Add(plan.Fixed(n), shape.Int(1))), plan.Ref{To: s})}, true},
		{"an outer product, which adds multiples of one vector", []plan.Node{loop(j, set(at(b, row, col), plan.Fma{A: load(x, col), B: load(y, row), C: load(b, row, col)}))}, true},

		{"sums in registers", []plan.Node{loop(m, loop(j, set(at(b, row, col), plan.Fma{A: load(a, plan.At(m), col), B: load(x, plan.At(m)), C: load(b, row, col)})))}, true},
		{"sums in registers that all rows add to", []plan.Node{loop(m, loop(j, set(at(y, col), plan.Fma{A: load(a, plan.At(m), col), B: load(b, row, plan.At(m)), C: load(y, col)})))}, false},
		{"entries of which rows have some in common", []plan.Node{loop(j, set(at(y, row.Add(col, shape.Int(1))), plan.Fma{A: load(x, col), B: load(b, row, row), C: load(y, row.Add(col, shape.Int(1)))}))}, false},
		{"nothing to gather", []plan.Node{loop(j, set(at(b, row, col), load(a, row, col)))}, false},
		{"a total in the lanes", []plan.Node{loop(j, sum(total))}, false},
		{"a total that a row reads", []plan.Node{begin, loop(j, sum(s)), add, set(at(y, row), plan.Ref{To: total})}, false},
		{"lanes as long as the row's number", []plan.Node{begin, short}, false},
		{"the row before", []plan.Node{begin, loop(j, sum(s), set(at(a, back, col), plan.Num{V: 1}))}, false},
		{"a sum that is read meanwhile", []plan.Node{loop(j, onto(at(y, col))), begin, loop(j, sum(s), set(at(b, row, col), load(y, col)))}, false},
		{"two sums into one vector", []plan.Node{loop(j, onto(at(y, col))), loop(j, onto(at(y, col)))}, false},
		{"what the last row leaves", []plan.Node{begin, loop(j, sum(s), set(at(y, col), load(a, row, col)))}, false},
	} {
		if got := emitasm.Independent(loop(i, c.in...)); got != c.want {
			t.Errorf("%s: rows run at once is %v, want %v", c.name, got, c.want)
		}
	}
}
