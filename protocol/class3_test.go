package protocol

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// oracleTol is how far the tape may be from the interpreter, relative to the largest
// entry of a tensor: both are float64 and differ in the order of their sums and in
// the last places of exp. A unit alone keeps 1e-11; a model chains up to a dozen.
const oracleTol = 1e-9

// oracleFloor is the size below which a tensor counts as that large, in units of the
// largest gradient of the call where that is above one: a small gradient may be a
// sum in which large ones cancel.
const oracleFloor = 1e-3

// TestIntegration is Class 3: outputs, memory and gradients of every trial against
// the interpreter, one context new and one old in the same call.
func TestIntegration(t *testing.T) {
	t.Parallel()
	for _, x := range trials() {
		s := newSubject[float64](t, x, small, 4)
		s.grow(mixed)
		integration(t, s)
	}
}

func integration(t *testing.T, s *subject[float64]) {
	t.Helper()
	o := newOracle(s)
	want, got := o.run(s), s.backward()
	allNear(t, s.x.String(), got.outs, want.outs, nil)
	allNear(t, s.x.String()+", memory", got.memory, want.memory, nil)
	allNear(t, s.x.String()+", gradient", got.grads, want.grads, o.unheld(s))
}

// unheld are the parameters whose gradient the inlined program cannot know: what a
// frozen read sees is a value, also where it is a learned start, and the program has
// one state for the part that writes and for the frozen call beside it. Class 1 holds
// these parameters. It happens where a context begins in a composition that calls a
// part twice.
func (o *oracle) unheld(s *subject[float64]) map[string]bool {
	twice := false
	s.mem.Each("", func(name string, _ []int, _ []float64) { twice = twice || strings.Contains(name, "frozen.") })
	if !twice && s.x.schedule != gated && !strings.Contains(s.x.formula(), "MAC(") {
		return nil
	}
	return o.learned()
}

// allNear compares named arrays; what is missing is zero.
func allNear(t testing.TB, what string, got, want map[string][]float64, but map[string]bool) {
	t.Helper()
	most := 1.
	for _, x := range want {
		if p := peak(x); !math.IsInf(p, 0) {
			most = max(most, p)
		}
	}
	names := maps.Clone(want)
	maps.Copy(names, got)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !but[name] {
			near(t, what+": "+name, got[name], want[name], oracleFloor*most)
		}
	}
}

func near(t testing.TB, what string, got, want []float64, least float64) {
	t.Helper()
	n := max(len(got), len(want))
	nearBy(t, what, orZeros(got, n), orZeros(want, n), least, oracleTol)
}

// nearBy compares with a tolerance relative to the largest entry, or to least where
// that is more.
func nearBy(t testing.TB, what string, got, want []float64, least, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d entries, want %d", what, len(got), len(want))
		return
	}
	scale := max(least, peak(want))
	for i := range want {
		if d := math.Abs(got[i] - want[i]); !(d <= tol*scale) {
			t.Errorf("%s[%d] is %v, want %v: off by %.3g of %.3g", what, i, got[i], want[i], d, scale)
			return
		}
	}
}

func orZeros(x []float64, n int) []float64 {
	if x == nil {
		return make([]float64, n)
	}
	return x
}
