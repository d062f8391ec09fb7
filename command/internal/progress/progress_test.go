package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestPrint(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(567198), "567,198"}, {Count(12345678), "12,345,678"},
		{Clock(0), "0:00"}, {Clock(61 * time.Second), "1:01"}, {Clock(2*time.Hour + 90*time.Second), "2:01:30"},
		{fit("abcdef", 4), "abcd"}, {fit("ab━d", 4), "ab━d"}, {fit("abc", -1), ""},
		{left(time.Minute, 0), ""}, {left(time.Minute, 0.5), "  1:00 left"}, {left(time.Minute, 1), ""},
		{line(0.5, "x", barWidth), "  " + strings.Repeat("━", 12) + strings.Repeat("·", 12) + "  50 %  x"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestLines writes to a buffer, which is no terminal: no line before its time,
// then one, without control characters.
func TestLines(t *testing.T) {
	var w bytes.Buffer
	b := New(&w)
	b.Set(0.2, func() string { t.Error("asked too early"); return "" })
	b.drawn = b.drawn.Add(-lineEvery)
	b.start = b.start.Add(-time.Minute)
	b.Set(0.5, func() string { return "half" })
	b.Set(0.6, func() string { return "too soon" })
	b.Done()
	if got, want := w.String(), "   50 %  half  1:00 left\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFrom goes on from a half: a quarter more in a minute leaves a minute.
func TestFrom(t *testing.T) {
	var w bytes.Buffer
	b := New(&w)
	b.From(0.5)
	b.Every(0)
	b.start = b.start.Add(-time.Minute)
	b.Set(0.75, func() string { return "x" })
	if got, want := w.String(), "   75 %  x  1:00 left\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRedraw draws over itself and never beyond the width; the bar gives way to
// the text.
func TestRedraw(t *testing.T) {
	var w bytes.Buffer
	b := &Bar{w: &w, width: func() int { return 20 }, start: time.Now()}
	b.Set(2, func() string { return "a long line" })
	b.Done()
	if got, want := w.String(), "\r\x1b[K  "+strings.Repeat("━", 8)+" 100 %  a\r\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMeter has a slow second, a fast one and a rest that does not count as one.
func TestMeter(t *testing.T) {
	var m Meter
	if m.Average() != 0 || m.Worst() != 0 {
		t.Error("nothing has a speed")
	}
	m.Add(50, 250*time.Millisecond)
	if m.Average() != 200 || m.Worst() != 200 {
		t.Errorf("%v, worst %v", m.Average(), m.Worst())
	}
	for range 3 {
		m.Add(10, 250*time.Millisecond)
	}
	m.Add(920, time.Second)
	m.Add(0, 500*time.Millisecond)
	if m.Average() != 400 || m.Worst() != 80 || m.Time() != 2500*time.Millisecond {
		t.Errorf("%v, worst %v, in %v", m.Average(), m.Worst(), m.Time())
	}
}

func TestDue(t *testing.T) {
	b := New(&bytes.Buffer{})
	b.Every(time.Hour)
	if b.Due() {
		t.Error("due at once")
	}
	b.Every(0)
	if !b.Due() {
		t.Error("not due")
	}
}
