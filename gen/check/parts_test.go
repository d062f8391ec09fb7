package check_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// parse reads a page and gathers its units.
func parse(t *testing.T, text string) (*units.Tree, *notation.File, diag.List) {
	t.Helper()
	f := source.NewFile("page.md", text)
	file, ds := parser.Parse(f, []parser.Input{{Text: text, File: f}})
	if ds.HasErrors() {
		return nil, file, ds
	}
	tree, ds := units.Collect([]*notation.File{file})
	return tree, file, ds
}

// resolved parses a text and instantiates its last unit.
func resolved(t *testing.T, text string) (*check.Block, diag.List) {
	t.Helper()
	tree, file, ds := parse(t, text)
	if ds.HasErrors() {
		return nil, ds
	}
	return check.Instantiate(tree, file.Units[len(file.Units)-1])
}

const pairHead = "compose Same\noption w ≥ 1 = 2\ndims d\ninput X ∈ ℝ^{T×d}\nout[t∈T] = X[t]\n" +
	"rule Sum\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t\n" +
	"compose Pair(memory : Rule, other : Composition)\noption way ∈ {plain, twice} = plain\ndims d\ninput X ∈ ℝ^{T×d}\na = memory(X)\nb = other(a)\nout = case way { = plain : b ; otherwise : b + b }\n"

// TestParts holds that a part may be given by position or by name.
func TestParts(t *testing.T) {
	for _, f := range []string{"Pair(Sum, Same)", "Pair(memory = Sum, other = Same)", "Pair(other = Same, memory = Sum)", "Pair(Sum, other = Same)",
		"Pair(memory = Sum, other = Same(w = 3))", "Pair(way = plain, memory = Sum, other = Same)", "Pair(Sum, Same, way = plain)",
		"Pair(memory = Sum, other = Pair(Sum, Same))", "Pair(memory = Sum, other = Pair(memory = Sum, other = Same))"} {
		b, ds := resolved(t, pairHead+"compose C = "+f)
		if ds.HasErrors() {
			t.Errorf("%s\n%s", f, ds.Error())
			continue
		}
		if len(b.Parts) != 2 || b.Parts[0].Name != "memory" || b.Parts[0].Block.Name != "Sum" || b.Parts[1].Block == nil {
			t.Errorf("%s: the parts are not where they belong", f)
		}
	}
	if b, ds := resolved(t, pairHead+"compose C = Pair(Sum, Same)\ncompose D = C"); ds.HasErrors() || len(b.Parts) != 2 || b.Parts[1].Block == nil {
		t.Errorf("an instance of an instance has no parts: %s", ds.Error())
	}
}

// TestPartMistakes holds each mistake to one message, at the very sign.
func TestPartMistakes(t *testing.T) {
	for _, c := range []struct{ formula, code, at, text string }{
		{"Pair(Sum, Same, Same)", "HEC3016", "Same", "Pair has the parts memory, other"},
		{"Pair(Sum)", "HEC3016", "Pair(Sum)", "part other of Pair is not given"},
		{"Pair", "HEC3016", "Pair", "parts memory, other of Pair are not given"},
		{"Pair(memory = Sum, other = Pair(Sum))", "HEC3016", "Sum", "part other of Pair is not given"},
		{"Pair(memry = Sum, other = Same)", "HEC3016", "memry", "Pair has no part memry"},
		{"Pair(memory = Sum, othr = Same(w = 3))", "HEC3016", "othr", "Pair has no part othr"},
		{"Pair(memory = Sum, Same)", "HEC3016", "Same", "a part without a name is after a named one"},
		{"Pair(Sum, memory = Sum)", "HEC3016", "memory = Sum", "part memory of Pair is given twice"},
		{"Pair(memory = 3, other = Same)", "HEC3016", "3", "part memory of Pair is a page, and this is not"},
		{"Pair(memory = Same, other = Same)", "HEC3004", "Same", "Same is a composition, but a rule is needed here"},
		{"Pair(memory = Nope, other = Same)", "HEC3003", "Nope", "there is no page Nope"},
		{"Pair(Sum, Same, wey = 3)", "HEC3005", "wey", "there is no option wey"},
		{"Pair(Sum, Same, way = twice)", "HEC3006", "way = twice", "Pair is compiled separately: a formula sets sizes, and way is not a size"},
		{"Same(8)", "HEC3005", "8", "an option is set by its name"},
		{"Same(Sum)", "HEC3016", "Sum", "Same has no parts"},
	} {
		_, ds := resolved(t, pairHead+"compose C = "+c.formula)
		all := ds.Sorted()
		if len(all) != 1 {
			t.Errorf("%s: %d messages\n%s", c.formula, len(all), diag.Render(all))
			continue
		}
		if d := all[0]; d.Code.String() != c.code || d.Span.Text() != c.at || d.Text != c.text {
			t.Errorf("%s:\n%v at %q: %s\nwant %s at %q: %s", c.formula, d.Code, d.Span.Text(), d.Text, c.code, c.at, c.text)
		}
	}
}

// TestSpecialOfNoPage holds that a special case of a page that does not exist is one message.
func TestSpecialOfNoPage(t *testing.T) {
	tree, file, _ := parse(t, pairHead+"rule Sam = Sum\nspecial Sum2 = Sum")
	for s := range notation.Of[*notation.Special](file.Units[3].Body) {
		b, ds := check.InstantiateFormula(tree, "Sam", s.Left, s.LWith)
		if all := ds.Sorted(); b != nil || len(all) != 1 || all[0].Code != diag.UnknownPage || all[0].Help != "did you mean Sum?" {
			t.Errorf("%v %s", b, ds.Error())
		}
	}
}
