package prove

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/prove/gradient"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// programs are the tensor programs of a unit. They are built before anything is decided: a unit
// that has no types, or of which a program cannot be built, fails with one item.
type programs struct {
	main         *ir.Func           // nil for a knob and for a composition with open parts
	all          []*ir.Func         // in which unknowns are searched
	subjects     []gradient.Subject // whose adjoints are proved
	wholeSubject []gradient.Subject // of an instance of a model
	stop         bool               // an unknown has no root

	rec *recurrence.Recurrence // of main, computed once
}

// recurrence is the recurrence of the simplified main program.
func (u *programs) recurrence() *recurrence.Recurrence {
	if u.rec == nil {
		u.rec = recurrence.Of(u.main)
	}
	return u.rec
}

// causal are the programs that must be causal: the main one, or without it the stages between
// the parts.
func (u *programs) causal() []*ir.Func {
	if u.main != nil {
		return []*ir.Func{u.main}
	}
	return u.all
}

// classOf is the class of a block that is proved by itself.
func classOf(blk *check.Block) (c class, ok bool) {
	switch blk.Unit.Kind {
	case notation.OpUnit:
		return operation, true
	case notation.RuleUnit:
		if blk.Strategy != nil {
			return chunked, true
		}
		return rule, true
	case notation.ComposeUnit, notation.ModelUnit:
		return composition, true
	case notation.UpdateUnit:
		return updateRule, true
	case notation.BiasUnit:
		return bias, true
	case notation.FuncUnit:
		return function, true
	}
	return 0, false
}

// build builds the programs of a unit. Where they cannot be built it reports why and returns
// nil.
func build(p *proof.Context, c class) *programs {
	u := &programs{}
	var ds diag.List
	switch c {
	case operation:
		u.main = irbuild.Op(p.Block, &ds)
		u.subject(p, "out", u.main)
	case function:
		u.main = irbuild.Function(p.Block, &ds)
		if u.main == nil && !ds.HasErrors() {
			p.DeferStatements()
			return nil
		}
		u.subject(p, "out", u.main)
	case updateRule:
		u.main = irbuild.Update(p.Block, &ds)
	case bias:
		p.RecordShape(ds)
		return u
	case composition:
		return buildComposition(p, u)
	case chunked:
		blk, more := check.WithChunks(p.Tree, p.Unit, equivalence.ProvedChunk)
		if blk == nil || more.HasErrors() {
			p.RecordShape(more)
			return nil
		}
		p.Block, ds = blk, more
		fallthrough
	case rule:
		u.main = irbuild.Rule(p.Block, &ds)
		u.subject(p, "chunk", u.main)
		u.subjects[0].Learned = true
	}
	if !p.RecordShape(ds) || u.main == nil || c == rule && !buildRest(p, u) {
		return nil
	}
	return u
}

// subject adds a program whose adjoint is proved.
func (u *programs) subject(p *proof.Context, name string, f *ir.Func) {
	u.all = append(u.all, f)
	u.subjects = append(u.subjects, gradient.Subject{Name: name, Func: f, Span: p.Unit.Span})
}

// buildRest builds the frozen read and the first states of a rule.
func buildRest(p *proof.Context, u *programs) bool {
	var ds diag.List
	frozen, start := irbuild.Frozen(p.Block, &ds), irbuild.Start(p.Block, &ds)
	if p.Diags.Append(ds); ds.HasErrors() {
		p.FailShape(ds.Len())
		return false
	}
	if frozen != nil {
		u.subject(p, "frozen", frozen)
	}
	if start != nil && len(start.Params) > 0 {
		u.subject(p, "start", start)
	} else if start != nil {
		u.all = append(u.all, start)
	}
	return true
}

// buildComposition builds the stages of a composition and, where all parts are
// given, the whole as one program. The stages of an instance are those of the page
// that it is an instance of, and their adjoints are proved there.
func buildComposition(p *proof.Context, u *programs) *programs {
	var ds diag.List
	prog := irbuild.Compose(p.Block, &ds)
	if !p.RecordShape(ds) || prog == nil {
		return nil
	}
	whole, instance := proof.Complete(p.Block), p.Unit != p.Block.Unit
	for i, s := range prog.Stages {
		if s.Func == nil {
			continue
		}
		u.all = append(u.all, s.Func)
		if !whole || !instance {
			u.subjects = append(u.subjects, gradient.Subject{Name: fmt.Sprintf("stage%d", i+1), Func: s.Func, Span: p.Unit.Span, Learned: true})
		}
	}
	if !whole {
		return u
	}
	var more diag.List
	u.main = irbuild.Whole(p.Block, &more)
	if p.Diags.Append(more); u.main == nil || more.HasErrors() {
		p.FailShape(more.Len())
		return nil
	}
	if instance {
		u.wholeSubject = []gradient.Subject{{Name: "whole", Func: u.main, Span: p.Unit.Span, Learned: true, Sparse: true}}
	}
	return u
}
