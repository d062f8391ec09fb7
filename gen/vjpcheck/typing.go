package vjpcheck

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// A letter is a bound index.
type letter struct {
	axis   string
	at     notation.Expr // what stands for it in the notation
	summed bool          // bound by a sum, not by a left-hand side
}

// A typer finds the types of expressions of one entry under one reading.
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

func (t *typer) with(bound map[string]letter) *typer {
	u := *t
	u.bound = maps.Clone(t.bound)
	maps.Copy(u.bound, bound)
	u.depth++
	return &u
}

// maxDepth bounds definitions that mention each other.
const maxDepth = 60

// typeOf finds the type of an expression. A misfit error says that shapes do
// not go together, a gap that something is not defined.
func (t *typer) typeOf(n *node) (typ, error) {
	if t.depth > maxDepth {
		return typ{}, open("its definitions mention each other")
	}
	switch n.kind {
	case number:
		return typ{elem: real}, nil
	case name:
		return t.lifted(n)
	case index:
		return t.indexType(n)
	case call:
		return t.callType(n)
	case reduce:
		inner, _, err := t.reduction(n)
		if err != nil {
			return typ{}, err
		}
		x, err := inner.typeOf(n.kids[0])
		if err == nil && len(n.letters) == 0 && len(inner.bound) == len(t.bound) {
			x.axes = nil // all entries
		}
		return x, err
	case negate:
		return t.typeOf(n.kids[0])
	case power:
		return t.typeOf(n.kids[0])
	case truth:
		x, err := t.typeOf(n.kids[0])
		x.elem = real
		return x, err
	case transpose:
		x, err := t.typeOf(n.kids[0])
		if err == nil && len(x.axes) != 2 {
			return x, misfitf("a transpose of %s", x)
		}
		slices.Reverse(x.axes)
		return x, err
	case norm:
		x, err := t.typeOf(n.kids[0])
		if err == nil && len(x.axes) == 0 {
			return x, misfitf("a norm of a number")
		}
		return typ{elem: real}, err
	case binary, relation:
		return t.binaryType(n)
	}
	return typ{}, open("a range stands where a value should")
}

func (x typ) String() string {
	if len(x.axes) == 0 {
		return "a number"
	}
	return strings.Join(x.axes, "×")
}

// nameType is the type of a bare name.
func (t *typer) nameType(n *node) (typ, error) {
	text := n.text
	if l, ok := t.bound[text]; ok {
		return typ{elem: integer, axes: nil}, checkAxis(l)
	}
	if x, ok := t.params[text]; ok {
		return typ{x.elem, slices.Clone(x.axes)}, nil
	}
	if d := t.defs[text]; d != nil {
		return t.definitionType(d)
	}
	if base, suffix := t.e.suffix(text); suffix != "" {
		return t.indexType(indexed(named(base), named(suffix)))
	}
	if t.isCount(text) {
		return typ{elem: real}, nil
	}
	return typ{}, open("%s is not defined", text)
}

func checkAxis(l letter) error {
	if l.axis == "" {
		return open("the range of an index is not known")
	}
	return nil
}

// isCount reports whether a name such as n_valid can only be the number of
// terms of the forward's one mean.
func (t *typer) isCount(text string) bool { return strings.HasPrefix(text, "n_") && t.e.mean() != nil }

// mean is the one mean of the forward, or nil.
func (e *entry) mean() *node {
	var found []*node
	for _, b := range e.bodies() {
		b.walk(func(n *node) {
			if n.kind == reduce && n.text == "mean" {
				found = append(found, n)
			}
		})
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

func (t *typer) definitionType(d *definition) (typ, error) {
	bound := map[string]letter{}
	var axes []string
	for _, l := range d.letters {
		axis, err := t.axisOf(l, d.body)
		if err != nil {
			return typ{}, err
		}
		bound[l] = letter{axis: axis}
		axes = append(axes, axis)
	}
	x, err := t.with(bound).typeOf(d.body)
	x.axes = append(axes, x.axes...)
	return x, err
}

// lifted is the type of a bare name. Inside a sum over t, an array whose first
// axis is that of t and which stands without an index is read at t.
func (t *typer) lifted(n *node) (typ, error) {
	x, err := t.nameType(n)
	if err == nil && t.lift(x) != "" {
		x.axes = x.axes[1:]
	}
	return x, err
}

// lift is the summed letter at which a bare array is read, or "".
func (t *typer) lift(x typ) string {
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

// head is the type of what stands before an index: a name is not lifted.
func (t *typer) head(n *node) (typ, error) {
	if n.kind == name {
		return t.nameType(n)
	}
	return t.typeOf(n)
}

func (t *typer) indexType(n *node) (typ, error) {
	x, err := t.head(n.kids[0])
	if err != nil {
		return x, err
	}
	at := n.kids[1:]
	if len(at) > len(x.axes) {
		return x, misfitf("%d indices on %s", len(at), x)
	}
	var kept []string
	for i, k := range at {
		axis, err := t.position(k, x.axes[i])
		if err != nil {
			return x, err
		}
		if axis != "" {
			kept = append(kept, axis)
		}
	}
	return typ{x.elem, append(kept, x.axes[len(at):]...)}, nil
}

// position checks one index against an axis; a range keeps an axis of its own.
func (t *typer) position(k *node, axis string) (string, error) {
	if k.kind == span {
		length, err := spanLength(k)
		t.ranges[k.kids[0].text] = extent{axis, length}
		return length, err
	}
	if k.kind == name {
		if l, ok := t.bound[k.text]; ok {
			if l.axis != axis {
				return "", misfitf("%s runs over %s and reads %s", k.text, l.axis, axis)
			}
			return "", nil
		}
	}
	if k.kind == number {
		if k.value != math.Trunc(k.value) {
			return "", misfitf("an index that is a fraction")
		}
		t.least[axis] = max(t.least[axis], int(k.value)+1)
		return "", nil
	}
	x, err := t.typeOf(k)
	if err != nil {
		return "", err
	}
	if x.elem != integer || len(x.axes) > 0 {
		return "", misfitf("an index that is %s", x)
	}
	for _, text := range t.integerNames(k) {
		t.ranges[text] = extent{axis: axis}
	}
	return "", nil
}

func (t *typer) integerNames(k *node) []string {
	var out []string
	k.walk(func(n *node) {
		if n.kind == name {
			if base := t.e.base(n.text); t.params[base].elem == integer {
				out = append(out, base)
			}
		}
	})
	return out
}

// spanLength is the name of the length of a range a..a+len.
func spanLength(k *node) (string, error) {
	lo, hi := k.kids[0], k.kids[1]
	if hi.kind == binary && hi.text == "+" && hi.kids[0].String() == lo.String() && hi.kids[1].kind == name && lo.kind == name {
		return hi.kids[1].text, nil
	}
	return "", open("a range that is not of the form a..a+length")
}

func (t *typer) binaryType(n *node) (typ, error) {
	x, err := t.typeOf(n.kids[0])
	if err != nil {
		return x, err
	}
	y, err := t.typeOf(n.kids[1])
	if err != nil {
		return y, err
	}
	out := typ{elem: real}
	if n.kind == relation {
		out.elem = boolean
	}
	switch n.text {
	case "@":
		return t.matrixType(x, y)
	case "⊗":
		if len(x.axes) != 1 || len(y.axes) != 1 {
			return out, misfitf("an outer product of %s and %s", x, y)
		}
		out.axes = []string{x.axes[0], y.axes[0]}
		return out, nil
	}
	switch {
	case len(x.axes) == 0:
		out.axes = y.axes
	case len(y.axes) == 0 || slices.Equal(x.axes, y.axes):
		out.axes = x.axes
	default:
		return out, misfitf("%s and %s do not have the same shape", x, y)
	}
	return out, nil
}

func (t *typer) matrixType(x, y typ) (typ, error) {
	n := len(x.axes)
	if n == 0 || n > 2 || len(y.axes) == 0 || len(y.axes) > 2 || x.axes[n-1] != y.axes[0] {
		return typ{}, misfitf("%s times %s has no product", x, y)
	}
	return typ{real, append(slices.Clone(x.axes[:n-1]), y.axes[1:]...)}, nil
}

// reduction binds the letters of a sum: those it names, or the free ones of
// its body.
func (t *typer) reduction(n *node) (*typer, []string, error) {
	letters := n.letters
	if letters == nil {
		letters = t.free(n.kids[0])
	}
	bound := map[string]letter{}
	for _, l := range letters {
		axis, err := t.with(bound).axisOf(l, n.kids[0])
		if err != nil {
			return nil, nil, err
		}
		bound[l] = letter{axis: axis, summed: true}
	}
	return t.with(bound), letters, nil
}

// free are the letters in the indices of a body that nothing binds.
func (t *typer) free(body *node) []string {
	var out []string
	body.walk(func(n *node) {
		if n.kind != index {
			return
		}
		for _, k := range n.kids[1:] {
			if _, ok := t.bound[k.text]; k.kind == name && !ok && t.params[k.text].elem == 0 && t.e.base(k.text) == k.text && !slices.Contains(out, k.text) {
				out = append(out, k.text)
			}
		}
	})
	return out
}

// axisOf is the axis that a letter reads in a body.
func (t *typer) axisOf(text string, body *node) (string, error) {
	axis := ""
	var why error
	body.walk(func(n *node) {
		switch {
		case axis != "":
		case n.kind == index:
			for i, k := range n.kids[1:] {
				if k.kind != name || k.text != text {
					continue
				}
				x, err := t.head(n.kids[0])
				if err == nil && i < len(x.axes) {
					axis = x.axes[i]
				} else if why == nil {
					why = err
				}
			}
		case n.kind == name:
			if base, l := t.e.suffix(n.text); l == text {
				if x := t.params[base]; len(x.axes) > 0 {
					axis = x.axes[0]
				}
			}
		}
	})
	if axis == "" && why != nil {
		return "", why
	}
	if axis == "" {
		return "", open("the range of the index %s is not known", text)
	}
	return axis, nil
}
