package evaluate

import (
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/plot"
)

// Markdown writes a task as a table, with what it asks above it. The best value of a column is bold.
func (t Table) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s %s by %s", t.Name, t.About, strings.ToUpper(t.Y[:1])+t.Y[1:], t.X)
	if !math.IsNaN(t.Guess) {
		fmt.Fprintf(&b, "; guessing gives %s", t.number(t.Guess))
	}
	b.WriteString(".\n\n| model | parameters |")
	for _, x := range t.At {
		fmt.Fprintf(&b, " %d |", x)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(t.At)) + "\n")
	for _, r := range t.Rows {
		fmt.Fprintf(&b, "| %s | %d |", r.Model, r.Params)
		for i, v := range r.Values {
			text := t.number(v)
			switch {
			case r.Diverged:
				text = "diverged"
			case text == t.number(t.best(i)):
				text = "**" + text + "**"
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// number is a value in words.
func (t Table) number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case t.Less:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// best is the best value of a point.
func (t Table) best(i int) float64 {
	best := math.NaN()
	for _, r := range t.Rows {
		if v := r.Values[i]; math.IsNaN(best) || v > best != t.Less && v != best {
			best = v
		}
	}
	return best
}

// Plot draws a task, a line for each model, as an SVG and as a PNG file.
func (t Table) Plot() (svg, png []byte, err error) {
	s := plot.Sweep{Title: t.Name, X: t.X, Y: t.Y, Shares: !t.Less}
	for _, x := range t.At {
		s.At = append(s.At, float64(x))
	}
	for _, r := range t.Rows {
		s.Series = append(s.Series, plot.Series{Name: r.Model, Values: r.Values})
	}
	return s.Draw()
}
