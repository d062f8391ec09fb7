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

// A marker is a property that a page may provide and another page may require.
type marker struct {
	name    string
	aliases []string // in the literature
	derive  derivation
	// infers reports whether the property is listed where it is proved and no page claims
	// it; nil for never.
	infers func(r *recurrence.Recurrence, states []string) bool
}

// A derivation decides a property of some states. Without proof it names the obstacle.
type derivation func(p *proof.Context, r *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle)

// table has every marker. Causal is tested on the program (causal.go).
var table = []marker{
	{"AffineInState", []string{"AffineRecurrence", "LinearInState"}, byAnalysis((*recurrence.Recurrence).Affine), always},
	{"ScalarAffineInState", []string{"LinearRecurrence"}, byAnalysis((*recurrence.Recurrence).Elementwise), always},
	{"RowIndependent", nil, byAnalysis((*recurrence.Recurrence).RowIndependent), always},
	{"ColumnIndependent", nil, byAnalysis((*recurrence.Recurrence).ColumnIndependent), always},
	{"StateIndependentMomentum", nil, ofEach((*recurrence.Recurrence).SelfContained), besidesOthers},
	{"UnitSphere", nil, staysOnRows(check.RowSets["UnitSphere"]), nil},
	{"ProbabilitySimplex", []string{"Simplex"}, staysOnRows(check.RowSets["ProbabilitySimplex"]), rowsAreSoftmax},
	{"LearnedStart", nil, learnedStart, always},
	{"Matrices", nil, ofEach((*recurrence.Recurrence).Matrix), nil},
	{"Causal", nil, nil, nil},
}

func always(*recurrence.Recurrence, []string) bool { return true }

func besidesOthers(r *recurrence.Recurrence, _ []string) bool { return len(r.States()) > 1 }

func rowsAreSoftmax(r *recurrence.Recurrence, states []string) bool {
	return !slices.ContainsFunc(states, func(n string) bool { return !rowSoftmax(r.Carry[n].Next) })
}

// Names lists the properties that a page may provide.
func Names() []string {
	var out []string
	for _, m := range table {
		out = append(out, m.name)
	}
	return out
}

// named returns the marker of a name or alias, or nil.
func named(name string) *marker {
	for i, m := range table {
		if m.name == name || slices.Contains(m.aliases, name) {
			return &table[i]
		}
	}
	return nil
}

// byAnalysis is a property that an analysis of the recurrence proves.
func byAnalysis(f func(*recurrence.Recurrence, []string) (bool, recurrence.Obstacle)) derivation {
	return func(_ *proof.Context, r *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle) {
		if ok, b := f(r, states); !ok {
			return proof.Evidence{Verdict: proof.Failed}, b
		}
		return proof.Evidence{Verdict: proof.Proved}, recurrence.Obstacle{}
	}
}

// ofEach is a property that an analysis proves of each state by itself.
func ofEach(f func(*recurrence.Recurrence, string) (bool, recurrence.Obstacle)) derivation {
	return byAnalysis(func(r *recurrence.Recurrence, states []string) (bool, recurrence.Obstacle) {
		for _, s := range states {
			if ok, b := f(r, s); !ok {
				return false, b
			}
		}
		return true, recurrence.Obstacle{}
	})
}

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
