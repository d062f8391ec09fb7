// Package recurrence finds how a step of a rule depends on its states.
//
// It is a data-flow analysis of the simplified body of the rule's scan. Each analysis
// gives every value an element of a small lattice: the degree of the value in the states
// (affine.go), the one state entry that it depends on (elementwise.go), or the one row
// (rows.go). What an analysis does not understand it denies.
package recurrence

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// A Recurrence is the scan of a simplified rule, with its states by name.
type Recurrence struct {
	Scan  *ir.Scan
	Carry map[string]*ir.ScanState
}

// Of returns the recurrence of a rule, or nil for a program without one. The rule's
// program is simplified in a copy.
func Of(f *ir.Func) *Recurrence {
	g, _ := f.Clone()
	simplify.Simplify(g)
	for _, in := range g.Body {
		if in.Scan != nil && !in.Scan.Reverse {
			r := &Recurrence{Scan: in.Scan, Carry: map[string]*ir.ScanState{}}
			for i := range in.Scan.Carry {
				c := &in.Scan.Carry[i]
				r.Carry[c.Param.Name] = c
			}
			return r
		}
	}
	return nil
}

// States lists the states in order.
func (r *Recurrence) States() []string {
	var out []string
	for _, c := range r.Scan.Carry {
		out = append(out, c.Param.Name)
	}
	return out
}

// An Obstacle is the instruction that breaks a property.
type Obstacle struct {
	Instr *ir.Instr
	Why   string
}

// follow runs a forward data-flow analysis over the body of the scan: transfer computes the
// element of an instruction's output from those of its arguments. It returns the first
// instruction whose element is bad.
func follow[T any](r *Recurrence, at map[*ir.Value]T, transfer func(*ir.Instr, map[*ir.Value]T) T, bad func(T) bool, why string) (first Obstacle) {
	for _, in := range r.Scan.Body.Body {
		if in.Out == nil {
			continue
		}
		at[in.Out] = transfer(in, at)
		if bad(at[in.Out]) && first.Instr == nil {
			first = Obstacle{in, why}
		}
	}
	return first
}

// dependents is the transitive closure of the states whose next value depends on the
// given ones.
func (r *Recurrence) dependents(states []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range states {
		out[s] = true
	}
	for changed := true; changed; {
		changed = false
		for s := range out {
			reach := r.Scan.Body.DependsOn(r.Carry[s].Param)
			for _, n := range r.States() {
				if !out[n] && reach[r.Carry[n].Next] {
					out[n], changed = true, true
				}
			}
		}
	}
	return out
}
