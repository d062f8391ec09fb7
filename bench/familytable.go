package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What is asked of the emitted rules: of those whose rows do not see each other,
// and of the others, beside C that gcc makes fast; and beside JAX.
const (
	askedC   = 1.5
	askedJAX = 3.0
)

// rules prints the table of all rules: how many times as long as the emitted code
// the others take, by the least time of all rounds, in brackets the quartiles
// of single rounds.
func (r *report) family(b *strings.Builder) {
	fmt.Fprintf(b, "The rules, forward and backward of %d tokens (Atlas Omega: of %d, %d and %d), one thread, float32, least time of all\n"+
		"rounds, in brackets the quartiles of single rounds. C is what %s makes of the textbook, all states stored.\n\n",
		tokens, fewer(64), fewer(128), fewer(256), fastFlags)
	for _, v := range slices.Sorted(maps.Keys(r.far)) {
		d := r.far[v]
		fmt.Fprintf(b, "- %s is at most %.1e from float64 (%s of %s).\n", v, d.relative, d.name, d.at)
	}
	fmt.Fprintf(b, "\n| rule | d | C ÷ Go [%s] | JAX ÷ Go [%s] | in order ÷ chunks |\n|---|---|---|---|---|\n", figures(askedC), figures(askedJAX))
	for _, m := range family {
		for _, d := range familyWidths {
			if len(r.rules.variants(m.what(d))) == 0 {
				continue
			}
			fmt.Fprintf(b, "| %s | %d | %s | %s | %s |\n", m.name, d, r.beside(m, d, variantC, askedC), r.beside(m, d, variantJAX, askedJAX), r.chunks(m, d))
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
