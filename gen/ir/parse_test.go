package ir_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
)

// everything uses every form of the text.
const everything = `func everything(
  x: input real[L, T, d],
  ids: input int[T],
  on: const bool[d],
  W: outer real[d, d],
  M: state real[L, d, d],
  "a b": outer real[] nograd
) {
  axes L, T, d, w = 4, n = 2·d·d + T - w + 1
  e [T, d] = prod i:T j:d : -0.5 W[ids[i], j] "a b" ; page.e
  s [d] at [ids[i]] = prod i:T j:d where i - j >= 0, ids[i] + 1 >= 0 : e[i, j]
  u [d] = lin i:d : s[i] - 2 W[i, i] + 1e-08
  %1 [] = lin : 0
  %2 [] = const : inf
  %3 [] = size : 1/2·d·d - 3
  %4 [T] = iota i:T over i
  %5 [T, d] = softmax i:T j:d over j where i - j >= 0 : e[i, j]
  %6 bool[d] = lt i:d : u[i] %1
  %7 [d] = select i:d : on[i] u[i] s[d - 1 - i]
  %8 [d, T] = reshape : e
  scan step over L, T as @1 { ; page.step
    carry M [d, d] from M to M.next [L, d, d]
    token x [w, d] from x window w base w - 1
    shared W [d, d] from W
    shared b [d, d] from M by lane
    %1 [d] = prod i:d j:d : M[i, j] x[0, j]
    %2 [d, d] = prod i:d j:d : %1[i] b[i, j]
    next M = %2
    give y [L, T, d] = %1
  }
  scan step.adjoint over L, T as @2 reverse of @1 {
    carry M.bar [d, d] from M.next to %9 [L, d, d]
    token y.bar [d] from y
    replay token M [d, d] from M
    replay shared W [d, d] from W
    %1 [d, d] = lin i:d j:d : M.bar[i, j] + M[i, j] - W[j, i] + y.bar[i]
    next M.bar = %1
    sum g [L, d, d] = %1 by lane
  }
  return y = y
  return state M = M.next
  return "the loss" = %8
}
`

func TestTextRoundTrip(t *testing.T) {
	f, err := ir.Parse(everything)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.String(); got != everything {
		t.Errorf("printed:\n%s\nwant:\n%s", got, everything)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `1:1: expected "func"`},
		{"func f() {\n  x [] = prod : y\n}", "2:17: y is not defined"},
		{"func f(a: in real[]) {\n}", "1:11: expected a role"},
		{"func f() {\n  x [] = frob : 1\n}", `2:10: "frob" is no primitive`},
		{"func f() {\n  x [] = const : 1\n  x [] = const : 1\n}", "3:3: x is defined twice"},
		{"func f() {\n  x [d] = const : 1\n}", "2:11: x has 1 axes but 0 loops"},
		{"func f() {\n  x [] = const : \"1\n}", "2:18: expected a number"},
		{"func f() {\n}\nmore", "3:1: expected the end of the text"},
	} {
		_, err := ir.Parse(c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %v, want %s", c.text, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add("func f(a: input real[T]) {\n  x [T] = exp i:T : a[i]\n  return x = x\n}")
	f.Add("func f() {\n  z [] = solve tol 0.1 with\n  func r() {\n  }\n  end\n}")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ir.Parse(text)
		if err != nil {
			return
		}
		first := g.String()
		h, err := ir.Parse(first)
		if err != nil {
			t.Fatalf("Parse of what was printed: %v\n%s", err, first)
		}
		if second := h.String(); second != first {
			t.Fatalf("printed first:\n%s\nthen:\n%s", first, second)
		}
	})
}
