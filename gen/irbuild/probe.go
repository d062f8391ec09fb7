package irbuild

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Probe is something that a proof watches while a rule runs: the two sides
// of an invariant, or one value. Bare names of states mean the state after the
// write.
type Probe struct {
	Name    string // of the result; the right side is Name.right
	Binders []*notation.Binder
	Left    notation.Expr
	Right   notation.Expr // nil to watch one value
}

// RightName is the name of the result for the right side of a probe.
func (p Probe) RightName() string { return p.Name + ".right" }

// Probed is Rule with the probes as further results, axes [lane, token, …].
func Probed(blk *check.Block, probes []Probe, ds *diag.List) *ir.Func {
	_, f := buildRule(blk, ds, nil, probes)
	return f
}

type probeVal struct {
	name string
	val  *ir.Value
}

// probe builds what the probes look at inside the step.
func (s *stepNames) probe(probes []Probe) {
	s.bare = true
	defer func() { s.bare = false }()
	for _, p := range probes {
		s.e.eq = s.e.blk.ID + "." + p.Name
		s.e.push(&scope{})
		vars, unions, conds, ok := s.e.binders(p.Binders)
		if len(unions) > 0 {
			s.e.ds.Errorf(diag.NotSupported, p.Left.Where(), "an invariant over a union of axes is not supported")
			ok = false
		}
		for i, x := range []notation.Expr{p.Left, p.Right} {
			if !ok || x == nil {
				continue
			}
			t := s.e.expr(x)
			if t == nil {
				continue
			}
			name := p.Name
			if i == 1 {
				name = p.RightName()
			}
			s.probes = append(s.probes, probeVal{name, s.e.pack(s.e.copied(s.e.one(s.e.masked(t, conds))), vars)})
		}
		s.e.pop()
	}
}

// emitProbe makes a probe's value an output of the scan.
func (s *stepNames) emitProbe(p probeVal) {
	f := s.outer.f
	axes := append([]*ir.Axis{s.outer.lane.axis, s.outer.token.axis}, p.val.Axes...)
	out := &ir.Value{Name: f.Fresh(fmt.Sprintf("probe.%s", p.name)), Elem: ir.Real, Axes: axes}
	s.scan.Outs = append(s.scan.Outs, ir.Series{Val: p.val, Out: out})
	f.Results = append(f.Results, ir.Result{Name: p.name, Val: out})
	s.e.f.Results = append(s.e.f.Results, ir.Result{Name: p.name, Val: p.val})
}
