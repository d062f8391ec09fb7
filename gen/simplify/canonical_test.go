package simplify_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// TestEqual pairs programs that are the same function in different words, and
// programs that differ in one thing.
func TestEqual(t *testing.T) {
	head := "func f(A: input real[d, d], B: input real[d, d], x: input real[d], y: input real[d], c: input real[], ids: input int[d]) {\n"
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"transposed outer product", "g [d, d] = prod i:d j:d : x[i] y[j]\n h [d, d] = prod i:d j:d : g[j, i]\n return r = h",
			"h [d, d] = prod i:d j:d : y[i] x[j]\n return r = h", true},
		{"not transposed", "h [d, d] = prod i:d j:d : x[i] y[j]\n return r = h", "h [d, d] = prod i:d j:d : y[i] x[j]\n return r = h", false},
		{"distributive", "s [d] = lin i:d : x[i] + y[i]\n h [d] = prod i:d : s[i] s[i]\n return r = h",
			"a [d] = prod i:d : x[i] x[i]\n b [d] = prod i:d : 2 x[i] y[i]\n e [d] = prod i:d : y[i] y[i]\n h [d] = lin i:d : b[i] + e[i] + a[i]\n return r = h", true},
		{"associative contraction", "v [d] = prod i:d j:d : B[i, j] x[j]\n h [d] = prod i:d j:d : A[i, j] v[j]\n return r = h",
			"M [d, d] = prod i:d j:d k:d : A[i, k] B[k, j]\n h [d] = prod i:d j:d : M[i, j] x[j]\n return r = h", true},
		{"swapped factors", "v [d] = prod i:d j:d : B[i, j] x[j]\n h [d] = prod i:d j:d : A[i, j] v[j]\n return r = h",
			"M [d, d] = prod i:d j:d k:d : B[i, k] A[k, j]\n h [d] = prod i:d j:d : M[i, j] x[j]\n return r = h", false},
		{"trace of a product", "h [] = prod i:d j:d : A[i, j] B[j, i]\n return r = h", "h [] = prod i:d j:d : B[i, j] A[j, i]\n return r = h", true},
		{"Frobenius", "h [] = prod i:d j:d : A[i, j] B[j, i]\n return r = h", "h [] = prod i:d j:d : B[i, j] A[i, j]\n return r = h", false},
		{"sigmoid of minus", "n [d] = lin i:d : -x[i]\n s [d] = sigmoid i:d : n[i]\n return r = s",
			"p [d] = sigmoid i:d : x[i]\n s [d] = lin i:d : -p[i] + 1\n return r = s", true},
		{"function of a transpose", "T [d, d] = prod i:d j:d : A[j, i]\n e [d, d] = exp i:d j:d : T[i, j]\n return r = e",
			"q [d, d] = exp i:d j:d : A[i, j]\n e [d, d] = prod i:d j:d : q[j, i]\n return r = e", true},
		{"quotient", "s [d] = lin i:d : x[i] + y[i]\n h [d] = div i:d : s[i] c\n return r = h",
			"a [d] = div i:d : x[i] c\n b [d] = div i:d : y[i] c\n h [d] = lin i:d : a[i] + b[i]\n return r = h", true},
		{"one third", "k [] = const : 3\n h [d] = div i:d : x[i] k\n return r = h", "h [d] = prod i:d : 0.3333333333333333 x[i]\n return r = h", false},
		{"scatter", "h [d] at [ids[i]] = prod i:d : x[i] c\n return r = h", "h [d] at [ids[i]] = prod i:d : c x[i]\n return r = h", true},
		{"gather of a computed value", "e [d] = exp i:d : x[i]\n h [d] = prod i:d : e[ids[i]]\n return r = h",
			"g [d] = prod i:d : x[ids[i]]\n h [d] = exp i:d : g[i]\n return r = h", false},
		{"gather of a scaled value", "e [d] = prod i:d : c x[i]\n h [d] = prod i:d : e[ids[i]]\n return r = h",
			"g [d] = prod i:d : x[ids[i]]\n h [d] = prod i:d : g[i] c\n return r = h", true},
		{"guard", "h [d] = prod i:d j:d where i - j >= 0 : x[j]\n return r = h", "h [d] = prod i:d j:d where j - i >= 0 : x[j]\n return r = h", false},
		{"power", "k [] = const : 2\n h [d] = pow i:d : x[i] k\n return r = h", "h [d] = prod i:d : x[i] x[i]\n return r = h", true},
		{"size", "h [d] = prod i:d j:d : x[i]\n return r = h", "n [] = size : d\n h [d] = prod i:d : n x[i]\n return r = h", true},
		{"softmax", "s [d, d] = softmax i:d j:d over j : A[i, j]\n return r = s", "s [d, d] = softmax i:d j:d over i : A[i, j]\n return r = s", false},
	} {
		f, g := irtest.MustParse(head+c.a+"\n}"), irtest.MustParse(head+c.b+"\n}")
		if got := simplify.Equal(f, g); got != c.want {
			t.Errorf("%s: Equal = %v, want %v\n%s\n%s", c.name, got, c.want, simplify.Canon(f), simplify.Canon(g))
		}
	}
}

func TestEqualOfScans(t *testing.T) {
	f, g := irtest.MustParse(irtest.Delta), irtest.MustParse(irtest.Delta)
	simplify.Simplify(g)
	if !simplify.Equal(f, g) {
		t.Error("the delta rule differs from itself, simplified")
	}
	h := irtest.MustParse(irtest.Delta)
	h.Body[0].Scan.Body.Body[1].Coef[1] = 1
	if simplify.Equal(f, h) {
		t.Error("the delta rule with a plus for a minus counts as equal")
	}
	if simplify.Hash(f) != simplify.Hash(g) || simplify.Hash(f) == simplify.Hash(h) {
		t.Error("hashes do not tell programs apart as they should")
	}
}
