package protocol

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
)

// oracleTol is how far the tape may be from the interpreter, relative to the largest
// entry of a tensor: both are float64 and differ in the order of their sums and in
// the last places of exp. A unit alone keeps 1e-11; a model chains up to a dozen.
//
// Some models amplify every rounding: the orthogonal momentum of a matrix that is
// nearly of rank one does. The interpreter says by how much, when it rounds every
// number to float32: what that moves, float64 moves 2⁻²⁹ times, and two orders of sums
// by some tens of that. Where the tolerance is not kept it may grow to this; where
// float32 is lost, and so says nothing, to a bound that is far below any wrong term.
const (
	oracleTol     = 1e-10
	amplified     = 32 * 0x1p-29
	lost          = 1e-2
	mostTol       = 1e-6
	mostScenarios = 0.02 // share of scenarios that may need it
)

// oracleFloor is the size below which a tensor counts as that large, in units of the
// largest gradient of the call where that is above one: a small gradient may be a
// sum in which large ones cancel.
const oracleFloor = 1e-3

// TestIntegration is Class 3: outputs, memory and gradients of every scenario against
// the interpreter, one context new and one old in the same call.
func TestIntegration(t *testing.T) {
	t.Parallel()
	loose := 0
	for _, x := range scenarios() {
		s := newSubject[float64](t, x, small(x), 4)
		s.grow(mixed)
		if integration(t, s) {
			loose++
		}
	}
	t.Logf("%d of %d scenarios amplify rounding", loose, len(scenarios()))
	if !(float64(loose) <= mostScenarios*float64(len(scenarios()))) {
		t.Errorf("%d of %d scenarios need a looser tolerance", loose, len(scenarios()))
	}
}

// integration reports whether it took the looser tolerance.
func integration(t *testing.T, s *subject[float64]) bool {
	t.Helper()
	o := newOracle(s)
	want, got := o.run(s), s.backward()
	bad := differ(got, want, oracleTol)
	if len(bad) == 0 {
		return false
	}
	o.program.Float32 = true
	tol := max(oracleTol, amplified*o.run(s).off(want))
	if tol > amplified*lost {
		tol = mostTol
	}
	for _, what := range differ(got, want, tol) {
		t.Errorf("%v: %s", s.x, what)
	}
	return true
}

// differ compares a call with an answer.
func differ(got result[float64], want answer, tol float64) []string {
	out := allNear("", got.outs, want.outs, tol)
	out = append(out, allNear("memory ", got.memory, want.memory, tol)...)
	return append(out, allNear("gradient of ", got.grads, want.grads, tol)...)
}

// off is how far an answer is from another in what is farthest.
func (a answer) off(want answer) float64 {
	most := 0.
	for _, pair := range [][2]map[string][]float64{{a.outs, want.outs}, {a.memory, want.memory}, {a.grads, want.grads}} {
		for name, x := range pair[1] {
			for i := range x {
				most = max(most, math.Abs(pair[0][name][i]-x[i])/max(oracleFloor, peak(x)))
			}
		}
	}
	return most
}

// allNear compares named arrays and says what differs; what is missing is zero.
func allNear(kind string, got, want map[string][]float64, tol float64) []string {
	most := 1.
	for _, x := range want {
		if p := peak(x); !math.IsInf(p, 0) {
			most = max(most, p)
		}
	}
	names := maps.Clone(want)
	maps.Copy(names, got)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := max(len(got[name]), len(want[name]))
		if s := apart(orZeros(got[name], n), orZeros(want[name], n), oracleFloor*most, tol); s != "" {
			out = append(out, kind+name+s)
		}
	}
	return out
}

// apart says where two arrays differ by more than a tolerance relative to the largest
// entry, or to least where that is more; "" where they do not.
func apart(got, want []float64, least, tol float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf(" has %d entries, want %d", len(got), len(want))
	}
	scale := max(least, peak(want))
	for i := range want {
		if d := math.Abs(got[i] - want[i]); !(d <= tol*scale) {
			return fmt.Sprintf("[%d] is %v, want %v: off by %.3g of %.3g", i, got[i], want[i], d, scale)
		}
	}
	return ""
}

// nearBy wants two arrays not to differ by more.
func nearBy(t testing.TB, what string, got, want []float64, least, tol float64) {
	t.Helper()
	if s := apart(got, want, least, tol); s != "" {
		t.Error(what + s)
	}
}

func orZeros(x []float64, n int) []float64 {
	if x == nil {
		return make([]float64, n)
	}
	return x
}
