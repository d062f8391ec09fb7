package marker

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
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

// learnedStart proves that a state starts from a learned parameter with a random first value:
// rows that start equal stay equal under a rule that treats all rows equally.
func learnedStart(p *proof.Context, _ *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle) {
	var quiet diag.List
	f := irbuild.Start(p.Block, &quiet)
	for _, s := range states {
		var v *ir.Value
		if f != nil {
			v = f.Result(s)
		}
		if v == nil || !drawn(p.Block, v) {
			return proof.Evidence{Verdict: proof.Failed}, recurrence.Obstacle{Why: s + " starts from nothing that is drawn at random"}
		}
	}
	return proof.Evidence{Verdict: proof.Proved}, recurrence.Obstacle{}
}

// drawn reports whether a value depends on a parameter with a random first value.
func drawn(blk *check.Block, v *ir.Value) bool {
	if v.Def != nil {
		return slices.ContainsFunc(v.Def.Reads(), func(v *ir.Value) bool { return drawn(blk, v) })
	}
	return slices.ContainsFunc(blk.SymSeq, func(s *check.Symbol) bool {
		return ident.ASCII(s.Name) == v.Name && s.Kind == check.Outer && s.Decl != nil && s.Decl.Dist != nil
	})
}
