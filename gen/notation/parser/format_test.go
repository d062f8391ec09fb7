package parser

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/notation"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"spaces", "rule  X\ny_t=a  b+c\n", "rule X\ny_t = a b + c\n"},
		{"ascii", "rule X\ny_t = theta_t (*) norm(x) (*) A_bar' - (1/2) M_{t-1}\n", "rule X\ny_t = θ_t ⊙ ‖x‖ ⊙ Āᵀ − ½ M_{t−1}\n"},
		{"subscripts", "rule X\nyₜ = xₜ₋₁ β_1 aᵢ\n", "rule X\ny_t = x_{t−1} β₁ a_i\n"},
		{"look-alikes", "rule X\ny = a ⋅ b ∥x∥ – µ ∗\n", ""},
		{"product", "rule X\ny = a(b + c)\n", "rule X\ny = a (b + c)\n"},
		{"call", "f(x) = x\nrule X\ny = f(b + c)\n", "f(x) = x\nrule X\ny = f(b + c)\n"},
		{"needless parentheses", "rule X\ny = (a b) + ((c))\n", "rule X\ny = a b + c\n"},
		{"comments", "// one\n\nrule X // two\n\n\n  // three\ny = 1   // four\nyy = 22 // five  \n// six", "// one\n\nrule X  // two\n\n\n// three\ny = 1    // four\nyy = 22  // five\n// six"},
		{"breaks", "rule X\ny = a +\n   b // first\n        // between\n    + c with\n  a = 1\n", "rule X\ny = a +\n  b  // first\n  // between\n  + c with\n  a = 1\n"},
		{"break in a norm", "rule X\ny = a\n  norm(b)\n   norm(\n c) x^2\n  + d\n", ""},
		{"each below", "law X\neach p of s :\nslot b = 0\nc = b\n", "law X\neach p of s :\n  slot b = 0\n  c = b\n"},
		{"each inside", "law X\neach p of s :\n     slot b = 0\nc = b\n", "law X\neach p of s :\n  slot b = 0\nc = b\n"},
		{"each on the line", "law X\neach p of s : c = b\nd = e\n", "law X\neach p of s : c = b\nd = e\n"},
		{"windows", "rule X\r\ny = 1\t// tab\r\n", "rule X\ny = 1  // tab\n"},
		{"empty", "", ""},
		{"comment alone", "// x", "// x"},
		{"strings stay", "rule X\nnograd x \"a -> \\\"theta\\\" \\\"\n", ""},
		{"string", "rule X\nnograd x \"a -> \\\"theta\\\" // b\"\n", "rule X\nnograd x \"a -> \\\"theta\\\" // b\"\n"},
		{"run", "rule X\nouter a, b∈R^{n}~normal(0,1) nodecay,c=0\n", "rule X\nouter a, b ∈ ℝ^{n} ~ normal(0, 1) nodecay, c = 0\n"},
		{"params", "f(a, b in R^{n}; c) = a\n", "f(a, b ∈ ℝ^{n}; c) = a\n"},
		{"the law's prediction", "law L(a)\nJ(W,e)=F(W) . e\nload(Z) = Z\ne_t = F(load(W_{t-1})) - V\nrule X\ny = F(W)\n", "law L(a)\nJ(W, e) = F(W) · e\nload(Z) = Z\ne_t = F(load(W_{t−1})) − V\nrule X\ny = F W\n"},
		{"unit names", "rule Delta over gamma\ny = x\nop Xi(a) → out = a\nop Theta(a) → out = Xi(a) theta\ncompose Δ₁(mu : Rule)\nout = mu(Ξ(x))\nmodel M = Delta_1(mu = Delta, n = Delta)\nspecial Delta = eta + Delta(p = 3)\n",
			"rule Delta over gamma\ny = x\nop Xi(a) → out = a\nop Theta(a) → out = Xi(a) θ\ncompose Delta₁(μ : Rule)\nout = μ(Xi(x))\nmodel M = Delta₁(μ = Delta, n = Delta)\nspecial Delta = eta + Delta(p = 3)\n"},
		{"bounds", "rule X\noption a in (0, inf), b in (-inf, 1], c in [0, n)\n", "rule X\noption a > 0, b ≤ 1, c ∈ [0, n)\n"},
		{"conditions", "rule X\ny = sum_{i in n if i < t} x + sum_{i in n if x[i] < t} x\n", "rule X\ny = Σ_{i∈n, i<t} x + Σ_{i∈n if x[i] < t} x\n"},
	} {
		got, ds := Format(c.in, notation.Unicode)
		if c.want == "" && c.in != "" {
			if ascii, _ := Format(got, notation.ASCII); !ds.HasErrors() {
				back, _ := Format(ascii, notation.Unicode)
				if back != got {
					t.Errorf("%s: %q comes back as %q", c.name, got, back)
				}
			} else if got != c.in {
				t.Errorf("%s: a block with errors was changed to %q", c.name, got)
			}
			continue
		}
		if ds.HasErrors() || got != c.want {
			t.Errorf("%s: Format(%q) =\n%q, want\n%q %s", c.name, c.in, got, c.want, ds.Error())
		}
	}
}

func TestKnown(t *testing.T) {
	in := Input{Text: "rule X\ny = slope(a)\n", Known: map[string]bool{"slope": true}}
	if got, _ := FormatInput(in, notation.Unicode); got != in.Text {
		t.Errorf("a known function became %q", got)
	}
	known := Known([]Input{{Text: "f(a)[i∈n] = a\nop G(x) → y = x\nx(a) b\ncompose C(m : Rule, n)\noption φ : Feature = id\neach fit (W : F(W; s) → V(s)) of s :\n"}})
	for _, w := range []string{"f", "G", "C", "m", "φ", "F", "V"} {
		if !known[w] {
			t.Errorf("Known misses %s", w)
		}
	}
	for _, w := range []string{"x", "n", "W", "s", "a"} {
		if known[w] {
			t.Errorf("Known takes %s for a function", w)
		}
	}
}

func TestRecovery(t *testing.T) {
	file, ds := parseText("rule X\na = (1\nb = 2\n  + 3\nrule Y over 3\nc = 4\nmodel Z(p : Rule)\nd = p(x)\n")
	if ds.Len() != 2 {
		t.Errorf("%d messages, want 2: %s", ds.Len(), ds.Error())
	}
	if len(file.Units) != 2 || len(file.Units[0].Body) != 1 || len(file.Units[1].Body) != 1 {
		t.Errorf("what is right was lost: %s", notation.Print(file, notation.Unicode))
	}
	p, pds := single(nil, "out[t∈T] = f(A) B", []string{"f"})
	d := p.define()
	if pds.Len() != 0 || notation.Print(d, notation.ASCII) != "out[t in T] = f(A) B" {
		t.Errorf("a definition is printed as %s %s", notation.Print(d, notation.ASCII), pds.Error())
	}
	if e, ds := ParseExpr(nil, ""); e == nil || ds.Len() != 1 {
		t.Errorf("an empty text gives %v, %d messages", e, ds.Len())
	}
}
