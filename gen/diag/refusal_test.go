package diag_test

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestRefusals holds what a page may not say to one message each, at the very
// sign.
func TestRefusals(t *testing.T) {
	const rule = "rule R\ndims d\ninput x ∈ ℝ^{d}\n"
	for _, c := range []struct{ text, code, at, message string }{
		{"op Row(a ∈ ℝ^{m}) → out = aᵀ", "HEC4008", "aᵀ", "aᵀ is a row, and a row is not a value of its own"},
		{"op Rows(A ∈ ℝ^{m×n}, b ∈ ℝ^{m}) → out = bᵀ A", "HEC4008", "bᵀ A", "bᵀ A is a row, and a row is not a value of its own"},
		{"op Rows(a ∈ ℝ^{m}, b ∈ ℝ^{n}) → out[i∈m] = a[i] bᵀ", "HEC4008", "a[i] bᵀ", "a[i] bᵀ is a row, and a row is not a value of its own"},
		{"op Named(x ∈ ℝ^{n}) → out = h\nh = xᵀ", "HEC4008", "xᵀ", "xᵀ is a row, and a row is not a value of its own"},
		{rule + "k_t = x_tᵀ\ny_t = k_t", "HEC4008", "x_tᵀ", "x_tᵀ is a row, and a row is not a value of its own"},
		{rule + "y_t = x_tᵀ", "HEC4008", "x_tᵀ", "x_tᵀ is a row, and a row is not a value of its own"},
		{rule + "state M ∈ ℝ^{d} = 0\nM_t = M_{t−1}ᵀ + x_tᵀ\ny_t = M_t", "HEC4008", "M_{t−1}ᵀ + x_tᵀ", "M_{t−1}ᵀ + x_tᵀ is a row, and a row is not a value of its own"},
		{"compose C(a : Nothing)\ndims d\ninput X ∈ ℝ^{T×d}\nout = a(X)", "HEC3004", "Nothing", "Nothing is not a kind of part"},
		{"op F(a : Rule, x ∈ ℝ^{n}) → out = x", "HEC3012", "a", "only compositions and models have parts, and F is an operation"},
		{"rule R\ndims d = 0\ninput x ∈ ℝ^{d}\ny_t = x_t", "HEC3007", "0", "0 is not a size"},
		{"rule R\ndims d = 2 − 3\ninput x ∈ ℝ^{d}\ny_t = x_t", "HEC3007", "2 − 3", "2 − 3 is not a size"},
		{"rule R\ndims T = 3, d\ninput x ∈ ℝ^{d}\ny_t = x_t", "HEC3001", "T", "T is the axis of the tokens of a call and always there"},
		{rule + "option w ≥ 1 = 0\ny_t = Σ_{s∈window(t,w)} x_s", "HEC3006", "0", "w = 0 is outside ≥ 1"},
		{"rule R\ndims d, e\ninput x ∈ ℝ^{d}\nouter e ∈ ℝ^{d}\ny_t = x_t ⊙ e", "HEC3001", "e", "e is the name of an axis, and of something else here"},
		{rule + "d_t = x_t + x_t\ny_t = d_t", "HEC3001", "d_t", "d is the name of an axis, and of something else here"},
		{"op F(n ∈ ℝ^{n}) → out = n", "HEC3001", "n", "n is the name of an axis, and of something else here"},
		{"f(k ∈ ℝ^{k}) = k · k\nrule R\ndims d\ninput x ∈ ℝ^{d}\nℓ(d ∈ ℝ) = d\ny_t = ℓ(2) x_t", "HEC3001", "d", "d is the name of an axis, and of something else here"},
		{rule + "y_t = e\n  with e = d, d = x_t", "HEC3001", "d", "d is the name of an axis, and of something else here"},
		{rule + "y_t = (Σ_{d∈d} x_t[d]) x_t", "HEC3001", "d", "d is the name of an axis, and of something else here"},
		{rule + "outer e ∈ ℝ^{d} ~ uniform(0)\ny_t = x_t ⊙ e", "HEC4003", "uniform(0)", "uniform takes 2 arguments, not 1"},
		{rule + "outer e ∈ ℝ^{d} ~ normal(0)\ny_t = x_t ⊙ e", "HEC4003", "normal(0)", "normal takes 2 arguments, not 1"},
		{rule + "outer e ∈ ℝ^{d} ~ normal(0, 1, 2)\ny_t = x_t ⊙ e", "HEC4003", "normal(0, 1, 2)", "normal takes 2 arguments, not 3"},
		{rule + "outer e ∈ ℝ^{d} ~ exp(0)\ny_t = x_t ⊙ e", "HEC4004", "exp", "exp is not a distribution"},
		{rule + "outer e ∈ ℝ^{d} ~ normal(0, z)\ny_t = x_t ⊙ e", "HEC4007", "z", "z is not a number computed from sizes"},
		{rule + "outer e ∈ ℝ^{d} = x\ny_t = x_t ⊙ e", "HEC4007", "x", "x is not a number computed from sizes"},
		{rule + "outer e ∈ ℝ^{d} = by level [1, exp(1)]\ny_t = x_t ⊙ e", "HEC4007", "exp(1)", "exp(1) is not a number computed from sizes"},
		{rule + "state M ∈ ℝ^{d} ~ normal(0, 1)\nM_t = M_{t−1} + x_t\ny_t = M_t", "HEC4007", "normal(0, 1)", "only a learned parameter is drawn from a distribution, and M is not learned"},
		{rule + "y_t = hardswish(x_t)", "HEC3002", "hardswish", "hardswish is not declared"},
		{rule + "y_t = clamp(x_t, 0, 1)", "HEC2015", "clamp", "clamp is called, but no function or part has that name"},
	} {
		_, all := compiledPage(c.text)
		if len(all) != 1 {
			t.Errorf("%s: %d messages\n%s", c.text, len(all), diag.Render(all))
			continue
		}
		if d := all[0]; d.Code.String() != c.code || d.Span.Text() != c.at || d.Text != c.message {
			t.Errorf("%s:\n%v at %q: %s\nwant %s at %q: %s", c.text, d.Code, d.Span.Text(), d.Text, c.code, c.at, c.message)
		}
	}
}

// TestOrdinaryWords holds that a word which nothing computes is a name like any
// other.
func TestOrdinaryWords(t *testing.T) {
	units, all := compiledPage("ramp(x ∈ ℝ) = max(x, 0)\nclamp(x ∈ ℝ, a ∈ ℝ, b ∈ ℝ) = max(a, min(x, b))\n" +
		"op Delta(x ∈ ℝ^{n}, gelu ∈ ℝ) → out = gelu clamp(ramp(x), 0, 1)\nop Twice(x ∈ ℝ^{n}) → out = Delta(x, 1) + Δ(x, 1)")
	if len(all) > 0 || len(units) != 2 || units[0].Name != "Delta" {
		t.Error(diag.Render(all))
	}
}

// compiledPage compiles a block of a page without a header.
func compiledPage(block string) ([]*abi.Unit, []diag.Diagnostic) {
	s, ds := gen.LoadFiles(source.NewFile("page.md", "```hecate\n"+block+"\n```\n"))
	var said diag.List
	for _, d := range ds.Sorted() {
		if d.Code >= diag.BadCharacter {
			said.Add(d)
		}
	}
	if said.Len() > 0 {
		return nil, said.Sorted()
	}
	units, cd := gen.Compile(s)
	return units, cd.Sorted()
}

// TestAnyShape holds messages about ℝ^{…} to what the page says.
func TestAnyShape(t *testing.T) {
	for _, c := range []struct{ text, at, message, label string }{
		{"op F(x ∈ ℝ^{…}, y ∈ ℝ^{m}) → out = x + y", "y", "y is ℝ^{m}, but x is ℝ^{…}", "ℝ^{m}"},
		{"op F(x ∈ ℝ^{…}, y ∈ ℝ^{n}) → out = y + x", "x", "x is ℝ^{…}, but y is ℝ^{n}", "ℝ^{…}"},
		{"op F(x ∈ ℝ^{…}, y ∈ ℝ^{m}) → out = (Σ_{i∈m} x[i]) y", "i", "i runs over m, but axis 1 of x is …", "m"},
	} {
		_, all := compiledPage(c.text)
		if len(all) != 1 || all[0].Span.Text() != c.at || all[0].Text != c.message || all[0].Label != c.label {
			t.Errorf("%s\n%s", c.text, diag.Render(all))
		}
	}
}

// TestAnyShapeIsItsOwn holds that ℝ^{…} has a size of its own beside ℝ^{n}.
func TestAnyShapeIsItsOwn(t *testing.T) {
	units, all := compiledPage("op F(x ∈ ℝ^{…}, y ∈ ℝ^{n}) → out = (y · y) x")
	if len(all) > 0 || len(units) != 1 {
		t.Fatal(diag.Render(all))
	}
	var sizes []string
	for _, s := range units[0].Sizes {
		sizes = append(sizes, s.Name)
	}
	if want := []string{"any_0", "n"}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %v, want %v", sizes, want)
	}
}
