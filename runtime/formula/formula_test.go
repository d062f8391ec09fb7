package formula_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/formula"
)

var pages = formula.Table{
	"LM":     {Kind: formula.Model, Parts: []formula.Part{{Name: "block", Kind: formula.Composition, Bare: true}}, Width: "d"},
	"MAG":    {Kind: formula.Composition, Parts: []formula.Part{{Name: "memory", Kind: formula.Rule}, {Name: "attention", Kind: formula.Composition}}},
	"CMS":    {Kind: formula.Schedule, Parts: []formula.Part{{Name: "memory", Kind: formula.Rule, List: true}}},
	"Window": {Kind: formula.Composition, Sizes: []string{"w", "H"}},
	"Delta":  {Kind: formula.Rule, Sizes: []string{"d_k"}},
	"Zero":   {Kind: formula.Model, Is: "LM(MAG(Delta, Window))"},
	"Loop":   {Kind: formula.Model, Is: "Loop"},
}

func TestBind(t *testing.T) {
	for text, want := range map[string]string{
		"Zero":                              "LM(MAG(Delta, Window))",
		" LM ( MAG(Delta(),Window(w=3)) ) ": "LM(MAG(Delta, Window(w = 3)))",
		"LM(MAG(attention = Window(w = 3, H = 2), memory = CMS([Delta, Delta(d_k = 7)])))": "LM(MAG(CMS([Delta, Delta(d_k = 7)]), Window(H = 2, w = 3)))",
		"LM(MAG(CMS(memory = [CMS([Delta])]), Window))":                                    "LM(MAG(CMS([CMS([Delta])]), Window))",
	} {
		f, err := formula.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		n, err := pages.Bind(f, formula.Model)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := n.String(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		again, err := formula.Parse(f.String())
		if err != nil || again.String() != f.String() {
			t.Errorf("%s: prints as %s, which reads as %s, %v", text, f, again, err)
		}
	}
}

// TestErrors wants the message, the place as the text from there on, and the hint.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, msg, at, hint string }{
		{"", "expected the name of a page", "", ""},
		{"LM(MAG(Dleta, Window))", "there is no page Dleta", "Dleta, Window))", "did you mean Delta?"},
		{"LM(Delta)", "Delta is a rule, and a composition is needed here", "Delta)", "there are CMS, MAG, Window"},
		{"LM(MAG(Delta))", "the part attention of MAG is not given", "MAG(Delta))", ""},
		{"LM(MAG(Delta, Window, Window))", "MAG has 2 parts, and this is another", "Window))", ""},
		{"LM(MAG(Delta, memory = Delta, attention = Window))", "the part memory of MAG is given twice", "memory = Delta, attention = Window))", ""},
		{"LM(MAG(memry = Delta, attention = Window))", "MAG has no part memry", "memry = Delta, attention = Window))", "did you mean memory?"},
		{"LM(MAG(CMS(Delta), Window))", "the part memory of CMS is a list of pages", "Delta), Window))", "put it in brackets"},
		{"LM(MAG([Delta], Window))", "the part memory of MAG is one page, and this is a list", "[Delta], Window))", ""},
		{"LM(MAG(CMS([]), Window))", "the list of memory is empty", "[]), Window))", ""},
		{"LM(MAG(Delta, Window(v = 3)))", "Window has no size v", "v = 3)))", "a formula sets sizes, here w, H; an option is set on a page"},
		{"LM(MAG(Delta, Window(w = 3.5)))", "3.5 is not a whole number", "3.5)))", ""},
		{"LM(MAG(Delta, Window(w = )))", "expected the name of a page", ")))", ""},
		{"LM(MAG(Delta, Window)", "expected )", "", ""},
		{"LM(MAG(Delta, Window)))", "expected the end of the formula", ")", ""},
		{"Zero(Window)", "Zero has its parts already", "Zero(Window)", "write LM(MAG(Delta, Window)) with what you want"},
		{"Loop", "Loop is defined by itself", "Loop", ""},
		{strings.Repeat("LM(", 100), "more than 64 pages in one another", strings.Repeat("LM(", 35), ""},
	} {
		f, err := formula.Parse(c.text)
		if err == nil {
			_, err = pages.Bind(f, formula.Model)
		}
		var e *formula.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v is no *Error", c.text, err)
			continue
		}
		if e.Msg != c.msg || e.Text[e.At:] != c.at || e.Hint != c.hint {
			t.Errorf("%s: %q at %q, hint %q; want %q at %q, hint %q", c.text, e.Msg, e.Text[e.At:], e.Hint, c.msg, c.at, c.hint)
		}
	}
}

func TestCaret(t *testing.T) {
	_, err := formula.Parse("LM(é!)")
	want := "formula:5: expected )\n  LM(é!)\n      ^"
	if err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("LM(MAG(CMS([Delta, Delta(d_k = 7)]), attention = Window(w = 3)))")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := formula.Parse(text)
		if err != nil {
			_ = err.Error()
			return
		}
		y, err := formula.Parse(x.String())
		if err != nil || y.String() != x.String() {
			t.Fatalf("%q prints as %q, which reads as %q, %v", text, x.String(), y.String(), err)
		}
	})
}
