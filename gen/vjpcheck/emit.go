package vjpcheck

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Translation of expressions into the notation, entry by entry.

// An emitter writes expressions as notation, entry by entry: every value becomes a number
// at given positions. So no shape is left open, and the result is differentiated and
// evaluated like any page.
type emitter struct {
	*typer
	operation *operation
}

// An operation collects the parameters, axes and local definitions of the expressions of
// one operation.
type operation struct {
	idents map[string]string // of the parameters
	axes   map[string]string
	order  []string // parameters in the order of their first use
	with   []*notation.Define
	seq    int
}

func newOperation() *operation {
	return &operation{idents: map[string]string{}, axes: map[string]string{}}
}

func (t *emitter) inScope(bound map[string]letter) *emitter {
	return &emitter{t.typer.inScope(bound), t.operation}
}

// fresh names are v1, i2, …: nothing of the page's spelling reaches the
// notation, so no name can collide with one of its words.
func (t *emitter) fresh(kind string) string {
	t.operation.seq++
	return fmt.Sprintf("%s%d", kind, t.operation.seq)
}

func wordOf(text string) notation.Word     { return notation.Word{Text: text} }
func nameNode(text string) *notation.Ident { return &notation.Ident{Name: wordOf(text)} }
func numeral(x float64) *notation.Number   { return &notation.Number{Value: x, Text: fmt.Sprint(x)} }
func mul(a, b notation.Expr) notation.Expr { return op("·", a, b) }

func op(sign string, a, b notation.Expr) notation.Expr { return &notation.Binary{Op: sign, X: a, Y: b} }

// axis is the notation's name of an axis.
func (t *emitter) axis(text string) string {
	if t.operation.axes[text] == "" {
		t.operation.axes[text] = fmt.Sprintf("n%d", len(t.operation.axes)+1)
	}
	return t.operation.axes[text]
}

// param is the notation's name of a parameter.
func (t *emitter) param(text string) string {
	if t.operation.idents[text] == "" {
		t.operation.idents[text] = fmt.Sprintf("p%d", len(t.operation.idents)+1)
		t.operation.order = append(t.operation.order, text)
	}
	return t.operation.idents[text]
}

// binders make one index per axis.
func (t *emitter) binders(axes []string) ([]*notation.Binder, []notation.Expr) {
	var bs []*notation.Binder
	var at []notation.Expr
	for _, a := range axes {
		i := t.fresh("i")
		bs = append(bs, &notation.Binder{Name: wordOf(i), Range: nameNode(t.axis(a))})
		at = append(at, nameNode(i))
	}
	return bs, at
}

// define adds a local array and returns its name.
func (t *emitter) define(bs []*notation.Binder, body notation.Expr) string {
	n := t.fresh("w")
	t.operation.with = append(t.operation.with, &notation.Define{Target: &notation.Target{Name: nameNode(n), Index: bs}, Value: body})
	return n
}

func readAt(text string, idx []notation.Expr) notation.Expr {
	if len(idx) == 0 {
		return nameNode(text)
	}
	return &notation.Index{X: nameNode(text), At: slices.Clone(idx)}
}

// broadcastEntry is an entry of an operand; a number is broadcast.
func (t *emitter) broadcastEntry(n *pseudo.Node, idx []notation.Expr) notation.Expr {
	if len(t.typeOf(n).axes) == 0 {
		idx = nil
	}
	return t.entry(n, idx)
}

// entry writes the entry of n at idx, one position per axis of n.
func (t *emitter) entry(n *pseudo.Node, idx []notation.Expr) notation.Expr {
	switch n.Kind {
	case pseudo.Number:
		return numeral(n.Value)
	case pseudo.Name:
		return t.nameEntry(n, idx, true)
	case pseudo.Index:
		return t.indexEntry(n, idx)
	case pseudo.Call:
		return t.callEntry(n, idx)
	case pseudo.Reduce:
		return t.reduceEntry(n, idx)
	case pseudo.Negate:
		return &notation.Unary{X: t.entry(n.Kids[0], idx)}
	case pseudo.Power:
		return &notation.Power{X: t.entry(n.Kids[0], idx), Exp: t.entry(n.Kids[1], nil)}
	case pseudo.Transpose:
		return t.entry(n.Kids[0], []notation.Expr{idx[1], idx[0]})
	case pseudo.Norm:
		return t.normEntry(n)
	case pseudo.Truth:
		return &notation.Piecewise{Arms: []*notation.Arm{{Cond: t.entry(n.Kids[0], idx), Value: numeral(1)}, {Value: numeral(0)}}}
	}
	return t.binaryEntry(n, idx)
}

func (t *emitter) nameEntry(n *pseudo.Node, idx []notation.Expr, lift bool) notation.Expr {
	if l, ok := t.bound[n.Text]; ok {
		return l.at
	}
	x := t.nameType(n)
	if l := t.summedLetter(x); lift && l != "" {
		idx = append([]notation.Expr{t.bound[l].at}, idx...)
	}
	if _, ok := t.params[n.Text]; ok {
		return readAt(t.param(n.Text), idx)
	}
	if d := t.defs[n.Text]; d != nil {
		bound := map[string]letter{}
		for i, l := range d.letters {
			bound[l] = letter{axis: x.axes[i], at: idx[i]}
		}
		return t.inScope(bound).entry(d.body, idx[len(d.letters):])
	}
	if base, suffix := t.e.suffix(n.Text); suffix != "" {
		return t.indexEntry(pseudo.IndexOf(pseudo.NameOf(base), pseudo.NameOf(suffix)), idx)
	}
	return t.count()
}

// count is the number of terms of the forward's one mean.
func (t *emitter) count() notation.Expr {
	inner, letters := t.reduction(t.e.mean())
	var out notation.Expr = numeral(1)
	for _, l := range letters {
		out = mul(out, nameNode(t.axis(inner.bound[l].axis)))
	}
	return out
}

func (t *emitter) indexEntry(n *pseudo.Node, idx []notation.Expr) notation.Expr {
	t.indexType(n)
	var at []notation.Expr
	for _, k := range n.Kids[1:] {
		if k.Kind == pseudo.Span {
			at, idx = append(at, op("+", idx[0], t.entry(k.Kids[0], nil))), idx[1:]
			continue
		}
		at = append(at, t.entry(k, nil))
	}
	at = append(at, idx...)
	if n.Kids[0].Kind == pseudo.Name {
		return t.nameEntry(n.Kids[0], at, false)
	}
	return t.entry(n.Kids[0], at)
}

var sums = map[string]string{"sum": "Σ", "mean": "mean"}

func (t *emitter) reduceEntry(n *pseudo.Node, idx []notation.Expr) notation.Expr {
	inner, letters := t.reduction(n)
	in := &emitter{inner, t.operation}
	var bs []*notation.Binder
	for _, l := range letters {
		b := in.bound[l]
		i := t.fresh("i")
		b.at = nameNode(i)
		in.bound[l] = b
		bs = append(bs, &notation.Binder{Name: wordOf(i), Range: nameNode(t.axis(b.axis))})
	}
	if len(bs) == 0 {
		x := t.typeOf(n.Kids[0])
		if len(x.axes) == 0 {
			panic(pseudo.Misfitf("a sum of a number"))
		}
		bs, idx = t.binders(x.axes)
	}
	return &notation.Reduce{Op: sums[n.Text], Binders: bs, Body: in.entry(n.Kids[0], idx)}
}

func (t *emitter) normEntry(n *pseudo.Node) notation.Expr {
	bs, at := t.binders(t.typeOf(n.Kids[0]).axes)
	square := &notation.Power{X: t.entry(n.Kids[0], at), Exp: numeral(2)}
	return &notation.Call{Fun: wordOf("sqrt"), Args: []notation.Expr{&notation.Reduce{Op: "Σ", Binders: bs, Body: square}}}
}

var operators = map[string]string{"+": "+", "-": "−", "*": "·", "/": "/", "==": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}

func (t *emitter) binaryEntry(n *pseudo.Node, idx []notation.Expr) notation.Expr {
	t.binaryType(n)
	switch n.Text {
	case "@":
		return t.matrixEntry(n, idx)
	case "⊗":
		return mul(t.entry(n.Kids[0], idx[:1]), t.entry(n.Kids[1], idx[1:]))
	}
	a := t.broadcastEntry(n.Kids[0], idx)
	b := t.broadcastEntry(n.Kids[1], idx)
	if n.Kind == pseudo.Relation {
		return &notation.Relation{Op: operators[n.Text], X: a, Y: b}
	}
	return op(operators[n.Text], a, b)
}

// matrixEntry is Σ_k A[…,k] B[k,…].
func (t *emitter) matrixEntry(n *pseudo.Node, idx []notation.Expr) notation.Expr {
	x := t.typeOf(n.Kids[0])
	rows := len(x.axes) - 1
	bs, at := t.binders(x.axes[rows:])
	a := t.entry(n.Kids[0], append(slices.Clone(idx[:rows]), at...))
	b := t.entry(n.Kids[1], append(slices.Clone(at), idx[rows:]...))
	return &notation.Reduce{Op: "Σ", Binders: bs, Body: mul(a, b)}
}
