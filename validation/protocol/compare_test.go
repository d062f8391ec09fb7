package protocol

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
)

// sameBits compares named arrays bit for bit.
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
		// A zero has no sign here: an adjoint of one part is that part, one of several begins at 0.
		if a, b := float64(got[i]), float64(want[i]); a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
			t.Errorf("%s[%d]: %v and %v differ", what, i, got[i], want[i])
			return
		}
	}
}

func nonzero[F num.Float](x []F) bool {
	return slices.ContainsFunc(x, func(v F) bool { return v != 0 })
}

func peak[F num.Float](x []F) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(float64(v)))
	}
	return most
}
