package safety

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// The number of combinations is the product of the numbers of knobs, too many to build in every
// run. So a mixed covering array is built, as in combinatorial interaction testing: knobs
// interact in pairs, since the names and options of two pages may collide, and since each
// function of a knob has its types from its own page and from the structure's weights. One
// interaction is of three knobs: whether a state stays in the set that its structure declares
// depends on that structure, the retention and the algorithm. Tests and the sweep build every
// combination, and so verify that this is enough.

// Covering lists legal combinations that together contain every legal pair of knobs, and every
// legal triple of a structure with a declared set, a retention and an algorithm. It is a greedy
// set cover: repeatedly the combinations with the most uncovered interactions are added.
func (t *Table) Covering() []Tuple {
	var legal []Tuple
	var groups [][]string
	open := map[string]bool{}
	for _, u := range t.Tuples() {
		if u.Legal() {
			legal, groups = append(legal, u), append(groups, interactions(u))
			for _, g := range groups[len(groups)-1] {
				open[g] = true
			}
		}
	}
	var out []Tuple
	for most := len(open); len(open) > 0 && most > 0; most-- {
		for i, u := range legal {
			if gain(groups[i], open) >= most {
				for _, g := range groups[i] {
					delete(open, g)
				}
				out = append(out, u)
			}
		}
		best := 0
		for _, g := range groups {
			best = max(best, gain(g, open))
		}
		most = min(most, 1+best)
	}
	return out
}

// gain is the number of interactions of a combination that are not covered.
func gain(groups []string, open map[string]bool) int {
	n := 0
	for _, g := range groups {
		if open[g] {
			n++
		}
	}
	return n
}

// interactions are the groups of knobs of a combination that interact.
func interactions(u Tuple) []string {
	var out []string
	names := u.Names()
	for i := range names {
		for j := range i {
			out = append(out, names[j]+" "+names[i])
		}
	}
	if confined(u.Knobs[0]) {
		out = append(out, names[0]+" "+strings.Join(names[2:], " "))
	}
	return out
}

// confined reports whether a structure declares the sphere or the simplex for a weight.
func confined(u *notation.Unit) bool {
	for d := range notation.Of[*notation.Declare](u.Body) {
		if slices.ContainsFunc(d.Names, func(n *notation.DeclName) bool {
			return n.Type != nil && (n.Type.Kind == notation.SphereType || n.Type.Kind == notation.SimplexType)
		}) {
			return true
		}
	}
	return false
}
