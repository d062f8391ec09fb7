// Package program has passes over a tensor program that is built: the list of its
// axes, limits of its sizes, the map over heads, and what it depends on across calls.
package program

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// The parameters, results and sizes of a program.

// Input is the one input of a part.
func Input(g *ir.Func) *ir.Value {
	for _, p := range g.Params {
		if p.Role == ir.Input {
			return p
		}
	}
	return nil
}

// Output is the result of a program that is no state.
func Output(g *ir.Func) *ir.Value {
	for _, r := range g.Results {
		if !r.State {
			return r.Val
		}
	}
	return nil
}

// Sizes lists the free sizes of a program, in the order of its axes.
func Sizes(f *ir.Func) []string {
	var out []string
	seen := map[string]bool{}
	for _, a := range f.Axes {
		for _, s := range a.Size.Symbols() {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// ListAxes lists in f every axis that its values use: stages of one composition
// share their axes, and a body uses its program's.
func ListAxes(f *ir.Func) {
	seen := map[*ir.Axis]bool{}
	var axes []*ir.Axis
	add := func(as []*ir.Axis) {
		for _, a := range as {
			if !seen[a] {
				seen[a] = true
				axes = append(axes, a)
			}
		}
	}
	for _, p := range f.Params {
		add(p.Axes)
	}
	for _, in := range f.Body {
		add(in.Loops)
		for _, v := range in.Defines() {
			add(v.Axes)
		}
		if in.Solve != nil {
			add(in.Solve.Residual.Axes)
		}
		if in.Scan != nil {
			ListAxes(in.Scan.Body)
			add(in.Scan.Body.Axes)
			add([]*ir.Axis{in.Scan.Batch, in.Scan.Time})
		}
	}
	f.Axes = slices.DeleteFunc(f.Axes, func(a *ir.Axis) bool { return !seen[a] })
	for _, a := range axes {
		if !slices.Contains(f.Axes, a) {
			f.Axes = append(f.Axes, a)
		}
	}
	for _, in := range f.Body {
		if in.Scan != nil {
			in.Scan.Body.Axes = f.Axes
		}
	}
}

// Prune removes what no result of f needs, parameters that are left without a
// reader but those in keep, and axes that nothing uses.
func Prune(f *ir.Func, keep ...*ir.Value) {
	f.Sweep()
	used := f.Uses()
	f.Params = slices.DeleteFunc(f.Params, func(p *ir.Value) bool { return used[p] == 0 && !slices.Contains(keep, p) })
	ListAxes(f)
}
