package main

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	chartWidth, chartHeight = 24 * vg.Centimeter, 27 * vg.Centimeter
	chartDPI                = 120
	legendGroups            = 1.7 // of bars: the room to the right of them
	barWidth                = 16 * vg.Length(1)
)

var (
	ink  = color.RGBA{0x1f, 0x2a, 0x38, 0xff}
	pale = color.RGBA{0xe6, 0xe9, 0xee, 0xff}
)

// A hue is the colour of the variants whose names begin and end so; what has
// none is not drawn.
type hue struct {
	first, last string
	color       color.RGBA
}

var hues = []hue{
	{"Go portable", "", color.RGBA{0xa9, 0xc6, 0xe8, 0xff}},
	{"Go fma", "", color.RGBA{0xd5, 0xe3, 0xf3, 0xff}},
	{"Go avx2", "", color.RGBA{0x4c, 0x8a, 0xcb, 0xff}},
	{"Go avx512", "", color.RGBA{0x1b, 0x4f, 0x91, 0xff}},
	{"C textbook", " " + plainFlags, color.RGBA{0xc9, 0xc9, 0xc9, 0xff}},
	{"C textbook", fastFlags, color.RGBA{0x8f, 0x8f, 0x8f, 0xff}},
	{"C row-fused", fastFlags, color.RGBA{0xe9, 0xc4, 0x7d, 0xff}},
	{"C rows × time " + fastFlags, "", color.RGBA{0xc7, 0x7d, 0x0a, 0xff}},
	{"C cols16", "", color.RGBA{0xb8, 0xdb, 0xb3, 0xff}},
	{"C cols32", "", color.RGBA{0x6a, 0xb1, 0x5f, 0xff}},
	{"C cols64", "", color.RGBA{0x2c, 0x7a, 0x35, 0xff}},
	{openBLAS, "", color.RGBA{0x7b, 0x4a, 0x9e, 0xff}},
}

// A panel is the shares of the peak of one pass or product.
type panel struct {
	title string
	bars  []bars
}

// bars are those of one variant, one for each width; 0 where there is none.
type bars struct {
	name   string
	color  color.RGBA
	shares []float64
}

// panels are those of the chart.
func (r *report) panels() (out []panel) {
	for _, name := range []string{passOf(deltaRule, forward), passOf(deltaRule, backward), products[float32]()[0].name} {
		p := panel{title: name}
		for _, h := range hues {
			for _, v := range r.core.rowsOf(name) {
				if !strings.HasPrefix(v, h.first) || !strings.HasSuffix(v, h.last) {
					continue
				}
				b := bars{name: strings.ReplaceAll(v, nativeFlags+" ", ""), color: h.color}
				for _, d := range widths {
					b.shares = append(b.shares, max(0, r.share(name, v, d)))
				}
				p.bars = append(p.bars, b)
			}
		}
		out = append(out, p)
	}
	return out
}

// plot draws a panel: groups of bars by width, the share from 0 to 1.
func (p panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text = p.title
	out.Y.Label.Text = "share of the peak"
	for _, s := range []*draw.TextStyle{&out.Title.TextStyle, &out.Y.Label.TextStyle, &out.X.Tick.Label, &out.Y.Tick.Label, &out.Legend.TextStyle} {
		s.Font.Variant, s.Font.Size, s.Color = "Sans", vg.Points(8), ink
	}
	out.Title.TextStyle.Font.Size = vg.Points(11)
	out.X.Color, out.Y.Color, out.X.Tick.Color, out.Y.Tick.Color = ink, ink, ink, ink
	out.BackgroundColor = color.White
	out.Legend.Top, out.Legend.Padding = true, vg.Points(2)
	out.Y.Tick.Marker = plot.TickerFunc(tenths)
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, pale
	out.Add(grid)
	group := vg.Length(chartWidth) / vg.Length(float64(len(widths))+legendGroups) * 0.72
	wide := min(group/vg.Length(max(len(p.bars), 1)), barWidth)
	high := 0.0
	for i, b := range p.bars {
		c, err := plotter.NewBarChart(plotter.Values(b.shares), wide)
		if err != nil {
			return nil, err
		}
		c.Color, c.LineStyle.Width = b.color, 0
		c.Offset = wide * (vg.Length(i) - vg.Length(len(p.bars)-1)/2)
		out.Add(c)
		out.Legend.Add(b.name, c)
		high = max(high, slices.Max(b.shares))
	}
	names := make([]string, len(widths))
	for i, d := range widths {
		names[i] = fmt.Sprintf("d = %d", d)
	}
	out.NominalX(names...)
	out.X.Min, out.X.Max = -0.5, float64(len(widths))-0.5+legendGroups
	out.Y.Min, out.Y.Max = 0, max(0.1, min(1, high*1.1))
	return out, nil
}

// tenths are the ticks of a share.
func tenths(_, hi float64) (out []plot.Tick) {
	for i := 0; float64(i) <= hi*10; i++ {
		out = append(out, plot.Tick{Value: float64(i) / 10, Label: fmt.Sprintf("%d %%", i*10)})
	}
	return out
}

// chart draws the panels below each other, as SVG and PNG.
func chart(panels []panel) (svg, png []byte, err error) {
	rows := make([][]*plot.Plot, len(panels))
	for i, p := range panels {
		one, err := p.plot()
		if err != nil {
			return nil, nil, fmt.Errorf("plot: %w", err)
		}
		rows[i] = []*plot.Plot{one}
	}
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadY: vg.Points(10), PadTop: vg.Points(4), PadBottom: vg.Points(4), PadRight: vg.Points(4)}
	paint := func(c draw.Canvas) {
		for i, row := range plot.Align(rows, tiles, c) {
			rows[i][0].Draw(row[0])
		}
	}
	vector := vgsvg.New(chartWidth, chartHeight)
	paint(draw.New(vector))
	var s, b bytes.Buffer
	if _, err := vector.WriteTo(&s); err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	raster := vgimg.NewWith(vgimg.UseWH(chartWidth, chartHeight), vgimg.UseDPI(chartDPI))
	paint(draw.New(raster))
	if _, err := (vgimg.PngCanvas{Canvas: raster}).WriteTo(&b); err != nil {
		return nil, nil, fmt.Errorf("plot: %w", err)
	}
	return s.Bytes(), b.Bytes(), nil
}

// draw writes the chart into a folder.
func (r *report) draw(dir string) error {
	svg, png, err := chart(r.panels())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "shares.svg"), svg, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "shares.png"), png, 0o666)
}
