package vjpcheck

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// An emitter writes expressions as notation, entry by entry: every value
// becomes a number at given positions. That leaves no question of shapes open,
// and it differentiates and runs like any page.
type emitter struct {
	*typer
	p *writing
}

// A writing collects what the expressions of one operation need.
type writing struct {
	idents map[string]string // of the parameters
	axes   map[string]string
	order  []string // parameters in the order of their first use
	with   []*notation.Define
	seq    int
}

func newWriting() *writing {
	return &writing{idents: map[string]string{}, axes: map[string]string{}}
}

func (t *emitter) deeper(bound map[string]letter) *emitter { return &emitter{t.with(bound), t.p} }

// fresh names are v1, i2, …: nothing of the page's spelling reaches the
// notation, so no name can collide with one of its words.
func (t *emitter) fresh(kind string) string {
	t.p.seq++
	return fmt.Sprintf("%s%d", kind, t.p.seq)
}

func word1(text string) notation.Word      { return notation.Word{Text: text} }
func nameNode(text string) *notation.Ident { return &notation.Ident{Name: word1(text)} }
func numeral(x float64) *notation.Number   { return &notation.Number{Value: x, Text: fmt.Sprint(x)} }
func mul(a, b notation.Expr) notation.Expr { return op("·", a, b) }

func op(sign string, a, b notation.Expr) notation.Expr { return &notation.Binary{Op: sign, X: a, Y: b} }

// axis is the notation's name of an axis.
func (t *emitter) axis(text string) string {
	if t.p.axes[text] == "" {
		t.p.axes[text] = fmt.Sprintf("n%d", len(t.p.axes)+1)
	}
	return t.p.axes[text]
}

// param is the notation's name of a parameter.
func (t *emitter) param(text string) string {
	if t.p.idents[text] == "" {
		t.p.idents[text] = fmt.Sprintf("p%d", len(t.p.idents)+1)
		t.p.order = append(t.p.order, text)
	}
	return t.p.idents[text]
}

// binders make one index per axis.
func (t *emitter) binders(axes []string) ([]*notation.Binder, []notation.Expr) {
	var bs []*notation.Binder
	var at []notation.Expr
	for _, a := range axes {
		i := t.fresh("i")
		bs = append(bs, &notation.Binder{Name: word1(i), Range: nameNode(t.axis(a))})
		at = append(at, nameNode(i))
	}
	return bs, at
}

// define adds a local array and returns its name.
func (t *emitter) define(bs []*notation.Binder, body notation.Expr) string {
	n := t.fresh("w")
	t.p.with = append(t.p.with, &notation.Define{Target: &notation.Target{Name: nameNode(n), Index: bs}, Value: body})
	return n
}

func read1(text string, idx []notation.Expr) notation.Expr {
	if len(idx) == 0 {
		return nameNode(text)
	}
	return &notation.Index{X: nameNode(text), At: slices.Clone(idx)}
}

// broadcastEntry is an entry of an operand: a number is the same everywhere.
func (t *emitter) broadcastEntry(n *node, idx []notation.Expr) (notation.Expr, error) {
	x, err := t.typeOf(n)
	if err != nil {
		return nil, err
	}
	if len(x.axes) == 0 {
		idx = nil
	}
	return t.entry(n, idx)
}

// entry writes the entry of n at idx, one position per axis of n.
func (t *emitter) entry(n *node, idx []notation.Expr) (notation.Expr, error) {
	switch n.kind {
	case number:
		return numeral(n.value), nil
	case name:
		return t.nameEntry(n, idx, true)
	case index:
		return t.indexEntry(n, idx)
	case call:
		return t.callEntry(n, idx)
	case reduce:
		return t.reduceEntry(n, idx)
	case negate:
		x, err := t.entry(n.kids[0], idx)
		return &notation.Unary{X: x}, err
	case power:
		x, err := t.entry(n.kids[0], idx)
		if err != nil {
			return nil, err
		}
		y, err := t.entry(n.kids[1], nil)
		return &notation.Power{X: x, Exp: y}, err
	case transpose:
		return t.entry(n.kids[0], []notation.Expr{idx[1], idx[0]})
	case norm:
		return t.normEntry(n)
	case truth:
		c, err := t.entry(n.kids[0], idx)
		return &notation.Piecewise{Arms: []*notation.Arm{{Cond: c, Value: numeral(1)}, {Value: numeral(0)}}}, err
	}
	return t.binaryEntry(n, idx)
}

func (t *emitter) nameEntry(n *node, idx []notation.Expr, lift bool) (notation.Expr, error) {
	if l, ok := t.bound[n.text]; ok {
		return l.at, nil
	}
	x, err := t.nameType(n)
	if err != nil {
		return nil, err
	}
	if l := t.lift(x); lift && l != "" {
		idx = append([]notation.Expr{t.bound[l].at}, idx...)
	}
	if _, ok := t.params[n.text]; ok {
		return read1(t.param(n.text), idx), nil
	}
	if d := t.defs[n.text]; d != nil {
		bound := map[string]letter{}
		for i, l := range d.letters {
			bound[l] = letter{axis: x.axes[i], at: idx[i]}
		}
		return t.deeper(bound).entry(d.body, idx[len(d.letters):])
	}
	if base, suffix := t.e.suffix(n.text); suffix != "" {
		return t.indexEntry(indexed(named(base), named(suffix)), idx)
	}
	return t.count()
}

// count is the number of terms of the forward's one mean.
func (t *emitter) count() (notation.Expr, error) {
	m := t.e.mean()
	inner, letters, err := t.reduction(m)
	if err != nil {
		return nil, err
	}
	var out notation.Expr = numeral(1)
	for _, l := range letters {
		out = mul(out, nameNode(t.axis(inner.bound[l].axis)))
	}
	return out, nil
}

func (t *emitter) indexEntry(n *node, idx []notation.Expr) (notation.Expr, error) {
	if _, err := t.indexType(n); err != nil {
		return nil, err
	}
	var at []notation.Expr
	for _, k := range n.kids[1:] {
		if k.kind == span {
			lo, err := t.entry(k.kids[0], nil)
			if err != nil {
				return nil, err
			}
			at, idx = append(at, op("+", idx[0], lo)), idx[1:]
			continue
		}
		p, err := t.entry(k, nil)
		if err != nil {
			return nil, err
		}
		at = append(at, p)
	}
	at = append(at, idx...)
	if n.kids[0].kind == name {
		return t.nameEntry(n.kids[0], at, false)
	}
	return t.entry(n.kids[0], at)
}

var sums = map[string]string{"sum": "Σ", "mean": "mean"}

func (t *emitter) reduceEntry(n *node, idx []notation.Expr) (notation.Expr, error) {
	inner, letters, err := t.reduction(n)
	if err != nil {
		return nil, err
	}
	in := &emitter{inner, t.p}
	var bs []*notation.Binder
	for _, l := range letters {
		b := in.bound[l]
		i := t.fresh("i")
		b.at = nameNode(i)
		in.bound[l] = b
		bs = append(bs, &notation.Binder{Name: word1(i), Range: nameNode(t.axis(b.axis))})
	}
	if len(bs) == 0 {
		x, err := t.typeOf(n.kids[0])
		if err != nil {
			return nil, err
		}
		if len(x.axes) == 0 {
			return nil, misfitf("a sum of a number")
		}
		bs, idx = t.binders(x.axes)
	}
	body, err := in.entry(n.kids[0], idx)
	return &notation.Reduce{Op: sums[n.text], Binders: bs, Body: body}, err
}

func (t *emitter) normEntry(n *node) (notation.Expr, error) {
	x, err := t.typeOf(n.kids[0])
	if err != nil {
		return nil, err
	}
	bs, at := t.binders(x.axes)
	v, err := t.entry(n.kids[0], at)
	if err != nil {
		return nil, err
	}
	return &notation.Call{Fun: word1("sqrt"), Args: []notation.Expr{&notation.Reduce{Op: "Σ", Binders: bs, Body: &notation.Power{X: v, Exp: numeral(2)}}}}, nil
}

var operators = map[string]string{"+": "+", "-": "−", "*": "·", "/": "/", "==": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}

func (t *emitter) binaryEntry(n *node, idx []notation.Expr) (notation.Expr, error) {
	if _, err := t.binaryType(n); err != nil {
		return nil, err
	}
	switch n.text {
	case "@":
		return t.matrixEntry(n, idx)
	case "⊗":
		a, err := t.entry(n.kids[0], idx[:1])
		if err != nil {
			return nil, err
		}
		b, err := t.entry(n.kids[1], idx[1:])
		return mul(a, b), err
	}
	a, err := t.broadcastEntry(n.kids[0], idx)
	if err != nil {
		return nil, err
	}
	b, err := t.broadcastEntry(n.kids[1], idx)
	if err != nil {
		return nil, err
	}
	if n.kind == relation {
		return &notation.Relation{Op: operators[n.text], X: a, Y: b}, nil
	}
	return op(operators[n.text], a, b), nil
}

// matrixEntry is Σ_k A[…,k] B[k,…].
func (t *emitter) matrixEntry(n *node, idx []notation.Expr) (notation.Expr, error) {
	x, err := t.typeOf(n.kids[0])
	if err != nil {
		return nil, err
	}
	rows := len(x.axes) - 1
	bs, at := t.binders(x.axes[rows:])
	a, err := t.entry(n.kids[0], append(slices.Clone(idx[:rows]), at...))
	if err != nil {
		return nil, err
	}
	b, err := t.entry(n.kids[1], append(slices.Clone(at), idx[rows:]...))
	return &notation.Reduce{Op: "Σ", Binders: bs, Body: mul(a, b)}, err
}
