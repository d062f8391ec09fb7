package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func sample(n int) Curve {
	c := Curve{Title: "Fake", Tokens: 512, Unigram: 4.4, Bigram: 3.5, Before: 8, After: 3.3}
	for i := range n {
		c.Bits = append(c.Bits, 3.2+4.8*math.Exp(-float64(i)/200)+0.15*math.Sin(float64(i*i)))
	}
	return c
}

// TestDraw decodes both files, for curves of every kind of length, and finds
// the words in the SVG. HECATE_PLOTS names a folder to look at them.
func TestDraw(t *testing.T) {
	for _, n := range []int{0, 1, 2, 150, 10000} {
		c := sample(n)
		if n == 2 {
			c.Before, c.After = math.NaN(), math.NaN()
		}
		svg, img, err := Draw(c)
		if err != nil {
			t.Fatalf("%d losses: %v", n, err)
		}
		words, err := text(svg)
		if err != nil {
			t.Errorf("%d losses: SVG: %v", n, err)
		}
		want := []string{"Fake", "tokens", "bits/byte", "unigram, 4.400", "bigram, 3.500"}
		if n != 2 {
			want = append(want, "held out, before 8.000, after 3.300")
		}
		for _, w := range want {
			if !slices.Contains(words, w) {
				t.Errorf("%d losses: no %q in the SVG: %q", n, w, words)
			}
		}
		if strings.Contains(string(svg), "NaN") {
			t.Errorf("%d losses: NaN in the SVG", n)
		}
		pic, err := png.Decode(bytes.NewReader(img))
		if err != nil {
			t.Fatalf("%d losses: %v", n, err)
		}
		if b := pic.Bounds(); b.Dx() < 800 || b.Dy() < 500 {
			t.Errorf("%d losses: PNG of %v", n, b)
		}
		if dir := os.Getenv("HECATE_PLOTS"); dir != "" && n == 10000 {
			os.WriteFile(filepath.Join(dir, "fake.svg"), svg, 0o644)
			os.WriteFile(filepath.Join(dir, "fake.png"), img, 0o644)
		}
	}
}

// text returns the character data of a well-formed file.
func text(svg []byte) (words []string, err error) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words, nil
		}
		if err != nil {
			return words, err
		}
		if s, ok := t.(xml.CharData); ok {
			words = append(words, strings.TrimSpace(string(s)))
		}
	}
}

func TestSmooth(t *testing.T) {
	bits := make([]float64, 250)
	for i := range bits {
		bits[i] = float64(i % 2)
	}
	got := Smooth(bits)
	if got[0] != 0 || got[249] != 1 {
		t.Errorf("the ends move: %v, %v", got[0], got[249])
	}
	if want := 2.0 / 5; got[100] != want {
		t.Errorf("Smooth[100] = %v, want %v", got[100], want)
	}
	if len(Smooth(nil)) != 0 {
		t.Error("Smooth of nothing is something")
	}
}

// TestLines draws lines of every kind: long ones, empty ones, ones that a
// logarithm cannot have, more than there are colours.
func TestLines(t *testing.T) {
	long := make([]float64, 9000)
	for i := range long {
		long[i] = math.Exp(-float64(i) / 3000)
	}
	many := Lines{Title: "Many", Y: "norm", Log: true, Tokens: 512, First: 512}
	for i := range 10 {
		many.Series = append(many.Series, Series{Name: "level " + string(rune('0'+i)), Values: long[i*100:]})
	}
	for _, l := range []Lines{
		many,
		{Title: "None", Y: "opening"},
		{Title: "Empty", Y: "opening", Log: true, Series: []Series{{Name: "level 1"}}},
		{Title: "Zero", Y: "norm", Log: true, Tokens: 1, Series: []Series{{"a", []float64{0, 1, 2}}, {"b", []float64{math.NaN(), math.Inf(1), -1}}}},
	} {
		svg, img, err := l.Draw()
		if err != nil {
			t.Fatalf("%s: %v", l.Title, err)
		}
		words, err := text(svg)
		if err != nil {
			t.Errorf("%s: SVG: %v", l.Title, err)
		}
		want := []string{l.Title, l.Y, "tokens"}
		for _, s := range l.Series {
			want = append(want, s.Name)
		}
		for _, w := range want {
			if !slices.Contains(words, w) {
				t.Errorf("%s: no %q in the SVG: %q", l.Title, w, words)
			}
		}
		if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
			t.Errorf("%s: no number in the SVG", l.Title)
		}
		if _, err := png.Decode(bytes.NewReader(img)); err != nil {
			t.Errorf("%s: %v", l.Title, err)
		}
		if dir := os.Getenv("HECATE_PLOTS"); dir != "" && l.Title == "Many" {
			os.WriteFile(filepath.Join(dir, "many.png"), img, 0o644)
		}
	}
}
