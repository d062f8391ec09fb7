package marker

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/invariant"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// staysOnRows decides that the rows of states stay on the sphere or the simplex. A softmax over
// the row proves the simplex; anything else is tested along trajectories.
func staysOnRows(kind notation.TypeKind) derivation {
	return func(p *proof.Context, r *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle) {
		if kind == notation.SimplexType && rowsAreSoftmax(r, states) {
			return proof.Evidence{Verdict: proof.Proved}, recurrence.Obstacle{}
		}
		ev, bad := invariant.StaysOn(p, kind, states)
		if ev.Verdict == proof.Failed {
			return ev, recurrence.Obstacle{Instr: r.Carry[bad].Next.Def, Why: ev.Note}
		}
		return ev, recurrence.Obstacle{}
	}
}

// rowSoftmax reports whether a value is a softmax over its last axis.
func rowSoftmax(v *ir.Value) bool {
	for v.Def != nil && v.Def.Op == ir.Prod && len(v.Def.Args) == 1 && v.Def.Coef[0] == 1 && ir.Identity(v.Def.To, len(v.Axes)) && ir.Identity(v.Def.Args[0].Sub, len(v.Axes)) {
		v = v.Def.Args[0].Val
	}
	in := v.Def
	if in == nil || in.Op != ir.Softmax || len(in.Over) != 1 || len(v.Axes) == 0 {
		return false
	}
	l, ok := in.To[len(in.To)-1].Loop()
	return ok && l == in.Over[0] && len(in.Guard) == 0
}

// KeepsRows tests that the states of a rule that are declared on the sphere or the simplex stay
// there: a formula that no page refuses may still leave the set.
func KeepsRows(blk *check.Block) diag.List {
	var ds diag.List
	p := proof.NewContext(blk.Tree, blk.Unit, proof.Options{})
	p.Block = blk
	var r *recurrence.Recurrence
	for _, s := range blk.SymSeq {
		if s.Kind != check.State || s.Type == nil || s.Type.Kind != notation.SphereType && s.Type.Kind != notation.SimplexType {
			continue
		}
		if r == nil {
			f := irbuild.Rule(blk, &ds)
			if ds.HasErrors() {
				return ds
			}
			r = recurrence.Of(f)
		}
		if r == nil || r.Carry[ident.ASCII(s.Name)] == nil {
			continue
		}
		if ev, b := staysOnRows(s.Type.Kind)(p, r, []string{ident.ASCII(s.Name)}); ev.Verdict == proof.Failed {
			ds.Errorf(diag.OutOfDomain, s.Span, "%s ∈ %s: the state %s", s.Name, notation.Print(s.Type, notation.Unicode), b.Why)
		}
	}
	return ds
}
