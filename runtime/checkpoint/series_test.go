package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/tensor"
)

func small(t testing.TB) *Snapshot {
	t.Helper()
	s := &Snapshot{}
	if err := Add(s, "w", tensor.Shape{2}, []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	return s
}

func steps(t testing.TB, s Series) (out []uint64) {
	t.Helper()
	all, err := s.Members()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		out = append(out, m.Step)
	}
	return out
}

// TestSeries writes a run whose score falls and rises, for every way to keep.
func TestSeries(t *testing.T) {
	scores := []float64{math.NaN(), 4, 2, 5, math.NaN(), 3, 2, 7, 8}
	for _, c := range []struct {
		keep int
		best bool
		want []uint64
	}{
		{0, false, []uint64{10, 20, 30, 40, 50, 60, 70, 80, 90}},
		{1, false, []uint64{90}},
		{3, false, []uint64{70, 80, 90}},
		{2, true, []uint64{30, 80, 90}},
		{8, true, []uint64{20, 30, 40, 50, 60, 70, 80, 90}},
	} {
		s := Series{filepath.Join(t.TempDir(), "a", "b"), "run", c.keep, c.best}
		if m, ok, err := s.Latest(); ok || err != nil {
			t.Errorf("an empty series has %v, %v", m, err)
		}
		for i, score := range scores {
			path, err := s.Write(uint64(10*(i+1)), score, small(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path); err != nil {
				t.Error(err)
			}
		}
		if got := steps(t, s); !slices.Equal(got, c.want) {
			t.Errorf("keep %d, best %v: %v, want %v", c.keep, c.best, got, c.want)
		}
		if m, ok, err := s.Latest(); !ok || err != nil || m.Step != 90 || m.Score != 8 {
			t.Errorf("the latest is %+v, %v", m, err)
		}
		if m, ok, err := s.BestOf(); c.best && (!ok || err != nil || m.Step != 30 || m.Score != 2) {
			t.Errorf("the best is %+v, %v", m, err)
		}
	}
}

// TestSeriesAfterACrash: files that a dead run has left too many go with the next
// write; what is not the series' stays.
func TestSeriesAfterACrash(t *testing.T) {
	s := Series{t.TempDir(), "run", 2, true}
	all := s
	all.Keep = 0
	for i := range 6 {
		if _, err := all.Write(uint64(i), float64(i), small(t)); err != nil {
			t.Fatal(err)
		}
	}
	strangers := []string{"run-x.safetensors", "run-7.safetensors", "running-000000007.safetensors", "run-000000002.txt", ".run-000000009.safetensors.x.tmp", ".run-000000009.safetensors.tmp", ".runs-000000009.safetensors.1.tmp"}
	litter := ".run-000000004.safetensors.123.tmp"
	for _, name := range append([]string{litter, "run-000000003.safetensors"}, strangers...) {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Write(6, math.NaN(), small(t)); err != nil {
		t.Fatal(err)
	}
	if got := steps(t, s); !slices.Equal(got, []uint64{0, 5, 6}) {
		t.Errorf("%v stayed, want the best and two", got)
	}
	for _, name := range append(strangers, "run-000000003.safetensors") {
		if _, err := os.Stat(filepath.Join(s.Dir, name)); err != nil {
			t.Errorf("%s is gone", name)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Dir, litter)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed writer left is still there: %v", err)
	}
	if s.path(1<<40) != filepath.Join(s.Dir, fmt.Sprint("run-", uint64(1)<<40, ".safetensors")) {
		t.Error("a long step is cut")
	}
}

// TestSeriesFails: a folder that cannot be, and one that cannot be read.
func TestSeriesFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := Series{Dir: filepath.Join(file, "x"), Name: "run"}
	if _, err := s.Write(1, 0, small(t)); err == nil {
		t.Error("a write below a file is no error")
	}
	s.Dir = file
	if _, _, err := s.Latest(); err == nil {
		t.Error("a folder that is a file is no error")
	}
}
