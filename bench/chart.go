package main

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	chartWidth, chartHeight = 18 * vg.Centimeter, 10 * vg.Centimeter
	chartDPI                = 144
)

var (
	ink   = color.RGBA{0x1f, 0x2a, 0x38, 0xff}
	blue  = color.RGBA{0x1b, 0x5e, 0xa8, 0xff}
	ochre = color.RGBA{0xc7, 0x7d, 0x0a, 0xff}
	pale  = color.RGBA{0xe6, 0xe9, 0xee, 0xff}
)

// A bar is a ratio with the words below it.
type bar struct {
	name           string
	textbook, dot4 ratio
}

func (r *report) bars() (out []bar) {
	for _, p := range passesOf() {
		out = append(out, bar{p, r.core.over(p, "textbook", goVariant), r.core.over(p, "dot4", goVariant)})
	}
	return out
}

// chart draws how much longer C takes than the emitted Go, as SVG and PNG.
func chart(bars []bar) (svg, png []byte, err error) {
	p, err := chartOf(bars)
	if err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	vector := vgsvg.New(chartWidth, chartHeight)
	p.Draw(draw.New(vector))
	var s, b bytes.Buffer
	if _, err := vector.WriteTo(&s); err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	raster := vgimg.NewWith(vgimg.UseWH(chartWidth, chartHeight), vgimg.UseDPI(chartDPI))
	p.Draw(draw.New(raster))
	if _, err := (vgimg.PngCanvas{Canvas: raster}).WriteTo(&b); err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	return s.Bytes(), b.Bytes(), nil
}

func chartOf(bars []bar) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "The delta recurrence: time of C ÷ time of the emitted Go"
	p.Y.Label.Text = "above 1: Go is faster"
	for _, s := range []*draw.TextStyle{&p.Title.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant, s.Font.Size, s.Color = "Sans", vg.Points(9), ink
	}
	p.Title.TextStyle.Font.Size = vg.Points(12)
	p.Title.Padding = vg.Points(8)
	p.X.Color, p.Y.Color, p.X.Tick.Color, p.Y.Tick.Color = ink, ink, ink, ink
	p.BackgroundColor = color.White
	p.Legend.Top, p.Legend.Padding = true, vg.Points(3)
	p.Legend.XOffs, p.Legend.YOffs = -vg.Points(8), -vg.Points(4)
	p.X.Padding, p.Y.Padding = vg.Points(6), vg.Points(6)
	p.Y.Tick.Marker = plot.TickerFunc(halves)
	p.Y.Min = 0
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, pale
	p.Add(grid)

	names := make([]string, len(bars))
	var one, four plotter.Values
	const wide = vg.Length(22)
	high := 1.0
	for i, b := range bars {
		names[i] = strings.Replace(b.name, ", ", "\n", 1)
		one, four = append(one, b.textbook.of), append(four, b.dot4.of)
		high = max(high, b.textbook.of, b.dot4.of)
	}
	for _, s := range []struct {
		name   string
		values plotter.Values
		color  color.Color
		offset vg.Length
	}{{"one sum to a dot (textbook)", one, blue, -wide / 2}, {"four sums to a dot", four, ochre, wide / 2}} {
		c, err := plotter.NewBarChart(s.values, wide)
		if err != nil {
			return nil, err
		}
		c.Color, c.LineStyle.Width, c.Offset = s.color, 0, s.offset
		p.Add(c)
		p.Legend.Add(s.name, c)
	}
	budget, err := plotter.NewLine(plotter.XYs{{X: -0.6, Y: 1}, {X: float64(len(bars)) - 0.4, Y: 1}})
	if err != nil {
		return nil, err
	}
	budget.Color, budget.Dashes = ink, []vg.Length{vg.Points(5), vg.Points(3)}
	p.Add(budget)
	p.Legend.Add("as fast", budget)
	p.NominalX(names...)
	p.Y.Max = high * 1.3
	return p, nil
}

// halves are the ticks of a ratio.
func halves(_, hi float64) (out []plot.Tick) {
	for x := 0.0; x <= hi; x += 0.5 {
		out = append(out, plot.Tick{Value: x, Label: fmt.Sprintf("%.1f", x)})
	}
	return out
}

// draw writes the chart into a folder.
func (r *report) draw(dir string) error {
	svg, png, err := chart(r.bars())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "recurrence.svg"), svg, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "recurrence.png"), png, 0o666)
}
