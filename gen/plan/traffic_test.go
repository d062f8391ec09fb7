package plan_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/lower"
)

// TestTraffic counts by hand what small programs move.
func TestTraffic(t *testing.T) {
	sizes := map[string]int{"L": 2, "T": 5, "d": 3, "n": 7}
	for _, c := range []struct {
		name, text    string
		read, written int64 // entries
	}{
		{"each argument is read once and the result written once", `func f(x: input real[L, T, d], b: outer real[d]) {
  axes L, T, d
  y [L, T, d] = lin i:L j:T k:d : x[i, j, k] + b[k]
  return y = y
}`, 2*5*3 + 3, 2 * 5 * 3},
		{"a product of matrices", `func f(x: input real[T, d], W: outer real[n, d]) {
  axes T, d, n
  y [T, n] = prod i:T j:n k:d : x[i, k] W[j, k]
  return y = y
}`, 5*3 + 7*3, 5 * 7},
		{"what is between two passes is written and read", `func f(x: input real[T, d]) {
  axes T, d
  s [T] = prod i:T j:d : x[i, j] x[i, j]
  y [T, d] = div i:T j:d : x[i, j] s[i]
  return y = y
}`, 5*3 + 5*3 + 5, 5 + 5*3},
		{"three rows are three rows", `func f(x: input real[T, d]) {
  axes T, d, "3" = 3
  y ["3", d] = prod i:"3" j:d : x[i, j]
  return y = y
}`, 3 * 3, 3 * 3},
	} {
		f, err := ir.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		k, err := lower.Func(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Traffic(sizes); got.Read != 4*c.read || got.Written != 4*c.written {
			t.Errorf("%s: %d bytes read and %d written, want %d and %d\n%s", c.name, got.Read, got.Written, 4*c.read, 4*c.written, k)
		}
	}
}
