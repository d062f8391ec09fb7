// Package safety derives from the pages of knobs which knobs may be combined in a formula.
//
// The pages are the only source: a knob requires properties, each with a reason, and other
// knobs provide them. Each requirement must be decided by the choice for one other slot of the
// formula, so that the table can be given to the Go compiler as constraints on pairs of types;
// a requirement that two slots could meet is refused.
//
// The table is verified by building rules of the combinations that it allows (build.go), of a
// covering array of them in every run (cover.go).
package safety

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// slots are the kinds of the knobs of a formula in order.
var slots = []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}

// A Table says which combinations of the knobs of a tree are legal.
type Table struct {
	tree    *units.Tree
	knobs   [][]*notation.Unit // by slot
	choices abi.Choices
}

// New reads the table from the pages.
func New(tree *units.Tree) (*Table, diag.List) {
	var ds diag.List
	t := &Table{tree: tree}
	for _, k := range slots {
		knobs := slices.DeleteFunc(tree.Kinds(k), func(u *notation.Unit) bool { return u.Example })
		t.knobs = append(t.knobs, knobs)
		s := abi.Slot{Word: k.String()}
		for _, u := range knobs {
			s.Values = append(s.Values, abi.Choice{Name: u.Name.Text, Page: u.Span.File.Path})
		}
		t.choices.Slots = append(t.choices.Slots, s)
	}
	for i, knobs := range t.knobs {
		for _, u := range knobs {
			for _, v := range units.Requirements(u) {
				t.need(i, v, &ds)
			}
		}
	}
	return t, ds
}

// need adds a requirement with the slot that decides it and the knobs that meet it.
func (t *Table) need(slot int, v units.Violation, ds *diag.List) {
	n := abi.Need{Slot: slot, By: v.By.Name.Text, Of: -1, Mark: v.Mark.Name.Text, Reason: v.Reason()}
	for i, knobs := range t.knobs {
		for _, u := range knobs {
			if i == slot || !units.Meets(u, n.Mark) {
				continue
			}
			if n.Of >= 0 && n.Of != i {
				ds.Errorf(diag.EitherOr, v.Line.Span, "%s may come from a %s or from a %s", n.Mark, t.choices.Slots[n.Of].Word, t.choices.Slots[i].Word).
					See(u.Name.Span, "%s provides it", u.Name.Text).Hint("give the two properties names of their own")
				return
			}
			n.Of = i
			n.Meets = append(n.Meets, u.Name.Text)
		}
	}
	if n.Of < 0 { // no knob provides it, and so none of the first other slot
		n.Of = 0
		if slot == 0 {
			n.Of = 1
		}
	}
	t.choices.Needs = append(t.choices.Needs, n)
}

// Choices is the table in the form that emitters read.
func (t *Table) Choices() *abi.Choices { return &t.choices }

// A Tuple is one combination: a knob for each slot, and the requirements that it violates.
type Tuple struct {
	Knobs []*notation.Unit
	Why   []units.Violation
}

// Legal reports whether the combination violates no requirement.
func (t Tuple) Legal() bool { return len(t.Why) == 0 }

// Names are the names of the knobs.
func (t Tuple) Names() []string {
	var out []string
	for _, u := range t.Knobs {
		out = append(out, u.Name.Text)
	}
	return out
}

func (t Tuple) String() string { return strings.Join(t.Names(), " + ") }

// Tuples are all combinations with their violations.
func (t *Table) Tuples() []Tuple {
	out := []Tuple{{}}
	for _, knobs := range t.knobs {
		var next []Tuple
		for _, o := range out {
			for _, u := range knobs {
				next = append(next, Tuple{Knobs: append(slices.Clone(o.Knobs), u)})
			}
		}
		out = next
	}
	for i := range out {
		out[i].Why = units.Violations(out[i].Knobs)
	}
	return out
}
