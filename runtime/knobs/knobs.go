// Package knobs says which choices of the knobs of a memory rule go together: its
// structure, bias, retention and algorithm. The table is that of the pages; the
// generated package safety has it, with a type for each value, so that an illegal
// combination does not compile. Check is for choices that are known at run time.
package knobs

import (
	"cmp"
	"slices"
	"strings"
)

// A Slot is a place in the formula of a rule.
type Slot struct {
	Word   string
	Values []string // in the order of the pages
}

// A Need says that one value goes only with some values of another slot.
type Need struct {
	Slot   int
	By     string // the value that requires
	Of     int    // the other slot
	Mark   string // the property that is required
	Reason string // the page's sentence
	Meets  []string
}

// A Table is the slots of a formula and what their values require of one another, in
// the order of the slots.
type Table struct {
	Slots []Slot
	Needs []Need
}

// Illegal says why a combination is refused, in the words of the page.
type Illegal struct {
	Slot, Value   string // what requires
	Other, Choice string // the slot that decides, and its value
	Mark          string // the property that is missing
	Reason        string // the page's sentence
	Instead       []string
}

func (e *Illegal) Error() string {
	return e.Slot + " " + e.Value + " does not go with " + e.Other + " " + e.Choice + ": " + e.Reason +
		" (" + e.Mark + " is provided by " + list(e.Instead) + ")"
}

// Unknown says that a slot has no value of this name.
type Unknown struct {
	Slot, Value string
	Known       []string
}

func (e *Unknown) Error() string {
	return "there is no " + e.Slot + " " + e.Value + "; there are " + list(e.Known)
}

func list(names []string) string { return cmp.Or(strings.Join(names, ", "), "nothing") }

// Check reports whether choices, one of each slot, go together: nil, an *Unknown or the
// first *Illegal.
func (t *Table) Check(chosen ...string) error {
	for i, s := range t.Slots {
		if !slices.Contains(s.Values, chosen[i]) {
			return &Unknown{Slot: s.Word, Value: chosen[i], Known: t.Names(s.Word)}
		}
	}
	if bad := t.Unmet(chosen); len(bad) > 0 {
		return bad[0]
	}
	return nil
}

// Unmet lists what the choices require of one another and do not get.
func (t *Table) Unmet(chosen []string) []*Illegal {
	var out []*Illegal
	for _, n := range t.Needs {
		if chosen[n.Slot] == n.By && !slices.Contains(n.Meets, chosen[n.Of]) {
			out = append(out, &Illegal{Slot: t.Slots[n.Slot].Word, Value: n.By, Other: t.Slots[n.Of].Word, Choice: chosen[n.Of],
				Mark: n.Mark, Reason: n.Reason, Instead: slices.Clone(n.Meets)})
		}
	}
	return out
}

// Names returns the values of a slot, in the order of the pages; nil when there is no
// such slot.
func (t *Table) Names(slot string) []string {
	for _, s := range t.Slots {
		if s.Word == slot {
			return slices.Clone(s.Values)
		}
	}
	return nil
}
