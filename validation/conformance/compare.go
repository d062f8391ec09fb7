package conformance

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/gradcheck"
	"github.com/nl-hecate/hecate/runtime/num"
)

// sameBits compares two named collections bit for bit.
func sameBits[F num.Float](t testing.TB, what string, got, want map[string][]F) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		bits(t, what+": "+name, got[name], want[name])
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there once only", what, name)
		}
	}
}

func bits[F num.Float](t testing.TB, what string, got, want []F) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d entries and %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Errorf("%s[%d]: %v and %v differ", what, i, got[i], want[i])
			return
		}
	}
}

// near compares with a tolerance relative to the largest entry.
func near[F num.Float](t testing.TB, what string, got, want []F, tol float64) {
	t.Helper()
	nearAbove(t, what, got, want, tol, floor)
}

// nearAbove is near where entries below least count as that large.
func nearAbove[F num.Float](t testing.TB, what string, got, want []F, tol, least float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d entries, want %d", what, len(got), len(want))
		return
	}
	scale := max(least, peak(want))
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tol*scale) {
			t.Errorf("%s[%d] = %v, want %v: off by %.3g of %.3g", what, i, got[i], want[i], d, scale)
			return
		}
	}
}

// peak is the largest magnitude, NaN if there is one.
func peak[F num.Float](xs []F) (most float64) {
	for _, x := range xs {
		most = max(most, math.Abs(float64(x)))
	}
	return most
}

// allNear is near for named collections; no gradient is a gradient of zero. One
// that is small beside the others may be a sum in which those cancel, and keeps
// their rounding: the floor is in units of the largest, where that is above one.
func allNear[F num.Float](t testing.TB, what string, got, want map[string][]F, tol float64) {
	t.Helper()
	most := 1.
	for _, x := range want {
		if p := peak(x); !math.IsInf(p, 0) {
			most = max(most, p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		g := got[name]
		if g == nil {
			g = make([]F, len(want[name]))
		}
		nearAbove(t, what+": "+name, g, want[name], tol, floor*most)
	}
}

// close32 compares float32 with float64 by norms.
func close32(t testing.TB, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d entries, want %d", what, len(got), len(want))
		return
	}
	if err := off(got, want); !(err <= tol) {
		t.Errorf("%s: float32 is off by %.3g, allowed %.3g", what, err, tol)
	}
}

// off is the distance of float32 from float64, relative to the norm.
func off(got []float32, want []float64) float64 {
	var d2, w2 float64
	for i, w := range want {
		d := float64(got[i]) - w
		d2 += d * d
		w2 += w * w
	}
	return math.Sqrt(d2) / max(singleFloor, math.Sqrt(w2))
}

// check runs a gradient check and reports it. It counts into s.
func check(t testing.TB, s *tally, name string, f func() float64, x, analytic []float64) {
	t.Helper()
	if analytic == nil {
		analytic = make([]float64, len(x))
	}
	if len(x) == 0 {
		return
	}
	r := gradcheck.Check(name, f, x, analytic)
	s.entries += r.Entries
	s.skipped += len(r.Skipped)
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// A tally counts compared entries.
type tally struct{ entries, skipped int }

// report logs the counts. A check without a single entry says nothing.
func (s tally) report(t testing.TB) {
	t.Helper()
	if s.entries == 0 {
		t.Error("no entry was compared")
	}
	t.Logf("%d entries compared, %d skipped at kinks", s.entries, s.skipped)
}

// dot is Σ a·b over all outputs that b names.
func dot(a, b map[string][]float64) float64 {
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if len(a[name]) != len(b[name]) {
			panic(fmt.Sprintf("conformance: output %s has %d entries, its adjoint %d", name, len(a[name]), len(b[name])))
		}
		for i, x := range b[name] {
			sum += x * a[name][i]
		}
	}
	return sum
}

func nonzero(x []float64) bool {
	return slices.ContainsFunc(x, func(v float64) bool { return v != 0 })
}
