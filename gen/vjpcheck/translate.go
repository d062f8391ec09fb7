package vjpcheck

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Translation of expressions into the notation, entry by entry.

// A translator translates the expressions of one entry under one guess of shapes. Axes are
// nominal, as in the notation.
type translator struct {
	*table
	e         *entry
	params    map[string]typ // what the expression may read
	defs      map[string]*definition
	bound     map[string]letter
	ranges    map[string]extent // of integer names: where they may point
	least     map[string]int    // sizes that axes have at least, because a fixed position is read
	depth     int
	operation *operation
}

// An array is a translated expression: its type, and its entry at given positions, one for
// each axis. Every value becomes a number at positions, so no shape is left open, and the
// result is differentiated and evaluated like any page.
type array struct {
	typ
	at func(idx []notation.Expr) notation.Expr
}

func (x typ) String() string {
	if len(x.axes) == 0 {
		return "a number"
	}
	return strings.Join(x.axes, "×")
}

// broadcast is an entry of an operand; a number is the same everywhere.
func (x array) broadcast(idx []notation.Expr) notation.Expr {
	if len(x.axes) == 0 {
		idx = nil
	}
	return x.at(idx)
}

// maxDepth bounds recursive definitions.
const maxDepth = 60

// array translates an expression. It panics with a *pseudo.Error where shapes do not agree
// or something is not defined; attempt recovers it.
func (t *translator) array(n *pseudo.Node) array {
	if t.depth > maxDepth {
		panic(pseudo.Gapf("its definitions mention each other"))
	}
	switch n.Kind {
	case pseudo.Number:
		return array{typ{elem: real}, func([]notation.Expr) notation.Expr { return numeral(n.Value) }}
	case pseudo.Name:
		return t.bare(n)
	case pseudo.Index:
		return t.index(n)
	case pseudo.Call:
		return t.call(n)
	case pseudo.Reduce:
		return t.reduce(n)
	case pseudo.Binary, pseudo.Relation:
		return t.binary(n)
	case pseudo.Span:
		panic(pseudo.Gapf("a range stands where a value should"))
	}
	x := t.array(n.Kids[0])
	switch n.Kind {
	case pseudo.Negate:
		return array{x.typ, func(idx []notation.Expr) notation.Expr { return &notation.Unary{X: x.at(idx)} }}
	case pseudo.Power:
		return array{x.typ, func(idx []notation.Expr) notation.Expr {
			return &notation.Power{X: x.at(idx), Exp: t.array(n.Kids[1]).at(nil)}
		}}
	case pseudo.Truth:
		return array{typ{real, x.axes}, func(idx []notation.Expr) notation.Expr {
			return &notation.Piecewise{Arms: []*notation.Arm{{Cond: x.at(idx), Value: numeral(1)}, {Value: numeral(0)}}}
		}}
	case pseudo.Transpose:
		if len(x.axes) != 2 {
			panic(pseudo.Misfitf("a transpose of %s", x))
		}
		return array{typ{x.elem, []string{x.axes[1], x.axes[0]}}, func(idx []notation.Expr) notation.Expr {
			return x.at([]notation.Expr{idx[1], idx[0]})
		}}
	}
	if len(x.axes) == 0 {
		panic(pseudo.Misfitf("a norm of a number"))
	}
	return array{typ{elem: real}, func([]notation.Expr) notation.Expr {
		bs, at := t.binders(x.axes)
		square := &notation.Power{X: x.at(at), Exp: numeral(2)}
		return &notation.Call{Fun: wordOf("sqrt"), Args: []notation.Expr{&notation.Reduce{Op: "Σ", Binders: bs, Body: square}}}
	}}
}

// bare is a name without an index. Inside a sum over t, an array whose first axis is that
// of t is read at t.
func (t *translator) bare(n *pseudo.Node) array {
	x := t.name(n)
	l := t.summedLetter(x.typ)
	if l == "" {
		return x
	}
	return array{typ{x.elem, x.axes[1:]}, func(idx []notation.Expr) notation.Expr {
		return x.at(append([]notation.Expr{t.bound[l].at}, idx...))
	}}
}

// name is a name with all its axes.
func (t *translator) name(n *pseudo.Node) array {
	text := n.Text
	if l, ok := t.bound[text]; ok {
		if l.axis == "" {
			panic(pseudo.Gapf("the range of an index is not known"))
		}
		return array{typ{elem: integer}, func([]notation.Expr) notation.Expr { return l.at }}
	}
	if x, ok := t.params[text]; ok {
		return array{typ{x.elem, slices.Clone(x.axes)}, func(idx []notation.Expr) notation.Expr { return readAt(t.param(text), idx) }}
	}
	if d := t.defs[text]; d != nil {
		return t.definition(d)
	}
	if base, suffix := t.e.suffix(text); suffix != "" {
		return t.index(pseudo.IndexOf(pseudo.NameOf(base), pseudo.NameOf(suffix)))
	}
	if t.isCount(text) {
		return array{typ{elem: real}, func([]notation.Expr) notation.Expr { return t.count() }}
	}
	panic(pseudo.Gapf("%s is not defined", text))
}

// isCount reports whether a name such as n_valid can only be the number of
// terms of the forward's one mean.
func (t *translator) isCount(text string) bool {
	return strings.HasPrefix(text, "n_") && t.e.mean() != nil
}

// mean is the one mean of the forward, or nil.
func (e *entry) mean() *pseudo.Node {
	var found []*pseudo.Node
	for _, b := range e.bodies() {
		b.Walk(func(n *pseudo.Node) {
			if n.Kind == pseudo.Reduce && n.Text == "mean" {
				found = append(found, n)
			}
		})
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// count is the number of terms of the forward's one mean.
func (t *translator) count() notation.Expr {
	inner, letters := t.reduction(t.e.mean())
	var out notation.Expr = numeral(1)
	for _, l := range letters {
		out = mul(out, nameNode(t.axis(inner.bound[l].axis)))
	}
	return out
}

// definition is the value of a definition: its letters are its first axes.
func (t *translator) definition(d *definition) array {
	bound := map[string]letter{}
	var axes []string
	for _, l := range d.letters {
		axis := t.axisOf(l, d.body)
		bound[l] = letter{axis: axis}
		axes = append(axes, axis)
	}
	x := t.inScope(bound).array(d.body)
	return array{typ{x.elem, append(axes, x.axes...)}, func(idx []notation.Expr) notation.Expr {
		bound := map[string]letter{}
		for i, l := range d.letters {
			bound[l] = letter{axis: axes[i], at: idx[i]}
		}
		return t.inScope(bound).array(d.body).at(idx[len(d.letters):])
	}}
}

// indexed is an expression before an index; summed letters do not apply to a name there.
func (t *translator) indexed(n *pseudo.Node) array {
	if n.Kind == pseudo.Name {
		return t.name(n)
	}
	return t.array(n)
}

func (t *translator) index(n *pseudo.Node) array {
	x, at := t.indexed(n.Kids[0]), n.Kids[1:]
	if len(at) > len(x.axes) {
		panic(pseudo.Misfitf("%d indices on %s", len(at), x))
	}
	var kept []string
	for i, k := range at {
		if axis := t.position(k, x.axes[i]); axis != "" {
			kept = append(kept, axis)
		}
	}
	return array{typ{x.elem, append(kept, x.axes[len(at):]...)}, func(idx []notation.Expr) notation.Expr {
		var pos []notation.Expr
		for _, k := range at {
			if k.Kind == pseudo.Span {
				pos, idx = append(pos, op("+", idx[0], t.array(k.Kids[0]).at(nil))), idx[1:]
				continue
			}
			pos = append(pos, t.array(k).at(nil))
		}
		return x.at(append(pos, idx...))
	}}
}

var sums = map[string]string{"sum": "Σ", "mean": "mean"}

func (t *translator) reduce(n *pseudo.Node) array {
	inner, letters := t.reduction(n)
	x := inner.array(n.Kids[0])
	out := x.typ
	if len(n.Letters) == 0 && len(letters) == 0 {
		out.axes = nil // all entries
	}
	return array{out, func(idx []notation.Expr) notation.Expr {
		if len(letters) == 0 {
			if len(x.axes) == 0 {
				panic(pseudo.Misfitf("a sum of a number"))
			}
			bs, at := t.binders(x.axes)
			return &notation.Reduce{Op: sums[n.Text], Binders: bs, Body: x.at(at)}
		}
		var axes []string
		for _, l := range letters {
			axes = append(axes, inner.bound[l].axis)
		}
		bs, at := t.binders(axes)
		bound := map[string]letter{}
		for i, l := range letters {
			bound[l] = letter{axis: axes[i], at: at[i], summed: true}
		}
		return &notation.Reduce{Op: sums[n.Text], Binders: bs, Body: t.inScope(bound).array(n.Kids[0]).at(idx)}
	}}
}

var operators = map[string]string{"+": "+", "-": "−", "*": "·", "/": "/", "==": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}

func (t *translator) binary(n *pseudo.Node) array {
	x, y := t.array(n.Kids[0]), t.array(n.Kids[1])
	switch n.Text {
	case "@":
		return t.matrixProduct(x, y)
	case "⊗":
		if len(x.axes) != 1 || len(y.axes) != 1 {
			panic(pseudo.Misfitf("an outer product of %s and %s", x, y))
		}
		return array{typ{real, []string{x.axes[0], y.axes[0]}}, func(idx []notation.Expr) notation.Expr {
			return mul(x.at(idx[:1]), y.at(idx[1:]))
		}}
	}
	out := broadcastType(x, y)
	if n.Kind != pseudo.Relation {
		return array{out, func(idx []notation.Expr) notation.Expr {
			return op(operators[n.Text], x.broadcast(idx), y.broadcast(idx))
		}}
	}
	out.elem = boolean
	return array{out, func(idx []notation.Expr) notation.Expr {
		return &notation.Relation{Op: operators[n.Text], X: x.broadcast(idx), Y: y.broadcast(idx)}
	}}
}

// broadcastType is the type of a function of entries, where numbers go with any shape.
func broadcastType(args ...array) typ {
	out := typ{elem: real}
	for _, x := range args {
		switch {
		case len(x.axes) == 0 || slices.Equal(x.axes, out.axes):
		case len(out.axes) == 0:
			out.axes = x.axes
		default:
			panic(pseudo.Misfitf("%s and %s do not have the same shape", out, x))
		}
	}
	return out
}

// matrixProduct is Σ_k A[…,k] B[k,…].
func (t *translator) matrixProduct(x, y array) array {
	rows := len(x.axes) - 1
	if rows < 0 || rows > 1 || len(y.axes) == 0 || len(y.axes) > 2 || x.axes[rows] != y.axes[0] {
		panic(pseudo.Misfitf("%s times %s has no product", x, y))
	}
	return array{typ{real, slices.Concat(x.axes[:rows], y.axes[1:])}, func(idx []notation.Expr) notation.Expr {
		bs, at := t.binders(x.axes[rows:])
		return &notation.Reduce{Op: "Σ", Binders: bs, Body: mul(x.at(slices.Concat(idx[:rows], at)), y.at(slices.Concat(at, idx[rows:])))}
	}}
}
