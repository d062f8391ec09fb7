package vjpcheck

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Types of expressions: nominal axes, as in the notation.

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// A letter is a bound index.
type letter struct {
	axis   string
	at     notation.Expr // the index in the notation
	summed bool          // bound by a sum, not by a left-hand side
}

// A typer finds the types of expressions of one entry under one guess of shapes.
type typer struct {
	*table
	e      *entry
	params map[string]typ // what the expression may read
	defs   map[string]*definition
	bound  map[string]letter
	ranges map[string]extent // of integer names: where they may point
	least  map[string]int    // sizes that axes have at least, because a fixed position is read
	depth  int
}

// An extent is the positions of an axis, or those at which a window of a
// length still fits.
type extent struct{ axis, window string }

func (t *typer) inScope(bound map[string]letter) *typer {
	u := *t
	u.bound = maps.Clone(t.bound)
	maps.Copy(u.bound, bound)
	u.depth++
	return &u
}

// maxDepth bounds recursive definitions.
const maxDepth = 60

// typeOf finds the type of an expression. It panics with a *pseudo.Error where shapes do
// not agree or something is not defined; attempt recovers it.
func (t *typer) typeOf(n *pseudo.Node) typ {
	if t.depth > maxDepth {
		panic(pseudo.Gapf("its definitions mention each other"))
	}
	switch n.Kind {
	case pseudo.Number:
		return typ{elem: real}
	case pseudo.Name:
		return t.bareType(n)
	case pseudo.Index:
		return t.indexType(n)
	case pseudo.Call:
		return t.callType(n)
	case pseudo.Reduce:
		inner, _ := t.reduction(n)
		x := inner.typeOf(n.Kids[0])
		if len(n.Letters) == 0 && len(inner.bound) == len(t.bound) {
			x.axes = nil // all entries
		}
		return x
	case pseudo.Negate, pseudo.Power:
		return t.typeOf(n.Kids[0])
	case pseudo.Truth:
		return typ{real, t.typeOf(n.Kids[0]).axes}
	case pseudo.Transpose:
		x := t.typeOf(n.Kids[0])
		if len(x.axes) != 2 {
			panic(pseudo.Misfitf("a transpose of %s", x))
		}
		slices.Reverse(x.axes)
		return x
	case pseudo.Norm:
		x := t.typeOf(n.Kids[0])
		if len(x.axes) == 0 {
			panic(pseudo.Misfitf("a norm of a number"))
		}
		return typ{elem: real}
	case pseudo.Binary, pseudo.Relation:
		return t.binaryType(n)
	}
	panic(pseudo.Gapf("a range stands where a value should"))
}

func (x typ) String() string {
	if len(x.axes) == 0 {
		return "a number"
	}
	return strings.Join(x.axes, "×")
}

// nameType is the type of a bare name.
func (t *typer) nameType(n *pseudo.Node) typ {
	text := n.Text
	if l, ok := t.bound[text]; ok {
		if l.axis == "" {
			panic(pseudo.Gapf("the range of an index is not known"))
		}
		return typ{elem: integer}
	}
	if x, ok := t.params[text]; ok {
		return typ{x.elem, slices.Clone(x.axes)}
	}
	if d := t.defs[text]; d != nil {
		return t.definitionType(d)
	}
	if base, suffix := t.e.suffix(text); suffix != "" {
		return t.indexType(pseudo.IndexOf(pseudo.NameOf(base), pseudo.NameOf(suffix)))
	}
	if t.isCount(text) {
		return typ{elem: real}
	}
	panic(pseudo.Gapf("%s is not defined", text))
}

// isCount reports whether a name such as n_valid can only be the number of
// terms of the forward's one mean.
func (t *typer) isCount(text string) bool { return strings.HasPrefix(text, "n_") && t.e.mean() != nil }

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

func (t *typer) definitionType(d *definition) typ {
	bound := map[string]letter{}
	var axes []string
	for _, l := range d.letters {
		axis := t.axisOf(l, d.body)
		bound[l] = letter{axis: axis}
		axes = append(axes, axis)
	}
	x := t.inScope(bound).typeOf(d.body)
	x.axes = append(axes, x.axes...)
	return x
}

// bareType is the type of a name without an index. Inside a sum over t, an array whose
// first axis is that of t is read at t.
func (t *typer) bareType(n *pseudo.Node) typ {
	x := t.nameType(n)
	if t.summedLetter(x) != "" {
		x.axes = x.axes[1:]
	}
	return x
}

// summedLetter is the summed letter at which an array without an index is read, or "".
func (t *typer) summedLetter(x typ) string {
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

// indexedType is the type of an expression before an index; summed letters do not apply to
// a name there.
func (t *typer) indexedType(n *pseudo.Node) typ {
	if n.Kind == pseudo.Name {
		return t.nameType(n)
	}
	return t.typeOf(n)
}

func (t *typer) indexType(n *pseudo.Node) typ {
	x := t.indexedType(n.Kids[0])
	at := n.Kids[1:]
	if len(at) > len(x.axes) {
		panic(pseudo.Misfitf("%d indices on %s", len(at), x))
	}
	var kept []string
	for i, k := range at {
		axis := t.position(k, x.axes[i])
		if axis != "" {
			kept = append(kept, axis)
		}
	}
	return typ{x.elem, append(kept, x.axes[len(at):]...)}
}

// position checks one index against an axis; a range keeps an axis of its own.
func (t *typer) position(k *pseudo.Node, axis string) string {
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
	x := t.typeOf(k)
	if x.elem != integer || len(x.axes) > 0 {
		panic(pseudo.Misfitf("an index that is %s", x))
	}
	for _, text := range t.integerNames(k) {
		t.ranges[text] = extent{axis: axis}
	}
	return ""
}

func (t *typer) integerNames(k *pseudo.Node) []string {
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

func (t *typer) binaryType(n *pseudo.Node) typ {
	x := t.typeOf(n.Kids[0])
	y := t.typeOf(n.Kids[1])
	out := typ{elem: real}
	if n.Kind == pseudo.Relation {
		out.elem = boolean
	}
	switch n.Text {
	case "@":
		return t.matrixType(x, y)
	case "⊗":
		if len(x.axes) != 1 || len(y.axes) != 1 {
			panic(pseudo.Misfitf("an outer product of %s and %s", x, y))
		}
		out.axes = []string{x.axes[0], y.axes[0]}
		return out
	}
	switch {
	case len(x.axes) == 0:
		out.axes = y.axes
	case len(y.axes) == 0 || slices.Equal(x.axes, y.axes):
		out.axes = x.axes
	default:
		panic(pseudo.Misfitf("%s and %s do not have the same shape", x, y))
	}
	return out
}

func (t *typer) matrixType(x, y typ) typ {
	n := len(x.axes)
	if n == 0 || n > 2 || len(y.axes) == 0 || len(y.axes) > 2 || x.axes[n-1] != y.axes[0] {
		panic(pseudo.Misfitf("%s times %s has no product", x, y))
	}
	return typ{real, append(slices.Clone(x.axes[:n-1]), y.axes[1:]...)}
}

// reduction binds the letters of a sum: those it names, or the free ones of
// its body.
func (t *typer) reduction(n *pseudo.Node) (*typer, []string) {
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
func (t *typer) free(body *pseudo.Node) []string {
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
func (t *typer) axisOf(text string, body *pseudo.Node) string {
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
				x, err := attempt(func() typ { return t.indexedType(n.Kids[0]) })
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
