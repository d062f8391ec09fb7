package derive

import (
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// An axis that is a product, d = H × d_h, is read at a pair, x[(h,i)], wherever a part of the
// equation reads its two factors separately. An equation is written with plain indices first, and
// with pairs where it has no such form.

// factors are the axes that an axis is made of on the page, or nil.
func (w *writer) factors(a *ir.Axis) []string {
	for _, x := range w.blk.AxisSeq {
		if ident.ASCII(x.Name) == a.Name && len(x.Factors) > 1 {
			return x.Factors
		}
	}
	return nil
}

// A pairing says where an index over a product axis is a pair.
type pairing int

const (
	noPairs   pairing = iota
	leftPairs         // of an equation
	allPairs          // under Σ too, where the two are indices of their own
)

// pairIndex makes an index over a product axis.
func (w *writer) pairIndex(axes []string) ([]*notation.Binder, notation.Expr) {
	var bs []*notation.Binder
	at := &notation.Tuple{}
	for _, a := range axes {
		n := w.freeLetter(indexLetters, &w.letter)
		bs = append(bs, &notation.Binder{Name: notation.Word{Text: n}, Range: identifier(a)})
		at.Items = append(at.Items, identifier(n))
	}
	return bs, at
}

// sumIndices makes the indices of a sum over an axis.
func (w *writer) sumIndices(a *ir.Axis) ([]*notation.Binder, notation.Expr) {
	if two := w.factors(a); w.pairs == allPairs && two != nil {
		bs, at := w.pairIndex(two)
		return bs, at
	}
	b, i := w.singleIndex(a)
	return []*notation.Binder{b}, i
}

// reshaped is an entry of an array whose axes are those of another one, with two merged
// into one or one split into two.
func (w *writer) reshaped(v *ir.Value, at []notation.Expr) notation.Expr {
	from := v.Def.Args[0].Val
	out, in := w.axes(v), w.axes(from)
	var pos []notation.Expr
	for len(out) > 0 && len(in) > 0 {
		t, pair := at[0].(*notation.Tuple)
		switch {
		case out[0].Size.Equal(in[0].Size):
			pos, at, out, in = append(pos, at[0]), at[1:], out[1:], in[1:]
		case pair && len(t.Items) == 2 && len(in) > 1 && out[0].Size.Equal(in[0].Size.Mul(in[1].Size)):
			pos, at, out, in = append(pos, t.Items...), at[1:], out[1:], in[2:]
		case len(out) > 1 && in[0].Size.Equal(out[0].Size.Mul(out[1].Size)):
			pos, at, out, in = append(pos, &notation.Tuple{Items: at[:2:2]}), at[2:], out[2:], in[1:]
		default:
			panic(noForm("an axis is read as a product of two"))
		}
	}
	if len(out)+len(in) > 0 {
		panic(noForm("an axis of one entry is added or taken away"))
	}
	return w.at(from, pos)
}
