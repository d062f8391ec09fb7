package derive

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Expressions of arrays without indices: sums, functions, choices and stacks.

// A term is a summand: a number times an array.
type term struct {
	coef float64
	val  *ir.Value
}

// form writes a value as an array without indices; it panics with a formError where the
// value has no such form.
func (w *writer) form(v *ir.Value) notation.Expr {
	in := v.Def
	if in == nil || len(w.guard(in)) > 0 {
		panic(noArray)
	}
	w.checkWindows(in)
	if x := w.windowSum(v, func() notation.Expr { return w.form(v) }); x != nil {
		return x
	}
	for _, a := range append([]ir.Arg{{Val: v, Sub: in.To}}, in.Args...) {
		if in.Op != ir.Stack && !w.direct(in, a) {
			panic(noArray)
		}
	}
	switch {
	case in.Op == ir.Prod:
		return w.productForm(v)
	case in.Op == ir.Lin:
		return w.linForm(v)
	case in.Op == ir.Stack:
		return w.stackForm(v)
	case in.Op == ir.SizeOf:
		return w.size(in.Poly, "")
	case in.Op == ir.Const && len(w.axes(v)) == 0:
		return signedNumeral(in.Coef[0])
	case in.Op.Info().Page != "" && len(in.Args) == 1:
		return call(in.Op.Info().Page, w.operand(v, in.Args[0]))
	case in.Op.Info().Page != "" || in.Op == ir.Div:
		return w.pairForm(v)
	case in.Op == ir.Select:
		return w.choiceForm(v)
	}
	panic(noArray)
}

func call(name string, args ...notation.Expr) notation.Expr {
	return &notation.Call{Fun: notation.Word{Text: name}, Args: args}
}

func signedNumeral(x float64) notation.Expr {
	if math.Signbit(x) {
		return negative(numeral(-x))
	}
	return numeral(x)
}

// negative is minus an expression.
func negative(x notation.Expr) notation.Expr { return &notation.Unary{X: x} }

// operand writes an argument that is read at the value's own positions, or a
// number.
func (w *writer) operand(v *ir.Value, a ir.Arg) notation.Expr {
	if subs := w.subs(a); len(subs) > 0 && !w.aligned(v, subs) {
		panic(noArray)
	}
	return w.array(a.Val)
}

// aligned reports whether subscripts are the value's own in the same order.
func (w *writer) aligned(v *ir.Value, subs []ir.Sub) bool {
	to := w.subs(ir.Arg{Val: v, Sub: v.Def.To})
	return slices.EqualFunc(to, subs, func(a, b ir.Sub) bool {
		x, okx := a.Loop()
		y, oky := b.Loop()
		return okx && oky && x == y
	})
}

// direct reports whether a value is read, or written, at loops over its own
// axes: a read of the first entries of a longer axis is not.
func (w *writer) direct(in *ir.Instr, a ir.Arg) bool {
	for i, s := range a.Sub {
		if l, ok := s.Loop(); !ok || in.Loops[l] != a.Val.Axes[i] {
			return false
		}
	}
	return true
}

func (w *writer) pairForm(v *ir.Value) notation.Expr {
	in := v.Def
	x, y := w.operand(v, in.Args[0]), w.operand(v, in.Args[1])
	if n := in.Op.Info().Page; n != "" {
		return call(n, x, y)
	}
	if len(w.axes(v)) > 0 && len(w.subs(in.Args[0])) == 0 && !isNumber(x) {
		panic(noArray) // a number over an array is written entry by entry
	}
	return &notation.Binary{Op: "/", X: x, Y: y}
}

// choiceForm writes { a if c ; b otherwise } of arrays.
func (w *writer) choiceForm(v *ir.Value) notation.Expr {
	in := v.Def
	if !w.broadcasts(v, in.Args[1]) || !w.broadcasts(v, in.Args[2]) {
		panic(noArray)
	}
	yes, no := w.operand(v, in.Args[1]), w.operand(v, in.Args[2])
	return choice(w.conditionForm(v, in.Args[0]), yes, no)
}

// broadcasts reports whether an argument has all axes of a value or is a constant.
func (w *writer) broadcasts(v *ir.Value, a ir.Arg) bool {
	return len(w.subs(a)) == len(w.axes(v)) || a.Val.Def != nil && a.Val.Def.Op == ir.Const
}

// conditionForm writes a condition on arrays. A comparison of a number with an
// array has no form of its own; but lo ≤ x exactly where max(lo, x) = x.
func (w *writer) conditionForm(v *ir.Value, a ir.Arg) notation.Expr {
	in := a.Val.Def
	if in == nil || len(w.guard(in)) > 0 || !w.aligned(v, w.subs(a)) || !slices.ContainsFunc(in.Args, func(b ir.Arg) bool { return w.direct(in, b) }) {
		panic(noArray)
	}
	switch in.Op {
	case ir.And:
		return &notation.And{X: w.conditionForm(a.Val, in.Args[0]), Y: w.conditionForm(a.Val, in.Args[1])}
	case ir.Not:
		if r, ok := w.conditionForm(a.Val, in.Args[0]).(*notation.Relation); ok && r.Op == "=" {
			return &notation.Relation{Op: "≠", X: r.X, Y: r.Y}
		}
	case ir.Less, ir.LessEq, ir.Equal:
		return w.comparison(a.Val)
	}
	panic(noArray)
}

func (w *writer) comparison(v *ir.Value) notation.Expr {
	in := v.Def
	x, y := w.operand(v, in.Args[0]), w.operand(v, in.Args[1])
	left, right := w.broadcasts(v, in.Args[0]), w.broadcasts(v, in.Args[1])
	switch {
	case left && right:
		return &notation.Relation{Op: relations[in.Op], X: x, Y: y}
	case in.Op == ir.LessEq && !left: // x ≤ y
		return &notation.Relation{Op: "=", X: call("max", x, y), Y: y}
	case in.Op == ir.LessEq:
		return &notation.Relation{Op: "=", X: call("min", x, y), Y: x}
	case in.Op == ir.Less && !left: // x < y: not y ≤ x
		return &notation.Relation{Op: "≠", X: call("min", x, y), Y: y}
	case in.Op == ir.Less:
		return &notation.Relation{Op: "≠", X: call("max", x, y), Y: x}
	}
	panic(noArray)
}

func isNumber(x notation.Expr) bool { _, ok := x.(*notation.Number); return ok }

// linForm writes a sum of arrays.
func (w *writer) linForm(v *ir.Value) notation.Expr {
	in := v.Def
	var ts []term
	for i, a := range in.Args {
		if !w.aligned(v, w.subs(a)) {
			panic(noArray)
		}
		ts = append(ts, term{in.Coef[i], a.Val})
	}
	return w.addends(ts, in.Coef[len(in.Args)])
}

// addends writes Σ coef·array + constant, a positive one first.
func (w *writer) addends(ts []term, constant float64) notation.Expr {
	var out notation.Expr
	add := func(x notation.Expr, minus bool) { out = plus(out, x, minus) }
	if constant > 0 {
		add(numeral(constant), false)
	}
	var late []func()
	for _, t := range ts {
		x := w.array(t.val)
		minus := t.coef < 0
		if u, ok := x.(*notation.Unary); ok {
			x, minus = u.X, !minus
		}
		x = scaled(math.Abs(t.coef), x)
		if minus && out == nil {
			late = append(late, func() { add(x, true) })
			continue
		}
		add(x, minus)
	}
	for _, f := range late {
		f()
	}
	if constant < 0 {
		add(numeral(-constant), true)
	}
	if out == nil {
		return numeral(0)
	}
	return out
}

// plus is sum ± x; sum may be nil.
func plus(sum, x notation.Expr, minus bool) notation.Expr {
	switch {
	case sum == nil && minus:
		return negative(x)
	case sum == nil:
		return x
	case minus:
		return &notation.Binary{Op: "−", X: sum, Y: x}
	}
	return &notation.Binary{Op: "+", X: sum, Y: x}
}

// scaled is a positive number times an expression.
func scaled(c float64, x notation.Expr) notation.Expr {
	if c == 1 {
		return x
	}
	if n, rest, ok := leading(x); ok {
		const short = 12 // digits of a product of two numbers that a page may print
		if m := numeral(c * n); len(m.Text) <= short {
			return scaled(c*n, rest)
		}
	}
	return row(numeral(c), x)
}

// leading removes the number at the front of a row.
func leading(x notation.Expr) (float64, notation.Expr, bool) {
	j, ok := x.(*notation.Juxt)
	if !ok {
		return 0, nil, false
	}
	n, ok := j.Items[0].(*notation.Number)
	if !ok {
		return 0, nil, false
	}
	return n.Value, row(j.Items[1:]...), true
}

// row is the product of factors as a row; rows among them are flattened. The printer adds
// parentheses to looser expressions.
func row(items ...notation.Expr) notation.Expr {
	var out []notation.Expr
	for _, x := range items {
		if j, ok := x.(*notation.Juxt); ok {
			out = append(out, j.Items...)
			continue
		}
		out = append(out, x)
	}
	if len(out) == 1 {
		return out[0]
	}
	return &notation.Juxt{Items: out}
}

// stackForm writes [a; b].
func (w *writer) stackForm(v *ir.Value) notation.Expr {
	if v.Axes[v.Def.Over[0]] != w.axes(v)[0] {
		panic(noArray)
	}
	x := &notation.Stack{}
	for _, a := range v.Def.Args {
		x.Items = append(x.Items, w.array(a.Val))
	}
	return x
}
