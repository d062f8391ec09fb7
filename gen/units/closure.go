package units

import (
	"maps"
	"reflect"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// A unit is compiled in the tree of the units that it can read: the transitive closure of
// the names in its text (depth-first search). So its meaning is a function of that part of
// the tree, and a result about it is valid until one of these units changes.

// Closure is the part of the tree that the given units can read: they themselves,
// every unit or function that one of them names, and so on; with a knob of
// a formula, also the laws, which no formula names. Hints of messages search
// the whole tree.
func (t *Tree) Closure(roots ...*notation.Unit) *Tree {
	in := map[*notation.Unit]bool{}
	var visit func(u *notation.Unit)
	visit = func(u *notation.Unit) {
		if in[u] {
			return
		}
		in[u] = true
		for _, name := range t.mentioned(u) {
			if v := t.Units[name]; v != nil {
				visit(v)
			}
		}
		if IsKnob(u) {
			for _, law := range t.Kinds(notation.LawUnit) {
				visit(law)
			}
		}
	}
	for _, u := range roots {
		visit(u)
	}
	out := &Tree{Units: map[string]*notation.Unit{}, whole: t.Whole()}
	for _, u := range t.Order {
		if in[u] {
			out.Units[u.Name.Text] = u
			out.Order = append(out.Order, u)
		}
	}
	return out
}

// Whole is the tree that a closure was taken from, or the tree itself.
func (t *Tree) Whole() *Tree {
	if t.whole != nil {
		return t.whole
	}
	return t
}

// mentioned are the words of a unit, each once.
func (t *Tree) mentioned(u *notation.Unit) []string {
	if t.words == nil {
		t.words = map[*notation.Unit][]string{}
	}
	if t.words[u] == nil {
		seen := map[string]bool{}
		notation.Inspect(u, func(n any) bool {
			for _, w := range wordsOf(n) {
				seen[w.Text] = true
			}
			return true
		})
		t.words[u] = slices.Sorted(maps.Keys(seen))
	}
	return t.words[u]
}

// wordsOf are the words in the fields of a node, by reflection, so that no form of the
// language is left out.
func wordsOf(node any) (out []notation.Word) {
	v := reflect.ValueOf(node).Elem()
	for i := range v.NumField() {
		switch w := v.Field(i).Interface().(type) {
		case notation.Word:
			out = append(out, w)
		case *notation.Word:
			if w != nil {
				out = append(out, *w)
			}
		case []notation.Word:
			out = append(out, w...)
		case []*notation.Word:
			for _, x := range w {
				out = append(out, *x)
			}
		}
	}
	return out
}
