package main

import (
	"fmt"
	"math"
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
