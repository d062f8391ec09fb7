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
	At          []float64 // above zero; the axis is logarithmic
	Series      []Series  // values in step with At
}

// Draw returns the sweep as an SVG and as a PNG file: a line with a mark at each point. NaN leaves a point out.
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
		p.Legend.Add(x.Name, line)
	}
	headroom(p, len(s.Series))
	return files(p)
}
