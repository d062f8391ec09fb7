package clike

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// printer prints names as they are.
func printer(l *Language) *Printer {
	l.Types = map[ir.Elem]string{ir.Real: "float", ir.Int: "int", ir.Bool: "bool"}
	l.Number = func(v float64) string { return Float32(v, "NAN", "INFINITY") }
	l.Literal = l.Number
	return &Printer{Language: l, Size: Underscored,
		Var:   func(v *plan.Var) string { return v.Name },
		Local: func(l *plan.Local) string { return l.Name }}
}

func TestBrackets(t *testing.T) {
	p := printer(&Language{})
	rounded := printer(&Language{Round: func(product string) string { return "F(" + product + ")" }})
	x, y := plan.Ref{To: &plan.Local{Name: "x", Elem: ir.Real}}, plan.Ref{To: &plan.Local{Name: "y", Elem: ir.Real}}
	xy := plan.Prod{Coef: 1, Args: []plan.Expr{x, y}}
	sum := plan.Lin{Coef: []float64{1, -2}, Args: []plan.Expr{x, xy}, Const: 1}
	for _, c := range []struct {
		x             plan.Expr
		text, rounded string
	}{
		{plan.Prod{Coef: -1, Args: []plan.Expr{x, xy}}, "-x * (x * y)", "-F(x * F(x * y))"},
		{sum, "1.0f + x - 2.0f * (x * y)", "1.0f + x - F(2.0f * F(x * y))"},
		{plan.Prod{Coef: 1, Args: []plan.Expr{y, sum}}, "y * (1.0f + x - 2.0f * (x * y))", "F(y * (1.0f + x - F(2.0f * F(x * y))))"},
		{plan.Call{Op: ir.Div, Args: []plan.Expr{x, xy}}, "x / (x * y)", "x / F(x * y)"},
		{plan.Call{Op: ir.Select, Args: []plan.Expr{plan.Call{Op: ir.Less, Args: []plan.Expr{x, y}}, x, plan.Num{V: -1}}}, "((x < y) ? x : (-1.0f))", "((x < y) ? x : (-1.0f))"},
	} {
		if got := p.Top(c.x); got != c.text {
			t.Errorf("%s is printed as %s, want %s", plan.ExprString(c.x), got, c.text)
		}
		if got := rounded.Top(c.x); got != c.rounded {
			t.Errorf("%s is printed as %s, want %s", plan.ExprString(c.x), got, c.rounded)
		}
	}
}

func TestAddress(t *testing.T) {
	p := printer(&Language{Address64: "(i64)"})
	i, j := &plan.Var{Name: "i"}, &plan.Var{Name: "j"}
	n, one := shape.Sym("n"), shape.Int(1)
	b := &plan.Buffer{Name: "b", Dims: []shape.Poly{n, n.Sub(one), shape.Sym("d_k")}}
	back := plan.Index{Terms: []plan.Term{{Var: i, Coef: shape.Int(-1)}}}
	a := plan.Access{Buf: b, Index: []plan.Index{plan.At(i).Add(plan.Fixed(one), one), plan.At(j), back}}
	if got, want := p.Address(a), "((i + 1) * (n - 1) + j) * d_k - i"; got != want {
		t.Errorf("an address is printed as %s, want %s", got, want)
	}
	p.Wide = func(*plan.Buffer) bool { return true }
	if got, want := p.Address(a), "((i64)(i + 1) * (n - 1) + j) * d_k - i"; got != want {
		t.Errorf("a wide address is printed as %s, want %s", got, want)
	}
}
