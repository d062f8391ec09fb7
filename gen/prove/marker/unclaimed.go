package marker

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// manyStates is how many states a rule may have before their sets are too many to try:
// of more, only all together and each alone.
const manyStates = 6

// setsOf lists the sets of names, the larger ones first.
func setsOf(names []string) [][]string {
	out := [][]string{}
	for bits := 1; bits < 1<<min(len(names), manyStates) && len(names) <= manyStates; bits++ {
		var set []string
		for i, n := range names {
			if bits>>i&1 == 1 {
				set = append(set, n)
			}
		}
		out = append(out, set)
	}
	if len(names) > manyStates {
		out = append(out, names)
		for _, n := range names {
			out = append(out, []string{n})
		}
	}
	slices.SortStableFunc(out, func(a, b []string) int { return len(b) - len(a) })
	return out
}

// coveredBy reports whether one of some sets has all of the names.
func coveredBy(sets [][]string, names []string) bool {
	return slices.ContainsFunc(sets, func(s []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(s, n) })
	})
}

// listUnclaimed lists what holds and is not claimed: each property for every largest set
// of states.
func listUnclaimed(p *proof.Context, f *ir.Func, r *recurrence.Recurrence, claimed map[string]bool) {
	if r == nil || len(r.States()) == 0 {
		return
	}
	sets := setsOf(r.States())
	for _, row := range table {
		if row.derive == nil || row.name == "UnitSphere" || row.name == "Matrices" || row.name == "StateIndependentMomentum" && len(sets) == 1 {
			continue
		}
		var said [][]string
		for c := range claimed {
			if of, ok := strings.CutPrefix(c, row.name+"("); ok {
				said = append(said, strings.Split(strings.TrimSuffix(of, ")"), ", "))
			}
		}
		for _, states := range sets {
			name := row.name + "(" + strings.Join(states, ", ") + ")"
			if coveredBy(said, states) || row.name == "ProbabilitySimplex" && slices.ContainsFunc(states, func(n string) bool { return !rowSoftmax(r.Carry[n].Next) }) {
				continue
			}
			if ev, _ := row.derive(p, r, states); ev.Verdict == proof.Proved {
				ev.Note = "not claimed by the page"
				p.Add(proof.Item{Kind: proof.Marker, Name: proof.MarkID(row.name, name), Text: name, Span: p.Unit.Span, Evidence: ev})
				said = append(said, states)
			}
		}
	}
}
