// Package plot draws the course of a build as SVG and PNG: its losses with the
// baselines, and quantities by group.
package plot

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Curve is losses in bits per byte over tokens, and the baselines.
type Curve struct {
	Title           string
	Unit            string    // of the bits; "" is byte
	Tokens          int       // between two losses
	Bits            []float64 // loss of every step, before its update
	Unigram, Bigram float64   // of the held-out part
	Before, After   float64   // of the held-out part; NaN if not measured
}

const (
	width, height = 18 * vg.Centimeter, 11 * vg.Centimeter
	dpi           = 144
	drawn         = 4000 // largest number of points of a line; more are not visible
)

var (
	ink    = color.RGBA{0x1f, 0x2a, 0x38, 0xff}
	faint  = color.RGBA{0xb9, 0xcc, 0xe3, 0xff}
	blue   = color.RGBA{0x1b, 0x5e, 0xa8, 0xff}
	ochre  = color.RGBA{0xc7, 0x7d, 0x0a, 0xff}
	green  = color.RGBA{0x2c, 0x8a, 0x57, 0xff}
	red    = color.RGBA{0xb8, 0x32, 0x32, 0xff}
	gridly = color.RGBA{0xe6, 0xe9, 0xee, 0xff}
)

// Draw returns the curve as an SVG and as a PNG file.
func Draw(c Curve) (svg, png []byte, err error) {
	p, err := c.plot()
	if err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	return files(p.Draw)
}

func (c Curve) plot() (*plot.Plot, error) {
	p := plot.New()
	unit := c.Unit
	if unit == "" {
		unit = "byte"
	}
	style(p, c.Title, "bits/"+unit)
	end := float64(max(len(c.Bits), 1) * c.Tokens)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = gridly
	p.Add(grid)

	raw, err := plotter.NewLine(c.points(c.Bits))
	if err != nil {
		return nil, err
	}
	raw.Color, raw.Width = faint, vg.Points(0.6)
	mean, err := plotter.NewLine(c.points(Smooth(c.Bits)))
	if err != nil {
		return nil, err
	}
	mean.Color, mean.Width = blue, vg.Points(1.6)
	p.Add(raw, mean)
	p.Legend.Add("while building, smoothed", mean)

	for _, l := range []struct {
		name string
		at   float64
		col  color.Color
	}{{"unigram", c.Unigram, ochre}, {"bigram", c.Bigram, green}} {
		line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: l.at}, {X: end, Y: l.at}})
		if err != nil {
			return nil, err
		}
		line.Color, line.Width, line.Dashes = l.col, vg.Points(1.2), []vg.Length{vg.Points(5), vg.Points(3)}
		p.Add(line)
		p.Legend.Add(fmt.Sprintf("%s, %.3f", l.name, l.at), line)
	}
	return p, c.heldOut(p, end)
}

// heldOut marks the held-out losses before and after.
func (c Curve) heldOut(p *plot.Plot, end float64) error {
	var points plotter.XYs
	name := "held out"
	if !math.IsNaN(c.Before) {
		points = append(points, plotter.XY{X: 0, Y: c.Before})
		name += fmt.Sprintf(", before %.3f", c.Before)
	}
	if !math.IsNaN(c.After) {
		points = append(points, plotter.XY{X: end, Y: c.After})
		name += fmt.Sprintf(", after %.3f", c.After)
	}
	if len(points) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: red, Radius: vg.Points(3.5), Shape: draw.CircleGlyph{}}
	p.Add(dots)
	p.Legend.Add(name, dots)
	return nil
}

// tokenTicks writes thousands as k and millions as M.
func tokenTicks(lo, hi float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(lo, hi)
	for i, t := range ticks {
		switch {
		case t.Label == "":
		case hi >= 2e6:
			ticks[i].Label = fmt.Sprintf("%g M", t.Value/1e6)
		case hi >= 2e3:
			ticks[i].Label = fmt.Sprintf("%g k", t.Value/1e3)
		default:
			ticks[i].Label = fmt.Sprintf("%g", t.Value)
		}
	}
	return ticks
}

// points are the losses at their tokens, thinned to the resolution of a plot.
func (c Curve) points(bits []float64) plotter.XYs {
	if len(bits) == 0 {
		return plotter.XYs{{X: 0, Y: c.Unigram}} // a line needs a point
	}
	every := (len(bits) + drawn - 1) / drawn
	var xs plotter.XYs
	for i, b := range bits {
		if i%every == 0 || i == len(bits)-1 {
			xs = append(xs, plotter.XY{X: float64((i + 1) * c.Tokens), Y: b})
		}
	}
	return xs
}

// Smooth returns the mean of each loss and those around it: a fiftieth of the
// curve, less at the ends.
func Smooth(bits []float64) []float64 {
	reach := len(bits) / 100
	sums := make([]float64, len(bits)+1)
	for i, b := range bits {
		sums[i+1] = sums[i] + b
	}
	out := make([]float64, len(bits))
	for i := range bits {
		r := min(reach, i, len(bits)-1-i)
		out[i] = (sums[i+r+1] - sums[i-r]) / float64(2*r+1)
	}
	return out
}
