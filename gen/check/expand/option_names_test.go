package expand_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Knobs and a structure with options of one name.
const ownOptions = `retention Window
option w ≥ 1 = 2, how ∈ {plain, bent} = bent
when how = bent : outer b ∈ ℝ^{w} = 1
bent(Z; s ∈ ℝ^{w}) = case how { = plain : Z ; otherwise : (Σ_{i∈w} s[i]) Z }
join(Z, U; ρ, θ) = bent(ρ Z, b) + U

algorithm Wider
option w ≥ 1 = 3, how ∈ {plain, more} = plain
shape(G, w) = w G
step(G) = case how { = plain : −(1/w) shape(G, 0.5) ; otherwise : −w G }

structure Broad
option w ≥ 1 = 5
weight M ∈ ℝ^{d×d} = 0
fit M : M (w k_t) → v_t
y_t = M_t q_t

`

func optioned(t *testing.T, formula string) (*check.Block, diag.List) {
	t.Helper()
	tree, _ := parse(t, pages+ownOptions+"rule R = "+formula+"\n")
	return check.Instantiate(tree, tree.Units["R"])
}

// TestOptionsOfOneName: each of two knobs has its own, called after its page.
func TestOptionsOfOneName(t *testing.T) {
	for _, c := range []struct{ formula, fun, want string }{
		{"One + Half + Window + Wider", "bent", "bent(Z; s ∈ ℝ^{w_Window}) = case how_Window { = plain : Z ; otherwise : (Σ_{i∈w_Window} s[i]) Z }"},
		{"One + Half + Window + Wider", "step", "step(G) = case how_Wider { = plain : −(1/w_Wider) shape(G, 0.5) ; otherwise : −w_Wider G }"},
		{"One + Half + Window + Wider", "shape", "shape(G, w) = w G"},
		{"One + Half + Window + Down", "bent", "bent(Z; s ∈ ℝ^{w}) = case how { = plain : Z ; otherwise : (Σ_{i∈w} s[i]) Z }"},
		{"Broad + Half + Window + Down", "join", "join(Z, U; ρ, θ) = bent(ρ Z, b) + U"},
		{"Broad + Half + Window + Down", "bent", "bent(Z; s ∈ ℝ^{w_Window}) = case how { = plain : Z ; otherwise : (Σ_{i∈w_Window} s[i]) Z }"},
	} {
		b, ds := optioned(t, c.formula+" over Door")
		if ds.Len() > 0 {
			t.Fatalf("%s:\n%s", c.formula, diag.Render(ds.Sorted()))
		}
		if got := notation.Print(b.Funcs[c.fun].Def, notation.Unicode); got != c.want {
			t.Errorf("%s: %s is\n%s, want\n%s", c.formula, c.fun, got, c.want)
		}
	}
}

// TestOptionOfOneNameIsSet: the parentheses of a knob set its own option.
func TestOptionOfOneNameIsSet(t *testing.T) {
	b, ds := optioned(t, "Broad + Half + Window(w = 7, how = plain) + Wider(w = 9) over Door")
	if ds.Len() > 0 {
		t.Fatal(diag.Render(ds.Sorted()))
	}
	for name, want := range map[string]string{"w": "5", "w_Window": "7", "w_Wider": "9", "how_Window": "plain", "how_Wider": "plain"} {
		o := b.Options[name]
		if o == nil || notation.Print(o.Value, notation.Unicode) != want || o.PageName() != strings.Split(name, "_")[0] {
			t.Errorf("%s is %+v, want %s", name, o, want)
		}
	}
	if b.Symbols["b"] != nil {
		t.Error("b is there although how is plain")
	}
	if a := b.Axes["w_Window"]; a == nil || a.Default != 7 {
		t.Errorf("the axis w_Window is %+v", a)
	}
}

// TestWhoseOption: a name that two knobs use is refused outside of them.
func TestWhoseOption(t *testing.T) {
	for _, c := range []struct{ formula, at, text, help string }{
		{"One + Half + Window + Wider over Door with w := 3", "w", "there is nothing named w to replace", "say whose: Wider(w = …) or Window(w = …)"},
		{"One + Half + Window(w = 0) + Wider over Door", "w = 0", "w = 0 is outside ≥ 1", ""},
		{"One + Half + Window + Wider(how = bent) over Door", "how = bent", "how = bent is outside {plain, more}", "known here: more, plain"},
	} {
		_, ds := optioned(t, c.formula)
		d := ds.Sorted()
		if len(d) != 1 || d[0].Span.Text() != c.at || d[0].Text != c.text || d[0].Help != c.help {
			t.Errorf("%s:\n%s", c.formula, diag.Render(d))
		}
	}
}
