package scan

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Probes: values inside the scan that a proof reads, as further results.

// A Probe is a value, or the two sides of an invariant, that a proof reads while a rule
// runs. Bare names of states mean the state after the write.
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

// Bind binds the indices of a probe. It returns them and the conditions on data.
func (p Probe) Bind(e *expr.Builder) (vars []*tensor.LoopVar, conds []*tensor.Tensor, ok bool) {
	vars, unions, conds, ok := e.Binders(p.Binders)
	if len(unions) > 0 {
		e.Diags.Errorf(diag.NotSupported, p.Left.Where(), "an invariant over a union of axes is not supported")
		return nil, nil, false
	}
	return vars, conds, ok
}

// Sides builds the sides of a probe. They have one type, or one of them is a number. The
// right side is nil where the probe has none.
func Sides(e *expr.Builder, p Probe) (left, right *tensor.Tensor, ok bool) {
	if left = e.Expr(p.Left); left == nil || p.Right == nil {
		return left, nil, left != nil
	}
	if right = e.Expr(p.Right); right == nil {
		return nil, nil, false
	}
	if len(left.Axes) > 0 && len(right.Axes) > 0 && !(tensor.SameAxes(left, right) && left.Row == right.Row) {
		e.Unlike(p.Left, p.Right, left, right)
		return nil, nil, false
	}
	return left, right, true
}

// Holds is 1 where the conditions of binders hold, or nil without conditions.
func Holds(e *expr.Builder, vars []*tensor.LoopVar, conds []*tensor.Tensor) *tensor.Tensor {
	if len(conds) == 0 && !slices.ContainsFunc(vars, func(v *tensor.LoopVar) bool { return len(v.Guards) > 0 }) {
		return nil
	}
	return e.Mask(tensor.Number(1), conds)
}

type probeVal struct {
	name string
	val  *ir.Value
}

// probe builds the values of probes inside the step.
func (s *Step) probe(probes []Probe) {
	s.afterWrite = true
	defer func() { s.afterWrite = false }()
	for _, p := range probes {
		s.e.Eq = s.e.Block.ID + "." + p.Name
		s.e.Push(&expr.Scope{})
		if vars, conds, ok := p.Bind(s.e); ok {
			left, right, _ := Sides(s.e, p)
			s.addProbe(p.Name, left, vars)
			s.addProbe(p.RightName(), right, vars)
			s.addProbe(p.InsideName(), Holds(s.e, vars, conds), vars)
		}
		s.e.Pop()
	}
}

// addProbe makes a side a result of the step, if there is one.
func (s *Step) addProbe(name string, t *tensor.Tensor, vars []*tensor.LoopVar) {
	if t != nil {
		s.probes = append(s.probes, probeVal{name, s.e.ValueOver(s.e.Copy(s.e.Materialize(t)), vars)})
	}
}

// emitProbe makes a probe's value an output of the scan.
func (s *Step) emitProbe(p probeVal) {
	f := s.outer.Func
	axes := append([]*ir.Axis{s.outer.Batch.Axis, s.outer.Token.Axis}, p.val.Axes...)
	out := &ir.Value{Name: f.Fresh(fmt.Sprintf("probe.%s", p.name)), Elem: ir.Real, Axes: axes}
	s.scan.Outs = append(s.scan.Outs, ir.ScanOutput{Val: p.val, Out: out})
	f.Results = append(f.Results, ir.Result{Name: p.name, Val: out})
	s.e.Func.Results = append(s.e.Func.Results, ir.Result{Name: p.name, Val: p.val})
}
