package expand_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// resolved parses a text and instantiates its last unit.
func resolved(t *testing.T, text string) (*check.Block, diag.List) {
	t.Helper()
	f := source.NewFile("page.md", text)
	file, ds := parser.Parse(f, []parser.Input{{Text: text, File: f}})
	if ds.HasErrors() {
		return nil, ds
	}
	tree, ds := units.Collect([]*notation.File{file})
	if ds.HasErrors() {
		return nil, ds
	}
	return check.Instantiate(tree, file.Units[len(file.Units)-1])
}

const familyHead = "front F\ndims d\ninput x ∈ ℝ^{d}\nfamily s ∈ {a, b} : outer W[s] ∈ ℝ^{d×d}\nfamily s ∈ {a, b} : k_t[s] = W[s] x_t\n" +
	"rule R over F\nfamily s ∈ {a, b} : state M[s] ∈ ℝ^{d} = 0\n"

// TestFamilyWrittenOut holds what a family becomes: names that say what they
// are, in an order that does not change.
func TestFamilyWrittenOut(t *testing.T) {
	b, ds := resolved(t, familyHead+"family s ∈ {a, b} : M_t[s] = M_{t−1}[s] + k_t[s]\ny_t[i∈d] = M_t[a, i] + k_t[b][i] + M_{t−1}[b, i]\nprovides Causal, RowIndependent(M), AffineInState(M[b])\n"+
		"family s ∈ {a, b} : claim M_t[s] = M_{t−1}[s] + k_t[s]  {step}")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	var got []string
	for _, s := range b.SymSeq {
		got = append(got, s.Kind.String()+" "+s.Name+" "+ident.ASCII(s.Name))
	}
	for _, e := range b.Eqs {
		got = append(got, e.ID+": "+notation.Print(e.Def, notation.Unicode))
	}
	for _, p := range b.Provides {
		got = append(got, notation.Print(p, notation.ASCII))
	}
	for _, c := range b.Claims {
		got = append(got, notation.Print(c, notation.Unicode))
	}
	want := []string{"input x x", "outer W[a] W_a", "outer W[b] W_b", "defined k[a] k_a", "defined k[b] k_b",
		"state M[a] M_a", "state M[b] M_b", "defined y y",
		"r.k_a: k_t[a] = W[a] x_t", "r.M_a: M_t[a] = M_{t−1}[a] + k_t[a]", "r.k_b: k_t[b] = W[b] x_t", "r.y: y_t[i∈d] = M_t[a,i] + k_t[b,i] + M_{t−1}[b,i]",
		"r.M_b: M_t[b] = M_{t−1}[b] + k_t[b]",
		"provides Causal, RowIndependent(M[a], M[b]), AffineInState(M[b])",
		"claim M_t[a] = M_{t−1}[a] + k_t[a]  {step_a}", "claim M_t[b] = M_{t−1}[b] + k_t[b]  {step_b}"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFamilyNames holds that a member may have the name of anything else.
func TestFamilyNames(t *testing.T) {
	for _, rest := range []string{
		"x2_t = x_t\na_t = x_t\nfamily s ∈ {a, b} : M_t[s] = a_t + M_{t−1}[s]\ny_t = M_t[a]",
		"f(M ∈ ℝ^{d}) = Σ_{i∈d} M[i]\nfamily s ∈ {a, b} : M_t[s] = x_t\ny_t = f(M_t[a]) M_t[b]\nclaim ∇_M f(M) = 1",
		"M_t[a] = x_t\nM_t[b] = x_t + M_{t−1}[a]\ny_t = M_t[b]",
		"family s ∈ {a} : M_t[s] = x_t\nfamily z ∈ {b} : M_t[z] = M_{t−1}[z] + x_t\ny_t = M_t[b]",
		"family s ∈ {a, b} : M_t[s] = M\n  with M = x_t\ny_t = M_t[b] + M_t[a]",
		"family s ∈ {a, b} : M_t[s] = x_t\ny_t[i∈d] = M_t[a, i] + Σ_{j∈d if M_t[b, j] > 0} x_t[j]",
		"family s ∈ {a, b} : M_t[s] = x_t + Σ_{i∈d} k_t[s, i]\ny_t = M_t[b] + Σ_{b∈window(t,2)} k_b[a]",
	} {
		if _, ds := resolved(t, familyHead+rest); ds.HasErrors() {
			t.Errorf("%s\n%s", rest, ds.Error())
		}
	}
}

// TestFamilyMistakes holds each mistake to one message, at the very sign.
func TestFamilyMistakes(t *testing.T) {
	const moves = "family s ∈ {a, b} : M_t[s] = M_{t−1}[s] + x_t\n"
	for _, c := range []struct{ rest, code, at, text string }{
		{moves + "y_t = M_t[c]", "HEC3002", "c", "c is not a member of M"},
		{moves + "y_t = M_t[1]", "HEC3002", "1", "1 is not a member of M"},
		{moves + "y_t = M_t", "HEC3002", "M_t", "M_t is a family: say which member"},
		{moves + "y_t = M_{t−1}", "HEC3002", "M_{t−1}", "M_{t−1} is a family: say which member"},
		{"family s ∈ {a, b, c} : M_t[s] = x_t\ny_t = M_t[a]", "HEC3002", "c", "c is not a member of M"},
		{"M_t[c] = x_t\ny_t = M_t[a]", "HEC3002", "c", "c is not a member of M"},
		{"M_t[i∈d] = x_t[i]\ny_t = x_t", "HEC3002", "i∈d", "i∈d is not a member of M"},
		{"M_t = x_t\ny_t = x_t", "HEC3002", "M_t", "M_t is a family: say which member"},
		{"family s ∈ {a, b} : M_t[s] = s\ny_t = x_t", "", "", ""},
		{moves + "y_t = Σ_{a∈d} M_t[a, a] x_t", "HEC3001", "a", "a is an index here, and a member of M"},
		{"family s ∈ {a, b} : M_t[s] = Σ_{s∈d} M_{t−1}[s] + x_t\ny_t = x_t", "HEC3001", "s", "s is the letter of the family, and bound here again"},
		{"family a ∈ {a, b} : M_t[a] = x_t\ny_t = x_t", "HEC3001", "a", "a is the letter of the family and one of its members"},
		{"family s ∈ {a, b, a} : M_t[s] = x_t\ny_t = x_t", "HEC3001", "a", "the member a is named twice"},
		{moves + "family s ∈ {t} : u_t[s] = x_t\ny_t = x_t", "HEC3009", "t", "t is the letter of time and names no member"},
		{moves + "state M ∈ ℝ^{d} = 0\ny_t = x_t", "HEC3001", "M", "M is a family, and declared here without members"},
		{moves + moves + "y_t = x_t", "HEC3001", "M_t[s]", "M[a] is defined twice"},
		{"family s ∈ {a} : M_t[s] = x_t\ny_t = M_t[a] + M_{t−1}[b]", "HEC3011", "M", "state M[b] has no equation"},
		{moves + "outer M_a ∈ ℝ^{d}\ny_t = M_t[a] + M_a", "HEC3010", "M_a", "M_a and M[a] are both emitted as M_a"},
		{moves + "family z ∈ {b} : a_t[z] = x_t\nouter A_b ∈ ℝ^{d}\ny_t = a_t[b] + A_b", "HEC3010", "A_b", "A_b and a[b] are both emitted as A_b"},
		{moves + "provides Causal, RowIndependent(M[c])\ny_t = x_t", "HEC3002", "M[c]", "c is not a member of M"},
		{moves + "family s ∈ {a, b} : option o[s] = 1\ny_t = x_t", "HEC3012", "option", "an option has no members"},
		{"family s ∈ {a, b} : y_t[s] = M_t[s]\n" + moves, "HEC3011", "R", "R has no equation for its output y"},
		// the parser's
		{"state N[s] ∈ ℝ^{d} = 0\ny_t = x_t", "HEC2011", "s", "N is declared as a member, but the line has no family"},
		{"family s ∈ {a, b} : state N ∈ ℝ^{d} = 0\ny_t = x_t", "HEC2011", "N", "N would be declared once for each member"},
		{"family s ∈ {a, b} : state N[z] ∈ ℝ^{d} = 0\ny_t = x_t", "HEC2011", "z", "z is not the letter of the family"},
		{"family s ∈ {a, b} : u_t = x_t\ny_t = x_t", "HEC2011", "u_t", "u_t would be defined once for each member"},
		{"family s ∈ {a, b} : u_t[s∈d] = x_t\ny_t = x_t", "HEC2011", "u_t[s∈d]", "u_t would be defined once for each member"},
		{"family s ∈ {a, b} : f(x) = x\ny_t = x_t", "HEC2011", "f(x)", "a function has no members"},
		{"family s ∈ {a, b} : cost write+read = d\ny_t = x_t", "HEC2020", "family", "family stands before a declaration, an equation or a claim"},
		{"family s ∈ {0…3} : u_t[s] = x_t\ny_t = x_t", "HEC2011", "0", "expected the name of a member, found 0"},
		{"family s ∈ a : u_t[s] = x_t\ny_t = x_t", "HEC2011", "a", "expected { and the members, found a"},
		{"when o = 1 : family s ∈ {a, b} : outer V[s] ∈ ℝ^{d}\ny_t = x_t", "HEC2011", "family", "family is after when"},
		{"family = x_t\ny_t = x_t", "HEC2011", "=", "expected the letter of the family, found ="},
	} {
		_, ds := resolved(t, familyHead+c.rest)
		all := ds.Sorted()
		if c.code == "" {
			continue
		}
		if len(all) != 1 {
			t.Errorf("%s: %d messages\n%s", c.rest, len(all), diag.Render(all))
			continue
		}
		if d := all[0]; d.Code.String() != c.code || d.Span.Text() != c.at || d.Text != c.text {
			t.Errorf("%s:\n%v at %q: %s\nwant %s at %q: %s", c.rest, d.Code, d.Span.Text(), d.Text, c.code, c.at, c.text)
		}
	}
}

// TestFamilyHomes holds that a family is used where it can be expanded.
func TestFamilyHomes(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{"op F(x ∈ ℝ^{n}) → out = x\nfamily s ∈ {a, b} : h[s] = x", "a family is not allowed in an operation"},
		{"update U(w, g)\nclock n\nfamily s ∈ {a, b} : slot m[s] = 0\nw_n = w_{n−1}", "a family is not allowed in an update"},
		{"bias B\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = y · v\nfamily s ∈ {a, b} : claim 1 = 1", "a family is not allowed in a bias"},
	} {
		_, ds := resolved(t, c.text)
		all := ds.Sorted()
		if len(all) != 1 || all[0].Code != diag.NotHere || all[0].Text != c.message || all[0].Span.Text() != "family s ∈ {a, b} :" {
			t.Errorf("%s\n%s", c.text, ds.Error())
		}
	}
}
