//go:build linux && (amd64 || arm64) && !nogpu

package device

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/internal/fakecuda"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/cuda/verify"
)

func TestMain(m *testing.M) { fakecuda.Main(m) }

// someKernels are those of ZeroB, of two more rules, of an update and of some operations.
var someKernels = regexp.MustCompile("^(adam_w|muon|byte_lm|mag|sliding_window|cms_gated|delta_unbounded|titans_lmm|moneta|matmul|log|slice|embed_lookup|projected/v019f479d2a2d)/")

// verified verifies kernels of a library on the driver.
func verified(t *testing.T, words string, archive []byte, which *regexp.Regexp) (rows []verify.Row) {
	t.Helper()
	l, err := cuda.OpenLibrary(archive)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	fakecuda.Set(words)
	err = verify.Run(t.Context(), d, l, registry.All().Reference, verify.Options{Kernels: which, Seed: 1}, func(r verify.Row) error {
		rows = append(rows, r)
		return nil
	})
	if err := errors.Join(err, d.Close()); err != nil {
		t.Error(err)
	}
	if n := fakecuda.Count("live"); n != 0 {
		t.Errorf("%d allocations are left", n)
	}
	return rows
}

// TestKernels runs kernels of the archive.
func TestKernels(t *testing.T) {
	fakecuda.Need(t)
	for _, words := range []string{"late=0", "late=1,seed=3"} {
		rows := verified(t, words, registry.All().Kernels()[0], someKernels)
		if len(rows) < 30 {
			t.Errorf("%d kernels ran", len(rows))
		}
		for _, r := range rows {
			if r.Verdict != verify.Same || r.Calls == 0 {
				t.Errorf("%s: %+v", words, r)
			}
		}
	}
}

// TestReferences: each kernel of the archive is there in Go.
func TestReferences(t *testing.T) {
	l, err := cuda.OpenLibrary(registry.All().Kernels()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range l.Names() {
		if _, ok := registry.All().Reference(name); !ok {
			t.Errorf("%s has no reference", name)
		}
	}
}

// TestWrongKernel: a text that computes something else, and one that does not compile, are found.
func TestWrongKernel(t *testing.T) {
	fakecuda.Need(t)
	const name = "delta_unbounded/step"
	for _, c := range []struct {
		from, to string
		verdict  verify.Verdict
	}{{"t2 - v[", "t2 + v[", verify.Wrong}, {"y_2 += M_2", "y_2 += 1e39f * M_2", verify.Wrong}, {"HECATE_KERNEL", "HECATE_COLONEL", verify.Failed}} {
		archive := edited(t, name+".cu", c.from, c.to)
		rows := verified(t, "late=0", archive, regexp.MustCompile("^"+name+"$"))
		if len(rows) != 2 || rows[0].Verdict != c.verdict {
			t.Errorf("%q for %q: %+v", c.to, c.from, rows)
		}
		if _, err := json.Marshal(rows); err != nil {
			t.Errorf("%q for %q: %v", c.to, c.from, err)
		}
	}
}

// edited is the archive with a text in which all of from are to.
func edited(t *testing.T, name, from, to string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(registry.All().Kernels()[0]))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if h.Name == name {
			if !strings.Contains(string(text), from) {
				t.Fatalf("%s has no %q", name, from)
			}
			text = bytes.ReplaceAll(text, []byte(from), []byte(to))
			h.Size = int64(len(text))
		}
		if err := errors.Join(err, w.WriteHeader(h)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// distance is the norm of a difference by the norm of what is exact; NaN where lengths differ.
func distance(got, exact []float64) float64 {
	if len(got) != len(exact) {
		return math.NaN()
	}
	var diff, norm float64
	for i, x := range exact {
		diff += (got[i] - x) * (got[i] - x)
		norm += x * x
	}
	if diff == 0 {
		return 0
	}
	return math.Sqrt(diff / norm)
}
