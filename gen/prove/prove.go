// Package prove decides what a page says about its equations, or refuses it.
//
// For one block it builds the programs that the other stages build, and the
// programs of its claims, and settles item by item: by comparing normal forms
// where that decides, else by evaluating both sides in float64 at points drawn
// from the declared sets, at sizes where no two axes agree by accident. Two
// gradients are held to differences independently: the one inside an equation
// to the function that it names, and the adjoint of a whole program to the
// program. An error in the first is invisible to every test of the second.
//
// Nothing is silent: every item of a report has a verdict, and what fails also
// has a diagnostic with the smallest case that shows it. What was found once
// is remembered by what was looked at, never by name, and failures are looked
// at again.
package prove

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// Options say how hard to look.
type Options struct {
	// Deep adds awkward sizes, more points and trajectories of 10,000 steps.
	Deep bool
	// Cache is the folder that evidence is kept in; nothing is kept without.
	Cache string
	// Version stands for the compiler in the keys of the evidence.
	Version string
	// Facts leaves out what the compiler derives by itself, the gradients, and
	// proves only what the page says.
	Facts bool
}

// Block proves one unit. The list holds what fails; it has errors exactly when
// an item of the report does.
func Block(tree *check.Tree, u *notation.Unit, opt Options) (*Report, diag.List) {
	p := &prover{tree: tree, unit: u, opt: opt, rep: &Report{Unit: u.Name.Text, ID: check.ID(u.Name.Text)}}
	p.cache = openCache(opt, p.rep.ID)
	p.block()
	p.cache.close()
	return p.rep, p.ds
}

// A prover settles the items of one unit.
type prover struct {
	tree  *check.Tree
	unit  *notation.Unit
	blk   *check.Block
	opt   Options
	ds    diag.List
	rep   *Report
	cache *cache
	ids   map[string]int
	rec   *recurrence // of a rule, simplified
}

func (p *prover) block() {
	switch p.unit.Kind {
	case notation.FuncUnit, notation.FrontUnit, notation.StructUnit, notation.RetentionUnit, notation.AlgorithmUnit, notation.LawUnit:
		p.elsewhere()
		return
	}
	blk, ds := check.Instantiate(p.tree, p.unit)
	p.ds.Append(ds)
	if blk == nil || ds.HasErrors() {
		p.refuse(ds.Len())
		return
	}
	p.blk = blk
	switch blk.Unit.Kind {
	case notation.OpUnit:
		p.op()
	case notation.RuleUnit:
		p.rule()
	case notation.ComposeUnit, notation.ModelUnit:
		p.compose()
	case notation.UpdateUnit:
		p.update()
	case notation.BiasUnit:
		p.knob()
	}
	p.errata()
}

// elsewhere lists what a page says that means something only where it is used.
func (p *prover) elsewhere() {
	there := Evidence{Verdict: Declared, Note: "means something only where it is used, and is proved there"}
	p.add(Item{Kind: Shape, Name: "types", Span: p.unit.Span, Evidence: there})
	for i, st := range p.unit.Body {
		it := Item{Span: st.Where(), Evidence: there}
		switch s := st.(type) {
		case *notation.Claim:
			it.Kind, it.Name = claimKinds[s.Keyword.Text], claimName(s)
		case *notation.Kink:
			it.Kind, it.Name = KinkKind, notation.Print(s.Left, notation.ASCII)
		case *notation.Invariant:
			it.Kind, it.Name = Invariant, invariantName(s, i)
		case *notation.Provides:
			for _, m := range s.Marks {
				it.Kind, it.Name, it.Text = Marker, markID(m.Name.Text, markText(m)), markText(m)
				if s.Needs {
					it.Kind = Requires
				}
				p.add(it)
			}
			continue
		default:
			continue
		}
		it.Text = notation.Print(st, notation.Unicode)
		p.add(it)
	}
}

// unproved refuses lines that say something which is not proved of a unit of
// this kind, so that none is passed over in silence.
func (p *prover) unproved(kinds ...Kind) {
	for _, st := range p.blk.Unit.Body {
		kind, at := Kind(0), st.Where()
		switch s := st.(type) {
		case *notation.Kink:
			kind = KinkKind
		case *notation.Invariant:
			kind = Invariant
		case *notation.Cost:
			kind = Cost
		case *notation.Provides:
			if kind = Marker; s.Needs {
				kind = Requires
			}
		case *notation.Special:
			kind = Special
		}
		if !slices.Contains(kinds, kind) {
			continue
		}
		p.add(Item{Kind: kind, Name: "line", Text: notation.Print(st, notation.Unicode), Span: at, Evidence: failed("not proved here")})
		p.ds.Errorf(diag.NotProvable, at, "a %s is not proved of a %s", kind, check.KindWord(p.blk.Unit.Kind)).
			Hint("say it on the page of an operation or of a rule, or in words")
	}
}

// built records whether the block has types; ok means that it does.
func (p *prover) built(ds diag.List) bool {
	p.ds.Append(ds)
	if ds.HasErrors() {
		p.refuse(ds.Len())
		return false
	}
	p.add(Item{Kind: Shape, Name: "types", Span: p.unit.Span, Evidence: Evidence{Verdict: Proved}})
	return true
}

func (p *prover) refuse(n int) {
	p.add(Item{Kind: Shape, Name: "types", Span: p.unit.Span,
		Evidence: Evidence{Verdict: Failed, Note: fmt.Sprintf("%d messages", n)}})
}

func (p *prover) op() {
	var ds diag.List
	f := irbuild.Op(p.blk, &ds)
	if !p.built(ds) || f == nil {
		return
	}
	p.inner()
	p.outer(subject{name: "out", f: f, span: p.unit.Span})
	p.claims()
	p.kinks()
	p.opInvariants()
	p.opCost(f)
	p.causal(f)
	p.unproved(Special, Requires)
}

func (p *prover) rule() {
	var ds diag.List
	f := irbuild.Rule(p.blk, &ds)
	if !p.built(ds) || f == nil {
		return
	}
	frozen, start := irbuild.Frozen(p.blk, &ds), irbuild.Start(p.blk, &ds)
	p.ds.Append(ds)
	p.inner()
	p.outer(subject{name: "chunk", f: f, span: p.unit.Span, learned: true})
	if frozen != nil {
		p.outer(subject{name: "frozen", f: frozen, span: p.unit.Span})
	}
	if start != nil && len(start.Params) > 0 {
		p.outer(subject{name: "start", f: start, span: p.unit.Span})
	}
	p.claims()
	p.kinks()
	p.ruleInvariants()
	p.markers(f)
	p.requirements()
	p.ruleCost(f)
	p.specials()
	p.starts(f)
}

func (p *prover) compose() {
	var ds diag.List
	prog := irbuild.Compose(p.blk, &ds)
	if !p.built(ds) || prog == nil {
		return
	}
	p.inner()
	p.unproved(KinkKind, Invariant, Cost, Requires)
	whole := complete(p.blk)
	if !whole || p.unit == p.blk.Unit {
		for i, s := range prog.Stages {
			if s.Func != nil {
				p.outer(subject{name: fmt.Sprintf("stage%d", i+1), f: s.Func, span: p.unit.Span, learned: true})
			}
		}
	}
	p.claims()
	if !whole {
		p.causalStages(prog)
		return
	}
	f := irbuild.Whole(p.blk, &ds)
	p.ds.Append(ds)
	if f == nil {
		return
	}
	if p.unit != p.blk.Unit {
		p.outer(subject{name: "whole", f: f, span: p.unit.Span, learned: true, sparse: true})
	}
	p.causal(f)
	p.specials()
	p.starts(f)
}

// complete reports whether all parts of a block are given.
func complete(blk *check.Block) bool {
	for _, s := range blk.Parts {
		if s.Block == nil || !complete(s.Block) {
			return false
		}
	}
	return true
}

// knob proves what a page says about its own functions.
func (p *prover) knob() {
	p.built(diag.List{})
	p.inner()
	p.overridden()
	p.claims()
	p.kinks()
	p.unproved(Invariant, Cost, Marker, Special, Requires)
}

// add files an item under its stable id.
func (p *prover) add(it Item) {
	if p.ids == nil {
		p.ids = map[string]int{}
	}
	it.ID = fmt.Sprintf("%s.%s.%s", p.rep.ID, it.Kind, it.Name)
	if p.ids[it.ID]++; p.ids[it.ID] > 1 {
		it.ID = fmt.Sprintf("%s.%d", it.ID, p.ids[it.ID])
	}
	p.rep.Items = append(p.rep.Items, it)
}

// settle decides an item, or takes what was found before about the same
// programs and the same words. decide reports what fails.
func (p *prover) settle(it Item, decide func() Evidence, about ...any) Evidence {
	key := p.cache.key(it, about...)
	ev, ok := p.cache.get(key)
	if !ok {
		ev = decide()
		if ev.Verdict != Failed {
			p.cache.put(key, ev)
		}
	}
	it.Evidence = ev
	p.add(it)
	return ev
}

// failed is the evidence behind a diagnostic.
func failed(note string) Evidence { return Evidence{Verdict: Failed, Note: note} }

// own lists the statements of a kind that this unit itself writes, and those
// of knobs that mean nothing alone.
func own[S interface {
	comparable
	Where() source.Span
}](p *prover, all []S) []S {
	var out []S
	for _, s := range all {
		if p.owns(s.Where()) {
			out = append(out, s)
		}
	}
	return out
}

// owns reports whether a line stands in this unit, in the unit that it is an
// instance of, or in a page that can only be checked inside a formula.
func (p *prover) owns(at source.Span) bool {
	for _, u := range p.tree.Order {
		if u != p.unit && u != p.blk.Unit && (u.Kind == notation.BiasUnit || p.blk.Unit.Kind != notation.RuleUnit) {
			for _, s := range u.Body {
				if s.Where() == at {
					return false
				}
			}
		}
	}
	return true
}

// equal compares two programs that each have the one result value.
func equal(f *ir.Func, left, right string) bool {
	return autodiff.Equal(only(f, left), only(f, right))
}

// only is f with one result, called value.
func only(f *ir.Func, name string) *ir.Func {
	g, _ := f.Clone()
	g.Results = []ir.Result{{Name: "value", Val: g.Result(name)}}
	g.Sweep()
	autodiff.Simplify(g)
	return g
}
