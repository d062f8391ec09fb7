package derive

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A value that a step reads in a window has an entry for each time step of the window, so it has
// one more axis than the page shows. The writer hides that axis, as it hides the batch axis, and
// writes the value at one time step: under a sum over the window at the index of that sum, and the
// adjoint of the value at t.
//
//	Σ_{s∈window(t,w)} (M_{t−1} k_s − v_s) k_sᵀ
//
// The guards that exclude time steps before the context are implied by the window.

// windowState is the state of a writer for values that a step reads in windows.
type windowState struct {
	windows []*ir.Axis
	series  map[*ir.Value]naming // values that have a name at every time step
	bars    map[*ir.Value]bool   // of those, adjoints
	steps   []string             // the time steps that are bound, innermost last
	summing map[*ir.Instr]bool   // sums over a window that are being written
	letters []string             // for time steps
}

// stepLetters are tried in this order for the time step of a sum.
var stepLetters = []string{"s", "r", "u", "p", "h"}

// hideWindows hides the axes of windows and reserves letters for time steps.
func (w *writer) hideWindows(windows []*ir.Axis) {
	w.windows, w.steps, w.summing = windows, []string{"t"}, map[*ir.Instr]bool{}
	if len(windows) == 0 {
		return
	}
	for _, l := range stepLetters {
		if !w.taken[l] {
			w.taken[l] = true
			w.letters = append(w.letters, l)
		}
	}
}

// nameSeries gives a value, or its adjoint, its name on the page. A value that is no
// series and has an entry for each time step of a window, such as its weights, gets none.
func (w *writer) nameSeries(v *ir.Value, n naming, bar bool) {
	switch {
	case v == nil:
	case !w.hasWindow(v):
		w.name(v, n.ident(bar))
	case n.windowed && w.series[v].name == "":
		w.series[v], w.bars[v] = n, bar
	}
}

// pageName is the name of a value on the page, if it has one, at the time step that is
// bound.
func (w *writer) pageName(v *ir.Value) notation.Expr {
	if n := w.series[v]; n.name != "" {
		n.name, n.when = n.name+"_"+w.steps[len(w.steps)-1], ""
		return n.ident(w.bars[v])
	}
	return w.names[v]
}

// hasWindow reports whether a value has an entry for each time step of a window.
func (w *writer) hasWindow(v *ir.Value) bool { return overWindows(v, w.windows) }

func overWindows(v *ir.Value, windows []*ir.Axis) bool {
	return slices.ContainsFunc(v.Axes, func(a *ir.Axis) bool { return slices.Contains(windows, a) })
}

// summedWindow is the window that a value is a sum over, or nil.
func (w *writer) summedWindow(v *ir.Value) *ir.Axis {
	for _, a := range v.Def.Loops {
		if slices.Contains(w.windows, a) && !slices.Contains(v.Axes, a) {
			return a
		}
	}
	return nil
}

// windowSum writes a value that is a sum over a window, its body with the time step of the
// sum bound. It is nil for values that are no such sum.
func (w *writer) windowSum(v *ir.Value, body func() notation.Expr) notation.Expr {
	a := w.summedWindow(v)
	if a == nil || w.summing[v.Def] || len(w.steps) > len(w.letters) {
		return nil
	}
	size, err := attempt(func() notation.Expr { return w.size(a.Size, a.Name) })
	if err != nil {
		return nil
	}
	s := w.letters[len(w.steps)-1]
	w.steps, w.summing[v.Def] = append(w.steps, s), true
	defer func() {
		w.steps = w.steps[:len(w.steps)-1]
		delete(w.summing, v.Def)
	}()
	return sumUnder([]*notation.Binder{{Name: notation.Word{Text: s}, Range: call("window", identifier("t"), size)}}, nil, body())
}

// checkWindows panics where an instruction has no form at one time step of a window.
func (w *writer) checkWindows(in *ir.Instr) {
	for _, a := range append([]ir.Arg{{Val: in.Out, Sub: in.To}}, in.Args...) {
		for i, s := range a.Sub {
			l, ok := s.Loop()
			if slices.Contains(w.windows, a.Val.Axes[i]) && (!ok || in.Loops[l] != a.Val.Axes[i]) {
				panic(noForm("a read of a window at another time step"))
			}
		}
	}
}

// guard is the conditions of an instruction that its window does not imply.
func (w *writer) guard(in *ir.Instr) []ir.Sub {
	return slices.DeleteFunc(slices.Clone(in.Guard), func(g ir.Sub) bool {
		return slices.ContainsFunc(g.Terms, func(t ir.Term) bool { return slices.Contains(w.windows, in.Loops[t.Loop]) })
	})
}

// mergeSeries merges the targets that are one series of the page: read in a window, in
// another window, and at its token.
func mergeSeries(targets []*target) []*target {
	var out []*target
	for _, t := range targets {
		i := slices.IndexFunc(out, func(u *target) bool { return u.name == t.name && u.when == t.when && (u.windowed || t.windowed) })
		switch {
		case i < 0:
			out = append(out, t)
		case t.bar != nil && out[i].bar == nil:
			out[i].bar = t.bar
		case t.bar != nil:
			out[i].more = append(out[i].more, term{1, t.bar})
		}
		if i >= 0 {
			out[i].windowed = true
		}
	}
	return out
}
