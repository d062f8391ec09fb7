package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A resolver builds one Block.
type resolver struct {
	tree *units.Tree
	ds   *diag.List
	b    *Block
	srcs []expand.Source
	defs []*Equation

	dimsItems    []*notation.DimsItem // the dims items in force
	badCounts    []*Option            // used as a count without being an integer: already reported
	given        []units.Given        // pages for parts
	path         []*notation.Unit     // the pages that are being gathered, each a form of the next one
	with         []*notation.Override // replacements in the header
	inherited    []*notation.Override // replacements in the formulas of the pages below
	badArguments bool                 // the arguments of a formula do not fit the parameters of its pages
}

// Instantiate resolves a unit with its front, knobs and parts.
func Instantiate(t *units.Tree, u *notation.Unit) (*Block, diag.List) {
	var ds diag.List
	return instantiate(t, u, u.Name.Text, nil, u.With, &ds), ds
}

// InstantiateFormula resolves a formula under a given name: a side of a special case, or a
// part of a composition.
func InstantiateFormula(t *units.Tree, name string, f *notation.Formula, with []*notation.Override) (*Block, diag.List) {
	var ds diag.List
	if len(f.Parts) == 1 && f.Over == nil {
		u := t.Units[f.Parts[0].Name.Text]
		if u == nil {
			unknownPage(t, f.Parts[0], &ds, []notation.UnitKind{notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit, notation.UpdateUnit})
			return nil, ds
		}
		return instantiate(t, u, name, f.Parts[0].Args, slices.Concat(u.With, with), &ds), ds
	}
	u := &notation.Unit{Span: f.Span, Kind: notation.RuleUnit, Name: notation.Word{Span: f.Span, Text: name}, Formula: f, With: with}
	return instantiate(t, u, name, nil, with, &ds), ds
}

// instantiate resolves a unit; redefined are lines of other pages that redefine its gates and
// starts. The result is nil if the units that make it up cannot be found.
func instantiate(t *units.Tree, u *notation.Unit, name string, args, with []*notation.Override, ds *diag.List, redefined ...expand.Source) *Block {
	b := &Block{Tree: t, Unit: u, Name: name, ID: ident.ID(name), Options: map[string]*Option{}, Axes: map[string]*Axis{},
		Symbols: map[string]*Symbol{}, Funcs: map[string]*Function{}, Replaced: map[string]notation.Expr{}}
	r := &resolver{tree: t, ds: ds, b: b, with: with}
	if !r.gather(u, args, nil, 0) || r.badArguments {
		return nil
	}
	r.srcs = append(r.srcs, redefined...)
	with = slices.Concat(r.inherited, with)
	before := ds.Len()
	b.families, with = expand.ExpandFamilies(r.srcs, with, r.timeLetter(), ds)
	if ds.Len() > before {
		return b
	}
	r.freeze()
	r.checkDefaults()
	before = ds.Len()
	r.options(with)
	r.chunkOption()
	if ds.Len() > before && ds.HasErrors() {
		return b // an impossible value of an option would be reported again
	}
	r.dims()
	r.heads()
	r.updateHeader()
	r.declare()
	r.checkSlots()
	r.declareSnaps()
	r.checkAxisNames()
	r.bindLifetimes()
	r.override(with)
	r.parts()
	if t.Instance(u) {
		r.checkPartOptions(t.Units[u.Formula.Parts[0].Name.Text], u.Formula.Parts[0], b)
	}
	r.dropUnusedArguments()
	if len(args) == 0 && name == u.Name.Text && !ds.HasErrors() {
		r.unusedRedefinitions(u)
	}
	r.order()
	r.expandFamilyNames()
	r.checkCollisions()
	return b
}

// gather lists the units whose statements make up the block: the front first,
// then the knobs under the law, or the unit's own body; an instance such as
// `model A = B(…)` is its base page with parts.
func (r *resolver) gather(u *notation.Unit, args []*notation.Override, at *notation.Apply, depth int) bool {
	f := u.Formula
	if depth > 20 {
		r.ds.Errorf(diag.Cycle, u.Name.Span, "%s is defined by itself", u.Name.Text)
		return false
	}
	r.path = append(r.path, u)
	defer func() { r.path = r.path[:len(r.path)-1] }()
	switch {
	case f == nil:
	case u.Kind == notation.RuleUnit && f.Over != nil:
		front := r.page(f.Over, notation.FrontUnit)
		if front == nil {
			return false
		}
		r.srcs = append(r.srcs, expand.Source{Unit: front, Body: front.Body, Set: r.bind(front, f.Over.Args, nil)})
		if len(f.Parts) > 0 && !r.expandLaw(f) {
			return false
		}
	case u.Kind == notation.RuleUnit && len(f.Parts) > 1:
		if !r.expandLaw(f) {
			return false
		}
	case len(f.Parts) == 1:
		kinds := []notation.UnitKind{u.Kind}
		if u.Kind == notation.RuleUnit {
			kinds = append(kinds, notation.StrategyUnit)
		}
		base := r.page(f.Parts[0], kinds...)
		if base == nil {
			return false
		}
		if base.Kind == notation.StrategyUnit {
			if !r.strategy(base, f.Parts[0], depth) {
				return false
			}
			break
		}
		r.b.Unit = base
		r.inherited = append(r.inherited, base.With...)
		if !r.gather(base, f.Parts[0].Args, f.Parts[0], depth+1) {
			return false
		}
	}
	r.srcs = append(r.srcs, expand.Source{Unit: u, Body: u.Body, Set: r.bind(u, args, at)})
	return true
}

// page finds the unit of a name in a formula and checks its kind.
func (r *resolver) page(a *notation.Apply, kinds ...notation.UnitKind) *notation.Unit {
	u := r.tree.Units[a.Name.Text]
	if u == nil {
		unknownPage(r.tree, a, r.ds, kinds)
		return nil
	}
	if !slices.Contains(kinds, u.Kind) {
		r.ds.Errorf(diag.WrongPageKind, a.Name.Span, "%s is %s, but %s is needed here", a.Name.Text, units.KindName(u.Kind), units.KindName(kinds[0])).
			See(u.Name.Span, "%s is defined here", a.Name.Text)
		return nil
	}
	return u
}

// unknownPage refuses the name of a page that does not exist, and suggests pages of these
// kinds.
func unknownPage(t *units.Tree, a *notation.Apply, ds *diag.List, kinds []notation.UnitKind) {
	var names []string
	for n, u := range t.Whole().Units {
		if slices.Contains(kinds, u.Kind) {
			names = append(names, n)
		}
	}
	d := ds.Errorf(diag.UnknownPage, a.Name.Span, "there is no page %s", a.Name.Text)
	units.Suggest(d, a.Name.Text, names)
}

// expandLaw adds the knobs of a formula and the law, written out, to the sources of the
// block.
func (r *resolver) expandLaw(f *notation.Formula) bool {
	knobs := map[notation.UnitKind]*notation.Unit{}
	first := len(r.srcs)
	for _, p := range f.Parts {
		u := r.page(p, units.Knobs...)
		if u == nil {
			return false
		}
		if old := knobs[u.Kind]; old != nil {
			r.ds.Errorf(diag.WrongPageKind, p.Span, "%s and %s are both %s", old.Name.Text, u.Name.Text, units.KindName(u.Kind))
			return false
		}
		knobs[u.Kind] = u
		r.srcs = append(r.srcs, expand.Source{Unit: u, Set: r.bind(u, p.Args, nil)})
	}
	for _, k := range units.Knobs {
		if knobs[k] == nil {
			r.ds.Errorf(diag.WrongPageKind, f.Span, "the formula has no %s", k).Hint("a rule is structure + bias + retention + algorithm")
			return false
		}
	}
	if !r.checkRequirements(f) {
		return false
	}
	laws := r.tree.Kinds(notation.LawUnit)
	if len(laws) != 1 {
		r.ds.Errorf(diag.UnknownPage, f.Span, "a formula of knobs needs exactly one law, and there are %d", len(laws))
		return false
	}
	srcs, ok := expand.Law(r.b.Unit, laws[0], r.srcs, first, r.ds)
	r.srcs = srcs
	return ok
}

// checkRequirements refuses a formula whose knobs do not provide what one of them requires,
// with one message for each line that requires.
func (r *resolver) checkRequirements(f *notation.Formula) bool {
	var knobs []*notation.Unit
	for _, p := range f.Parts {
		knobs = append(knobs, r.tree.Units[p.Name.Text])
	}
	bad := units.Violations(knobs)
	for i, v := range bad {
		if i > 0 && bad[i-1].Line == v.Line {
			continue
		}
		at := f.Parts[slices.Index(knobs, v.By)].Span
		mark := notation.Print(v.Mark, notation.Unicode)
		r.ds.Errorf(diag.IllegalFormula, at, "%s does not fit here: %s", v.By.Name.Text, v.Reason()).
			Labelf("requires %s", mark).
			See(v.Line.Span, "%s requires it", v.By.Name.Text).
			Hint("%s", r.remedy(v))
	}
	return len(bad) == 0
}

// remedy is a hint with the knobs that would meet a requirement.
func (r *resolver) remedy(v units.Violation) string {
	var names []string
	for _, k := range units.Knobs {
		for _, u := range r.tree.Whole().Kinds(k) {
			if k != v.By.Kind && !u.Example && units.Meets(u, v.Mark.Name.Text) {
				names = append(names, k.String()+" "+u.Name.Text)
			}
		}
	}
	if len(names) == 0 {
		return "no page provides " + v.Mark.Name.Text
	}
	return v.Mark.Name.Text + " is provided by " + strings.Join(names, ", ")
}

// checkTrial refuses a trial line whose formula does not use its page.
func (r *resolver) checkTrial(u *notation.Unit, s *notation.Trial) {
	knob := slices.Contains(units.Knobs, u.Kind)
	if !knob && len(units.PartsOf(u)) == 0 {
		r.ds.Errorf(diag.NotHere, s.Span, "%s needs no trial: it is complete", u.Name.Text).Hint("take the line away")
		return
	}
	names := func(a *notation.Apply) bool { return a.Name.Text == u.Name.Text }
	if !slices.ContainsFunc(s.Formula.Parts, names) || !knob && len(s.Formula.Parts) != 1 {
		r.ds.Errorf(diag.NotHere, s.Formula.Span, "a trial of %s is a formula with %s", u.Name.Text, u.Name.Text).Hint("%s", map[bool]string{
			true: "write a structure, a bias, a retention and an algorithm, one of them this, over a front", false: "write " + u.Name.Text + "(…) with a page for each part"}[knob])
		return
	}
	if !knob {
		r.checkPartOptions(u, s.Formula.Parts[0], r.b)
	}
}
