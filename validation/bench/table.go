package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A table has a row for each variant of a pass or product and a column for each
// width. A cell is the time, the share of the core's peak and how many times as
// long as the best variant of its column it takes.

// rowsOf lists the variants of a pass at any width.
func (t *times) rowsOf(name string) (out []string) {
	seen := map[string]bool{}
	for _, d := range widths {
		for _, v := range t.variants(at(name, d)) {
			if !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// best is the least time of a column.
func (t *times) best(name string, d int) float64 {
	least := math.Inf(1)
	for _, v := range t.variants(at(name, d)) {
		least = min(least, t.sum(at(name, d), v))
	}
	return least
}

// header prints the first two lines of a table with a column for each width.
func header(b *strings.Builder, first string) {
	b.WriteString("| " + first + " |")
	for _, d := range widths {
		fmt.Fprintf(b, " d = %d |", d)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(widths)) + "\n")
}

// table prints one.
func (r *report) table(b *strings.Builder, name string) {
	header(b, name)
	for _, v := range r.core.rowsOf(name) {
		b.WriteString("| " + v + " |")
		for _, d := range widths {
			ns := r.core.sum(at(name, d), v)
			if ns == 0 {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(b, " %s µs · %s · %.2f× |", micros(ns), percent(r.share(name, v, d)), ns/r.core.best(name, d))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// two prints the table of one thread and two: the time of each and how many
// times as fast two are.
func (r *report) two(b *strings.Builder, name string) {
	header(b, name)
	for _, v := range r.threads.rowsOf(name) {
		base, ok := strings.CutSuffix(v, threadVariant("", 1))
		if !ok {
			continue
		}
		b.WriteString("| " + base + " |")
		for _, d := range widths {
			one, both := r.threads.sum(at(name, d), v), r.threads.sum(at(name, d), threadVariant(base, 2))
			if one == 0 || both == 0 {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(b, " %s → %s µs · %s |", micros(one), micros(both), r.threads.over(at(name, d), v, threadVariant(base, 2)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// percent prints a share; none if there is no peak.
func percent(x float64) string {
	if x == 0 {
		return "–"
	}
	if x < 0.01 {
		return fmt.Sprintf("%.1f %%", 100*x)
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// figures prints a ratio with two digits after the point, or two that count.
func figures(x float64) string {
	if x < 0.1 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// micros prints nanoseconds as microseconds.
func micros(ns float64) string { return fmt.Sprintf("%.0f", math.Round(ns/1000)) }

func (r ratio) String() string {
	return fmt.Sprintf("%s [%s %s %s]", figures(r.of), figures(r.lo), figures(r.mid), figures(r.hi))
}

// Targets for the emitted rules: against JAX, and for those whose rows depend on each
// other against C that gcc makes fast. The targets of the rest against C are in the
// tables of the recurrences.
const (
	targetC   = 1.5
	targetJAX = 3.0
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
	fmt.Fprintf(b, "\n| rule | d | tokens | C ÷ Go [%s] | JAX ÷ Go [%s] | in order ÷ chunks |\n|---|---|---|---|---|---|\n", figures(targetC), figures(targetJAX))
	for _, m := range family {
		for _, d := range familyWidths {
			if len(r.rules.variants(m.what(d))) == 0 {
				continue
			}
			fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s |\n", m.name, d, m.length(r.tokens, d), r.beside(m, d, variantC, targetC), r.beside(m, d, variantJAX, targetJAX), r.chunks(m, d))
		}
	}
	b.WriteString("\n")
}

// beside is the cell of a rival.
func (r *report) beside(m member, d int, variant string, target float64) string {
	of, found := r.least(m.what(d), variant, goPrefix+inOrder)
	if of == 0 {
		return "–"
	}
	if m.independent && variant == variantC {
		return found
	}
	return found + " " + met(of, target)
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
