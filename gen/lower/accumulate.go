package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Accumulation in the memory of a sum. A matrix product that only a sum reads is added to
// what is there, and so is a value that has few entries beside zeros.

// A sumTarget is the sum that a summand is added to.
type sumTarget struct {
	sum  *ir.Instr
	coef float64
	at   []int // the axis of the sum for each axis of the summand
	add  bool  // something is there before
}

// accumulate finds the summands that only one sum reads and that are better added in its
// memory, and takes them out of it. The rest of the sum is computed first, then they are
// added in order.
func (r *region) accumulate() {
	uses := r.uses()
	for _, in := range r.body {
		if in.Op != ir.Lin || !pointwise(in) || !r.hasOnePlace(in.Out) {
			continue
		}
		var args []ir.Arg
		var coef []float64
		rest := len(in.Args) - 1
		for k, a := range in.Args {
			p := a.Val.Def
			at, plain := axesOf(in, a)
			inPlace := p != nil && (r.isProduct(p) || r.fewEntries(p) && len(in.Args) > 1 && in.Coef[k] == 1)
			if !inPlace || !plain || uses[a.Val] > 1 || r.hasPlace(a.Val) || !slices.Contains(r.body, p) {
				args, coef = append(args, a), append(coef, in.Coef[k])
				continue
			}
			r.sumOf[p] = &sumTarget{sum: in, coef: in.Coef[k], at: at}
			r.summands[in] = append(r.summands[in], p)
		}
		if len(r.summands[in]) == 0 {
			continue
		}
		in.Args, in.Coef = args, append(coef, in.Coef[rest+1])
		if p := r.rest(in, uses); p != nil { // nothing is left but one value: the summands are added to it
			at, _ := axesOf(in, in.Args[0])
			r.sumOf[p] = &sumTarget{sum: in, coef: 1, at: at}
			r.summands[in] = append([]*ir.Instr{p}, r.summands[in]...)
			in.Args, in.Coef = nil, []float64{0}
		}
	}
}

// rest is the instruction of the one value that is left of a sum without its products, where
// it can be computed in the memory of the sum, or nil.
func (r *region) rest(in *ir.Instr, uses map[*ir.Value]int) *ir.Instr {
	if len(in.Args) != 1 || in.Coef[0] != 1 || in.Coef[1] != 0 {
		return nil
	}
	p := in.Args[0].Val.Def
	_, plain := axesOf(in, in.Args[0])
	if p == nil || p.Op != ir.Prod || pointwise(p) || !plain || uses[p.Out] > 1 || r.hasPlace(p.Out) || !slices.Contains(r.body, p) || r.sumOf[p] != nil {
		return nil
	}
	return p
}

// fewEntries reports whether an instruction writes a fixed number of entries along an axis
// that has more.
func (r *region) fewEntries(in *ir.Instr) bool {
	if in.Op != ir.Prod || !r.top() || len(in.Reduced()) > 0 || fills(in) {
		return false
	}
	for i, s := range in.To {
		_, all := in.Out.Axes[i].Size.Const()
		if all || len(s.Terms) != 1 {
			continue
		}
		if _, fixed := in.Loops[s.Terms[0].Loop].Size.Const(); fixed {
			return true
		}
	}
	return false
}

// uses counts how often each value is read in the body.
func (r *region) uses() map[*ir.Value]int { return (&ir.Func{Body: r.body}).Uses() }

// hasOnePlace reports whether a value has one place and is not added to another.
func (r *region) hasOnePlace(v *ir.Value) bool {
	more := r.l.alsoTo[v]
	return len(more) == 0 || len(more) == 1 && !more[0].add && more[0].opt == nil && r.l.places[v] == nil
}

// axesOf is the axis of a sum's output for each axis of an argument that is
// read at all of its loops.
func axesOf(in *ir.Instr, a ir.Arg) ([]int, bool) {
	if len(a.Sub) != len(in.To) {
		return nil, false
	}
	var at []int
	for _, s := range a.Sub {
		l, ok := s.Loop()
		p := slices.IndexFunc(in.To, func(t ir.Sub) bool { k, _ := t.Loop(); return k == l })
		if !ok || p < 0 || slices.Contains(at, p) {
			return nil, false
		}
		at = append(at, p)
	}
	return at, true
}

// scheduleSum schedules a sum and then the summands that are added to it.
func (r *region) scheduleSum(in *ir.Instr) {
	empty := len(in.Args) == 0 && in.Coef[0] == 0
	if !empty {
		r.schedule(in)
		r.firstGroup[in.Out] = r.def[in.Out]
	}
	for i, p := range r.summands[in] {
		r.sumOf[p].add = !empty || i > 0
		r.schedule(p)
		r.def[in.Out] = r.def[p.Out] // the next is added after it
		if empty && i == 0 {
			r.firstGroup[in.Out] = r.def[p.Out]
		}
	}
	r.def[in.Out] = len(r.groups) - 1
}

// placeSum allocates the sum of a product, and addresses the product in it.
func (r *region) placeSum(p *ir.Instr) {
	s := r.sumOf[p]
	v := s.sum.Out
	if more := r.l.alsoTo[v]; len(more) > 0 {
		r.l.places[v] = more[0].at
		delete(r.l.alsoTo, v)
	} else if r.l.places[v] == nil {
		r.l.places[v] = r.local(v, r.alloc(v))
	}
	to := r.l.places[v]
	r.l.places[p.Out] = func(idx []plan.Index) plan.Access {
		out := make([]plan.Index, len(idx))
		for i, x := range idx {
			out[s.at[i]] = x
		}
		return to(out)
	}
}

// reuse lets a triangular solve overwrite its right side when nothing else
// reads that.
func (r *region) reuse(in *ir.Instr) {
	b := in.Args[1]
	if r.l.places[in.Out] != nil || b.Val.Def == nil || r.inline[b.Val] || r.inMemory[b.Val] || r.l.places[b.Val] == nil || len(r.l.alsoTo[b.Val]) > 0 ||
		!slices.Contains(r.body, b.Val.Def) || !slices.EqualFunc(b.Sub, in.To, ir.Sub.Equal) || !slices.Equal(b.Val.Axes, in.Out.Axes) {
		return
	}
	if r.uses()[b.Val] == 1 {
		r.l.places[in.Out] = r.l.places[b.Val]
	}
}
