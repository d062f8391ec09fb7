package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// updateNames serves an update: every name is one entry of the parameter under
// update, the clock and the options are the same for all entries.
type updateNames struct {
	entry *loopVar
	vals  map[string]*ten // after this fire
	old   map[string]*ten // before it
}

// Update builds an update: the parameter, its gradient, its slots, the clock
// and the options in; the parameter and the slots out.
func Update(blk *check.Block, ds *diag.List) *ir.Func {
	e := newBuilder(blk, blk.ID, ds)
	n := &updateNames{entry: e.newVar("entry", e.f.NewAxis("n")), vals: map[string]*ten{}, old: map[string]*ten{}}
	e.names = n
	before := ds.Len()
	for _, s := range blk.SymSeq {
		switch s.Kind {
		case check.State, check.Input:
			n.before(e, s)
		case check.Clock:
			e.f.AddParam(check.ASCII(s.Name), ir.Constant, ir.Real)
		}
	}
	for _, eq := range blk.Eqs {
		e.eq, e.span = eq.ID, eq.Span()
		t := e.side(eq)
		if t == nil {
			continue
		}
		t = e.one(t)
		e.named(t.fs[0].val, eq.Name)
		n.vals[eq.Name] = t
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	for _, s := range blk.SymSeq {
		if s.Kind == check.State && n.vals[s.Name] != nil {
			v := e.pack(n.vals[s.Name], []*loopVar{n.entry})
			e.f.Results = append(e.f.Results, ir.Result{Name: check.ASCII(s.Name), Val: v, State: true})
		}
	}
	adopt(e.f)
	return e.f
}

// before is a slot, the parameter or the gradient as the fire finds it.
func (n *updateNames) before(e *builder, s *check.Symbol) *ten {
	if n.old[s.Name] == nil {
		role := ir.State
		if s.Kind == check.Input {
			role = ir.Input
		}
		v := e.f.AddParam(check.ASCII(s.Name), role, ir.Real, n.entry.axis)
		n.old[s.Name] = e.ofValue(v, []*loopVar{n.entry}, nil)
	}
	return n.old[s.Name]
}

func (n *updateNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	switch {
	case sym.Kind == check.Clock:
		return &ten{elem: ir.Real, coef: 1, fs: []factor{{val: e.f.Param(check.ASCII(sym.Name))}}}
	case sym.Kind == check.Input:
		return n.before(e, sym)
	case sym.Kind == check.State && when.before:
		return n.before(e, sym)
	case when.now || when == (moment{}):
		if t := n.vals[sym.Name]; t != nil {
			return t
		}
	}
	e.ds.Errorf(diag.TimeSuffix, span, "%s has no value at this moment", sym.Name).
		Hint("read it before this fire, %s_{%s−1}, or after its equation, %s_%s", sym.Name, e.blk.Time, sym.Name, e.blk.Time)
	return nil
}
