package report

import (
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/plot"
)

// Plots is a Sink that keeps the data of the plots: the losses of all steps, and the
// norms and gates of the steps of this attempt.
type Plots struct {
	Stem  string // of the files, without an ending
	info  engine.Info
	bits  []float64
	norms []plot.Series // of gradients
	gates []plot.Series // open shares by level
	sizes []plot.Series // norms of parameters and states by level
	first int
}

// Begin takes the losses so far.
func (p *Plots) Begin(info engine.Info, bits []float64) error {
	p.info, p.bits, p.first = info, append([]float64(nil), bits...), len(bits)
	names, _ := Groups(info.Params)
	for _, n := range names {
		p.norms = append(p.norms, plot.Series{Name: n})
	}
	return nil
}

// Step keeps a step.
func (p *Plots) Step(s Step) error {
	p.bits = append(p.bits, s.Bits)
	for i, x := range s.Groups {
		p.norms[i].Values = append(p.norms[i].Values, x)
	}
	for i, l := range s.Levels {
		if i == len(p.gates) {
			p.gates = append(p.gates, plot.Series{Name: fmt.Sprintf("level %d", l.Level)})
			p.sizes = append(p.sizes, plot.Series{Name: fmt.Sprintf("parameters, level %d", l.Level)}, plot.Series{Name: fmt.Sprintf("states, level %d", l.Level)})
		}
		p.gates[i].Values = append(p.gates[i].Values, l.Open)
		p.sizes[2*i].Values = append(p.sizes[2*i].Values, l.Parameter)
		p.sizes[2*i+1].Values = append(p.sizes[2*i+1].Values, l.State)
	}
	return nil
}

// HeldOut keeps nothing: the losses before and after come with Draw.
func (p *Plots) HeldOut(Measured) error { return nil }

// Flush does nothing.
func (p *Plots) Flush() error { return nil }

// Close does nothing.
func (p *Plots) Close() error { return nil }

// Draw returns the files by their names. NaN is a loss that was not
// measured.
func (p *Plots) Draw(before, after float64) (map[string][]byte, error) {
	out := map[string][]byte{}
	keep := func(name string, svg, png []byte, err error) error {
		out[p.Stem+name+".svg"], out[p.Stem+name+".png"] = svg, png
		return err
	}
	tokens := p.info.PerStep()
	svg, png, err := plot.Draw(plot.Curve{Title: p.info.Model + " on " + p.info.Text, Tokens: tokens, Bits: p.bits,
		Unit: p.info.Unit, Unigram: p.info.Unigram, Bigram: p.info.Bigram, Before: before, After: after})
	err = keep("", svg, png, err)
	for _, l := range []struct {
		name, title, y string
		log            bool
		series         []plot.Series
	}{{"-norms", "Norms of gradients", "norm", true, p.norms}, {"-gates", "Levels that were open", "share of the batch", false, p.gates},
		{"-levels", "Norms by level", "norm", true, p.sizes}} {
		if len(l.series) == 0 || len(l.series[0].Values) == 0 {
			continue
		}
		svg, png, e := plot.Lines{Title: l.title + ", " + p.info.Model, Y: l.y, Log: l.log, First: float64((p.first + 1) * tokens), Tokens: float64(tokens), Series: l.series}.Draw()
		err = errors.Join(err, keep(l.name, svg, png, e))
	}
	return out, err
}
