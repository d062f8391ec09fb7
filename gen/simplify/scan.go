package simplify

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// Simplification of recurrences.

// scan simplifies the inputs and the body of a recurrence and merges equal
// outputs. A series or shared value that is one number everywhere becomes a
// constant of the body.
func (s *simplifier) scan(in *ir.Instr) {
	sc := in.Scan
	s.propagateConstants(in)
	s.moveIntoStep(in)
	if !s.bodies[sc.Body] {
		s.bodies[sc.Body] = true
		s.body(in)
	}
	var outs []ir.ScanOutput
	for _, o := range sc.Outs {
		if same := sameOut(outs, o); same != nil {
			s.replace(o.Out, same)
			continue
		}
		outs = append(outs, o)
	}
	sc.Outs = outs
}

func sameOut(outs []ir.ScanOutput, o ir.ScanOutput) *ir.Value {
	for _, p := range outs {
		if p.Val == o.Val && p.Sum == o.Sum && p.PerBatch == o.PerBatch {
			return p.Out
		}
	}
	return nil
}

// propagateConstants moves constant inputs into the body; a parameter that a
// backward scan replays stays.
func (s *simplifier) propagateConstants(in *ir.Instr) {
	sc, kept := in.Scan, map[*ir.Value]bool{}
	for _, v := range s.kept[in] {
		kept[v] = true
	}
	move := func(param, val *ir.Value) bool {
		c, ok := constOf(ir.Arg{Val: val})
		if !ok || kept[param] || param.Elem != ir.Real {
			return false
		}
		b := &ir.Builder{F: sc.Body, Eq: in.Eq, Span: in.Span}
		v := b.Const(c, param.Axes...)
		n := len(sc.Body.Body) - 1
		sc.Body.Body = append([]*ir.Instr{sc.Body.Body[n]}, sc.Body.Body[:n]...)
		sc.ReplaceInBody(param, v)
		s.bodies[sc.Body], s.changed = false, true
		return true
	}
	tokens := sc.Tokens[:0:0]
	for _, t := range sc.Tokens {
		if !move(t.Param, t.Val) {
			tokens = append(tokens, t)
		}
	}
	shared := sc.Shared[:0:0]
	for _, v := range sc.Shared {
		if !move(v.Param, v.Val) {
			shared = append(shared, v)
		}
	}
	sc.Tokens, sc.Shared = tokens, shared
}

// body simplifies the body of a scan and updates the next states, the outputs
// and the replayed values.
func (s *simplifier) body(in *ir.Instr) {
	sc := in.Scan
	kept := s.kept[in]
	sc.SetResults(kept)
	Simplify(sc.Body)
	r := sc.TakeResults()
	for i, old := range kept {
		if r[i].Val != old {
			s.replayed(in, old, r[i].Val)
			kept[i] = r[i].Val
		}
	}
	sc.SetResults(nil)
}

// replayed updates backward scans that replay a value of their primal.
func (s *simplifier) replayed(primal *ir.Instr, old, new *ir.Value) {
	for _, in := range s.all {
		if in.Scan == nil || in.Scan.Primal != primal {
			continue
		}
		for i, r := range in.Scan.Replay {
			if r.Primal == old {
				in.Scan.Replay[i].Primal = new
			}
		}
	}
}
