package lower

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Analysis of independent rows. Rows of a recurrence are independent where for
// each carry there is an axis such that every value which depends on the state
// keeps that axis, read and written by one loop everywhere. A sum over rows
// may leave the recurrence but not enter the next step.

// independentRows is the result of the analysis for one step.
type independentRows struct {
	axis *ir.Axis           // of the first carry; all others have its size
	loop map[*ir.Instr]int  // the loop that is the row
	pos  map[*ir.Value]int  // the axis of a value that is the row
	sum  map[*ir.Value]bool // sums over rows, and what is computed from them
	sums map[*ir.Instr]bool // instructions that sum over rows
	dep  map[*ir.Value]bool // depends on the state
	of   map[int]int        // the choice of an axis for each state, by its number
}

func (r *independentRows) loopOf(in *ir.Instr) int {
	if r == nil {
		return -1
	}
	if l, ok := r.loop[in]; ok {
		return l
	}
	return -1
}

func (r *independentRows) posOf(v *ir.Value) int {
	if r == nil {
		return -1
	}
	if p, ok := r.pos[v]; ok {
		return p
	}
	return -1
}

// A step is one token's program, as the analysis reads it.
type step struct {
	body   []*ir.Instr
	states []*ir.Value // parameters that hold state
	same   []int       // states of equal number, here and in other steps, have the same row
	next   []*ir.Value // states after the token, in the order of the first of states
}

// findRows tries every choice of one axis for each state, the leading axes
// first, and returns the first that makes the rows of all steps independent. A
// choice has axes of one size, so the first state's decides which there are.
func findRows(steps []step) []*independentRows {
	sizes := map[int][]string{} // number of a state → the sizes of its axes
	for _, s := range steps {
		for i, v := range s.states {
			if len(v.Axes) == 0 {
				return nil
			}
			var of []string
			for _, a := range v.Axes {
				of = append(of, a.Size.String())
			}
			sizes[s.same[i]] = of
		}
	}
	return chooseRows(steps, sizes, slices.Sorted(maps.Keys(sizes)), map[int]int{})
}

// chooseRows chooses an axis for each of the remaining states.
func chooseRows(steps []step, sizes map[int][]string, rest []int, choice map[int]int) []*independentRows {
	if len(rest) == 0 {
		return tryRows(steps, maps.Clone(choice))
	}
	for i, size := range sizes[rest[0]] {
		if choice[rest[0]] = i; !sameSize(sizes, choice, size) {
			continue
		}
		if out := chooseRows(steps, sizes, rest[1:], choice); out != nil {
			return out
		}
	}
	delete(choice, rest[0])
	return nil
}

func sameSize(sizes map[int][]string, choice map[int]int, size string) bool {
	for n, i := range choice {
		if sizes[n][i] != size {
			return false
		}
	}
	return true
}

func tryRows(steps []step, choice map[int]int) []*independentRows {
	var first *ir.Axis
	for _, s := range steps {
		for i, v := range s.states {
			axis := v.Axes[choice[s.same[i]]]
			if first == nil {
				first = axis
			}
			if !axis.Size.Equal(first.Size) {
				return nil
			}
		}
	}
	if first == nil {
		return nil
	}
	var out []*independentRows
	for _, s := range steps {
		r := &independentRows{axis: first, loop: map[*ir.Instr]int{}, pos: map[*ir.Value]int{}, sum: map[*ir.Value]bool{},
			sums: map[*ir.Instr]bool{}, dep: map[*ir.Value]bool{}, of: choice}
		for i, v := range s.states {
			r.pos[v], r.dep[v] = choice[s.same[i]], true
		}
		if !r.forward(s) || !r.demand(s) {
			return nil
		}
		out = append(out, r)
	}
	return out
}

// forward follows the row from the states to all that depends on them.
func (r *independentRows) forward(s step) bool {
	for _, in := range s.body {
		if in.Out == nil || !r.instr(in) {
			return false
		}
	}
	for i, v := range s.next {
		if p, ok := r.pos[v]; r.dep[v] && (!ok || p != r.pos[s.states[i]]) || r.sum[v] {
			return false
		}
	}
	return true
}

func (r *independentRows) instr(in *ir.Instr) bool {
	dep, sum, loop := false, false, -1
	for _, a := range in.Args {
		dep = dep || r.dep[a.Val]
		sum = sum || r.sum[a.Val]
		p, ok := r.pos[a.Val]
		if !ok {
			continue
		}
		if in.Op == ir.Reshape {
			return false
		}
		l, plain := a.Sub[p].Loop()
		if !plain || loop >= 0 && loop != l {
			return false
		}
		loop = l
	}
	for _, v := range in.Reads() {
		dep = dep || r.dep[v]
	}
	r.dep[in.Out] = dep
	if sum {
		r.sum[in.Out] = true // computed after the recurrence, with everything it reads
		return true
	}
	if loop < 0 {
		return !dep
	}
	return r.place(in, loop)
}

// place finds the row in the output of an instruction with a known row loop.
func (r *independentRows) place(in *ir.Instr, loop int) bool {
	r.loop[in] = loop
	if in.Op == ir.TriSolve || slices.Contains(in.Over, loop) && in.Op != ir.Iota {
		return false
	}
	at := -1
	for i, s := range in.To {
		l, plain := s.Loop()
		if plain && l == loop && at < 0 {
			at = i
		} else if uses(in.To[i:i+1], loop) {
			return false
		}
	}
	if at >= 0 {
		r.pos[in.Out] = at
		return true
	}
	if in.Op != ir.Prod || len(in.Guard) > 0 && usesAny(in.Guard, map[int]bool{loop: true}) {
		return false
	}
	r.sum[in.Out], r.sums[in] = true, true
	return true
}

// demand assigns a row to values that do not depend on the state but are read
// where a row is, or are the next state; all readers must agree.
func (r *independentRows) demand(s step) bool {
	each := map[*ir.Value]bool{} // what every row computes or reads
	for i := len(s.body) - 1; i >= 0; i-- {
		in := s.body[i]
		if r.sum[in.Out] {
			continue
		}
		if each[in.Out] = each[in.Out] || r.dep[in.Out] || slices.Contains(s.next, in.Out); each[in.Out] {
			for _, v := range in.Reads() {
				each[v] = true
			}
		}
		if r.dep[in.Out] {
			continue
		}
		pos := -1
		for n, v := range s.next {
			if p := r.pos[s.states[n]]; v == in.Out && pos >= 0 && p != pos {
				return false
			} else if v == in.Out {
				pos = p
			}
		}
		if !r.demanded(in, pos, s.body[i+1:], each) {
			return false
		}
	}
	return true
}

// demanded finds the row of in from its readers; pos is the row's axis in a
// state, or −1. A reader without a row that every row computes needs all of
// in.
func (r *independentRows) demanded(in *ir.Instr, pos int, readers []*ir.Instr, each map[*ir.Value]bool) bool {
	state, whole := pos >= 0, false
	for _, reader := range readers {
		l := r.loopOf(reader)
		if l < 0 && !r.sum[reader.Out] && each[reader.Out] && slices.Contains(reader.Reads(), in.Out) {
			whole = true
		}
		if l < 0 || r.sum[reader.Out] && !r.sums[reader] {
			continue
		}
		for _, a := range reader.Args {
			if a.Val != in.Out {
				continue
			}
			for p, s := range a.Sub {
				if k, plain := s.Loop(); plain && k == l {
					if pos >= 0 && pos != p {
						return pointwise(in) && !state
					}
					pos = p
				}
			}
		}
	}
	if pos < 0 {
		return true
	}
	if whole {
		return pointwise(in) && !state
	}
	l, plain := in.To[pos].Loop()
	if !plain {
		return false
	}
	return r.place(in, l)
}
