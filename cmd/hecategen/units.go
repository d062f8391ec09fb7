package main

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// A program is one tensor program of a unit, or, with Func nil, the call of a
// part between two of them.
type program struct {
	label string // what it computes, empty for the unit itself
	fn    *ir.Func
}

// stands reports whether a unit is resolved by itself; knobs, fronts, laws and
// functions mean something only in the units that use them.
func stands(u *notation.Unit) bool {
	switch u.Kind {
	case notation.OpUnit, notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit, notation.UpdateUnit:
		return true
	}
	return false
}

// instantiate resolves a unit. A panic below is a bug of the compiler: it
// becomes a diagnostic at the unit, so that the other units are still checked.
func instantiate(s *gen.Source, u *notation.Unit) (b *check.Block, ds diag.List) {
	defer caught(u, &ds)
	return check.Instantiate(s.Tree, u)
}

// programs builds the tensor programs of a resolved unit.
func programs(b *check.Block, u *notation.Unit) (ps []program, ds diag.List) {
	defer caught(u, &ds)
	return rawPrograms(b, &ds), ds
}

func rawPrograms(b *check.Block, ds *diag.List) (ps []program) {
	add := func(label string, f *ir.Func) {
		if f != nil {
			ps = append(ps, program{label, f})
		}
	}
	switch b.Unit.Kind {
	case notation.OpUnit:
		add("", irbuild.Op(b, ds))
	case notation.RuleUnit:
		add("", irbuild.Rule(b, ds))
		if !ds.HasErrors() {
			add("the frozen read", irbuild.Frozen(b, ds))
			add("the states of a new context", irbuild.Start(b, ds))
		}
	case notation.UpdateUnit:
		add("", irbuild.Update(b, ds))
	case notation.ComposeUnit, notation.ModelUnit:
		p := irbuild.Compose(b, ds)
		if p == nil {
			break
		}
		for _, st := range p.Stages {
			label := ""
			if st.Func == nil {
				label = fmt.Sprintf("%s = %s(%s)", st.Out, st.Part, st.Arg)
			}
			ps = append(ps, program{label, st.Func})
		}
	}
	return ps
}

// caught turns a panic into a diagnostic.
func caught(u *notation.Unit, ds *diag.List) {
	if r := recover(); r != nil {
		ds.Errorf(diag.Internal, u.Name.Span, "the compiler failed on %s: %v", u.Name.Text, r).
			Hint("this is a bug of hecategen and not of the page; please report it with the page")
	}
}

// typed resolves and builds every unit and returns what is wrong with them.
func typed(s *gen.Source) diag.List {
	var all diag.List
	for _, u := range s.Tree.Order {
		if !stands(u) || !s.Own(u) {
			continue
		}
		b, ds := instantiate(s, u)
		all.Append(ds)
		if b == nil || ds.HasErrors() {
			continue
		}
		if !u.Example {
			all.Append(b.Inputs())
		}
		_, ds = programs(b, u)
		all.Append(ds)
	}
	return once(all)
}

// once keeps the first of several errors at one place: a line of a front is
// built in every rule over it.
func once(ds diag.List) diag.List {
	type key struct {
		code diag.Code
		span source.Span
	}
	var out diag.List
	var seen []key
	for _, d := range ds.Sorted() {
		k := key{d.Code, d.Span}
		if !d.Span.IsZero() && slices.Contains(seen, k) {
			continue
		}
		seen = append(seen, k)
		out.Add(d)
	}
	return out
}
