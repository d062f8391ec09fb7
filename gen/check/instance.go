package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// An instancer builds one Block.
type instancer struct {
	tree *units.Tree
	ds   *diag.List
	b    *Block
	srcs []expand.Source
	defs []*Equation

	sizes     []*notation.DimsItem // what dims lines say, as far as it counts
	fractions []*Option            // that count something and are no whole number: said
	given     []units.Given        // pages in the places of parts
	way       []*notation.Unit     // the pages that are being gathered, each another form of the next one
	with      []*notation.Override // what replaces values behind the header
	below     []*notation.Override // what the formulas of the pages below replace
	refused   bool                 // what a formula gives its pages cannot be matched
}

// Instantiate resolves a unit with its front, knobs and parts.
func Instantiate(t *units.Tree, u *notation.Unit) (*Block, diag.List) {
	var ds diag.List
	return instantiate(t, u, u.Name.Text, nil, u.With, &ds), ds
}

// InstantiateFormula resolves a formula under a name of its own, as the sides
// of a special case and the parts of a composition need it.
func InstantiateFormula(t *units.Tree, name string, f *notation.Formula, with []*notation.Override) (*Block, diag.List) {
	var ds diag.List
	if len(f.Parts) == 1 && f.Over == nil {
		u := t.Units[f.Parts[0].Name.Text]
		if u == nil {
			unknownPage(t, f.Parts[0], &ds, []notation.UnitKind{u.Kind})
			return nil, ds
		}
		return instantiate(t, u, name, f.Parts[0].Args, slices.Concat(u.With, with), &ds), ds
	}
	u := &notation.Unit{Span: f.Span, Kind: notation.RuleUnit, Name: notation.Word{Span: f.Span, Text: name}, Formula: f, With: with}
	return instantiate(t, u, name, nil, with, &ds), ds
}

// instantiate resolves a unit; redefined are lines of other pages that redefine something of it.
func instantiate(t *units.Tree, u *notation.Unit, name string, args, with []*notation.Override, ds *diag.List, redefined ...expand.Source) *Block {
	b := &Block{Tree: t, Unit: u, Name: name, ID: ident.ID(name), Options: map[string]*Option{}, Axes: map[string]*Axis{},
		Symbols: map[string]*Symbol{}, Funcs: map[string]*Function{}, Replaced: map[string]notation.Expr{}}
	in := &instancer{tree: t, ds: ds, b: b, with: with}
	if !in.gather(u, args, nil, 0) || in.refused {
		return nil
	}
	in.srcs = append(in.srcs, redefined...)
	with = slices.Concat(in.below, with)
	before := ds.Len()
	b.families, with = expand.ExpandFamilies(in.srcs, with, in.timeLetter(), ds)
	if ds.Len() > before {
		return b
	}
	in.freeze()
	in.defaults()
	before = ds.Len()
	in.options(with)
	in.chunkOption()
	if ds.Len() > before && ds.HasErrors() {
		return b // what follows from a value that an option cannot have is no news
	}
	in.dims()
	in.heads()
	in.update()
	in.declare()
	in.moves()
	in.snaps()
	in.axisNames()
	in.lifetimes()
	in.override(with)
	in.parts()
	in.unread()
	if len(args) == 0 && name == u.Name.Text && !ds.HasErrors() {
		in.unusedRedefinitions(u)
	}
	before = ds.Len()
	in.order()
	in.wholeFamilies()
	in.collisions()
	if ds.Len() > before && ds.HasErrors() {
		return b
	}
	return b
}

// gather lists the units whose statements make up the block: the front first,
// then the knobs under the law, or the unit's own body; an instance such as
// `model A = B(…)` is its base page with parts.
func (in *instancer) gather(u *notation.Unit, args []*notation.Override, at *notation.Apply, depth int) bool {
	f := u.Formula
	if depth > 20 {
		in.ds.Errorf(diag.Cycle, u.Name.Span, "%s is defined by itself", u.Name.Text)
		return false
	}
	in.way = append(in.way, u)
	defer func() { in.way = in.way[:len(in.way)-1] }()
	switch {
	case f == nil:
	case u.Kind == notation.RuleUnit && f.Over != nil:
		front := in.page(f.Over, notation.FrontUnit)
		if front == nil {
			return false
		}
		in.srcs = append(in.srcs, expand.Source{Unit: front, Body: front.Body, Set: in.bind(front, f.Over.Args, nil)})
		if len(f.Parts) > 0 && !in.expandLaw(f) {
			return false
		}
	case u.Kind == notation.RuleUnit && len(f.Parts) > 1:
		if !in.expandLaw(f) {
			return false
		}
	case len(f.Parts) == 1:
		kinds := []notation.UnitKind{u.Kind}
		if u.Kind == notation.RuleUnit {
			kinds = append(kinds, notation.StrategyUnit)
		}
		base := in.page(f.Parts[0], kinds...)
		if base == nil {
			return false
		}
		if base.Kind == notation.StrategyUnit {
			if !in.strategy(base, f.Parts[0], depth) {
				return false
			}
			break
		}
		in.b.Unit = base
		in.below = append(in.below, base.With...)
		if !in.gather(base, f.Parts[0].Args, f.Parts[0], depth+1) {
			return false
		}
	}
	in.srcs = append(in.srcs, expand.Source{Unit: u, Body: u.Body, Set: in.bind(u, args, at)})
	return true
}

// page finds the unit that an Apply names and checks its kind.
func (in *instancer) page(a *notation.Apply, kinds ...notation.UnitKind) *notation.Unit {
	u := in.tree.Units[a.Name.Text]
	if u == nil {
		unknownPage(in.tree, a, in.ds, kinds)
		return nil
	}
	if !slices.Contains(kinds, u.Kind) {
		in.ds.Errorf(diag.WrongPageKind, a.Name.Span, "%s is %s, but %s is needed here", a.Name.Text, units.KindName(u.Kind), units.KindName(kinds[0])).
			See(u.Name.Span, "%s is defined here", a.Name.Text)
		return nil
	}
	return u
}

// unknownPage refuses the name of a page that does not exist; the pages that
// could stand there are candidates for what was meant.
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
