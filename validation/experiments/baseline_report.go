package main

import (
	"bytes"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// baselineHead says what was done.
func (r *report) baselineHead(d data, a asked) {
	how := fmt.Sprintf("Each rate with one seed, and the best rate with %d.", a.seeds)
	switch {
	case a.quick:
		how = "A quick look: an eighth of the updates, one rate, one seed."
	case a.rate > 0:
		how = fmt.Sprintf("One rate, %g, seeds: %d.", a.rate, a.seeds)
	case a.all:
		how = fmt.Sprintf("Each rate with %d seeds.", a.seeds)
	}
	r.say("# A baseline that is not ours")
	r.say("`make baseline` wrote this page: models of PyTorch (`validation/bench/torch`) and of this compiler, built on %s, in one run. %s Batches of %d sequences of chunks of %d bytes, a window of %d, one thread for each model, %d at a time. Counting single bytes gives %.3f bits per byte held out.",
		d.name, how, baselineBatch, baselineChunk, baselineWindow, max(a.jobs, 1), d.unigram)
	r.say("Context is given equally: keys and values of the window, and the state of a memory, are carried from chunk to chunk without gradient, when built and when measured. Held out is the last tenth, in eight ranges that begin with nothing carried. AdamW with β 0.9 and 0.99, decay 0.1 on matrices and tables, warm-up of a twentieth, cosine to a tenth, clip 1, in all of them. The rate is chosen by the figure shown, for every model alike.")
}

// contest says what came of one size.
func (r *report) contest(s *size, curves string) {
	r.say("## %s, %d tokens", s.title, s.steps*baselineBatch*baselineChunk)
	head := []string{"model", "parameters", "bits per byte", "rate", "seeds", "tokens/s", "of PyTorch's transformer"}
	for _, rate := range s.rates {
		head = append(head, fmt.Sprintf("at %g", rate))
	}
	var rows [][]string
	for _, x := range s.rivals {
		best := x.best()
		mean, deviation, n := x.at(best)
		value := fmt.Sprintf("%.3f", mean)
		if n > 1 {
			value += fmt.Sprintf(" ± %.3f", deviation)
		}
		row := []string{x.name, fmt.Sprint(x.runs[0].parameters), value, fmt.Sprint(best), fmt.Sprint(n), fmt.Sprintf("%.0f", x.speed()), fmt.Sprintf("%.2f", x.speed()/s.rivals[0].speed())}
		for _, rate := range s.rates {
			m, _, _ := x.at(rate)
			row = append(row, fmt.Sprintf("%.3f", m))
		}
		rows = append(rows, row)
	}
	r.table(head, rows)
	r.say("Mean and standard deviation of the seeds at the best rate; tokens per second of the updates on the clock of the wall, the median of a model's runs. The formulas:")
	rows = nil
	for _, x := range s.rivals {
		if x.formula != "" {
			rows = append(rows, []string{x.name, "`" + x.formula + "`"})
		}
	}
	r.table([]string{"model", "formula"}, rows)
	r.say("![held-out bits per byte over tokens](%s)", curves)
}

// library says whether the rule of another library is ours.
func (r *report) library(t *torch) {
	const steps = 50
	r.say("## The gated delta rule of another library")
	var found []float64
	for _, model := range []string{"mag", "mag of fla"} {
		a, err := t.of[0].ask(map[string]any{"model": model, "layers": 1, "width": 64, "heads": 4, "hidden": 98, "tied": false}, 3e-3, 1, steps, []int{steps})
		if err != nil {
			r.say("It could not be run: %v", err)
			return
		}
		found = append(found, a.Marks[0][1])
	}
	r.say("The kernels of flash-linear-attention need Triton and a GPU. Its reference in PyTorch runs on a CPU: in the place of the rule above, one layer of width 64 after %d updates, it gives %.6f bits per byte, and the rule above %.6f; the difference is %.1g.",
		steps, found[1], found[0], math.Abs(found[1]-found[0]))
}

// plot draws the held-out figures over the tokens, the mean of the seeds at the best rate.
func (s *size) plot() ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = s.title, "tokens", "bits per byte, held out"
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	for i, x := range s.rivals {
		best, points, n := x.best(), plotter.XYs{}, 0.0
		for _, r := range x.runs {
			if r.rate != best {
				continue
			}
			n++
			for j, m := range r.marks {
				if j == len(points) {
					points = append(points, plotter.XY{X: float64(m.steps * baselineBatch * baselineChunk)})
				}
				points[j].Y += m.heldOut
			}
		}
		for j := range points {
			points[j].Y /= n
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("plot: %s: %w", x.name, err)
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		if x.torch != nil {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(line)
		p.Legend.Add(x.name, line)
	}
	c := vgsvg.New(18*vg.Centimeter, 11*vg.Centimeter)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}
