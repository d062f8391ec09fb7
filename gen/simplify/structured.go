package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Structured matrices. A sum of diagonal matrices and outer products has as many
// entries as any matrix and far fewer numbers in it. A product with one is taken
// apart, term by term:
//
//	Σ_j S[i,j] (diag(a) − u wᵀ)[j,l]     S[i,l] a[l] − (Σ_j S[i,j] u[j]) w[l]
//
// so that the matrix is never laid out. That is done where every term needs a
// smaller box than the product did, whatever the sizes; the rest is left to split,
// which sums the factors of a term one loop at a time. Products of structured
// matrices are structured again, term by term from the left: of n factors of rank
// one beside a diagonal come n terms and not 2ⁿ, because what stands right of a
// column is multiplied to one row first.

// A thin term is a product whose factors each depend on fewer loops than the
// value that it is a term of. Loops are numbered as the value's axes.
type thin struct {
	factors []map[int]bool
	equal   [][2]int // axes that are one index, as on a diagonal
}

// maxThin bounds the terms of a structured matrix.
const maxThin = 24

// thinTerms takes a value apart, or returns nil where it is not structured.
func (s *simplifier) thinTerms(v *ir.Value) []thin {
	if ts, ok := s.thins[v]; ok {
		return ts
	}
	s.thins[v] = nil
	ts := s.thinOf(v.Def)
	if len(ts) > maxThin {
		ts = nil
	}
	s.thins[v] = ts
	return ts
}

func (s *simplifier) thinOf(d *ir.Instr) []thin {
	if d == nil || d.Out == nil || len(d.Guard) > 0 || len(d.Out.Axes) < 2 || slices.ContainsFunc(d.Args, func(a ir.Arg) bool { return ir.HasIndirect(a.Sub) }) {
		return nil
	}
	switch {
	case d.Op == ir.Const && d.Elementwise():
		return []thin{{}}
	case d.Op == ir.Lin && d.Elementwise():
		return s.thinSum(d)
	case d.Op == ir.Prod && d.Elementwise():
		return s.thinProduct(d)
	case d.Op == ir.Prod:
		return thinDiagonal(d)
	}
	return nil
}

// thinSum are the terms of a sum.
func (s *simplifier) thinSum(d *ir.Instr) []thin {
	var out []thin
	for _, a := range d.Args {
		ts := s.thinArg(d, a)
		if ts == nil {
			return nil
		}
		out = append(out, ts...)
	}
	if d.Coef[len(d.Args)] != 0 {
		out = append(out, thin{})
	}
	return out
}

// thinProduct multiplies the terms of the factors.
func (s *simplifier) thinProduct(d *ir.Instr) []thin {
	out := []thin{{}}
	for _, a := range d.Args {
		ts := s.thinArg(d, a)
		if ts == nil || len(out)*len(ts) > maxThin {
			return nil
		}
		var next []thin
		for _, x := range out {
			for _, y := range ts {
				next = append(next, thin{slices.Concat(x.factors, y.factors), slices.Concat(x.equal, y.equal)})
			}
		}
		out = next
	}
	return out
}

// thinArg are the terms of an argument, in the axes of the instruction's output.
func (s *simplifier) thinArg(d *ir.Instr, a ir.Arg) []thin {
	by, _ := d.OutputAxes()
	if plain(d, a) {
		if ts := s.thinTerms(a.Val); ts != nil {
			return placed(ts, func(axis int) int {
				l, _ := a.Sub[axis].Loop()
				return by[l]
			})
		}
	}
	loops := map[int]bool{}
	if a.Loops(loops); len(loops) < len(d.Loops) {
		return []thin{{factors: []map[int]bool{axesOf(loops, by)}}}
	}
	return nil
}

func axesOf(loops map[int]bool, by []int) map[int]bool {
	out := map[int]bool{}
	for l := range loops {
		out[by[l]] = true
	}
	return out
}

// placed renumbers the axes of terms.
func placed(ts []thin, at func(axis int) int) []thin {
	var out []thin
	for _, t := range ts {
		u := thin{}
		for _, f := range t.factors {
			g := map[int]bool{}
			for axis := range f {
				g[at(axis)] = true
			}
			u.factors = append(u.factors, g)
		}
		for _, e := range t.equal {
			u.equal = append(u.equal, [2]int{at(e[0]), at(e[1])})
		}
		out = append(out, u)
	}
	return out
}

// thinDiagonal is the term of an instruction that writes where some axes are equal.
func thinDiagonal(d *ir.Instr) []thin {
	first, ok := diagonalOf(d)
	if !ok {
		return nil
	}
	by := make([]int, len(d.Loops))
	t := thin{}
	for i, l := range first {
		if k := slices.Index(first, l); k < i {
			t.equal = append(t.equal, [2]int{k, i})
		} else {
			by[l] = i
		}
	}
	for _, a := range d.Args {
		loops := map[int]bool{}
		a.Loops(loops)
		t.factors = append(t.factors, axesOf(loops, by))
	}
	return []thin{t}
}

// diagonalOf returns the loop behind each axis of a product that writes each entry
// of a diagonal once, and nothing else.
func diagonalOf(d *ir.Instr) (loops []int, ok bool) {
	if d == nil || d.Op != ir.Prod || len(d.Guard) > 0 || len(d.Out.Axes) <= len(d.Loops) {
		return nil, false
	}
	seen := map[int]bool{}
	for i, sub := range d.To {
		l, ok := sub.Loop()
		if !ok || d.Loops[l] != d.Out.Axes[i] {
			return nil, false
		}
		loops, seen[l] = append(loops, l), true
	}
	return loops, len(seen) == len(d.Loops)
}

// distribute takes a product with a structured argument apart.
func (s *simplifier) distribute(in *ir.Instr) bool {
	if in.Op != ir.Prod || len(in.Guard) > 0 || len(in.Reduced()) == 0 || !wholeOutput(in) {
		return false
	}
	for i, a := range in.Args {
		if d := a.Val.Def; d != nil && d.Elementwise() && (d.Op == ir.Lin || d.Op == ir.Prod) && s.pays(in, i) {
			if d.Op == ir.Prod {
				s.multiplied(in, i)
			} else {
				s.summed(in, i)
			}
			s.changed = true
			return true
		}
	}
	return false
}

// regroup reads a product with a sum through the sums that its arguments are, where
// the factors need a smaller box in another order, as in (A B) x, and nobody needs the
// sum otherwise.
func (s *simplifier) regroup(in *ir.Instr) {
	for i := 0; i < len(in.Args); i++ {
		d := in.Args[i].Val.Def
		if !s.regroups(in, i) || s.uses[in.Args[i].Val] > 1 && !s.allRegroup(in.Args[i].Val) {
			continue
		}
		in.Loops, in.Args = s.summands(in, i)
		in.Coef[0] *= d.Coef[0]
		computes(in, d)
		for _, x := range d.Args {
			s.uses[x.Val]++
		}
		s.changed = true
		reorder(in)
		i = -1
	}
}

// allRegroup reports whether every reader of a sum does better without it.
func (s *simplifier) allRegroup(v *ir.Value) bool {
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
			if n++; !s.regroups(&try, i) {
				return false
			}
		}
	}
	return n == s.uses[v]
}

// regroups reports whether a product is better done with the factors of argument i,
// a sum of products, than with what they sum to.
func (s *simplifier) regroups(in *ir.Instr, i int) bool {
	a := in.Args[i]
	d := a.Val.Def
	if in.Op != ir.Prod || !plain(in, a) || d == nil || d.Op != ir.Prod || len(d.Guard) > 0 ||
		len(d.Reduced()) == 0 || !wholeOutput(d) || slices.ContainsFunc(d.Args, func(x ir.Arg) bool { return ir.HasIndirect(x.Sub) }) {
		return false
	}
	kept := map[int]bool{}
	for _, sub := range in.To {
		sub.Loops(kept)
	}
	loops, args := s.summands(in, i)
	return widest(argLoops(&ir.Instr{Loops: loops, Args: args}), kept) < len(d.Loops)
}

// summands are the loops and the factors of a product with those of argument i, a
// sum, in its place.
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

// pays reports whether every term of argument i leaves a smaller box than the
// whole product has.
func (s *simplifier) pays(in *ir.Instr, i int) bool {
	a := in.Args[i]
	if !plain(in, a) {
		return false
	}
	ts := placed(s.thinTerms(a.Val), func(axis int) int {
		l, _ := a.Sub[axis].Loop()
		return l
	})
	kept := map[int]bool{}
	for _, sub := range in.To {
		sub.Loops(kept)
	}
	deps := argLoops(in)
	now := widest(deps, kept)
	for _, t := range ts {
		if widest(merged(append(slices.Delete(slices.Clone(deps), i, i+1), t.factors...), t.equal, kept)) >= now {
			return false
		}
	}
	return len(ts) > 0
}

// merged makes equal loops one, a kept one where there is one.
func merged(deps []map[int]bool, equal [][2]int, kept map[int]bool) ([]map[int]bool, map[int]bool) {
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

// widest is the largest box that a product of these factors needs when its sums
// are taken one loop at a time, those of the fewest loops first.
func widest(deps []map[int]bool, kept map[int]bool) int {
	deps = slices.Clone(deps)
	most := 0
	for {
		best, size := -1, 0
		for l := range sumsOf(deps, kept) {
			if n := len(around(deps, l)); best < 0 || n < size || n == size && l < best {
				best, size = l, n
			}
		}
		if best < 0 {
			break
		}
		most = max(most, size)
		box := around(deps, best)
		delete(box, best)
		deps = append(slices.DeleteFunc(deps, func(d map[int]bool) bool { return d[best] }), box)
	}
	all := map[int]bool{}
	for _, d := range deps {
		all = union(all, d)
	}
	return max(most, len(union(all, kept)))
}

func sumsOf(deps []map[int]bool, kept map[int]bool) map[int]bool {
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

// around is the box of the factors that depend on loop l.
func around(deps []map[int]bool, l int) map[int]bool {
	out := map[int]bool{}
	for _, d := range deps {
		if d[l] {
			out = union(out, d)
		}
	}
	return out
}

// multiplied puts the factors of argument i, a product, in its place.
func (s *simplifier) multiplied(in *ir.Instr, i int) {
	a := in.Args[i]
	d := a.Val.Def
	args, _ := s.through(d, a)
	in.Args = slices.Concat(in.Args[:i], args, in.Args[i+1:])
	in.Coef[0] *= d.Coef[0]
	computes(in, d)
	s.uses[a.Val]--
	for _, x := range args {
		s.uses[x.Val]++
	}
}

// summed makes a product with a sum, argument i, the sum of products with its terms.
func (s *simplifier) summed(in *ir.Instr, i int) {
	a := in.Args[i]
	d := a.Val.Def
	args, _ := s.through(d, a)
	axes := in.Out.Axes
	sum := &ir.Instr{Op: ir.Lin, Loops: axes, To: ir.Ls(len(axes))}
	add := func(coef float64, rest []ir.Arg) {
		v := s.emit(&ir.Instr{Op: ir.Prod, Loops: slices.Clone(in.Loops), To: slices.Clone(in.To), Args: rest, Coef: []float64{1}}, axes)
		s.uses[v]++
		sum.Args, sum.Coef = append(sum.Args, ir.All(v)), append(sum.Coef, coef*in.Coef[0])
		if v.Def != nil {
			computes(v.Def, d)
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

// onDiagonal reads argument i, a diagonal, as the factors on it: the loops at which
// it is read become one.
func (s *simplifier) onDiagonal(in *ir.Instr, i int) bool {
	a := in.Args[i]
	d := a.Val.Def
	first, ok := diagonalOf(d)
	if !ok || in.Op != ir.Prod || ir.HasIndirect(a.Sub) || slices.ContainsFunc(d.Args, func(x ir.Arg) bool { return ir.HasIndirect(x.Sub) }) {
		return false
	}
	one := make([]int, len(in.Loops)) // the loop that stands for each
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
		join(one, x, y)
	}
	s.sameLoops(in, one, func(into []ir.Sub) []ir.Arg {
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
	computes(in, d)
	s.uses[a.Val]--
	s.changed = true
	return true
}

// wholeLoop is the loop at which an axis is read from end to end.
func wholeLoop(in *ir.Instr, a ir.Arg, axis int) (int, bool) {
	l, ok := a.Sub[axis].Loop()
	return l, ok && in.Loops[l] == a.Val.Axes[axis]
}

// sameLoops makes loops one; one says for each which of them it is.
func (s *simplifier) sameLoops(in *ir.Instr, one []int, args func(into []ir.Sub) []ir.Arg) {
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

// join makes two loops one, the first of them.
func join(one []int, a, b int) {
	a, b = one[a], one[b]
	for l := range one {
		if one[l] == b {
			one[l] = a
		}
	}
}
