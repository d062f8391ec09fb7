package derive

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Expressions entry by entry. Every value has such a form: the loops of its instruction become
// the indices at which it is read, and loops that are summed over become the indices of a Σ.

// expand writes the entry of a value at positions, one per visible axis.
func (w *writer) expand(v *ir.Value, at []notation.Expr) notation.Expr {
	in := v.Def
	if len(at) != len(w.axes(v)) {
		panic(noForm("it is read at another number of positions than it has"))
	}
	if in.Op == ir.Reshape {
		return w.reshaped(v, at)
	}
	if x := w.windowSum(v, func() notation.Expr { return w.expand(v, at) }); x != nil {
		return x
	}
	w.checkWindows(in)
	loops := make([]notation.Expr, len(in.Loops))
	conds := w.placeLoops(v, at, loops)
	if normals[in.Op] != "" {
		return w.normalised(v, loops)
	}
	var bs []*notation.Binder
	for l, x := range loops {
		if x != nil || w.hidden(in.Loops[l]) {
			continue
		}
		b, i := w.sumIndices(in.Loops[l])
		bs, loops[l] = append(bs, b...), i
	}
	conds = slices.Concat(conds, w.targetConditions(v, at, loops), w.guards(in, loops))
	var more indexSum
	var args []notation.Expr
	for _, a := range in.Args {
		args = append(args, w.read(in, a, loops, &more))
	}
	body := w.apply(in, args, loops)
	return sumUnder(append(bs, more.binders...), append(conds, more.conds...), body)
}

// placeLoops assigns the position on an axis to the loop that alone writes it. A loop that
// writes two axes makes their positions equal.
func (w *writer) placeLoops(v *ir.Value, at, loops []notation.Expr) []notation.Expr {
	var conds []notation.Expr
	axes := w.axes(v)
	for k, s := range w.subs(ir.Arg{Val: v, Sub: v.Def.To}) {
		l, ok := s.Loop()
		switch {
		case !ok || v.Def.Loops[l] != axes[k]:
		case loops[l] == nil:
			loops[l] = at[k]
		default:
			conds = append(conds, &notation.Relation{Op: "=", X: loops[l], Y: at[k]})
		}
	}
	return conds
}

// targetConditions are the conditions of axes that are not written at one loop: of a
// scatter or a window.
func (w *writer) targetConditions(v *ir.Value, at, loops []notation.Expr) []notation.Expr {
	var conds []notation.Expr
	axes := w.axes(v)
	for k, s := range w.subs(ir.Arg{Val: v, Sub: v.Def.To}) {
		if l, ok := s.Loop(); ok && v.Def.Loops[l] == axes[k] {
			continue
		}
		conds = append(conds, &notation.Relation{Op: "=", X: w.affine(v.Def, s, loops), Y: at[k]})
	}
	return conds
}

func (w *writer) guards(in *ir.Instr, loops []notation.Expr) []notation.Expr {
	var conds []notation.Expr
	for _, g := range w.guard(in) {
		x := w.affine(in, g, loops)
		if b, ok := x.(*notation.Binary); ok && b.Op == "−" { // l − s ≥ 0
			conds = append(conds, &notation.Relation{Op: "≤", X: b.Y, Y: b.X})
			continue
		}
		conds = append(conds, &notation.Relation{Op: "≥", X: x, Y: numeral(0)})
	}
	return conds
}

var relations = map[ir.Op]string{ir.Less: "<", ir.LessEq: "≤", ir.Equal: "="}

// opposite is the relation of numbers that holds where another one does not.
var opposite = map[string]string{"=": "≠", "≠": "=", "<": "≥", "≥": "<", "≤": ">", ">": "≤"}

// apply writes the value of an instruction at one point of its loops.
func (w *writer) apply(in *ir.Instr, args, loops []notation.Expr) notation.Expr {
	switch op := in.Op; {
	case op == ir.Prod:
		return times(in.Coef[0], args)
	case op == ir.Lin:
		return linear(in.Coef, args)
	case op == ir.Const:
		return signedNumeral(in.Coef[0])
	case op == ir.SizeOf:
		return w.size(in.Poly, "")
	case op == ir.Iota && len(args) == 1:
		return call("position", loops[in.Over[0]])
	case op == ir.Iota:
		return loops[in.Over[0]]
	case op.Info().Page != "":
		return call(op.Info().Page, args...)
	case op == ir.Div:
		return &notation.Binary{Op: "/", X: args[0], Y: args[1]}
	case op == ir.Mod:
		return &notation.Binary{Op: "mod", X: args[0], Y: args[1]}
	case op == ir.Pow:
		return &notation.Power{X: args[0], Exp: args[1]}
	case relations[op] != "":
		return &notation.Relation{Op: relations[op], X: args[0], Y: args[1]}
	case op == ir.Not:
		if r, ok := args[0].(*notation.Relation); ok && opposite[r.Op] != "" {
			return &notation.Relation{Op: opposite[r.Op], X: r.X, Y: r.Y}
		}
	case op == ir.And:
		return &notation.And{X: args[0], Y: args[1]}
	case op == ir.Select:
		return choice(args[0], args[1], args[2])
	case op == ir.ToReal:
		if condition(args[0]) {
			return choice(args[0], numeral(1), numeral(0))
		}
		return args[0]
	case op == ir.Override:
		return args[0]
	}
	panic(noForm("no form for %v", in.Op))
}

func condition(x notation.Expr) bool {
	switch x.(type) {
	case *notation.Relation, *notation.And:
		return true
	}
	return false
}

// times is the product of numbers.
func times(c float64, args []notation.Expr) notation.Expr {
	minus := c < 0
	var items []notation.Expr
	if a := math.Abs(c); a != 1 || len(args) == 0 {
		items = append(items, numeral(a))
	}
	for _, x := range args {
		if u, ok := x.(*notation.Unary); ok {
			x, minus = u.X, !minus
		}
		items = append(items, x)
	}
	out := row(items...)
	if minus {
		out = negative(out)
	}
	return out
}

// linear is a linear combination of numbers; the constant is last in coefs.
func linear(coefs []float64, args []notation.Expr) notation.Expr {
	var out notation.Expr
	add := func(c float64, x notation.Expr) {
		if u, ok := x.(*notation.Unary); ok {
			x, c = u.X, -c
		}
		out = plus(out, scaled(math.Abs(c), x), c < 0)
	}
	constant := coefs[len(args)]
	if constant > 0 {
		add(1, numeral(constant))
	}
	for i, x := range args {
		add(coefs[i], x)
	}
	if constant < 0 {
		add(-1, numeral(-constant))
	}
	if out == nil {
		return numeral(0)
	}
	return out
}

var normals = map[ir.Op]string{ir.Max: "max", ir.Softmax: "softmax", ir.LogSumExp: "logsumexp"}

// normalised writes max, logsumexp and softmax: over indices of their own, or, for
// softmax, over the positions on the left.
func (w *writer) normalised(v *ir.Value, loops []notation.Expr) notation.Expr {
	in := v.Def
	out := &notation.Reduce{Op: normals[in.Op]}
	for _, l := range in.Over {
		if x, ok := loops[l].(*notation.Ident); ok && in.Op == ir.Softmax {
			out.Binders = append(out.Binders, &notation.Binder{Name: x.Name})
			continue
		}
		b, i := w.binder(in.Loops[l])
		out.Binders, loops[l] = append(out.Binders, b), i
	}
	if slices.Contains(loops, nil) && w.batch == nil {
		panic(noForm("a loop that is neither kept nor reduced"))
	}
	conds := w.guards(in, loops)
	if len(conds) > 0 {
		out.Binders[len(out.Binders)-1].Cond = conjunction(conds)
	}
	var g indexSum
	out.Body = w.read(in, in.Args[0], loops, &g)
	if len(g.binders) > 0 {
		panic(noForm("a shifted read under %s", out.Op))
	}
	return out
}
