package derive_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/derive"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
)

// refused are the compositions that read a window or a state across the start of a
// call, or weigh rows of a stack, and rules that weigh the tokens of a window by a learned table; their backward has no form in the notation.
var refused = map[string]bool{"SlidingWindow": true, "RotaryWindow": true, "RotaryWindowNormed": true,
	"RelativeWindow": true, "LinearBiasWindow": true, "Convolved": true, "MAC": true, "CMSGated": true,
	"AtlasPrinted": true, "AtlasDeep": true}

// TestPages derives the backward of every operation and rule of our pages,
// prints it, reads it again, types it as a claim of its page, and compares the
// numbers on both sides: the left one is the derived program's.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	n := 0
	for _, u := range s.Tree.Order {
		switch u.Kind {
		case notation.OpUnit, notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit:
		default:
			continue
		}
		if refused[u.Name.Text] {
			continue
		}
		t.Run(u.Name.Text, func(t *testing.T) {
			b, ds := check.Instantiate(s.Tree, u)
			if b != nil && b.Strategy != nil {
				t.Skip("its backward is that of its rule")
			}
			d := derive.Of(b, &ds)
			if d == nil || ds.HasErrors() {
				t.Fatal(ds.Error())
			}
			t.Log("\n" + d.Text(notation.Unicode))
			if len(d.Adjoints) == 0 && u.Kind == notation.RuleUnit {
				t.Error("no adjoint is printed")
			}
			for _, e := range append(d.Gradients, d.Adjoints...) {
				for _, style := range []notation.Style{notation.Unicode, notation.ASCII} {
					if !e.Partial && !e.Parts && !e.Shared {
						holds(t, b, e, style)
						n++
					}
				}
			}
		})
	}
	if n < 100 {
		t.Errorf("only %d equations", n)
	}
}

// TestParts holds the backward of a composition to the lines that one would
// write by hand: what a part gives back is a call of its own.
func TestParts(t *testing.T) {
	const text = "```hecate\ncompose Two(p : Composition, q : Composition, r : Composition, s : Composition)\ndims d\ninput X ∈ ℝ^{T×d}\nouter W, V ∈ ℝ^{d×d}\nh[t∈T] = V X[t]\na = p(h)\n" +
		"b = q(a + X)\nc = r(X)\ne = s(X)\nout[t∈T] = W b[t] + 2 a[t] − c[t] + e[t]\n```\n"
	const unicode = "// compose Two, one sequence: given out̄\n\n// adjoints\nē = out̄\nc̄ = −out̄\nb̄ = out̄ W\n// ā = 2 out̄ + q̄(a + X; b̄)\n// V̄ = p̄(h; ā)ᵀ X\nW̄ = out̄ᵀ b\n" +
		"// X̄ = r̄(X; c̄) + s̄(X; ē) + q̄(a + X; b̄) + p̄(h; ā) V\n"
	const ascii = "// compose Two, one sequence: given out_bar\n\n// adjoints\ne_bar = out_bar\nc_bar = -out_bar\nb_bar = out_bar W\n// a_bar = 2 out_bar + q_bar(a + X; b_bar)\n// V_bar = p_bar(h; a_bar)' X\nW_bar = out_bar' b\n" +
		"// X_bar = r_bar(X; c_bar) + s_bar(X; e_bar) + q_bar(a + X; b_bar) + p_bar(h; a_bar) V\n"
	s, _ := gen.LoadFiles(source.NewFile("page.md", text))
	b, ds := check.Instantiate(s.Tree, s.Tree.Units["Two"])
	d := derive.Of(b, &ds)
	if d == nil || ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	if got := d.Text(notation.Unicode); got != unicode {
		t.Errorf("got\n%s\nwant\n%s", got, unicode)
	}
	if got := d.Text(notation.ASCII); got != ascii {
		t.Errorf("got\n%s\nwant\n%s", got, ascii)
	}
	for _, e := range d.Adjoints {
		if !e.Parts {
			holds(t, b, e, notation.Unicode)
		}
	}
}

// TestRefused holds what has no form to one message at the unit's name.
func TestRefused(t *testing.T) {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for name := range refused {
		b, ds := check.Instantiate(s.Tree, s.Tree.Units[name])
		d := derive.Of(b, &ds)
		if all := ds.Sorted(); d != nil || len(all) != 1 || all[0].Code != diag.NotSupported || all[0].Span != b.Unit.Name.Span {
			t.Errorf("%s: %s", name, ds.Error())
		}
	}
}

// noLine are the rules of which something has no form at one moment of a window:
// weights of its moments, softmax over it, and what is read at several places.
var noLine = map[string]bool{"WindowTaps": true, "WindowMeans": true, "WindowQueries": true, "WindowAll": true}

// TestWindows holds the derived lines of rules whose steps read a window, at its
// moments under a sum and at the present one.
func TestWindows(t *testing.T) {
	s, ds := gen.Load("../../specs", "../testdata/window")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, u := range s.Tree.Kinds(notation.RuleUnit) {
		if !strings.Contains(u.Span.File.Path, "testdata/window") {
			continue
		}
		t.Run(u.Name.Text, func(t *testing.T) {
			b, ds := check.Instantiate(s.Tree, u)
			d := derive.Of(b, &ds)
			if noLine[u.Name.Text] {
				if all := ds.Sorted(); d != nil || len(all) != 1 || all[0].Code != diag.NotSupported || all[0].Span.Text() != u.Name.Text {
					t.Error(ds.Error())
				}
				return
			}
			if d == nil || ds.HasErrors() {
				t.Fatal(ds.Error())
			}
			text := d.Text(notation.Unicode)
			t.Log("\n" + text)
			if reads := !strings.HasPrefix(u.Name.Text, "Round"); reads != strings.Contains(text, "the contribution to the present time step") {
				t.Errorf("it reads a window: %v, and its text:\n%s", reads, text)
			}
			for _, e := range append(d.Gradients, d.Adjoints...) {
				for _, style := range []notation.Style{notation.Unicode, notation.ASCII} {
					if !e.Partial && !e.Shared {
						holds(t, b, e, style)
					}
				}
			}
		})
	}
}

// TestRenamed: an equation that only renames a state or another equation has an
// adjoint of its own, as in a claim.
func TestRenamed(t *testing.T) {
	const text = "```hecate\nrule Renamed\ndims d\ninput x ∈ ℝ^{d}\nouter b ∈ ℝ = 0\ngate θ ∈ (0,1) = sigmoid(b)\nstate M ∈ ℝ^{d} = 0, N ∈ ℝ^{d} = 0, O ∈ ℝ^{d} = 0\n" +
		"N_t = M_{t−1}\nA_t = N_t\nM_t = N_t − θ_t (A_t − x_t)\nO_t = M_t\ny_t = M_t ⊙ O_t\n```\n"
	const want = "M̄_{t−1} = N̄_t\n"
	s, _ := gen.LoadFiles(source.NewFile("page.md", text))
	b, ds := check.Instantiate(s.Tree, s.Tree.Units["Renamed"])
	d := derive.Of(b, &ds)
	if d == nil || ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	if got := d.Text(notation.Unicode); !strings.Contains(got, want) {
		t.Errorf("no line %q in\n%s", want, got)
	}
	for _, e := range d.Adjoints {
		if !e.Partial {
			holds(t, b, e, notation.Unicode)
		}
	}
}

// TestFamily holds the derived lines of a rule with families to what a page can
// say: they name members as the page does.
func TestFamily(t *testing.T) {
	s, ds := gen.Load("../../specs/algorithms/functions.md", "../testdata/family/self_modifying.md")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	b, ds := check.Instantiate(s.Tree, s.Tree.Units["SelfModifying"])
	d := derive.Of(b, &ds)
	if d == nil || ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	text := d.Text(notation.Unicode)
	for _, want := range []string{"given M̄_t[", "M̄_{t−1}[q] = ", "θ̄_t[k] = ", "∇_M ℓ(M_{t−1}[v]; k_t, u_t[v]) = "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, e := range append(d.Gradients, d.Adjoints...) {
		for _, style := range []notation.Style{notation.Unicode, notation.ASCII} {
			if !e.Partial {
				holds(t, b, e, style)
			}
		}
	}
}

// holds reads a printed equation and compares its sides.
func holds(t *testing.T, b *check.Block, e derive.Equation, style notation.Style) {
	t.Helper()
	text := e.Text(style)
	c, ds := claim(b, text)
	if ds.HasErrors() {
		t.Errorf("%s\n%s", text, ds.Error())
		return
	}
	var bd diag.List
	q := irbuild.Claim(b, c, &bd)
	if q == nil || bd.HasErrors() {
		t.Errorf("%s\n%s", text, bd.Error())
		return
	}
	for point := range 6 {
		r := rand.New(rand.NewPCG(uint64(point), 7))
		sizes := map[string]int{}
		for i, n := range irbuild.Sizes(q.Func) {
			sizes[n] = 2 + (i+point)%3
		}
		out := interp.Run(q.Func, sizes, values(q, sizes, r, point))
		compare(t, text, out[irbuild.Left], out[irbuild.Right])
	}
}

// claim parses an equation in the surroundings of its unit.
func claim(b *check.Block, text string) (*notation.Claim, diag.List) {
	block := "rule R\nclaim " + text
	f := source.NewFile("derived.md", block)
	known := map[string]bool{}
	for n := range b.Funcs {
		known[n] = true
	}
	file, ds := parser.Parse(f, []parser.Input{{Text: block, File: f, Known: known}})
	if ds.HasErrors() {
		return nil, ds
	}
	return b.ExpandClaim(file.Units[0].Body[0].(*notation.Claim), &ds), ds
}

// values are numbers for the names of a claim: positive ones at even points,
// since some are under a root or a logarithm.
func values(q *irbuild.Equality, sizes map[string]int, r *rand.Rand, point int) map[string]*interp.Tensor {
	out := map[string]*interp.Tensor{}
	for _, p := range q.Func.Params {
		v := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range v.Data {
			switch {
			case p.Elem != ir.Real:
				v.Data[i] = float64(r.IntN(2))
			case point%2 == 0:
				v.Data[i] = 0.1 + r.Float64()
			default:
				v.Data[i] = r.NormFloat64()
			}
		}
		out[p.Name] = v
	}
	return out
}

func compare(t *testing.T, text string, a, b *interp.Tensor) {
	t.Helper()
	scale := 1.0
	for i := range a.Data {
		if x := math.Abs(a.Data[i]); x > scale && !math.IsInf(x, 0) {
			scale = x
		}
	}
	for i := range a.Data {
		if math.IsNaN(a.Data[i]) || math.IsInf(a.Data[i], 0) {
			continue // outside of the domain
		}
		if !(math.Abs(a.Data[i]-b.Data[i]) <= 1e-9*scale) {
			t.Errorf("%s\n%v is not %v", text, a.Data, b.Data)
			return
		}
	}
}

// TestText holds a few derivations to the form in which a person would write
// them.
func TestText(t *testing.T) {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for name, want := range map[string]string{
		"Matmul":       "Ā = out̄ Bᵀ",
		"OuterProduct": "b̄ = out̄ᵀ a",
		"DeltaRule":    "q̄_t = M_tᵀ ȳ_t",
	} {
		b, ds := check.Instantiate(s.Tree, s.Tree.Units[name])
		d := derive.Of(b, &ds)
		if d == nil {
			t.Fatal(ds.Error())
		}
		if got := d.Text(notation.Unicode); !strings.Contains(got, want+"\n") {
			t.Errorf("%s:\n%s\nwant %s", name, got, want)
		}
	}
}
