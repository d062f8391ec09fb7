package prove

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// How a step depends on its states is read off its simplified body, value by
// value. Three questions are asked of every value: is it affine in the states
// taken together, is each of its entries one number times the same entry of a
// state plus another number, and does it depend on one row of the states only.
// What the analysis cannot see it denies.

// A recurrence is the body of a rule's scan.
type recurrence struct {
	scan  *ir.Scan
	carry map[string]*ir.ScanState
}

// recurrenceOf is the recurrence of a simplified rule, or nil.
func recurrenceOf(f *ir.Func) *recurrence {
	for _, in := range f.Body {
		if in.Scan != nil && !in.Scan.Reverse {
			r := &recurrence{scan: in.Scan, carry: map[string]*ir.ScanState{}}
			for i := range in.Scan.Carry {
				c := &in.Scan.Carry[i]
				r.carry[c.Param.Name] = c
			}
			return r
		}
	}
	return nil
}

// names lists the states in order.
func (r *recurrence) names() []string {
	var out []string
	for _, c := range r.scan.Carry {
		out = append(out, c.Param.Name)
	}
	return out
}

// A blame is the instruction that breaks a property.
type blame struct {
	in  *ir.Instr
	why string
}

// bound lists the states whose future depends on the given ones.
func (r *recurrence) bound(states []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range states {
		out[s] = true
	}
	for changed := true; changed; {
		changed = false
		for s := range out {
			reach := r.scan.Body.DependsOn(r.carry[s].Param)
			for _, n := range r.names() {
				if !out[n] && reach[r.carry[n].Next] {
					out[n], changed = true, true
				}
			}
		}
	}
	return out
}

// affine reports whether the next values of the states are affine in the
// states taken together. A state that is not listed counts as a number, unless
// it depends on a listed one.
func (r *recurrence) affine(states []string) (bool, blame) {
	deg := map[*ir.Value]int{}
	for n := range r.bound(states) {
		deg[r.carry[n].Param] = 2
	}
	for _, n := range states {
		deg[r.carry[n].Param] = 1
	}
	var first blame
	for _, in := range r.scan.Body.Body {
		if in.Out == nil {
			continue
		}
		d := degree(in, deg)
		deg[in.Out] = d
		if d > 1 && first.in == nil {
			first = blame{in, "is not affine in the state"}
		}
	}
	for _, n := range states {
		if deg[r.carry[n].Next] > 1 {
			if first.in == nil {
				first.why = "a state that is not listed depends on " + n
			}
			return false, first
		}
	}
	return true, blame{}
}

// degree is the degree of an instruction's output: 0 free of the states, 1
// affine, 2 anything else.
func degree(in *ir.Instr, deg map[*ir.Value]int) int {
	sum, most := 0, 0
	for _, v := range in.Reads() {
		most = max(most, deg[v])
	}
	for _, a := range in.Args {
		sum += deg[a.Val]
	}
	if most == 0 {
		return 0
	}
	switch in.Op {
	case ir.Prod:
		return min(sum, 2)
	case ir.Lin, ir.Stack, ir.Reshape, ir.Stop:
		return most
	case ir.TriSolve:
		if deg[in.Args[0].Val] == 0 {
			return most
		}
	case ir.Div:
		if deg[in.Args[1].Val] == 0 {
			return most
		}
	case ir.Select:
		if deg[in.Args[0].Val] == 0 {
			return most
		}
	}
	return 2
}

// An entrywise value is a·s[sub] + b with a, b free of the states: sub are the
// subscripts of the state in terms of the value's own entries; nil means that
// the value is free of the states.
type entrywise struct {
	state *ir.Value
	sub   []ir.Sub
	bad   bool
}

// scalar reports whether every entry of a state's next value is a number times
// the same entry before plus a number, the numbers free of all states that
// depend on it.
func (r *recurrence) scalar(state string) (bool, blame) {
	form := map[*ir.Value]entrywise{}
	for n := range r.bound([]string{state}) {
		form[r.carry[n].Param] = entrywise{bad: true}
	}
	c := r.carry[state]
	form[c.Param] = entrywise{state: c.Param, sub: ir.Ls(len(c.Param.Axes))}
	var first blame
	for _, in := range r.scan.Body.Body {
		if in.Out == nil {
			continue
		}
		e := entryOf(in, form)
		form[in.Out] = e
		if e.bad && first.in == nil {
			first = blame{in, "does not keep the entries of " + state + " apart"}
		}
	}
	e := form[c.Next]
	if e.bad || e.state != nil && !ir.Identity(e.sub, len(c.Param.Axes)) {
		return false, first
	}
	return true, blame{}
}

// scalars reports whether the states taken together are affine, and each is scalar
// beside the others.
func (r *recurrence) scalars(states []string) (bool, blame) {
	if len(states) > 1 {
		if ok, b := r.affine(states); !ok {
			return false, b
		}
	}
	for _, s := range states {
		if ok, b := r.scalar(s); !ok {
			return false, b
		}
	}
	return true, blame{}
}

func entryOf(in *ir.Instr, form map[*ir.Value]entrywise) entrywise {
	var out entrywise
	for _, v := range in.Reads() {
		if !slices.ContainsFunc(in.Args, func(a ir.Arg) bool { return a.Val == v }) && (form[v].bad || form[v].state != nil) {
			return entrywise{bad: true}
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
		linear := in.Op == ir.Lin || in.Op == ir.Prod && out.state == nil || in.Op == ir.Div && i == 0 || in.Op == ir.Select && i > 0
		sub, ok := throughOutput(in, a, e)
		if !linear || !ok || out.state != nil && !sameSubs(out.sub, sub) {
			return entrywise{bad: true}
		}
		out = entrywise{state: e.state, sub: sub}
	}
	return out
}

// throughOutput writes the subscripts of a state in terms of the output's
// entries; a loop that is summed away must not be among them.
func throughOutput(in *ir.Instr, a ir.Arg, e entrywise) ([]ir.Sub, bool) {
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

// Rows, or columns, that a value depends on: none, the one at an axis of its own, or many.
const (
	noRow    = -1
	manyRows = -2
)

// independent decides whether what lies at i of an axis of the next values of the states
// depends on nothing of any state that lies elsewhere on it: rows along axis 0,
// columns along axis 1.
func independent(axis int) func(r *recurrence, states []string) (bool, blame) {
	return func(r *recurrence, states []string) (bool, blame) { return r.independent(axis, states) }
}

func (r *recurrence) independent(axis int, states []string) (bool, blame) {
	what := [...]string{"rows", "columns"}[axis]
	row := map[*ir.Value]int{}
	for _, p := range r.scan.Body.Params {
		row[p] = noRow
	}
	for n := range r.bound(states) {
		row[r.carry[n].Param] = manyRows
	}
	for _, n := range states {
		if len(r.carry[n].Param.Axes) <= axis {
			return false, blame{nil, n + " has no " + what}
		}
		row[r.carry[n].Param] = axis
	}
	var first blame
	for _, in := range r.scan.Body.Body {
		if in.Out == nil {
			continue
		}
		row[in.Out] = rowOf(in, row)
		if row[in.Out] == manyRows && first.in == nil {
			first = blame{in, "mixes " + what}
		}
	}
	for _, n := range states {
		if k := row[r.carry[n].Next]; k != axis && k != noRow {
			return false, first
		}
	}
	return true, blame{}
}

func rowOf(in *ir.Instr, row map[*ir.Value]int) int {
	loop := noRow
	for _, v := range in.Reads() {
		k, known := row[v]
		if known && k == noRow {
			continue
		}
		if k == manyRows || in.Op == ir.Reshape {
			return manyRows
		}
		for _, a := range in.Args {
			if a.Val != v {
				continue
			}
			l, ok := a.Sub[k].Loop()
			if !ok || loop != noRow && loop != l {
				return manyRows
			}
			loop = l
		}
		if loop == noRow {
			return manyRows // read as a subscript
		}
	}
	if loop == noRow {
		return noRow
	}
	if slices.Contains(in.Over, loop) {
		return manyRows
	}
	for i, s := range in.To {
		if l, ok := s.Loop(); ok && l == loop {
			return i
		}
	}
	return manyRows
}

// onlySelf reports whether a state's next value depends on no other state.
func (r *recurrence) onlySelf(state string) (bool, blame) {
	for _, n := range r.names() {
		if n == state {
			continue
		}
		reach := r.scan.Body.DependsOn(r.carry[n].Param)
		if reach[r.carry[state].Next] {
			for _, in := range r.scan.Body.Body {
				if in.Out != nil && reach[in.Out] {
					return false, blame{in, "reads " + n}
				}
			}
			return false, blame{nil, state + " depends on " + n}
		}
	}
	return r.scalar(state)
}
