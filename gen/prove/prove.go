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
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/units"
)

// Options say how hard to look.
type Options struct {
	// Deep adds awkward sizes, more points and trajectories of 10,000 steps.
	Deep bool
	// Facts leaves out what the compiler derives by itself, the gradients, and
	// proves only what the page says.
	Facts bool
	// Entries is how many entries of a parameter are perturbed at most, spread
	// over it; 0 for what the depth gives.
	Entries int
}

// Block proves one unit. The list holds what fails; it has errors exactly when
// an item of the report does.
func Block(tree *units.Tree, u *notation.Unit, opt Options) (*Report, diag.List) {
	p := &prover{tree: tree, unit: u, opt: opt, rep: &Report{Unit: u.Name.Text, ID: units.ID(u)}}
	p.block()
	return p.rep, p.ds
}

// aboutFunctions are the claims of a knob's page that speak of its own functions,
// and the page without what only a formula gives a meaning to.
func aboutFunctions(u *notation.Unit) (*notation.Unit, []*notation.Claim) {
	var all []*notation.Claim
	for _, st := range u.Body {
		if c, ok := st.(*notation.Claim); ok && units.OfFunctions(c) {
			all = append(all, c)
		}
	}
	alone := *u
	alone.Body = slices.DeleteFunc(slices.Clone(alone.Body), func(st notation.Stmt) bool {
		d, ok := st.(*notation.Define)
		return ok && !d.Target.IsFunc
	})
	return &alone, all
}

// A prover settles the items of one unit.
type prover struct {
	tree *units.Tree
	unit *notation.Unit
	blk  *check.Block
	opt  Options
	ds   diag.List
	rep  *Report
	ids  map[string]int
	rec  *recurrence // of a rule, simplified

	rootPoints int // at which the unknowns of a program were looked at
}

func (p *prover) block() {
	switch p.unit.Kind {
	case notation.StrategyUnit:
		p.elsewhere()
		return
	case notation.FrontUnit, notation.StructUnit, notation.RetentionUnit, notation.AlgorithmUnit, notation.LawUnit:
		if !p.trial() {
			p.elsewhere()
		}
		p.functions()
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
		if blk.Strategy != nil {
			p.strategy()
			break
		}
		p.rule()
	case notation.ComposeUnit, notation.ModelUnit:
		p.compose()
	case notation.UpdateUnit:
		p.update()
	case notation.BiasUnit:
		p.knob()
		p.trials()
	case notation.FuncUnit:
		p.function()
	default:
		p.elsewhere()
	}
	p.errata()
}

// functions proves what the page of a knob claims of its own functions.
func (p *prover) functions() {
	alone, all := aboutFunctions(p.unit)
	if len(all) == 0 {
		return
	}
	blk, ds := check.Instantiate(p.tree, alone)
	if p.ds.Append(ds); blk == nil || ds.HasErrors() {
		p.refuse(ds.Len())
		return
	}
	p.blk = blk
	for _, c := range all {
		p.claim(c)
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
	if !p.built(ds) || f == nil || !p.roots(f) {
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
	var more diag.List
	frozen, start := irbuild.Frozen(p.blk, &more), irbuild.Start(p.blk, &more)
	if p.ds.Append(more); more.HasErrors() {
		p.refuse(more.Len())
		return
	}
	if !p.roots(f, frozen, start) {
		return
	}
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
	p.cut(f)
	p.starts(f)
}

// cut lists what a reader must know of a program whose results depend on how
// its tokens are cut into calls.
func (p *prover) cut(f *ir.Func) {
	if why := irbuild.Cuts(f); len(why) > 0 {
		p.add(Item{Kind: Cut, Name: "calls", Span: p.unit.Span, Text: "results depend on how the tokens are cut into calls",
			Evidence: Evidence{Verdict: Proved, Note: strings.Join(why, "; ")}})
	}
}

func (p *prover) compose() {
	var ds diag.List
	prog := irbuild.Compose(p.blk, &ds)
	if !p.built(ds) || prog == nil || !p.roots(stagesOf(prog)...) {
		return
	}
	p.inner()
	p.unproved(KinkKind, Requires)
	whole := complete(p.blk)
	if !whole || p.unit == p.blk.Unit {
		for i, s := range prog.Stages {
			if s.Func != nil {
				p.outer(subject{name: fmt.Sprintf("stage%d", i+1), f: s.Func, span: p.unit.Span, learned: true})
			}
		}
	}
	p.claims()
	p.opInvariants()
	p.composeCost(prog)
	if !whole {
		p.causalStages(prog)
		return
	}
	var more diag.List
	f := irbuild.Whole(p.blk, &more)
	if p.ds.Append(more); f == nil || more.HasErrors() {
		p.refuse(more.Len())
		return
	}
	if p.unit != p.blk.Unit {
		p.outer(subject{name: "whole", f: f, span: p.unit.Span, learned: true, sparse: true})
	}
	p.causal(f)
	p.specials()
	p.cut(f)
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

// function proves a function of a page of its own as if it were an operation.
func (p *prover) function() {
	var ds diag.List
	f := irbuild.Function(p.blk, &ds)
	if f == nil && !ds.HasErrors() {
		p.elsewhere()
		return
	}
	if !p.built(ds) || !p.roots(f) {
		return
	}
	p.outer(subject{name: "out", f: f, span: p.unit.Span})
	p.claims()
	p.kinks()
	p.opInvariants()
	p.unproved(Cost, Marker, Special, Requires)
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

// settle files an item with what decide finds; decide reports what fails.
func (p *prover) settle(it Item, decide func() Evidence) Evidence {
	it.Evidence = decide()
	p.add(it)
	return it.Evidence
}

// failed is the evidence behind a diagnostic.
func failed(note string) Evidence { return Evidence{Verdict: Failed, Note: note} }

// equal compares two programs that each have the one result value.
func equal(f *ir.Func, left, right string) bool {
	return simplify.Equal(only(f, left), only(f, right))
}

// only is f with one result, called value.
func only(f *ir.Func, name string) *ir.Func {
	g, _ := f.Clone()
	g.Results = []ir.Result{{Name: "value", Val: g.Result(name)}}
	g.Sweep()
	simplify.Simplify(g)
	return g
}
