package outline_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/outline"
)

// program is a rule of one state M. The front makes k with a convolution, and a gate g
// that reads k; e reads the state; n counts tokens for a guard of the rule.
const program = `
func rule(x: input real[L, T, d], W: outer real[d, d], w: outer real[d], pos: state int[L], k0.tail: state real[L, "1", d], M: state real[L, T, d]) {
  axes L, T, d, "1" = 1, "T + 1" = T + 1
  k0 [L, T, d] = prod i:L j:T k:d l:d : W[k, l] x[i, j, l] ; rule.k0
  %1 [L, "T + 1", d] = stack i:L j:"T + 1" k:d over j : k0.tail[i, j, k] k0[i, j - 1, k] ; rule.k
  %2 [L, "1", d] = prod i:L j:"1" k:d : %1[i, j + T, k] ; rule.k
  k [L, T, d] = prod i:L j:T k:d where j + pos[i] - 1 >= 0 : %1[i, j, k] w[k] ; rule.k
  %3 [] = const : 2 ; rule.g
  g [L, T] = prod i:L j:T k:d : k[i, j, k] w[k] ; rule.g
  h [L, T, d] = lin i:L j:T k:d : k[i, j, k] + M[i, j, k] ; rule.h
  y [L, T, d] = prod i:L j:T k:d : k[i, j, k] h[i, j, k] g[i, j] %3 ; rule.y
  return y = y
  return state k0.tail = %2
  return state M = h
}
`

// choice takes the equations of names, in this order.
func choice(names ...string) outline.Choice {
	return outline.Choice{
		Rank: func(eq string) int {
			for i, n := range names {
				if eq == "rule."+n {
					return i
				}
			}
			return -1
		},
		Rename: func(eq string) string { return "front" + strings.TrimPrefix(eq, "rule") },
	}
}

func parse(t *testing.T, text string) *ir.Func {
	t.Helper()
	f, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func split(t *testing.T, text string, c outline.Choice) *outline.Cut {
	t.Helper()
	f := parse(t, text)
	before := f.String()
	cut := outline.Split(f, "front", c)
	if f.String() != before {
		t.Error("the program was changed")
	}
	if cut == nil {
		return nil
	}
	for _, g := range []*ir.Func{cut.Function, cut.Rest} {
		if err := ir.Verify(g); err != nil {
			t.Fatalf("%v\n%s", err, g)
		}
	}
	return cut
}

func names(f *ir.Func) string {
	var out []string
	for _, p := range f.Params {
		out = append(out, p.Name)
	}
	text := strings.Join(out, " ") + " →"
	for _, r := range f.Results {
		text += " " + r.Name
	}
	return text
}

func TestSplit(t *testing.T) {
	all := []string{"k0", "k", "g", "h"}
	for _, c := range []struct {
		what           string
		from, to       string // replaced in the program
		chosen         []string
		function, rest string
	}{
		{"what reads the state stays in the rest", "", "", all,
			"W x k0.tail w pos → k g k0.tail", "M k g → y M"},
		{"a value of one equation crosses alone", "", "", []string{"k0", "k"},
			"W x k0.tail w pos → k k0.tail", "w M k → y M"},
		{"nothing is taken of a chosen equation that reads one of the rest", "", "", []string{"k", "g"}, "", ""},
		{"a copy without a name stays in the rest", "k[i, j, k] h[i, j, k] g[i, j] %3 ;", "%4[i, j, k] h[i, j, k] g[i, j] %3 ;", all,
			"W x k0.tail w pos → k g k0.tail", "M k g → y M"},
		{"a condition stays in the rest", "h [L, T, d] = lin i:L j:T k:d : k[i, j, k] + M[i, j, k]",
			"%5 bool[L, T] = lt i:L j:T : %3 g[i, j] ; rule.g\n  h [L, T, d] = select i:L j:T k:d : %5[i, j] k[i, j, k] M[i, j, k]", all,
			"W x k0.tail w pos → k g k0.tail", "M k g → y M"},
	} {
		t.Run(c.what, func(t *testing.T) {
			text := strings.Replace(program, c.from, c.to, 1)
			if strings.Contains(c.to, "%4") {
				text = strings.Replace(text, "  y [", "  %4 [L, T, d] = prod i:L j:T k:d : k[i, j, k] ; rule.k\n  y [", 1)
			}
			cut := split(t, text, choice(c.chosen...))
			if cut == nil {
				if c.function != "" {
					t.Fatal("nothing was taken out")
				}
				return
			}
			if f, r := names(cut.Function), names(cut.Rest); f != c.function || r != c.rest {
				t.Errorf("function %s\nrest %s\n%s%s", f, r, cut.Function, cut.Rest)
			}
			if text := cut.Function.String(); strings.Contains(text, "; rule.") {
				t.Errorf("an equation has the caller's name:\n%s", text)
			}
		})
	}
}

// TestSame wants one function of two callers that compute its equations in another
// order and between other values.
func TestSame(t *testing.T) {
	a := split(t, program, choice("k0", "k", "g"))
	other := strings.Replace(program, "  k0 [", "  %9 [] = const : 3 ; rule.other\n  k0 [", 1)
	other = strings.Replace(other, "x: input real[L, T, d], W: outer real[d, d]", "W: outer real[d, d], x: input real[L, T, d]", 1)
	constant := "  %3 [] = const : 2 ; rule.g\n"
	other = strings.Replace(other, constant, "", 1)
	other = strings.Replace(other, "  k0 [", constant+"  k0 [", 1)
	b := split(t, other, choice("k0", "k", "g"))
	if a.Function.String() != b.Function.String() {
		t.Errorf("%s\n%s", a.Function, b.Function)
	}
}
