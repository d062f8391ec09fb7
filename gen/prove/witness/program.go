package witness

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// program builds the program of a witness.
func (w *Witness) program(tree *units.Tree, vectors Vectors) (*ir.Func, error) {
	u, err := w.formula(tree)
	if err != nil {
		return nil, err
	}
	var with []*notation.Override
	for _, k := range slices.Sorted(maps.Keys(w.Options)) {
		o := &notation.Override{Name: notation.Word{Text: k}}
		if word, ok := strings.CutPrefix(w.Options[k], "'"); ok {
			o.Value = &notation.Ident{Name: notation.Word{Text: word}}
		} else {
			_, x, err := (&comparison{w: w, vectors: vectors}).tensor(w.Options[k])
			if err != nil {
				return nil, fmt.Errorf("option %s: %w", k, err)
			}
			o.Value = &notation.Number{Value: x[0]}
		}
		with = append(with, o)
	}
	blk, ds := instantiate(tree, u, with)
	if blk == nil || ds.HasErrors() {
		return nil, fmt.Errorf("%s: %s", w.Unit, ds.Error())
	}
	g := buildProgram(blk, w.Program, &ds)
	if g == nil || ds.HasErrors() {
		return nil, fmt.Errorf("%s: %s", w.Unit, ds.Error())
	}
	return g, nil
}

// instantiate instantiates a page under its name, and any other formula as a rule.
func instantiate(tree *units.Tree, u *notation.Unit, with []*notation.Override) (*check.Block, diag.List) {
	if f := u.Formula; len(f.Parts) == 1 && len(f.Parts[0].Args) == 0 && f.Over == nil {
		return check.InstantiateFormula(tree, f.Parts[0].Name.Text, f, with)
	}
	u.With = with
	return check.Instantiate(tree, u)
}

// Pages are the units whose mutants can change what is compared: the unit itself, or the knobs,
// the strategy and the front of a rule without a page.
func (w *Witness) Pages() []string {
	var out []string
	u, _ := w.rule()
	for a := range notation.All[*notation.Apply](u) {
		out = append(out, a.Name.Text)
	}
	return out
}

// rule is the formula of the witness as a rule without a page.
func (w *Witness) rule() (*notation.Unit, error) {
	text := "rule Witnessed = " + strings.Replace(w.Unit, "/", " over ", 1)
	f, ds := parser.Parse(source.NewFile("the witness list", text), []parser.Input{{Text: text}})
	if ds.HasErrors() || len(f.Units) != 1 {
		return &notation.Unit{}, fmt.Errorf("%s is no formula: %s", w.Unit, ds.Error())
	}
	return f.Units[0], nil
}

// formula is that rule, where its units exist.
func (w *Witness) formula(tree *units.Tree) (*notation.Unit, error) {
	u, err := w.rule()
	if err != nil {
		return nil, err
	}
	for a := range notation.All[*notation.Apply](u) {
		if tree.Units[a.Name.Text] == nil {
			return u, fmt.Errorf("there is no unit %s", a.Name.Text)
		}
	}
	return u, nil
}

// answerOnly is a frozen read without the window states that it passes on, which no other
// implementation has.
func answerOnly(f *ir.Func) *ir.Func {
	f.Results = slices.DeleteFunc(f.Results, func(r ir.Result) bool { return r.State })
	f.Sweep()
	used := f.Uses()
	f.Params = slices.DeleteFunc(f.Params, func(p *ir.Value) bool { return used[p] == 0 })
	return f
}

// buildProgram builds one program of a block by name; gradientN is its inner gradient N.
func buildProgram(blk *check.Block, program string, ds *diag.List) *ir.Func {
	switch program {
	case "op":
		return irbuild.Op(blk, ds)
	case "whole":
		return irbuild.Whole(blk, ds)
	case "frozen":
		return answerOnly(irbuild.Frozen(blk, ds))
	case "start":
		return irbuild.Start(blk, ds)
	case "update":
		return irbuild.Update(blk, ds)
	case "function":
		return irbuild.Function(blk, ds)
	}
	if k, ok := strings.CutPrefix(program, "gradient"); ok {
		i, _ := strconv.Atoi(k)
		if gs := irbuild.Gradients(blk, ds); i < len(gs) {
			return gs[i].Func
		}
	}
	return nil
}
