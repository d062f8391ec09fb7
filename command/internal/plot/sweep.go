package plot

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Sweep is quantities at a few points of a parameter, such as a distance.
type Sweep struct {
	Title, X, Y string
	Shares      bool      // values are from 0 to 1, and are written as percent
	At          []float64 // above zero; the axis is logarithmic
	Series      []Series  // values in step with At
}

// Draw returns the sweep as an SVG and as a PNG file: a line with a mark at each point, the names beside the axes. NaN leaves a point out.
func (s Sweep) Draw() (svg, png []byte, err error) {
	p := plot.New()
	style(p, s.Title, s.Y)
	p.X.Label.Text, p.X.Scale = s.X, plot.LogScale{}
	var ticks []plot.Tick
	for _, x := range s.At {
		ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', -1, 64)})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.Add(plotter.NewGrid())
	names := p.Legend
	for i, x := range s.Series {
		var xy plotter.XYs
		for j, y := range x.Values {
			if !math.IsNaN(y) {
				xy = append(xy, plotter.XY{X: s.At[j], Y: y})
			}
		}
		if len(xy) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, nil, fmt.Errorf("plot: %s: %w", x.Name, err)
		}
		line.Color, line.Width = palette[i%len(palette)], vg.Points(1.3)
		if i >= len(palette) {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		marks.Color, marks.Shape, marks.Radius = line.Color, draw.CircleGlyph{}, vg.Points(2)
		p.Add(line, marks)
		names.Add(x.Name, line)
	}
	if s.Shares {
		p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, 1, plot.TickerFunc(percents)
	}
	return files(func(c draw.Canvas) {
		beside := names.Rectangle(c).Size().X + vg.Points(16)
		p.Draw(draw.Crop(c, 0, -beside, 0, 0))
		names.Draw(draw.Crop(c, width-beside, 0, 0, -vg.Points(24)))
	})
}

// percents are marks at every fifth of 1.
func percents(_, _ float64) (out []plot.Tick) {
	for x := 0; x <= 100; x += 20 {
		out = append(out, plot.Tick{Value: float64(x) / 100, Label: fmt.Sprintf("%d %%", x)})
	}
	return out
}
