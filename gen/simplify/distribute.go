package simplify

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// The distributive and associative laws on products with structured matrices
// and with sums; see structured.go.

// distribute rewrites a product with a structured argument to a sum of
// products.
func (s *simplifier) distribute(in *ir.Instr) bool {
	if in.Op != ir.Prod || len(in.Guard) > 0 || len(in.Reduced()) == 0 || !wholeOutput(in) {
		return false
	}
	for i, a := range in.Args {
		if d := a.Val.Def; d != nil && d.Elementwise() && (d.Op == ir.Lin || d.Op == ir.Prod) && s.distributes(in, i) {
			if d.Op == ir.Prod {
				s.inlineFactors(in, i)
			} else {
				s.distributeOver(in, i)
			}
			s.changed = true
			return true
		}
	}
	return false
}

// reassociate substitutes the summands of an argument that is itself a sum, as
// in (A B) x, where the factors need a smaller iteration space in another
// order and nothing else needs the sum.
func (s *simplifier) reassociate(in *ir.Instr) {
	for i := 0; i < len(in.Args); i++ {
		d := in.Args[i].Val.Def
		if !s.reassociates(in, i) || s.uses[in.Args[i].Val] > 1 && !s.allReassociate(in.Args[i].Val) {
			continue
		}
		in.Loops, in.Args = s.summands(in, i)
		in.Coef[0] *= d.Coef[0]
		recordEquations(in, d)
		for _, x := range d.Args {
			s.uses[x.Val]++
		}
		s.changed = true
		reorder(in)
		i = -1
	}
}

// allReassociate reports whether every reader of a sum is cheaper without it.
func (s *simplifier) allReassociate(v *ir.Value) bool {
	if slices.ContainsFunc(s.f.Results, func(r ir.Result) bool { return s.value(r.Val) == v }) {
		return false
	}
	n := 0
	for _, in := range s.all {
		for i, a := range in.Args {
			if s.value(a.Val) != v {
				continue
			}
			try := *in
			try.Args = slices.Clone(in.Args)
			try.Args[i].Val = v
			if n++; !s.reassociates(&try, i) {
				return false
			}
		}
	}
	return n == s.uses[v]
}

// reassociates reports whether a product is cheaper with the factors of
// argument i, a sum of products, than with the sum.
func (s *simplifier) reassociates(in *ir.Instr, i int) bool {
	a := in.Args[i]
	d := a.Val.Def
	if in.Op != ir.Prod || !readsWholeAxes(in, a) || d == nil || d.Op != ir.Prod || len(d.Guard) > 0 ||
		len(d.Reduced()) == 0 || !wholeOutput(d) || slices.ContainsFunc(d.Args, func(x ir.Arg) bool { return ir.HasIndirect(x.Sub) }) {
		return false
	}
	kept := ir.LoopsOf(in.To)
	loops, args := s.summands(in, i)
	return widestBox(argLoops(&ir.Instr{Loops: loops, Args: args}), kept) < len(d.Loops)
}

// summands are the loops and factors of a product in which the factors of
// argument i, a sum, replace it.
func (s *simplifier) summands(in *ir.Instr, i int) ([]*ir.Axis, []ir.Arg) {
	a := in.Args[i]
	d := a.Val.Def
	at, loops := make([]ir.Sub, len(d.Loops)), slices.Clone(in.Loops)
	for _, l := range d.Reduced() {
		at[l] = ir.L(len(loops))
		loops = append(loops, d.Loops[l])
	}
	for axis, sub := range d.To {
		l, _ := sub.Loop()
		at[l] = a.Sub[axis]
	}
	args := slices.Concat(in.Args[:i], in.Args[i+1:])
	for _, x := range d.Args {
		x.Sub, _ = ir.SubstAll(x.Sub, at)
		args = append(args, x)
	}
	return loops, args
}

// wholeOutput reports whether each axis of the output is a loop of its own.
func wholeOutput(in *ir.Instr) bool {
	seen := map[int]bool{}
	for i, sub := range in.To {
		l, ok := sub.Loop()
		if !ok || seen[l] || in.Loops[l] != in.Out.Axes[i] {
			return false
		}
		seen[l] = true
	}
	return true
}

// distributes reports whether every term of argument i leaves a smaller
// iteration space than the whole product has.
func (s *simplifier) distributes(in *ir.Instr, i int) bool {
	a := in.Args[i]
	if !readsWholeAxes(in, a) {
		return false
	}
	ts := renumberAxes(s.lowRankTerms(a.Val), func(axis int) int {
		l, _ := a.Sub[axis].Loop()
		return l
	})
	kept := ir.LoopsOf(in.To)
	deps := argLoops(in)
	now := widestBox(deps, kept)
	for _, t := range ts {
		if widestBox(mergeEqual(append(slices.Delete(slices.Clone(deps), i, i+1), t.factors...), t.equal, kept)) >= now {
			return false
		}
	}
	return len(ts) > 0
}

// mergeEqual merges loops that are equal, into a kept one where there is one.
func mergeEqual(deps []map[int]bool, equal [][2]int, kept map[int]bool) ([]map[int]bool, map[int]bool) {
	to := map[int]int{}
	at := func(l int) int {
		for {
			k, ok := to[l]
			if !ok {
				return l
			}
			l = k
		}
	}
	for _, e := range equal {
		a, b := at(e[0]), at(e[1])
		if kept[b] {
			a, b = b, a
		}
		if a != b {
			to[b] = a
		}
	}
	move := func(loops map[int]bool) map[int]bool {
		out := map[int]bool{}
		for l := range loops {
			out[at(l)] = true
		}
		return out
	}
	var out []map[int]bool
	for _, d := range deps {
		out = append(out, move(d))
	}
	return out, move(kept)
}

// widestBox is the number of loops of the largest iteration space that a
// product of these factors needs when its sums are taken one loop at a time,
// smallest space first.
func widestBox(deps []map[int]bool, kept map[int]bool) int {
	deps = slices.Clone(deps)
	most := 0
	for {
		best, size := -1, 0
		for l := range summedLoops(deps, kept) {
			if n := len(boxAround(deps, l)); best < 0 || n < size || n == size && l < best {
				best, size = l, n
			}
		}
		if best < 0 {
			break
		}
		most = max(most, size)
		box := boxAround(deps, best)
		delete(box, best)
		deps = append(slices.DeleteFunc(deps, func(d map[int]bool) bool { return d[best] }), box)
	}
	all := maps.Clone(kept)
	for _, d := range deps {
		maps.Copy(all, d)
	}
	return max(most, len(all))
}

func summedLoops(deps []map[int]bool, kept map[int]bool) map[int]bool {
	out := map[int]bool{}
	for _, d := range deps {
		for l := range d {
			if !kept[l] {
				out[l] = true
			}
		}
	}
	return out
}

// boxAround is the iteration space of the factors that depend on loop l.
func boxAround(deps []map[int]bool, l int) map[int]bool {
	out := map[int]bool{}
	for _, d := range deps {
		if d[l] {
			maps.Copy(out, d)
		}
	}
	return out
}

// inlineFactors replaces argument i, a product, by its factors.
func (s *simplifier) inlineFactors(in *ir.Instr, i int) {
	a := in.Args[i]
	d := a.Val.Def
	args, _ := s.substituted(d, a)
	in.Args = slices.Concat(in.Args[:i], args, in.Args[i+1:])
	in.Coef[0] *= d.Coef[0]
	recordEquations(in, d)
	s.uses[a.Val]--
	for _, x := range args {
		s.uses[x.Val]++
	}
}

// distributeOver rewrites a product with a sum, argument i, to the sum of the
// products with its terms.
func (s *simplifier) distributeOver(in *ir.Instr, i int) {
	a := in.Args[i]
	d := a.Val.Def
	args, _ := s.substituted(d, a)
	axes := in.Out.Axes
	sum := &ir.Instr{Op: ir.Lin, Loops: axes, To: ir.Ls(len(axes))}
	add := func(coef float64, rest []ir.Arg) {
		v := s.emit(&ir.Instr{Op: ir.Prod, Loops: slices.Clone(in.Loops), To: slices.Clone(in.To), Args: rest, Coef: []float64{1}}, axes)
		s.uses[v]++
		sum.Args, sum.Coef = append(sum.Args, ir.All(v)), append(sum.Coef, coef*in.Coef[0])
		if v.Def != nil {
			recordEquations(v.Def, d)
		}
	}
	others := slices.Concat(in.Args[:i], in.Args[i+1:])
	for k, x := range args {
		add(d.Coef[k], append(slices.Clone(others), x))
	}
	if c := d.Coef[len(args)]; c != 0 {
		add(c, slices.Clone(others))
	}
	in.Op, in.Loops, in.To, in.Args, in.Coef = ir.Lin, sum.Loops, sum.To, sum.Args, append(sum.Coef, 0)
}

// substituteDiagonal replaces argument i, a diagonal matrix, by the factors on
// its diagonal; the loops at which it is read become one.
func (s *simplifier) substituteDiagonal(in *ir.Instr, i int) bool {
	a := in.Args[i]
	d := a.Val.Def
	first, ok := diagonalOf(d)
	if !ok || in.Op != ir.Prod || ir.HasIndirect(a.Sub) || slices.ContainsFunc(d.Args, func(x ir.Arg) bool { return ir.HasIndirect(x.Sub) }) {
		return false
	}
	one := make([]int, len(in.Loops)) // the representative of each loop
	for l := range one {
		one[l] = l
	}
	at := make([]ir.Sub, len(d.Loops))
	for axis, sub := range a.Sub {
		k := slices.Index(first, first[axis])
		if k == axis {
			at[first[axis]] = sub
			continue
		}
		x, okx := wholeLoop(in, a, k)
		y, oky := wholeLoop(in, a, axis)
		if !okx || !oky {
			return false
		}
		unite(one, x, y)
	}
	s.mergeLoops(in, one, func(into []ir.Sub) []ir.Arg {
		through, _ := ir.SubstAll(at, into)
		var args []ir.Arg
		for k, x := range in.Args {
			if k != i {
				x.Sub, _ = ir.SubstAll(x.Sub, into)
				args = append(args, x)
				continue
			}
			for _, y := range d.Args {
				y.Sub, _ = ir.SubstAll(y.Sub, through)
				args = append(args, y)
				s.uses[y.Val]++
			}
		}
		return args
	})
	in.Coef[0] *= d.Coef[0]
	recordEquations(in, d)
	s.uses[a.Val]--
	s.changed = true
	return true
}

// wholeLoop is the loop at which an axis is read from end to end.
func wholeLoop(in *ir.Instr, a ir.Arg, axis int) (int, bool) {
	l, ok := a.Sub[axis].Loop()
	return l, ok && in.Loops[l] == a.Val.Axes[axis]
}

// mergeLoops merges loops; one[l] is the loop that replaces l.
func (s *simplifier) mergeLoops(in *ir.Instr, one []int, args func(into []ir.Sub) []ir.Arg) {
	to, n := make([]int, len(one)), 0
	var loops []*ir.Axis
	for l := range one {
		if one[l] == l {
			to[l], loops = n, append(loops, in.Loops[l])
			n++
		}
	}
	for l := range one {
		to[l] = to[one[l]]
	}
	into := ir.Renumber(to)
	in.Args = args(into)
	in.To, _ = ir.SubstAll(in.To, into)
	in.Guard, _ = ir.SubstAll(in.Guard, into)
	in.Loops = loops
}

// unite merges the classes of two loops into that of the first.
func unite(one []int, a, b int) {
	a, b = one[a], one[b]
	for l := range one {
		if one[l] == b {
			one[l] = a
		}
	}
}
