package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What is asked of the emitted rules: beside JAX, and of those whose rows see each
// other beside C that gcc makes fast. What is asked of the rest beside C is in the
// tables of the recurrences.
const (
	askedC   = 1.5
	askedJAX = 3.0
)

// family prints the table of all rules: how many times as long as the emitted code
// the others take, by the least time of all rounds, in brackets the quartiles
// of single rounds.
func (r *report) family(b *strings.Builder) {
	fmt.Fprintf(b, "The rules, forward and backward of %d tokens (of Atlas Omega fewer), one thread, float32,\n"+
		"least time of all rounds, in brackets the quartiles of single rounds. C is what %s makes of the\n"+
		"textbook, all states stored.\n\n", r.tokens, fastFlags)
	for _, v := range slices.Sorted(maps.Keys(r.far)) {
		d := r.far[v]
		fmt.Fprintf(b, "- %s is at most %.1e from float64 (%s of %s).\n", v, d.relative, d.name, d.at)
	}
	fmt.Fprintf(b, "\n| rule | d | tokens | C ÷ Go [%s] | JAX ÷ Go [%s] | in order ÷ chunks |\n|---|---|---|---|---|---|\n", figures(askedC), figures(askedJAX))
	for _, m := range family {
		for _, d := range familyWidths {
			if len(r.rules.variants(m.what(d))) == 0 {
				continue
			}
			fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s |\n", m.name, d, m.length(r.tokens, d), r.beside(m, d, variantC, askedC), r.beside(m, d, variantJAX, askedJAX), r.chunks(m, d))
		}
	}
	b.WriteString("\n")
}

// beside is the cell of a rival.
func (r *report) beside(m member, d int, variant string, asked float64) string {
	of, found := r.least(m.what(d), variant, goPrefix+inOrder)
	if of == 0 {
		return "–"
	}
	if m.independent && variant == variantC {
		return found
	}
	return found + " " + met(of, asked)
}

// chunks is the cell of the exact chunks.
func (r *report) chunks(m member, d int) string {
	var cells []string
	for _, v := range r.rules.variants(m.what(d)) {
		if name, ok := strings.CutPrefix(v, goPrefix); ok && name != inOrder {
			_, found := r.least(m.what(d), goPrefix+inOrder, v)
			cells = append(cells, found+" ("+name+")")
		}
	}
	if cells == nil {
		return "–"
	}
	return strings.Join(cells, ", ")
}

// least compares the least times of two variants.
func (r *report) least(what, variant, against string) (float64, string) {
	a, b := r.rules.slices(what, variant), r.rules.slices(what, against)
	if len(a) == 0 || len(b) == 0 {
		return 0, ""
	}
	of, q := shortest(a[0])/shortest(b[0]), quotient(a, b)
	return of, fmt.Sprintf("%s [%s %s %s]", figures(of), figures(q.lo), figures(q.mid), figures(q.hi))
}

// shortest is the least time that was not skipped.
func shortest(ns []int64) float64 {
	least := int64(skipped)
	for _, x := range ns {
		if x != skipped && (least == skipped || x < least) {
			least = x
		}
	}
	return float64(least)
}
