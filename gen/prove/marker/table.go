package marker

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/invariant"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// A marker is a fact that a page may provide and another may require. The
// table is closed: what is not in it means nothing. Each is derived from the
// equations, and what is derived but not claimed is listed too, since it
// decides which strategies are legal.
type marker struct {
	name    string
	aliases []string // as the literature and other trees call it
	states  bool     // speaks of states
	derive  func(p *proof.Context, r *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle)
}

var table = []marker{
	{"AffineInState", []string{"AffineRecurrence", "LinearInState"}, true, byAnalysis((*recurrence.Recurrence).Affine)},
	{"ScalarAffineInState", []string{"LinearRecurrence"}, true, byAnalysis((*recurrence.Recurrence).Elementwise)},
	{"RowIndependent", nil, true, byAnalysis((*recurrence.Recurrence).RowIndependent)},
	{"ColumnIndependent", nil, true, byAnalysis((*recurrence.Recurrence).ColumnIndependent)},
	{"StateIndependentMomentum", nil, true, byState((*recurrence.Recurrence).SelfContained)},
	{"UnitSphere", nil, true, staysOnRows(check.RowSets["UnitSphere"])},
	{"ProbabilitySimplex", []string{"Simplex"}, true, staysOnRows(check.RowSets["ProbabilitySimplex"])},
	{"LearnedStart", nil, true, learnedStart},
	{"Matrices", nil, true, byState((*recurrence.Recurrence).Matrix)},
	{"Causal", nil, false, nil},
}

// Names lists the properties that a page may provide.
func Names() []string {
	var out []string
	for _, m := range table {
		out = append(out, m.name)
	}
	return out
}

func named(name string) *marker {
	for i, m := range table {
		if m.name == name || slices.Contains(m.aliases, name) {
			return &table[i]
		}
	}
	return nil
}

func byAnalysis(f func(*recurrence.Recurrence, []string) (bool, recurrence.Obstacle)) func(*proof.Context, *recurrence.Recurrence, []string) (proof.Evidence, recurrence.Obstacle) {
	return func(_ *proof.Context, r *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle) {
		if ok, b := f(r, states); !ok {
			return proof.Evidence{Verdict: proof.Failed}, b
		}
		return proof.Evidence{Verdict: proof.Proved}, recurrence.Obstacle{}
	}
}

func byState(f func(*recurrence.Recurrence, string) (bool, recurrence.Obstacle)) func(*proof.Context, *recurrence.Recurrence, []string) (proof.Evidence, recurrence.Obstacle) {
	return byAnalysis(func(r *recurrence.Recurrence, states []string) (bool, recurrence.Obstacle) {
		for _, s := range states {
			if ok, b := f(r, s); !ok {
				return false, b
			}
		}
		return true, recurrence.Obstacle{}
	})
}

// staysOnRows proves that the rows of a state stay on the sphere or the simplex: a
// softmax over the row is one, anything else is followed for a while.
func staysOnRows(kind notation.TypeKind) func(*proof.Context, *recurrence.Recurrence, []string) (proof.Evidence, recurrence.Obstacle) {
	return func(p *proof.Context, r *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle) {
		all := true
		for _, s := range states {
			next := r.Carry[s].Next
			all = all && kind == notation.SimplexType && rowSoftmax(next)
		}
		if all {
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
