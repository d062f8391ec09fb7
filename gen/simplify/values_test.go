package simplify_test

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// TestValues: the same sum in two forms is one value; a value is not taken
// for one that another operation makes, less exactly.
func TestValues(t *testing.T) {
	f := irtest.MustParse(`func f(x: input real[d]) {
 one [] = const : 1
 n [d] = prod i:d : -1 x[i]
 a [d] = sigmoid i:d : n[i]
 s [d] = sigmoid i:d : x[i]
 b [d] = lin i:d : one - s[i]
 p [d] = lin i:d : x[i] + x[i]
 q [d] = prod i:d : 2 x[i]
 return r = a
 return v = b
 return w = p
 return y = q
}`)
	values := simplify.NewValues(f)
	named := func(name string) *ir.Value {
		return f.Body[slices.IndexFunc(f.Body, func(in *ir.Instr) bool { return in.Out.Name == name })].Out
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"p", "q", true}, {"a", "b", false}, {"a", "s", false}} {
		if got := values.Equal(named(c.a), named(c.b)); got != c.want {
			t.Errorf("%s and %s are equal: %v", c.a, c.b, got)
		}
	}
}
