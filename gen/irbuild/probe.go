package irbuild

import (
	"fmt"
	"slices"

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

// InsideName is the name of a result that is 0 where the conditions of the binders do
// not hold; there is none without conditions.
func (p Probe) InsideName() string { return p.Name + ".inside" }

// sides builds the sides of a probe: of one type, or one of them a number, with which
// every entry of the other is compared. The right one is nil where there is none.
func (e *builder) sides(p Probe) (left, right *ten, ok bool) {
	if left = e.expr(p.Left); left == nil || p.Right == nil {
		return left, nil, left != nil
	}
	if right = e.expr(p.Right); right == nil {
		return nil, nil, false
	}
	if len(left.axes) > 0 && len(right.axes) > 0 && !(sameAxes(left, right) && left.row == right.row) {
		e.unlike(p.Left, p.Right, left, right)
		return nil, nil, false
	}
	return left, right, true
}

// holds is 1 where the conditions of binders hold, or nil without conditions.
func (e *builder) holds(vars []*loopVar, conds []*ten) *ten {
	if len(conds) == 0 && !slices.ContainsFunc(vars, func(v *loopVar) bool { return len(v.guards) > 0 }) {
		return nil
	}
	return e.masked(literal(1), conds)
}

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
		if ok {
			left, right, _ := s.e.sides(p)
			s.watch(p.Name, left, vars)
			s.watch(p.RightName(), right, vars)
			s.watch(p.InsideName(), s.e.holds(vars, conds), vars)
		}
		s.e.pop()
	}
}

// watch makes a side a result of the step, if there is one.
func (s *stepNames) watch(name string, t *ten, vars []*loopVar) {
	if t != nil {
		s.probes = append(s.probes, probeVal{name, s.e.pack(s.e.copied(s.e.one(t)), vars)})
	}
}

// emitProbe makes a probe's value an output of the scan.
func (s *stepNames) emitProbe(p probeVal) {
	f := s.outer.f
	axes := append([]*ir.Axis{s.outer.lane.axis, s.outer.token.axis}, p.val.Axes...)
	out := &ir.Value{Name: f.Fresh(fmt.Sprintf("probe.%s", p.name)), Elem: ir.Real, Axes: axes}
	s.scan.Outs = append(s.scan.Outs, ir.ScanOutput{Val: p.val, Out: out})
	f.Results = append(f.Results, ir.Result{Name: p.name, Val: out})
	s.e.f.Results = append(s.e.f.Results, ir.Result{Name: p.name, Val: p.val})
}
