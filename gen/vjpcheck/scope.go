package vjpcheck

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Index letters: what binds them, and the axes that they run over.

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// A letter is a bound index.
type letter struct {
	axis   string
	at     notation.Expr // the index in the notation
	summed bool          // bound by a sum, not by a left-hand side
}

// An extent is the positions of an axis, or those at which a window of a
// length still fits.
type extent struct{ axis, window string }

// inScope binds letters.
func (t *translator) inScope(bound map[string]letter) *translator {
	u := *t
	u.bound = maps.Clone(t.bound)
	maps.Copy(u.bound, bound)
	u.depth++
	return &u
}

// summedLetter is the summed letter at which an array without an index is read, or "".
func (t *translator) summedLetter(x typ) string {
	if len(x.axes) == 0 {
		return ""
	}
	for _, l := range slices.Sorted(keys(t.bound)) {
		if b := t.bound[l]; b.summed && b.axis == x.axes[0] {
			return l
		}
	}
	return ""
}

// position checks one index against an axis; a range keeps an axis of its own.
func (t *translator) position(k *pseudo.Node, axis string) string {
	if k.Kind == pseudo.Span {
		length := spanLength(k)
		t.ranges[k.Kids[0].Text] = extent{axis, length}
		return length
	}
	if k.Kind == pseudo.Name {
		if l, ok := t.bound[k.Text]; ok {
			if l.axis != axis {
				panic(pseudo.Misfitf("%s runs over %s and reads %s", k.Text, l.axis, axis))
			}
			return ""
		}
	}
	if k.Kind == pseudo.Number {
		if k.Value != math.Trunc(k.Value) {
			panic(pseudo.Misfitf("an index that is a fraction"))
		}
		t.least[axis] = max(t.least[axis], int(k.Value)+1)
		return ""
	}
	x := t.array(k)
	if x.elem != integer || len(x.axes) > 0 {
		panic(pseudo.Misfitf("an index that is %s", x))
	}
	for _, text := range t.integerNames(k) {
		t.ranges[text] = extent{axis: axis}
	}
	return ""
}

func (t *translator) integerNames(k *pseudo.Node) []string {
	var out []string
	k.Walk(func(n *pseudo.Node) {
		if n.Kind == pseudo.Name {
			if base := t.e.base(n.Text); t.params[base].elem == integer {
				out = append(out, base)
			}
		}
	})
	return out
}

// spanLength is the name of the length of a range a..a+len.
func spanLength(k *pseudo.Node) string {
	lo, hi := k.Kids[0], k.Kids[1]
	if hi.Kind == pseudo.Binary && hi.Text == "+" && hi.Kids[0].String() == lo.String() && hi.Kids[1].Kind == pseudo.Name && lo.Kind == pseudo.Name {
		return hi.Kids[1].Text
	}
	panic(pseudo.Gapf("a range that is not of the form a..a+length"))
}

// reduction binds the letters of a sum: those it names, or the free ones of
// its body.
func (t *translator) reduction(n *pseudo.Node) (*translator, []string) {
	letters := n.Letters
	if letters == nil {
		letters = t.free(n.Kids[0])
	}
	bound := map[string]letter{}
	for _, l := range letters {
		axis := t.inScope(bound).axisOf(l, n.Kids[0])
		bound[l] = letter{axis: axis, summed: true}
	}
	return t.inScope(bound), letters
}

// free are the letters in the indices of a body that nothing binds.
func (t *translator) free(body *pseudo.Node) []string {
	var out []string
	body.Walk(func(n *pseudo.Node) {
		if n.Kind != pseudo.Index {
			return
		}
		for _, k := range n.Kids[1:] {
			if _, ok := t.bound[k.Text]; k.Kind == pseudo.Name && !ok && t.params[k.Text].elem == 0 && t.e.base(k.Text) == k.Text && !slices.Contains(out, k.Text) {
				out = append(out, k.Text)
			}
		}
	})
	return out
}

// axisOf is the axis that a letter reads in a body.
func (t *translator) axisOf(text string, body *pseudo.Node) string {
	axis := ""
	var why error
	body.Walk(func(n *pseudo.Node) {
		switch {
		case axis != "":
		case n.Kind == pseudo.Index:
			for i, k := range n.Kids[1:] {
				if k.Kind != pseudo.Name || k.Text != text {
					continue
				}
				x, err := attempt(func() array { return t.indexed(n.Kids[0]) })
				if err == nil && i < len(x.axes) {
					axis = x.axes[i]
				} else if why == nil {
					why = err
				}
			}
		case n.Kind == pseudo.Name:
			if base, l := t.e.suffix(n.Text); l == text {
				if x := t.params[base]; len(x.axes) > 0 {
					axis = x.axes[0]
				}
			}
		}
	})
	if axis == "" && why != nil {
		panic(why)
	}
	if axis == "" {
		panic(pseudo.Gapf("the range of the index %s is not known", text))
	}
	return axis
}
