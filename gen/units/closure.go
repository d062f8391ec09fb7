package units

import (
	"reflect"

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
		out := []string{}
		eachWord(reflect.ValueOf(u), func(w string) {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		})
		t.words[u] = out
	}
	return t.words[u]
}

var (
	wordType = reflect.TypeFor[notation.Word]()
	spanType = reflect.TypeFor[notation.Span]()
)

// eachWord calls f for every word below a node. It visits all fields of all nodes by
// reflection, so that no form of the language is left out.
func eachWord(v reflect.Value, f func(string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachWord(v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachWord(v.Index(i), f)
		}
	case reflect.Struct:
		switch v.Type() {
		case wordType:
			f(v.FieldByName("Text").String())
			return
		case spanType:
			return
		}
		for i := range v.NumField() {
			eachWord(v.Field(i), f)
		}
	}
}
