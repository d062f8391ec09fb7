package recurrence

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// How a step depends on its states is read off its simplified body, value by
// value. Three questions are asked of every value: is it affine in the states
// taken together, is each of its entries one number times the same entry of a
// state plus another number, and does it depend on one row of the states only.
// What the analysis cannot see it denies.

// A recurrence is the body of a rule's scan.
type Recurrence struct {
	Scan  *ir.Scan
	Carry map[string]*ir.ScanState
}

// simplifiedRecurrence is the recurrence of a rule's simplified program, or nil.
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

// names lists the states in order.
func (r *Recurrence) States() []string {
	var out []string
	for _, c := range r.Scan.Carry {
		out = append(out, c.Param.Name)
	}
	return out
}

// A blame is the instruction that breaks a property.
type Obstacle struct {
	Instr *ir.Instr
	Why   string
}

// bound lists the states whose future depends on the given ones.
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
