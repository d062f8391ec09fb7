package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The tables of combinations are derived from the table that the types of
// generated/safety are made from.

// combinations makes a table of legal pairs for every two slots.
func (d *collector) combinations() {
	c := d.table.Choices()
	all, legal := 0, 0
	together := map[[2]string]bool{}
	for _, t := range d.table.Tuples() {
		all++
		if !t.Legal() {
			continue
		}
		legal++
		for i, a := range t.Names() {
			for _, b := range t.Names()[i+1:] {
				together[[2]string{a, b}] = true
			}
		}
	}
	d.site.Counts = fmt.Sprintf("%d combinations of a structure, a bias, a retention and an algorithm, %d of them legal.", all, legal)
	for i := range c.Slots {
		for j := i + 1; j < len(c.Slots); j++ {
			if len(c.Slots[i].Values) == 0 || len(c.Slots[j].Values) == 0 {
				continue
			}
			p := &Pairs{Title: upperFirst(c.Slots[i].Word) + " and " + c.Slots[j].Word}
			for _, v := range c.Slots[j].Values {
				p.Cols = append(p.Cols, linkTo(v.Name))
			}
			for _, v := range c.Slots[i].Values {
				row := PairRow{Link: linkTo(v.Name)}
				for _, w := range c.Slots[j].Values {
					text, reasons := pairing(c, i, v.Name, j, w.Name, together[[2]string{v.Name, w.Name}])
					for _, r := range reasons {
						text += fmt.Sprintf(" [%d]", d.reason(r))
					}
					row.Cells = append(row.Cells, text)
				}
				p.Rows = append(p.Rows, row)
			}
			d.site.Pairs = append(d.site.Pairs, p)
		}
	}
}

func linkTo(name string) Link { return Link{Name: name, ID: ident.ID(name)} }

// reason is the number of a sentence.
func (d *collector) reason(text string) int {
	i := slices.Index(d.site.Reasons, text)
	if i < 0 {
		i = len(d.site.Reasons)
		d.site.Reasons = append(d.site.Reasons, text)
	}
	return i + 1
}

// pairing reports whether a value of slot i may be combined with one of slot j: always,
// with a further value, or never, with the reasons.
func pairing(c *abi.Choices, i int, a string, j int, b string, together bool) (text string, reasons []string) {
	var with, own []string
	for _, n := range c.Needs {
		mine := n.Slot == i && n.By == a
		yours := n.Slot == j && n.By == b
		if !mine && !yours {
			continue
		}
		other, slot := b, j
		if yours {
			other, slot = a, i
		}
		switch {
		case n.Of == slot && slices.Contains(n.Meets, other):
		case n.Of == slot:
			reasons = append(reasons, n.By+": "+n.Reason)
		case len(n.Meets) > 0:
			with = append(with, strings.Join(n.Meets, " or "))
			own = append(own, n.By+": "+n.Reason)
		default:
			own = append(own, n.By+": "+n.Reason)
		}
	}
	switch {
	case together && len(with) == 0:
		return "yes", nil
	case together:
		slices.Sort(with)
		return "with " + strings.Join(slices.Compact(with), " and "), nil
	case len(reasons) == 0:
		reasons = own
	}
	return "no", reasons
}

// partners lists for a knob the values of the other slots.
func (d *collector) partners(e *Entry, u *notation.Unit) {
	c := d.table.Choices()
	me := slices.IndexFunc(c.Slots, func(s abi.Slot) bool { return s.Word == e.Kind })
	if me < 0 {
		return
	}
	together := map[string]bool{}
	for _, t := range d.table.Tuples() {
		if t.Legal() && t.Knobs[me] == u {
			for _, n := range t.Names() {
				together[n] = true
			}
		}
	}
	for j, s := range c.Slots {
		if j == me {
			continue
		}
		for _, v := range s.Values {
			text, reasons := pairing(c, me, e.Name, j, v.Name, together[v.Name])
			e.Partners = append(e.Partners, Partner{Slot: s.Word, Link: linkTo(v.Name), Legal: text, Reason: strings.Join(reasons, "; ")})
		}
	}
}
