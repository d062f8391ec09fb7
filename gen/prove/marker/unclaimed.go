package marker

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// manyStates is the number of states above which not all their sets are tried, but only the
// whole set and each state alone.
const manyStates = 6

// setsOf lists the nonempty sets of names, the larger ones first.
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

// coveredBy reports whether one of some sets contains all names.
func coveredBy(sets [][]string, names []string) bool {
	return slices.ContainsFunc(sets, func(s []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(s, n) })
	})
}

// listUnclaimed lists the properties that are proved and not claimed, each for every largest
// set of states: they decide which strategies are legal.
func listUnclaimed(p *proof.Context, r *recurrence.Recurrence, claimed map[string]bool) {
	if r == nil || len(r.States()) == 0 {
		return
	}
	sets := setsOf(r.States())
	for _, row := range table {
		if row.infers == nil {
			continue
		}
		var known [][]string
		for c := range claimed {
			if of, ok := strings.CutPrefix(c, row.name+"("); ok {
				known = append(known, strings.Split(strings.TrimSuffix(of, ")"), ", "))
			}
		}
		for _, states := range sets {
			name := row.name + "(" + strings.Join(states, ", ") + ")"
			if coveredBy(known, states) || !row.infers(r, states) {
				continue
			}
			if ev, _ := row.derive(p, r, states); ev.Verdict == proof.Proved {
				ev.Note = "not claimed by the page"
				p.Add(proof.Item{Kind: proof.Marker, Name: proof.MarkID(row.name, name), Text: name, Span: p.Unit.Span, Evidence: ev})
				known = append(known, states)
			}
		}
	}
}
