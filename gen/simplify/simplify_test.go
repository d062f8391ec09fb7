package simplify_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/interp/interptest"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/simplify"
)

func TestSimplifyKeepsValues(t *testing.T) {
	for seed := range uint64(600) {
		f := irtest.Program(seed)
		before := f.String()
		params := interptest.Inputs(f, irtest.Sizes, seed)
		want := interp.Run(f, irtest.Sizes, params)
		simplify.Simplify(f)
		if err := ir.Verify(f); err != nil {
			t.Fatalf("seed %d: %v\n%s\nfrom\n%s", seed, err, f, before)
		}
		once := f.String()
		interptest.Compare(t, once+"\nfrom\n"+before, want, interp.Run(f, irtest.Sizes, params))
		simplify.Simplify(f)
		if twice := f.String(); twice != once {
			t.Fatalf("seed %d: simplified once\n%s\ntwice\n%s", seed, once, twice)
		}
	}
}

// TestCanonKnowsSimplified:  a program and its simplified form are
// found equal nearly always, and that the form does not depend on the run.
func TestCanonKnowsSimplified(t *testing.T) {
	known := 0
	for seed := range uint64(200) {
		f := irtest.Program(seed)
		g, _ := f.Clone()
		simplify.Simplify(g)
		if simplify.Equal(f, g) {
			known++
		}
		if again := simplify.Canon(f); again != simplify.Canon(f) || simplify.Hash(f) != simplify.Hash(g) {
			t.Errorf("seed %d: form or hash differ from run to run\n%s\n%s", seed, f, g)
		}
	}
	if known < 180 {
		t.Errorf("%d of 200 programs were found equal to their simplified form", known)
	}
}

// TestCanonIsSound compares forms of different random programs by value: equal
// forms must mean equal values.
func TestCanonIsSound(t *testing.T) {
	type one struct {
		f   *ir.Func
		out map[string]*interp.Tensor
	}
	forms := map[string]one{}
	for seed := range uint64(1500) {
		f := irtest.Program(seed)
		f.Results = f.Results[:1]
		f.Results[0].Name = "r"
		out := interp.Run(f, irtest.Sizes, interptest.Inputs(f, irtest.Sizes, 5))
		key := simplify.Canon(f)
		if other, ok := forms[key]; ok {
			interptest.Compare(t, "same form\n"+f.String()+other.f.String(), other.out, out)
		}
		forms[key] = one{f, out}
	}
}

// TestSimplifyRewrites shows each rewrite on a small program.
func TestSimplifyRewrites(t *testing.T) {
	head := "func f(A: input real[d, d], x: input real[d], y: input real[d], c: input real[], ids: input int[d], n: input int[]) {\n  axes d\n"
	for _, r := range []struct{ name, in, want string }{
		{"constants fold", "a [] = const : 2\n b [] = exp : a\n h [d] = prod i:d : b x[i]", "h [d] = prod i:d : 7.38905609893065 x[i]"},
		{"zero times", "z [] = const : 0\n h [d] = prod i:d : z x[i]", "h [d] = const i:d : 0"},
		{"like terms", "h [d] = lin i:d : x[i] + y[i] - 3 x[i] - y[i]", "h [d] = prod i:d : -2 x[i]"},
		{"nested sums", "a [d] = lin i:d : x[i] + 1\n h [d] = lin i:d : 2 a[i] - y[i] + 1", "h [d] = lin i:d : 2 x[i] - y[i] + 3"},
		{"transposes vanish", "T [d, d] = prod i:d j:d : A[j, i]\n h [d] = prod i:d j:d : T[i, j] x[j]", "h [d] = prod i:d j:d : A[j, i] x[j]"},
		{"diagonal of a transpose", "T [d, d] = prod i:d j:d : A[j, i]\n h [d] = exp i:d : T[i, i]", "h [d] = exp i:d : A[i, i]"},
		{"copies vanish", "a [d] = prod i:d : x[i]\n h [d] = exp i:d : a[i]\n g [d] = prod i:d : h[i]", "h [d] = exp i:d : x[i]\n  return h = h\n  return g = h"},
		{"a twice computed value", "a [d] = exp i:d : x[i]\n b [d] = exp i:d : x[i]\n h [d] = prod i:d : a[i] b[i]", "a [d] = exp i:d : x[i]\n  h [d] = prod i:d : a[i] a[i]"},
		{"commuted", "a [d] = prod i:d : x[i] y[i]\n b [d] = prod i:d : y[i] x[i]\n s [d] = exp i:d : a[i]\n h [d] = div i:d : s[i] b[i]", "a [d] = prod i:d : x[i] y[i]\n  s [d] = exp i:d : a[i]\n  h [d] = div i:d : s[i] a[i]"},
		{"division by a number", "k [] = const : 4\n h [d] = div i:d : x[i] k", "h [d] = prod i:d : 0.25 x[i]"},
		{"decided choice", "k bool[] = const : 1\n h [d] = select i:d : k x[i] y[i]", "return h = x"},
		{"factor out of a sum", "h [d] = prod i:d j:d : -1 c A[i, j] x[j] y[i]", "%1 [d] = prod i:d j:d : A[i, j] x[j]\n  h [d] = prod i:d : -1 c y[i] %1[i]"},
		{"small factors first", "h [d, d] = prod i:d j:d : c x[i] y[j]", "%1 [d] = prod i:d : c x[i]\n  h [d, d] = prod i:d j:d : y[j] %1[i]"},
		{"chain of matrices", "h [] = prod i:d j:d : x[i] A[i, j] y[j]", "%1 [d] = prod i:d j:d : A[i, j] y[j]\n  h [] = prod i:d : x[i] %1[i]"},
		{"sums up to a number", "a [d] = prod i:d j:d : A[i, j] x[j]\n b [d] = prod i:d j:d : 2 A[i, j] x[j]\n h [d] = div i:d : b[i] a[i]", "a [d] = prod i:d j:d : A[i, j] x[j]\n  b [d] = prod i:d : 2 a[i]\n  h [d] = div i:d : b[i] a[i]"},
		{"shared factors", "a [d, d] = prod i:d j:d : x[i] x[j]\n b [d, d] = prod i:d j:d : 2 y[i] x[j]\n h [d, d] = lin i:d j:d : a[i, j] - b[i, j]", "%1 [d] = lin i:d : x[i] - 2 y[i]\n  h [d, d] = prod i:d j:d : x[j] %1[i]"},
		{"a factor and nothing", "a [d, d] = prod i:d j:d : x[i] A[i, j]\n h [d, d] = lin i:d j:d : A[i, j] + a[i, j]", "%1 [d] = lin i:d : x[i] + 1\n  h [d, d] = prod i:d j:d : A[i, j] %1[i]"},
		{"one pass for two sums", "a [d] = prod i:d j:d : A[i, j] x[j]\n b [d] = prod i:d j:d : A[i, j] y[j]\n h [d] = lin i:d : a[i] - b[i]", "%1 [d] = lin i:d : x[i] - y[i]\n  h [d] = prod i:d j:d : A[i, j] %1[j]"},
		{"one pass for two sums in products", "a [d] = prod i:d j:d : A[i, j] x[j]\n b [d] = prod i:d j:d : A[i, j] y[j]\n e [d] = prod i:d : y[i] a[i]\n f [d] = prod i:d : y[i] b[i]\n h [d] = lin i:d : e[i] + f[i]", "%1 [d] = lin i:d : x[i] + y[i]\n  %2 [d] = prod i:d j:d : A[i, j] %1[j]\n  h [d] = prod i:d : y[i] %2[i]"},
		{"a product that another needs", "a [d, d] = prod i:d j:d : x[i] x[j]\n b [d, d] = prod i:d j:d : y[i] x[j]\n s [d, d] = exp i:d j:d : b[i, j]\n h [d, d] = lin i:d j:d : a[i, j] + b[i, j] + s[i, j]", "a [d, d] = prod i:d j:d : x[i] x[j]\n  b [d, d] = prod i:d j:d : x[j] y[i]\n  s [d, d] = exp i:d j:d : b[i, j]\n  h [d, d] = lin i:d j:d : a[i, j] + b[i, j] + s[i, j]"},
		{"a sum as large as the products", "a [d, d] = prod i:d j:d : c A[i, j]\n b [d, d] = prod i:d j:d : c A[j, i]\n s [d, d] = exp i:d j:d : A[i, j]\n h [d, d] = lin i:d j:d : a[i, j] + b[i, j]", "a [d, d] = prod i:d j:d : c A[i, j]\n  b [d, d] = prod i:d j:d : c A[j, i]\n  h [d, d] = lin i:d j:d : a[i, j] + b[i, j]"},
		{"smallest box first", "h [d] = prod i:d j:d k:d : A[k, i] A[k, j] x[j]", "%1 [d] = prod i:d j:d : A[i, j] x[j]\n  h [d] = prod i:d j:d : A[j, i] %1[j]"},
		{"a product with a vector from the right", "B [d, d] = prod i:d j:d k:d : A[k, i] A[k, j]\n h [d] = prod i:d j:d : B[i, j] x[j]", "%1 [d] = prod i:d j:d : A[i, j] x[j]\n  h [d] = prod i:d j:d : A[j, i] %1[j]"},
		{"a product that is a result too", "g [d, d] = prod i:d j:d k:d : A[k, i] A[k, j]\n h [d] = prod i:d j:d : g[i, j] x[j]", "g [d, d] = prod i:d j:d k:d : A[k, i] A[k, j]\n  h [d] = prod i:d j:d : g[i, j] x[j]\n  return h = h\n  return g = g"},
		{"diagonal of a product", "B [d, d] = prod i:d j:d k:d : A[k, i] A[j, k]\n h [d] = prod i:d : x[i] B[i, i]", "%1 [d] = prod i:d j:d : A[i, j] A[j, i]\n  h [d] = prod i:d : x[i] %1[i]"},
		{"times a diagonal", "D [d, d] at [i, i] = prod i:d : x[i]\n h [d, d] = prod i:d j:d k:d : A[i, k] D[k, j]", "h [d, d] = prod i:d j:d : A[i, j] x[j]"},
		{"times an identity", "D [d, d] at [i, i] = prod i:d : 1\n g [d, d] = prod i:d j:d k:d : A[i, k] D[k, j]\n h [d] = prod i:d j:d : D[i, j] x[j]", "return h = x\n  return g = A"},
		{"trace", "D [d, d] at [i, i] = prod i:d : 1\n h [] = prod i:d j:d : A[i, j] D[i, j]", "h [] = prod i:d : A[i, i]"},
		{"times a diagonal less a column and a row", "D [d, d] at [i, i] = prod i:d : x[i]\n O [d, d] = prod i:d j:d : c y[i] x[j]\n B [d, d] = lin i:d j:d : D[i, j] - O[i, j]\n h [d, d] = prod i:d j:d k:d : A[i, k] B[k, j]",
			"%1 [d, d] = prod i:d j:d : A[i, j] x[j]\n  %2 [d] = prod i:d j:d : A[i, j] y[j]\n  %3 [d] = prod i:d : c x[i]\n  %4 [d, d] = prod i:d j:d : %2[i] %3[j]\n  h [d, d] = lin i:d j:d : %1[i, j] - %4[i, j]"},
		{"times a matrix less a column and a row", "O [d, d] = prod i:d j:d : y[i] x[j]\n B [d, d] = lin i:d j:d : A[i, j] - O[i, j]\n h [d, d] = prod i:d j:d k:d : A[i, k] B[k, j]",
			"O [d, d] = prod i:d j:d : x[j] y[i]\n  B [d, d] = lin i:d j:d : A[i, j] - O[i, j]\n  h [d, d] = prod i:d j:d k:d : A[i, k] B[k, j]"},
		{"the entries of a diagonal less a column and a row", "D [d, d] at [i, i] = prod i:d : x[i]\n O [d, d] = prod i:d j:d : y[i] x[j]\n B [d, d] = lin i:d j:d : D[i, j] - O[i, j]\n h [d, d] = exp i:d j:d : B[i, j]",
			"D [d, d] at [i, i] = prod i:d : x[i]\n  O [d, d] = prod i:d j:d : x[j] y[i]\n  B [d, d] = lin i:d j:d : D[i, j] - O[i, j]\n  h [d, d] = exp i:d j:d : B[i, j]"},
		{"squares of magnitudes", "a [d] = abs i:d : x[i]\n h [d] = prod i:d : a[i] a[i] a[i] y[i]", "a [d] = abs i:d : x[i]\n  h [d] = prod i:d : x[i] x[i] y[i] a[i]"},
		{"a magnitude and its sign", "a [d] = abs i:d : x[i]\n s [d] = sign i:d : x[i]\n h [d] = prod i:d : a[i] s[i] y[i]", "h [d] = prod i:d : x[i] y[i]"},
		{"the sign of another", "a [d] = abs i:d : x[i]\n s [d] = sign i:d : y[i]\n h [d] = prod i:d : a[i] s[i]", "a [d] = abs i:d : x[i]\n  s [d] = sign i:d : y[i]\n  h [d] = prod i:d : a[i] s[i]"},
		{"a sign and a sum of magnitudes", "z [] = const : 0\n k bool[] = lt : z c\n a [d] = abs i:d : x[i]\n s [d] = sign i:d : x[i]\n p [d] = prod i:d : a[i] y[i]\n q [d] = prod i:d : c a[i] a[i] a[i]\n r [d] = select i:d : k p[i] z\n u [d] = lin i:d : 2 r[i] + q[i]\n h [d] = prod i:d : s[i] u[i]",
			"z [] = const : 0\n  k bool[] = lt : z c\n  %1 [d] = prod i:d : x[i] y[i]\n  %2 [d] = select i:d : k %1[i] z\n  %3 [d] = prod i:d : c x[i] x[i] x[i]\n  h [d] = lin i:d : 2 %2[i] + %3[i]"},
		{"a sum that more needs than its sign", "a [d] = abs i:d : x[i]\n s [d] = sign i:d : x[i]\n p [d] = prod i:d : a[i] y[i]\n q [d] = prod i:d : c a[i]\n u [d] = lin i:d : p[i] + 2 q[i]\n e [d] = exp i:d : u[i]\n h [d] = prod i:d : e[i] s[i] u[i]",
			"a [d] = abs i:d : x[i]\n  s [d] = sign i:d : x[i]\n  p [d] = prod i:d : y[i] a[i]\n  q [d] = prod i:d : c a[i]\n  u [d] = lin i:d : p[i] + 2 q[i]\n  e [d] = exp i:d : u[i]\n  h [d] = prod i:d : s[i] u[i] e[i]"},
		{"a choice that is a factor in a choice", "z [] = const : 0\n k bool[] = lt : z c\n a [d] = select i:d : k x[i] z\n b [d] = prod i:d : a[i] y[i]\n e [d] = exp i:d : a[i]\n f [d] = prod i:d : e[i] y[i]\n h [d] = select i:d : k b[i] f[i]",
			"z [] = const : 0\n  k bool[] = lt : z c\n  a [d] = select i:d : k x[i] z\n  e [d] = exp i:d : a[i]\n  f [d] = prod i:d : y[i] e[i]\n  %1 [d] = prod i:d : x[i] y[i]\n  h [d] = select i:d : k %1[i] f[i]"},
		{"whole powers", "k [] = const : 2\n h [d] = pow i:d : x[i] k", "h [d] = prod i:d : x[i] x[i]"},
		{"a gather keeps its zero", "k [d] = const i:d : 3\n h [d] = prod i:d : k[ids[i]]", "k [d] = const i:d : 3\n  h [d] = prod i:d : k[ids[i]]"},
		{"copies under one guard", "a [d] = prod i:d where -i + n[] >= 0 : x[i]\n h [d] = exp i:d where -i + n[] >= 0 : a[i]", "h [d] = exp i:d where -i + n[] >= 0 : x[i]"},
		{"a value read outside of its guard", "a [d] = prod i:d where -i + n[] >= 0 : x[i]\n h [d] = exp i:d : a[i]", "a [d] = prod i:d where -i + n[] >= 0 : x[i]\n  h [d] = exp i:d : a[i]"},
		{"a value read under another guard", "a [d] = prod i:d where -i + n[] >= 0 : x[i]\n h [d] = exp i:d where 1 - i + n[] >= 0 : a[i]", "a [d] = prod i:d where -i + n[] >= 0 : x[i]\n  h [d] = exp i:d where 1 - i + n[] >= 0 : a[i]"},
		{"a copy under the guard of its value", "a [d] = exp i:d where -i + n[] >= 0 : x[i]\n h [d] = prod i:d where -i + n[] >= 0 : a[i]", "a [d] = exp i:d where -i + n[] >= 0 : x[i]\n  return h = a"},
		{"a copy under a guard", "a [d] = exp i:d : x[i]\n h [d] = prod i:d where -i + n[] >= 0 : a[i]", "a [d] = exp i:d : x[i]\n  h [d] = prod i:d where -i + n[] >= 0 : a[i]"},
		{"no work twice", "a [d] = prod i:d j:d : A[i, j] x[j]\n s [d] = exp i:d : a[i]\n h [d] = prod i:d : a[i] s[i]", "a [d] = prod i:d j:d : A[i, j] x[j]\n  s [d] = exp i:d : a[i]\n  h [d] = prod i:d : a[i] s[i]"},
	} {
		text := head + r.in + "\n return h = h\n}"
		if strings.Contains(r.in, " g [d") || strings.HasPrefix(r.in, "g [d") {
			text = head + r.in + "\n return h = h\n return g = g\n}"
		}
		f := irtest.MustParse(text)
		simplify.Simplify(f)
		got := strings.TrimSuffix(f.String(), "}\n")
		got = strings.TrimSpace(got[strings.Index(got, "axes d\n")+7:])
		if !strings.Contains(r.want, "return") {
			got = strings.TrimSpace(strings.TrimSuffix(got, "return h = h"))
		}
		if got != r.want {
			t.Errorf("%s:\n  %s\nwant\n  %s", r.name, got, r.want)
		}
	}
}
