package gen

import (
	"cmp"
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/gen/vectors"
)

// A page with parts is tested with pages in their places: those of its trial lines, or,
// where it has none, the shortest pages of each kind. Those are the library's for a
// project that uses it, so that another page of a project changes no test of this one.

// testFiles makes the tests of the unit with their vectors.
func (c *unitCompiler) testFiles() {
	formulas, ds := c.formulas()
	if c.ds.Append(ds); ds.HasErrors() {
		return
	}
	files, ds := vectors.Tests(vectors.Unit{Name: &c.unit.Name, Page: c.src.Path(c.unit.Span.File.Path), Home: c.conf.home(),
		Instance: c.src.Tree.Instance(c.unit), Outline: Outline}, formulas)
	c.ds.Append(ds)
	maps.Copy(c.files, files)
}

// formulas compiles the formulas that the unit is tested as.
func (c *unitCompiler) formulas() (out []vectors.Formula, ds diag.List) {
	list := c.src.trials(c.unit)
	switch {
	case c.src.Tree.Instance(c.unit):
		list = c.unit.Formula.Parts
	case len(units.PartsOf(c.unit)) == 0:
		list = []*notation.Apply{named(c.unit)}
	}
	for _, a := range list {
		f := vectors.Formula{Applied: Applied(c.src.Tree, a)}
		var more diag.List
		f.Units, more = c.units(f.Applied)
		if ds.Append(more); ds.HasErrors() {
			return nil, ds
		}
		f.Block, more = check.InstantiateFormula(c.src.Tree, c.unit.Name.Text, &notation.Formula{Span: a.Span, Parts: []*notation.Apply{a}}, nil)
		if ds.Append(more); ds.HasErrors() {
			return nil, ds
		}
		out = append(out, f)
	}
	return out, ds
}

// listed is the number of pages of a list of parts.
const listed = 3

// trials are the formulas that a page is tested as.
func (s *Source) trials(u *notation.Unit) []*notation.Apply {
	var out []*notation.Apply
	for _, f := range units.Trials(u) {
		if len(f.Parts) == 1 {
			out = append(out, f.Parts[0])
		}
	}
	if len(out) > 0 || u.Formula != nil || len(units.PartsOf(u)) == 0 {
		return out
	}
	a := &notation.Apply{Span: u.Name.Span, Name: u.Name}
	for _, p := range units.PartsOf(u) {
		pages := s.shortest(p.Type.Page.Text)
		if len(pages) == 0 {
			return nil
		}
		o := &notation.Override{Span: p.Span, Apply: named(pages[0])}
		if p.List != nil {
			o.Apply = nil
			for i := range listed {
				o.List = append(o.List, named(pages[i%len(pages)]))
			}
		}
		a.Args = append(a.Args, o)
	}
	return []*notation.Apply{a}
}

func named(u *notation.Unit) *notation.Apply {
	return &notation.Apply{Span: u.Name.Span, Name: u.Name}
}

// partKinds are the kinds of pages that may take the place of a kind of part.
var partKinds = map[string]notation.UnitKind{"Rule": notation.RuleUnit, "Composition": notation.ComposeUnit, "Block": notation.RuleUnit}

// shortest lists the pages without parts that fit a kind of part, those of the fewest
// lines first.
func (s *Source) shortest(kind string) []*notation.Unit {
	whole := s.Tree.Whole()
	lines := map[*notation.Unit]int{}
	var out []*notation.Unit
	for _, u := range whole.Kinds(partKinds[kind]) {
		if u.Example || len(units.PartsOf(u)) > 0 || len(s.library) > 0 && s.Own(u) || whole.Instance(u) {
			continue
		}
		for _, v := range whole.Closure(u).Order {
			lines[u] += len(v.Body)
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b *notation.Unit) int {
		return cmp.Or(lines[a]-lines[b], cmp.Compare(a.Name.Text, b.Name.Text))
	})
	return out
}

// Applied is a formula of parts, in which a formula with a name is written out.
func Applied(t *units.Tree, a *notation.Apply) abi.Applied { return applied(t, "", a) }

func applied(t *units.Tree, part string, a *notation.Apply) abi.Applied {
	out := abi.Applied{Unit: a.Name.Text, Part: part, Sizes: map[string]int{}}
	u := t.Units[a.Name.Text]
	if u != nil && t.Instance(u) {
		out = applied(t, part, u.Formula.Parts[0])
		u = t.Units[out.Unit]
	}
	if u == nil {
		return out
	}
	var ds diag.List // what is wrong has been said
	given, options := units.Bind(u, a.Args, &ds)
	for _, o := range options {
		if v, ok := notation.Constant(o.Value); ok {
			out.Sizes[ident.ASCII(o.Name.Text)] = int(v)
		}
	}
	for _, g := range given {
		out.Parts = append(out.Parts, applied(t, ident.ASCII(g.Name()), g.Apply))
	}
	return out
}
