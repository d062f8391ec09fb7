package ir_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

func TestRandomProgramsVerifyAndRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		f := irtest.Program(seed)
		if err := ir.Verify(f); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		text := f.String()
		g, err := ir.Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if err := ir.Verify(g); err != nil {
			t.Fatalf("seed %d, parsed: %v\n%s", seed, err, g)
		}
		if again := g.String(); again != text {
			t.Fatalf("seed %d: printed\n%s\nthen\n%s", seed, text, again)
		}
		h, _ := g.Clone()
		if again := h.String(); again != text {
			t.Fatalf("seed %d: printed\n%s\nthe clone\n%s", seed, text, again)
		}
	}
}

// TestVerifyFinds has one wrong program per rule.
func TestVerifyFinds(t *testing.T) {
	head := "func f(A: input real[d, e], x: input real[d], n: input int[d], l: input int[L], c: input bool[d], xs: input real[L, T, d], M: state real[L, d]) {\n axes d, e, L, T, w\n"
	const square = "S [d, d] = prod i:d j:d : x[i] x[j]\n "
	for _, c := range []struct{ body, want string }{
		{"h [d] = prod i:d : x[i, i]", "x has 1 axes but 2 subscripts"},
		{"h [d] = prod i:d : x[i + 1]", "leaves its axis d"},
		{"h [d] = prod i:d : x[i - 1]", "leaves its axis d"},
		{"h [d] at [i + 1] = prod i:d : x[i]", "leaves its axis d"},
		{"h [d] = exp i:d j:d : x[j]", "exp sums"},
		{"h [d] at [0] = exp i:d : x[i]", "writes at something else"},
		{"h [d] = exp i:d : c[i]", "has bool entries"},
		{"h [d] = and i:d : c[i] x[i]", "has real entries"},
		{"h [d] = lt i:d : x[i] x[i]", "gives bool entries, not real"},
		{"h [d] = prod i:d j:d : A[x[i], j]", "no integer tensor"},
		{"h [d] = exp i:d : x[i] x[i]", "has 2 arguments, not 1"},
		{"h [d] = max i:d over i : x[i]", "keeps a loop"},
		{"h [] = max i:d j:e over i : x[i]", "loses a loop"},
		{"h [d, d] = reshape : A", "reshape of"},
		{square + "h [d] = trisolve t:d i:d over t : S[t, i] x[t]", "over two loops of one axis"},
		{square + "h [d] = trisolve t:d i:e over t i : A[t, i] x[t]", "over two loops of one axis"},
		{square + "h [d, d] = trisolve t:d i:d over t i : S[t, i] x[t]", "one of its two loops"},
		{square + "h [d] = trisolve t:d i:d j:e over t i : S[t, i] A[t, j]", "one of its two loops"},
		{square + "h [d] = trisolve t:d i:d over t i : S[t, i] S[t, i]", "right side of trisolve has the loop"},
		{square + "h [d] = trisolve t:d i:d over t i : S[n[t], i] x[t]", "reads its matrix everywhere"},
		{square + "h [d] = trisolve t:d i:d over t i where t - i >= 0 : S[t, i] x[t]", "reads its matrix everywhere"},
		{square + "h [d, e] at [t, e - 1 - j] = trisolve t:d j:e i:d over t i : S[t, i] A[t, j]", "writes at something else"},
		{"scan s over L, T as @1 {\n carry M [d] from x\n next M = M\n }", "does not have the axes of what it is bound to"},
		{"scan s over L, T as @1 {\n carry M [d] from M\n token y [e] from xs\n next M = M\n }", "does not have the axes of its series"},
		{"scan s over L, T as @1 {\n carry M [d] from M\n token y [d] from xs\n g [d] = exp i:d : y[i]\n next M = M\n give z [L, d] = g\n }", "does not have the axes"},
		{"scan s over L, T as @1 {\n carry M [d] from M\n z [] = const : 1\n next M = z\n }", "the next state of M"},
		{"scan s over L, T as @1 {\n carry M [d] from M\n token p int[] from n count\n next M = M\n }", "not an integer for each slot"},
		{"scan s over L, T as @1 {\n carry M [d] from M\n token p [] from l count\n next M = M\n }", "not an integer for each slot"},
		{"scan s over L, T as @1 {\n carry M [d] from M\n token p int[] from l count\n z [] = real : p\n next M = M\n }", "stands in subscripts and guards only"},
		{"scan s over L, T as @1 reverse {\n carry M [d] from M\n token y [d] from xs\n z [d] = prod i:d : y[i + 1]\n next M = z\n }", "leaves its axis d"},
	} {
		f, err := ir.Parse(head + c.body + "\n}")
		if err != nil {
			t.Errorf("%v\n%s", err, c.body)
			continue
		}
		if err := ir.Verify(f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Verify(%s) = %v, want %s", c.body, err, c.want)
		}
	}
}

func TestVerifyKnowsGuards(t *testing.T) {
	for _, body := range []string{
		"h [T] = prod i:T j:w where i - j >= 0 : x[i - j]",
		"h [T] = prod i:T where i - 1 >= 0 : x[i - 1]",
		"h [T] = prod i:T j:T where T - 1 - i - j >= 0 : x[i + j]",
		"h [w] = prod i:w : x[T - 1]",
	} {
		f, err := ir.Parse("func f(x: input real[T]) {\n axes T, w\n" + body + "\n}")
		if err != nil {
			t.Fatal(err)
		}
		if err := ir.Verify(f); err != nil {
			t.Errorf("Verify(%s) = %v", body, err)
		}
	}
}

// TestVerifyFindsOrder breaks programs where the text form cannot.
func TestVerifyFindsOrder(t *testing.T) {
	f := irtest.Program(1)
	f.Body[0], f.Body[1] = f.Body[1], f.Body[0]
	f.Body = append(f.Body, f.Body[0])
	f.Results[0].Val = &ir.Value{Name: "ghost", Elem: ir.Real}
	f.Axes = f.Axes[:2]
	err := ir.Verify(f)
	for _, want := range []string{"defined twice", "ghost, which is not defined", "axis a is not of this program"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Verify does not say %q", want)
		}
	}
}

// TestVerifyFindsStates: the entries of a state agree with the meaning of its
// name.
func TestVerifyFindsStates(t *testing.T) {
	for _, state := range []string{"pos: state real[L]", "x.tail: state int[L]"} {
		f, err := ir.Parse("func f(" + state + ") {\n axes L\n}")
		if err != nil {
			t.Fatal(err)
		}
		if err := ir.Verify(f); err == nil || !strings.Contains(err.Error(), "entries") {
			t.Errorf("Verify(%s) = %v", state, err)
		}
	}
}
