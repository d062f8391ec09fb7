// Package progress shows the progress of long work.
//
// On a terminal it is one line that is redrawn; elsewhere, in a file or a pipe, a new
// line every few seconds.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	redraw    = 100 * time.Millisecond // on a terminal
	lineEvery = 5 * time.Second        // elsewhere
	barWidth  = 24
)

// A Bar is the progress of one job.
type Bar struct {
	w     io.Writer
	width func() int // of the terminal; nil without one
	start time.Time
	drawn time.Time
	every time.Duration // between two lines without a terminal
	from  float64       // fraction that was done before
}

// New returns a bar that begins now.
func New(w io.Writer) *Bar {
	b := &Bar{w: w, start: time.Now(), every: lineEvery}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		b.width = func() int {
			if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
				return n
			}
			return 80
		}
	} else {
		b.drawn = b.start // the first line is printed after an interval
	}
	return b
}

// Every sets the time between two lines without a terminal.
func (b *Bar) Every(d time.Duration) { b.every = d }

// From sets the fraction of the work that was done before this bar began, which the
// estimate of the remaining time excludes.
func (b *Bar) From(fraction float64) { b.from = min(max(fraction, 0), 0.999) }

// Due reports whether a line is due, and assumes that the caller prints it.
func (b *Bar) Due() bool {
	now := time.Now()
	if now.Sub(b.drawn) < b.every {
		return false
	}
	b.drawn = now
	return true
}

// Elapsed returns the time since New.
func (b *Bar) Elapsed() time.Duration { return time.Since(b.start) }

// Set shows the fraction of the work, in [0, 1], and a text; it limits its own rate,
// so it may be called often.
func (b *Bar) Set(fraction float64, what func() string) {
	every := b.every
	if b.width != nil {
		every = redraw
	}
	now := time.Now()
	if now.Sub(b.drawn) < every {
		return
	}
	b.drawn = now
	fraction = min(max(fraction, 0), 1)
	remains := left(b.Elapsed(), (fraction-b.from)/(1-b.from))
	if b.width == nil {
		fmt.Fprintf(b.w, "  %3.0f %%  %s%s\n", 100*fraction, what(), remains)
		return
	}
	text, columns := what()+remains, b.width()-1
	fmt.Fprint(b.w, "\r\x1b[K", fit(line(fraction, text, columns-beside-utf8.RuneCountInString(text)), columns))
}

// Done removes the line from a terminal.
func (b *Bar) Done() {
	if b.width != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// beside is the width of the blanks and the percentage.
const beside = 10

// line returns a bar of the given width, within a smallest and a largest one, and the text
// after it.
func line(fraction float64, what string, width int) string {
	width = min(max(width, 8), barWidth)
	full := int(fraction*float64(width) + 0.5)
	return fmt.Sprintf("  %s%s %3.0f %%  %s", strings.Repeat("━", full), strings.Repeat("·", width-full), 100*fraction, what)
}

// left estimates the remaining time.
func left(elapsed time.Duration, fraction float64) string {
	if fraction <= 0.01 || fraction >= 1 {
		return ""
	}
	d := time.Duration(float64(elapsed) * (1 - fraction) / fraction)
	return "  " + Clock(d) + " left"
}

// Clock prints a duration as minutes and seconds.
func Clock(d time.Duration) string {
	s := int(d.Seconds() + 0.5)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// fit cuts a line at a number of characters.
func fit(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(width, 0)])
}

// Things prints a count with its noun: 1 level, 2 levels.
func Things[I ~int | ~int64 | ~uint64](n I, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + one + "s"
}

// Count prints a number with a comma after every three digits.
func Count[I ~int | ~int64 | ~uint64](n I) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
