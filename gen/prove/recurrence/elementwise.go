package recurrence

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// An entryForm says that a value is a·s[sub] + b with a and b free of the states.
type entryForm struct {
	state *ir.Value // s; nil for a value that is free of the states
	sub   []ir.Sub  // subscripts of the state in terms of the subscripts of the value
	bad   bool      // the value has no such form
}

// elementwise reports whether every entry of a state's next value is a number times the
// same entry of the state plus a number, both free of all states that depend on it.
func (r *Recurrence) elementwise(state string) (bool, Obstacle) {
	form := map[*ir.Value]entryForm{}
	for n := range r.dependents([]string{state}) {
		form[r.Carry[n].Param] = entryForm{bad: true}
	}
	c := r.Carry[state]
	form[c.Param] = entryForm{state: c.Param, sub: ir.Ls(len(c.Param.Axes))}
	first := follow(r, form, entryOf, func(e entryForm) bool { return e.bad }, "combines different entries of "+state)
	e := form[c.Next]
	if e.bad || e.state != nil && !ir.Identity(e.sub, len(c.Param.Axes)) {
		return false, first
	}
	return true, Obstacle{}
}

// Elementwise reports whether the states taken together are affine and each is updated
// entry by entry.
func (r *Recurrence) Elementwise(states []string) (bool, Obstacle) {
	if len(states) > 1 {
		if ok, b := r.Affine(states); !ok {
			return false, b
		}
	}
	for _, s := range states {
		if ok, b := r.elementwise(s); !ok {
			return false, b
		}
	}
	return true, Obstacle{}
}

// entryOf is the transfer function of the analysis.
func entryOf(in *ir.Instr, form map[*ir.Value]entryForm) entryForm {
	var out entryForm
	for _, v := range in.Reads() {
		if !slices.ContainsFunc(in.Args, func(a ir.Arg) bool { return a.Val == v }) && (form[v].bad || form[v].state != nil) {
			return entryForm{bad: true}
		}
	}
	for i, a := range in.Args {
		e := form[a.Val]
		if e.bad {
			return e
		}
		if e.state == nil {
			continue
		}
		scales := in.Op == ir.Lin || in.Op == ir.Prod && out.state == nil || in.Op == ir.Div && i == 0 || in.Op == ir.Select && i > 0
		sub, ok := subscriptsInOutput(in, a, e)
		if !scales || !ok || out.state != nil && !sameSubs(out.sub, sub) {
			return entryForm{bad: true}
		}
		out = entryForm{state: e.state, sub: sub}
	}
	return out
}

// subscriptsInOutput writes the subscripts of a state in terms of the subscripts of an
// instruction's output. It fails where one of them is a loop that is reduced.
func subscriptsInOutput(in *ir.Instr, a ir.Arg, e entryForm) ([]ir.Sub, bool) {
	inLoops, ok := ir.SubstAll(e.sub, a.Sub)
	if !ok {
		return nil, false
	}
	at := map[int]int{}
	for i, s := range in.To {
		if l, ok := s.Loop(); ok {
			at[l] = i
		}
	}
	out := make([]ir.Sub, len(inLoops))
	for i, s := range inLoops {
		l, ok := s.Loop()
		if !ok {
			return nil, false
		}
		k, ok := at[l]
		if !ok {
			return nil, false
		}
		out[i] = ir.L(k)
	}
	return out, true
}

func sameSubs(a, b []ir.Sub) bool {
	for i := range a {
		x, _ := a[i].Loop()
		y, _ := b[i].Loop()
		if x != y {
			return false
		}
	}
	return len(a) == len(b)
}

// SelfContained reports whether a state is updated entry by entry and depends on no other
// state.
func (r *Recurrence) SelfContained(state string) (bool, Obstacle) {
	for _, n := range r.States() {
		if n == state {
			continue
		}
		reach := r.Scan.Body.DependsOn(r.Carry[n].Param)
		if reach[r.Carry[state].Next] {
			for _, in := range r.Scan.Body.Body {
				if in.Out != nil && reach[in.Out] {
					return false, Obstacle{in, "reads " + n}
				}
			}
			return false, Obstacle{nil, state + " depends on " + n}
		}
	}
	return r.elementwise(state)
}

// Matrix reports whether a state has two axes.
func (r *Recurrence) Matrix(state string) (bool, Obstacle) {
	next := r.Carry[state].Next
	if n := len(next.Axes); n != 2 {
		return false, Obstacle{next.Def, fmt.Sprintf("has %d axes", n)}
	}
	return true, Obstacle{}
}
