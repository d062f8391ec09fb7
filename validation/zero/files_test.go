package zero

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/internal/vectors"
	"github.com/nl-hecate/hecate/runtime/num"
)

// Tolerances. exact is absolute below one and relative above.
const (
	exact     = 1e-9 // float64 against float64: other orders of the same sums
	single    = 1e-4 // float32, relative
	singleAbs = 1e-6 // float32, absolute
)

// A reference is a vector file, or its cases under one prefix.
type reference struct {
	t      *testing.T
	f      *vectors.File
	prefix string
}

func open(t *testing.T, name string) reference {
	t.Helper()
	r, err := os.Open("../oracle/vectors/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := vectors.Read(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reference{t, f, ""}
}

// under are the tensors of one case.
func (r reference) under(prefix string) reference {
	r.prefix = prefix + "."
	return r
}

func (r reference) has(name string) bool {
	_, ok := r.f.Lookup(r.prefix + name)
	return ok
}

func (r reference) get(name string) *vectors.Tensor {
	r.t.Helper()
	x, ok := r.f.Lookup(r.prefix + name)
	if !ok {
		r.t.Fatalf("the oracle has no %s%s", r.prefix, name)
	}
	return x
}

func (r reference) floats(name string) []float64 { r.t.Helper(); return r.get(name).Floats }

func (r reference) ints(name string) []int32 {
	r.t.Helper()
	var out []int32
	for _, x := range r.get(name).Ints {
		out = append(out, int32(x))
	}
	return out
}

// names are the case's tensors that start with a word, without it.
func (r reference) names(word string) []string {
	var out []string
	for _, x := range r.f.Tensors() {
		if n, ok := strings.CutPrefix(x.Name, r.prefix+word); ok {
			out = append(out, n)
		}
	}
	return out
}

// same compares with a bound of abs + rel·|want|.
func same[F num.Float](t *testing.T, what string, got []F, want []float64, abs, rel float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d entries, the oracle %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= abs+rel*math.Abs(w)) {
			t.Errorf("%s[%d] is %v, the oracle has %v: off by %.3g", what, i, got[i], w, d)
			return
		}
	}
}

// convert rounds to F.
func convert[F num.Float](x []float64) []F {
	out := make([]F, len(x))
	for i, v := range x {
		out[i] = F(v)
	}
	return out
}

// curve reads the losses of a run.
func curve(t *testing.T, name string) []float64 {
	t.Helper()
	f, err := os.Open("../oracle/curves/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []float64
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		x, err := strconv.ParseFloat(sc.Text(), 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}
