package sweep

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Markdown writes the report: the counts, the share, what degenerates and in
// what way, for each value of each knob, and one line for each combination.
func (s Summary) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Sweep of the knobs\n\n")
	fmt.Fprintf(&b, "%d combinations of the knobs, %d legal, %d compiled, proved and run. %d fail. %s.\n\n", s.Combinations, s.Legal, len(s.Rows), s.Failed(), s.Verdict())
	fmt.Fprintf(&b, "A combination degenerates when, from its own start, within a horizon: a number is not finite; the root mean square of a state's entries exceeds %g; a state's is below %g; at least %g of a gate's values lie within %g of an end of its range; or the output deviates from its mean over tokens by less than %g of its size.\n\n",
		StateBound, StateFloor, SaturatedFrom, GateNear, ConstantBelow)
	s.reasons(&b)
	s.byKnob(&b)
	b.WriteString("## Combinations\n\n| structure | bias | retention | algorithm | proof | worst gradient error | ")
	if len(s.Rows) > 0 {
		for _, h := range s.Rows[0].Horizons {
			fmt.Fprintf(&b, "state, output after %d | ", h.Steps)
		}
	}
	b.WriteString("finding |\n" + strings.Repeat("|---", 6+s.horizons()) + "|---|\n")
	for _, r := range s.Rows {
		fmt.Fprintf(&b, "| %s | %s | %.1e |", strings.Join(r.Knobs, " | "), r.proof(), r.Worst)
		for i := range s.horizons() {
			if i < len(r.Horizons) && r.Horizons[i].Finite {
				fmt.Fprintf(&b, " %.2g, %.2g |", r.Horizons[i].State, r.Horizons[i].Output)
			} else {
				b.WriteString(" – |")
			}
		}
		fmt.Fprintf(&b, " %s |\n", cell(r.finding()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Summary) horizons() int {
	if len(s.Rows) == 0 {
		return 0
	}
	return len(s.Rows[0].Horizons)
}

func (r Row) proof() string {
	if r.Problem != "" {
		return "failed"
	}
	return fmt.Sprintf("%d proved, %d tested", r.Proved, r.Tested)
}

// finding is the problem of a row, or how it degenerates.
func (r Row) finding() string {
	var parts []string
	for _, p := range []string{strings.TrimSpace(r.Problem + " " + r.Fact), r.Degenerate()} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if r.Unstable {
		parts = append(parts, "no numbers at the proof's random parameters")
	}
	return strings.Join(parts, "; ")
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// reasons counts the ways to degenerate and to fail.
func (s Summary) reasons(b *strings.Builder) {
	counts := map[string]int{}
	for _, r := range s.Rows {
		if d := r.Degenerate(); d != "" {
			counts["degenerate: "+d]++
		}
		if r.Problem != "" {
			counts["failed: "+r.Problem]++
		}
	}
	if len(counts) == 0 {
		return
	}
	b.WriteString("## What was found\n\n| finding | combinations |\n|---|---|\n")
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b, "| %s | %d |\n", cell(k), counts[k])
	}
	b.WriteByte('\n')
}

// byKnob gives each value of each knob the share of its combinations that
// degenerate: where one knob does it alone, its line shows it.
func (s Summary) byKnob(b *strings.Builder) {
	b.WriteString("## By knob\n\n| knob | value | combinations | degenerate | failed |\n|---|---|---|---|---|\n")
	for i, word := range []string{"structure", "bias", "retention", "algorithm"} {
		var order []string
		of := map[string][]Row{}
		for _, r := range s.Rows {
			if of[r.Knobs[i]] == nil {
				order = append(order, r.Knobs[i])
			}
			of[r.Knobs[i]] = append(of[r.Knobs[i]], r)
		}
		for _, v := range order {
			part := Summary{Rows: of[v]}
			fmt.Fprintf(b, "| %s | %s | %d | %d | %d |\n", word, v, len(part.Rows), part.Degenerate(), part.Failed())
		}
	}
	b.WriteByte('\n')
}

// CSV writes one line for each combination and horizon.
func (s Summary) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	lines := [][]string{{"structure", "bias", "retention", "algorithm", "over", "problem", "fact", "unstable", "proved", "tested", "points", "worst",
		"steps", "finite", "state", "zero", "gate", "saturated", "output", "spread", "degenerate"}}
	for _, r := range s.Rows {
		head := append(slices.Clone(r.Knobs), r.Over, r.Problem, r.Fact, fmt.Sprint(r.Unstable), fmt.Sprint(r.Proved), fmt.Sprint(r.Tested), fmt.Sprint(r.Points), fmt.Sprintf("%.3e", r.Worst))
		if len(r.Horizons) == 0 {
			lines = append(lines, append(head, make([]string, 9)...))
		}
		for _, h := range r.Horizons {
			lines = append(lines, append(slices.Clone(head), fmt.Sprint(h.Steps), fmt.Sprint(h.Finite), fmt.Sprintf("%.6g", h.State), h.Zero, h.Gate,
				fmt.Sprintf("%.6g", h.Share), fmt.Sprintf("%.6g", h.Output), fmt.Sprintf("%.6g", h.Spread), h.Degenerate()))
		}
	}
	return c.WriteAll(lines)
}
