package protocol

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// solve finds the sizes of a program: those that a table gives under the prefix, and
// the others from the shapes of what exists, one unknown at a time.
func solve(f *ir.Func, given map[string]int, prefix string, shapes map[string][]int, batch, steps int) map[string]int {
	z := map[string]int{"L": batch, "T": steps}
	for name, n := range given {
		if own, ok := strings.CutPrefix(name, prefix); ok {
			z[own] = n
		}
	}
	known := map[*ir.Value][]int{}
	for _, p := range f.Params {
		known[p] = shapes[prefix+p.Name]
	}
	for _, r := range f.Results {
		if r.State {
			known[r.Val] = shapes[prefix+r.Name]
		}
	}
	for more := true; more; {
		more = false
		for v, shape := range known {
			for i, a := range v.Axes {
				if i < len(shape) && solveOne(a, shape[i], z) {
					more = true
				}
			}
		}
	}
	return z
}

// solveOne finds the one size of an axis that is not known, if the axis grows with
// it as a straight line does.
func solveOne(a *ir.Axis, n int, z map[string]int) bool {
	unknown := ""
	for _, s := range a.Size.Symbols() {
		if _, ok := z[s]; !ok && unknown != "" {
			return false
		} else if !ok {
			unknown = s
		}
	}
	if unknown == "" {
		return false
	}
	at := func(x int) int {
		z[unknown] = x
		got, err := a.Size.Eval(z)
		delete(z, unknown)
		if err != nil {
			panic("protocol: BUG: " + err.Error())
		}
		return got
	}
	base := at(0)
	slope := at(1) - base
	if slope == 0 || (n-base)%slope != 0 {
		return false
	}
	z[unknown] = (n - base) / slope
	return true
}
