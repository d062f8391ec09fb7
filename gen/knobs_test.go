package gen_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// The pages under testdata/knobs have a formula for every knob and every value
// of its options. Here they are proved and lowered; TestKnobPages runs what is
// generated from them.

func knobPages(t *testing.T) *gen.Source {
	t.Helper()
	pages, err := filepath.Glob("testdata/knobs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages of knobs", err)
	}
	s, ds := gen.Load(append(pages, "../specs")...)
	if ds.HasErrors() {
		t.Fatal(diag.Render(ds.Sorted()))
	}
	return s
}

// ofKnobs are the rules of the pages under testdata/knobs.
func ofKnobs(s *gen.Source) (out []*notation.Unit) {
	for _, u := range s.Tree.Kinds(notation.RuleUnit) {
		if strings.Contains(u.Span.File.Path, "testdata/knobs") {
			out = append(out, u)
		}
	}
	return out
}

// TestKnobs proves a formula for each knob, and lowers it.
func TestKnobs(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	s := knobPages(t)
	for _, u := range ofKnobs(s) {
		t.Run(u.Name.Text, func(t *testing.T) {
			r, ds := prove.Block(s.Tree, u, proof.Options{})
			if ds.Len() > 0 || r.Count(proof.Failed) > 0 || r.Count(proof.Proved)+r.Count(proof.Tested) == 0 {
				t.Errorf("%d proved, %d tested:\n%s", r.Count(proof.Proved), r.Count(proof.Tested), diag.Render(ds.Sorted()))
			}
			if p, cd := gen.CompileUnit(s, u); p == nil || cd.Len() > 0 {
				t.Errorf("no plan:\n%s", diag.Render(cd.Sorted()))
			}
		})
	}
}

// TestEveryKnob: no knob of the tree, and no value of an option that is a
// choice, is missing from those pages and from the rules of the tree.
func TestEveryKnob(t *testing.T) {
	s := knobPages(t)
	used := map[string]bool{}
	for _, u := range s.Tree.Kinds(notation.RuleUnit) {
		if u.Formula == nil {
			continue
		}
		for _, a := range u.Formula.Parts {
			used[a.Name.Text] = true
			set := map[string]bool{}
			for _, o := range a.Args {
				if o.Value == nil { // a rule that a strategy is given
					continue
				}
				used[a.Name.Text+"."+o.Name.Text+"="+notation.Print(o.Value, notation.Unicode)] = true
				set[o.Name.Text] = true
			}
			for name, d := range choices(s.Tree.Units[a.Name.Text]) {
				if !set[name] {
					used[a.Name.Text+"."+name+"="+notation.Print(d.Init, notation.Unicode)] = true
				}
			}
		}
	}
	for _, kind := range []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit} {
		for _, u := range s.Tree.Kinds(kind) {
			if !used[u.Name.Text] {
				t.Errorf("no formula has the %s %s", kind.String(), u.Name.Text)
			}
			for name, d := range choices(u) {
				for _, v := range d.Type.Members {
					if key := u.Name.Text + "." + name + "=" + notation.Print(v, notation.Unicode); !used[key] {
						t.Errorf("no formula has %s", key)
					}
				}
			}
		}
	}
}

// choices are the options of a knob that choose among words.
func choices(u *notation.Unit) map[string]*notation.DeclName {
	out := map[string]*notation.DeclName{}
	for _, st := range u.Body {
		if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == "option" {
			for _, n := range d.Names {
				if n.Type != nil && n.Type.Kind == notation.SetType {
					out[n.Name.Text] = n
				}
			}
		}
	}
	return out
}
