package sweep_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/sweep"
)

var sound = sweep.Horizon{Steps: 100, Finite: true, State: 0.5, Gate: "ρ", Share: 0.1, Output: 1, Spread: 0.4}

// TestDegenerate: each way to degenerate is one, also where a measure is no
// number, and nothing else is.
func TestDegenerate(t *testing.T) {
	for want, change := range map[string]func(h *sweep.Horizon){
		"":                    func(h *sweep.Horizon) {},
		"not finite":          func(h *sweep.Horizon) { h.Finite = false },
		"state unbounded":     func(h *sweep.Horizon) { h.State = 1001 },
		"state M is zero":     func(h *sweep.Horizon) { h.Zero = "M" },
		"gate ρ saturated":    func(h *sweep.Horizon) { h.Share = 0.95 },
		"output constant":     func(h *sweep.Horizon) { h.Spread = 1e-15 },
		"output constant\x00": func(h *sweep.Horizon) { h.Output, h.Spread = 0, 0 },
		"state unbounded\x00": func(h *sweep.Horizon) { h.State = math.NaN() },
	} {
		h := sound
		change(&h)
		if got := h.Degenerate(); got != strings.TrimSuffix(want, "\x00") {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

func rows() sweep.Summary {
	bad := sound
	bad.Steps, bad.State = 1000, 1e9
	return sweep.Summary{Combinations: 8, Legal: 3, Rows: []sweep.Row{
		{Knobs: []string{"A", "B", "C", "D"}, Worst: 1e-8, Horizons: []sweep.Horizon{sound, sound}},
		{Knobs: []string{"A", "B", "C", "E"}, Horizons: []sweep.Horizon{sound, bad}},
		{Knobs: []string{"A", "B", "F", "D"}, Problem: "HEC5002", Fact: "differs by |x|"},
	}}
}

// TestReport: a share above the bound is called what it is, and every row is
// in both reports, which are the same every time.
func TestReport(t *testing.T) {
	s := rows()
	if got := s.Verdict(); !strings.Contains(got, "1 of 3") || !strings.Contains(got, "falsifies the claim") {
		t.Error(got)
	}
	few := s
	few.Rows = s.Rows[:1]
	if got := few.Verdict(); strings.Contains(got, "falsifies") {
		t.Error(got)
	}
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"markdown": func(b *bytes.Buffer) error { return s.Markdown(b) },
		"csv":      func(b *bytes.Buffer) error { return s.CSV(b) }} {
		var a, b bytes.Buffer
		if err := write(&a); err != nil {
			t.Fatal(err)
		}
		if err := write(&b); err != nil || a.String() != b.String() {
			t.Errorf("%s: %v, or two texts", name, err)
		}
		for _, w := range []string{"state unbounded", "HEC5002"} {
			if !strings.Contains(a.String(), w) {
				t.Errorf("%s has no %q:\n%s", name, w, a.String())
			}
		}
	}
}

// TestStore: rows survive, also one after a line that was cut off.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x", "rows.jsonl")
	for i, key := range []string{"one", "two"} {
		s, err := sweep.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Row("one"); ok != (i == 1) {
			t.Errorf("round %d: a row is there: %v", i, ok)
		}
		if err := s.Add(sweep.Row{Key: key, Knobs: []string{key}, Horizons: []sweep.Horizon{sound}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"Key":"cut`); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	s, err := sweep.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, ok := s.Row("two"); !ok || r.Knobs[0] != "two" || r.Horizons[0] != sound {
		t.Errorf("%+v, %v", r, ok)
	}
}
