// Package units holds the units of all pages: which there are, which of them a unit
// can read, and how a formula puts them together. It knows the text of a unit and
// nothing about what its equations mean.
package units

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Tree is all units of all pages.
type Tree struct {
	Units map[string]*notation.Unit
	Order []*notation.Unit // by page, then by place

	whole *Tree                       // of a closure: the tree that it was taken from
	words map[*notation.Unit][]string // in a unit, if they were asked for
}

// Collect gathers the units of pages.
func Collect(files []*notation.File) (*Tree, diag.List) {
	var ds diag.List
	t := &Tree{Units: map[string]*notation.Unit{}}
	ids := map[string]*notation.Unit{}
	for _, f := range files {
		for _, u := range f.Units {
			name := u.Name.Text
			if old := t.Units[name]; old != nil {
				ds.Errorf(diag.DuplicateName, u.Name.Span, "%s is defined twice", name).
					See(old.Name.Span, "first defined here").Hint("a name is defined once in a project and the library that it stands on: give one of them another name")
				continue
			}
			place := placeOf(u)
			if old := ids[place]; old != nil {
				ds.Errorf(diag.ReservedName, u.Name.Span, "%s and %s are both emitted as %s", name, old.Name.Text, place).
					See(old.Name.Span, "the other one").Hint("rename one of them")
				continue
			}
			reason := ident.Reserved(ident.ID(name))
			if pkg, ok := strings.CutPrefix(place, "package "); ok && reason == "" && ident.Imported(pkg) {
				reason = "generated code imports another package of this name"
			}
			if reason != "" {
				ds.Errorf(diag.ReservedName, u.Name.Span, "%s cannot be emitted: %s", name, reason).Hint("choose another name")
				continue
			}
			t.Units[name], ids[place] = u, u
			t.Order = append(t.Order, u)
		}
	}
	return t, ds
}

// placeOf is what a unit is emitted as: a package, whose name is one word, or a file.
func placeOf(u *notation.Unit) string {
	switch u.Kind {
	case notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit, notation.UpdateUnit:
		return "package " + strings.ReplaceAll(ident.ID(u.Name.Text), "_", "")
	}
	return ID(u)
}

// ID is the stable id of a unit. A function, which leads to no code of its own,
// may differ from an operation in letter case alone: name() is the function, name is NAME.
func ID(u *notation.Unit) string {
	if u.Kind == notation.FuncUnit {
		return ident.ID(u.Name.Text) + "()"
	}
	return ident.ID(u.Name.Text)
}

// Kinds returns the units of a kind, in page order.
func (t *Tree) Kinds(k notation.UnitKind) []*notation.Unit {
	return slices.DeleteFunc(slices.Clone(t.Order), func(u *notation.Unit) bool { return u.Kind != k })
}

// manyNames is how many names a hint lists.
const manyNames = 6

// Suggest adds a hint to a message about a name that does not exist: the
// nearest one that does, or all of them if they are few.
func Suggest(d *diag.Diagnostic, name string, names []string) {
	if n := ident.Nearest(name, names); n != "" {
		d.Hint("did you mean %s?", n)
	} else if len(names) > 0 && len(names) <= manyNames {
		d.Hint("known here: %s", strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", "))
	}
}

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
	for _, field := range v.Fields() {
		switch w := field.Interface().(type) {
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
