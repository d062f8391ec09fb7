package derive

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// What a step reads through a window it has at every moment of it, so such a
// value has one axis more than the page shows. The writer hides that axis, as it
// hides that of lanes, and writes the value at one moment: under the sum over the
// window at the sum's own, and the adjoint of the value at t.
//
//	Σ_{s∈window(t,w)} (M_{t−1} k_s − v_s) k_sᵀ
//
// The guards that leave out what lies before the context are the window's.
type moments struct {
	windows []*ir.Axis
	series  map[*ir.Value]naming // what has a name at every moment
	bars    map[*ir.Value]bool   // of those, adjoints
	now     []string             // the moments that are bound, innermost last
	inside  map[*ir.Instr]bool   // sums over a window that are being written
	letters []string             // for moments
}

// momentLetters are tried in this order for the moment of a sum.
var momentLetters = []string{"s", "r", "u", "p", "h"}

// look makes the axes of windows hidden, and keeps the letters of moments.
func (w *writer) look(windows []*ir.Axis) {
	w.windows, w.now, w.inside = windows, []string{"t"}, map[*ir.Instr]bool{}
	if len(windows) == 0 {
		return
	}
	for _, l := range momentLetters {
		if !w.taken[l] {
			w.taken[l] = true
			w.letters = append(w.letters, l)
		}
	}
}

// call gives a value, or its adjoint, its name on the page. What is no series and
// has an entry for each moment, such as weights of a window, gets none.
func (w *writer) call(v *ir.Value, n naming, bar bool) {
	switch {
	case v == nil:
	case !w.everyMoment(v):
		w.name(v, n.ident(bar))
	case n.wide && w.series[v].name == "":
		w.series[v], w.bars[v] = n, bar
	}
}

// known is the name of a value, if it has one: at the moment that is bound.
func (w *writer) known(v *ir.Value) notation.Expr {
	if n := w.series[v]; n.name != "" {
		n.name, n.when = n.name+"_"+w.now[len(w.now)-1], ""
		return n.ident(w.bars[v])
	}
	return w.names[v]
}

// everyMoment reports whether a value has an entry for each moment of a window.
func (w *writer) everyMoment(v *ir.Value) bool { return overWindow(v, w.windows) }

func overWindow(v *ir.Value, windows []*ir.Axis) bool {
	return slices.ContainsFunc(v.Axes, func(a *ir.Axis) bool { return slices.Contains(windows, a) })
}

// back is the window that a value is a sum over, or nil.
func (w *writer) back(v *ir.Value) *ir.Axis {
	for _, a := range v.Def.Loops {
		if slices.Contains(w.windows, a) && !slices.Contains(v.Axes, a) {
			return a
		}
	}
	return nil
}

// enter binds the moment of a sum over a window, until the function that it
// returns puts the sum in front of what was written meanwhile. It is nil for
// anything else.
func (w *writer) enter(v *ir.Value) func(notation.Expr) notation.Expr {
	a := w.back(v)
	if a == nil || w.inside[v.Def] || len(w.now) > len(w.letters) {
		return nil
	}
	size, err := w.size(a.Size, a.Name)
	if err != nil {
		return nil
	}
	s := w.letters[len(w.now)-1]
	w.now, w.inside[v.Def] = append(w.now, s), true
	return func(x notation.Expr) notation.Expr {
		w.now = w.now[:len(w.now)-1]
		delete(w.inside, v.Def)
		if x == nil {
			return nil
		}
		return under([]*notation.Binder{{Name: notation.Word{Text: s}, Range: call("window", identifier("t"), size)}}, nil, x)
	}
}

// atMoment says why an instruction has no form at one moment of a window.
func (w *writer) atMoment(in *ir.Instr) error {
	for _, a := range append([]ir.Arg{{Val: in.Out, Sub: in.To}}, in.Args...) {
		for i, s := range a.Sub {
			l, ok := s.Loop()
			if slices.Contains(w.windows, a.Val.Axes[i]) && (!ok || in.Loops[l] != a.Val.Axes[i]) {
				return fmt.Errorf("a read of a window at another moment")
			}
		}
	}
	return nil
}

// guard are the conditions of an instruction that its window does not imply.
func (w *writer) guard(in *ir.Instr) []ir.Sub {
	return slices.DeleteFunc(slices.Clone(in.Guard), func(g ir.Sub) bool {
		return slices.ContainsFunc(g.Terms, func(t ir.Term) bool { return slices.Contains(w.windows, in.Loops[t.Loop]) })
	})
}

// merged makes one target of those that are one series of the page: what a
// window reads of it, another window, and the step at its token.
func merged(targets []*target) []*target {
	var out []*target
	for _, t := range targets {
		i := slices.IndexFunc(out, func(u *target) bool { return u.name == t.name && u.when == t.when && (u.wide || t.wide) })
		switch {
		case i < 0:
			out = append(out, t)
		case t.bar != nil && out[i].bar == nil:
			out[i].bar = t.bar
		case t.bar != nil:
			out[i].more = append(out[i].more, term{1, t.bar})
		}
		if i >= 0 {
			out[i].wide = true
		}
	}
	return out
}
