package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Lines are quantities over tokens: norms of groups, openings of gates.
type Lines struct {
	Title, Y string  // Y is the quantity with its unit
	Log      bool    // a logarithmic axis, where all values are above zero
	First    float64 // tokens at the first value
	Tokens   float64 // between two values
	Series   []Series
}

// A Series is one line, drawn smoothed.
type Series struct {
	Name   string
	Values []float64
}

var palette = []color.RGBA{blue, ochre, green, red, {0x7b, 0x4f, 0xa3, 0xff}, {0x3a, 0x9a, 0xa8, 0xff}, {0x6b, 0x72, 0x80, 0xff}, {0xa0, 0x5a, 0x2c, 0xff}}

// Draw returns the lines as an SVG and as a PNG file. NaN and infinity
// interrupt a line.
func (l Lines) Draw() (svg, png []byte, err error) {
	p := plot.New()
	style(p, l.Title, l.Y)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = gridly
	p.Add(grid)
	for i, s := range l.Series {
		line, err := plotter.NewLine(l.points(Smooth(s.Values)))
		if err != nil {
			return nil, nil, fmt.Errorf("plot: %s: %w", s.Name, err)
		}
		line.Color, line.Width = palette[i%len(palette)], vg.Points(1.3)
		if i >= len(palette) {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(line)
		p.Legend.Add(s.Name, line)
	}
	if l.Log && l.positive() {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	headroom(p, len(l.Series))
	return files(p.Draw)
}

// headroom extends the axis above the lines for a legend of the given rows, at most
// by the height of the lines. Without values the axis is unchanged.
func headroom(p *plot.Plot, rows int) {
	const row = 0.045 // of the axis
	if !(p.Y.Min <= p.Y.Max) {
		return
	}
	share := min(row*float64(rows), 0.5)
	more := share / (1 - share)
	if _, log := p.Y.Scale.(plot.LogScale); log {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, more)
		return
	}
	p.Y.Max += (p.Y.Max - p.Y.Min) * more
}

// positive reports whether a logarithm of all values exists.
func (l Lines) positive() bool {
	any := false
	for _, s := range l.Series {
		for _, x := range s.Values {
			if !(x > 0) || math.IsInf(x, 0) {
				return false
			}
			any = true
		}
	}
	return any
}

// points are the values at their tokens, thinned to the resolution of a plot.
func (l Lines) points(values []float64) plotter.XYs {
	every := max((len(values)+drawn-1)/drawn, 1)
	var xs plotter.XYs
	for i, v := range values {
		if (i%every == 0 || i == len(values)-1) && !math.IsNaN(v) && !math.IsInf(v, 0) {
			xs = append(xs, plotter.XY{X: l.First + float64(i)*l.Tokens, Y: v})
		}
	}
	if len(xs) == 0 {
		return plotter.XYs{{X: l.First, Y: 1}} // a line needs a point
	}
	return xs
}

// files draws a plot as SVG and as PNG.
func files(paint func(draw.Canvas)) (svg, png []byte, err error) {
	vector := vgsvg.New(width, height)
	paint(draw.New(vector))
	var s, b bytes.Buffer
	if _, err := vector.WriteTo(&s); err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	raster := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	paint(draw.New(raster))
	if _, err := (vgimg.PngCanvas{Canvas: raster}).WriteTo(&b); err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	return s.Bytes(), b.Bytes(), nil
}

// style sets the words, the fonts and the axes.
func style(p *plot.Plot, title, y string) {
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "tokens", y
	for _, s := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant, s.Font.Size, s.Color = "Sans", vg.Points(10), ink
	}
	p.Title.TextStyle.Font.Size = vg.Points(12)
	p.Title.Padding = vg.Points(8)
	p.BackgroundColor = color.White
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	p.Legend.XOffs, p.Legend.YOffs = -vg.Points(8), -vg.Points(6)
	p.X.Color, p.Y.Color, p.X.Tick.Color, p.Y.Tick.Color = ink, ink, ink, ink
	p.X.Tick.Marker = plot.TickerFunc(tokenTicks)
	p.X.Padding, p.Y.Padding = vg.Points(6), vg.Points(6)
}
