package plan_test

import (
	"maps"
	"testing"

	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/lower"
)

// TestOperations counts by hand what small programs compute.
func TestOperations(t *testing.T) {
	for _, c := range []struct {
		name, text string
		arithmetic int64
		functions  map[ir.Op]int64
	}{
		{"a sum of two", `y [T, d] = lin i:T j:d : x[i, j] + b[j]`, 5 * 3, nil},
		{"multiples", `y [T, d] = lin i:T j:d : 2 x[i, j] - b[j] + 1`, 5 * 3 * 2, nil}, // one is fused
		{"a sum of products is of fused multiply-adds", `y [T] = prod i:T j:d : x[i, j] b[j]`, 5 * 3, nil},
		{"a triangle", `y [T, d] = prod i:T j:d k:T where i - k >= 0 : x[k, j] w[i, k]`, (1 + 2 + 3 + 4 + 5) * 3, nil},
		{"functions", `e [T, d] = exp i:T j:d : x[i, j]
  y [T, d] = div i:T j:d : e[i, j] b[j]`, 0, map[ir.Op]int64{ir.Exp: 5 * 3, ir.Div: 5 * 3}},
	} {
		f, err := ir.Parse("func f(x: input real[T, d], b: outer real[d], w: input real[T, T]) {\n  axes T, d\n  " + c.text + "\n  return y = y\n}")
		if err != nil {
			t.Fatal(err)
		}
		k, err := lower.Func(f)
		if err != nil {
			t.Fatal(err)
		}
		k = fuse.Kernel(k)
		if got := k.Operations(map[string]int{"T": 5, "d": 3}); got.Arithmetic != c.arithmetic || !maps.Equal(got.Functions, c.functions) {
			t.Errorf("%s: %d operations and %v, want %d and %v\n%s", c.name, got.Arithmetic, got.Functions, c.arithmetic, c.functions, k)
		}
	}
}
