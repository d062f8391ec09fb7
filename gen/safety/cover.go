package safety

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// Saying is not enough: rules are made of combinations that the table allows.
// Their number is the product of the numbers of pages, so a compiler that made
// all of them at every run would soon do nothing else. What knobs do to one
// another they do two at a time, or three: names and options collide between
// two pages, and what one gives has or has not the shape that another wants,
// because every function of a knob has its types from its own page and from the
// structure's weights. Only whether a state stays in the set that a structure
// declares for it takes three: that structure, the retention that joins, and
// the algorithm whose step is joined. So generate builds combinations in which
// each of these meets each other one that it may stand beside. Tests and the
// sweep build every one, and so hold that this is enough.

// Covering lists legal combinations in which every two knobs that any legal one
// has are together at least once, and so are every structure with a set of its
// own, retention and algorithm.
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
		// What gains less than the best is looked at again when nothing gains more.
		for i, u := range legal {
			if gain(groups[i], open) >= most {
				for _, g := range groups[i] {
					delete(open, g)
				}
				out = append(out, u)
			}
		}
		most = min(most, 1+slices.Max(append([]int{0}, gains(groups, open)...)))
	}
	return out
}

// gain is how many interactions of a combination are open.
func gain(groups []string, open map[string]bool) int {
	n := 0
	for _, g := range groups {
		if open[g] {
			n++
		}
	}
	return n
}

func gains(groups [][]string, open map[string]bool) []int {
	out := make([]int, len(groups))
	for i, g := range groups {
		out[i] = gain(g, open)
	}
	return out
}

// interactions name the groups of knobs that a combination lets meet.
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

// confined reports whether a structure declares a set for a weight.
func confined(u *notation.Unit) bool {
	for _, st := range u.Body {
		d, ok := st.(*notation.Declare)
		if ok && slices.ContainsFunc(d.Names, func(n *notation.DeclName) bool {
			return n.Type != nil && (n.Type.Kind == notation.SphereType || n.Type.Kind == notation.SimplexType)
		}) {
			return true
		}
	}
	return false
}
