package zero

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
)

// TestStreams holds the streams that start values are drawn from to the
// oracle's, bit for bit: a model of one seed is the same model in both.
func TestStreams(t *testing.T) {
	ref, n := open(t, "streams"), 0
	for _, x := range ref.f.Tensors() {
		key, ok := strings.CutSuffix(x.Name, ".bits")
		if !ok {
			continue
		}
		n++
		at := strings.LastIndex(key, ".")
		seed, err := strconv.ParseUint(key[at+1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		name := key[:at]
		if name == "empty" {
			name = ""
		}
		bits, uniform := num.NewStream(name, seed), num.NewStream(name, seed)
		for i, want := range x.Ints {
			if got := int64(bits.Next() >> 11); got != want {
				t.Errorf("%s: number %d is %d, the oracle has %d", key, i, got, want)
			}
		}
		bound := 1 / math.Sqrt(8)
		for i, want := range ref.floats(key + ".uniform") {
			if got := uniform.Uniform(-bound, bound); got != want {
				t.Errorf("%s: deviate %d is %v, the oracle has %v", key, i, got, want)
			}
		}
	}
	if n == 0 {
		t.Fatal("no streams")
	}
}
