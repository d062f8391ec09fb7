package vjpcheck

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// The operation of the notation that an expression becomes, while it is written.

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

// fresh names are v1, i2, …: nothing of the page's spelling reaches the
// notation, so no name can collide with one of its words.
func (t *translator) fresh(kind string) string {
	t.operation.seq++
	return fmt.Sprintf("%s%d", kind, t.operation.seq)
}

func wordOf(text string) notation.Word     { return notation.Word{Text: text} }
func nameNode(text string) *notation.Ident { return &notation.Ident{Name: wordOf(text)} }
func numeral(x float64) *notation.Number   { return &notation.Number{Value: x, Text: fmt.Sprint(x)} }
func mul(a, b notation.Expr) notation.Expr { return op("·", a, b) }

func op(sign string, a, b notation.Expr) notation.Expr { return &notation.Binary{Op: sign, X: a, Y: b} }

// axis is the notation's name of an axis.
func (t *translator) axis(text string) string {
	if t.operation.axes[text] == "" {
		t.operation.axes[text] = fmt.Sprintf("n%d", len(t.operation.axes)+1)
	}
	return t.operation.axes[text]
}

// param is the notation's name of a parameter.
func (t *translator) param(text string) string {
	if t.operation.idents[text] == "" {
		t.operation.idents[text] = fmt.Sprintf("p%d", len(t.operation.idents)+1)
		t.operation.order = append(t.operation.order, text)
	}
	return t.operation.idents[text]
}

// binders make one index per axis.
func (t *translator) binders(axes []string) ([]*notation.Binder, []notation.Expr) {
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
func (t *translator) define(bs []*notation.Binder, body notation.Expr) string {
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
