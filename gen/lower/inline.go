package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Inlining and rematerialisation: which values are computed where they are
// read instead of being kept.

// pointwise reports whether an instruction computes each entry of its output
// exactly once, at plain loops over its axes, under no guard.
func pointwise(in *ir.Instr) bool {
	if in.Op != ir.Prod && !in.Op.Info().Elementwise || in.Op == ir.Stack || len(in.Guard) > 0 {
		return false
	}
	return len(in.To) == len(in.Loops) && fills(in)
}

// costless reports whether an instruction costs nothing where it is read.
func costless(in *ir.Instr) bool { return in.Op.Info().Cost == ir.Free }

// expensive reports whether computing an entry again costs more than keeping it.
func expensive(in *ir.Instr) bool { return in.Op.Info().Cost > ir.Simple }

// chooseInline marks the values that are computed where they are read: those
// that cost nothing, those that one instruction reads once, unless that would
// repeat an expensive computation, and in a recurrence those that are cheaper
// to rematerialise in each nest than to keep. It walks backward, so the nest
// of each reader is known.
func (r *region) chooseInline() {
	readers, stored := r.readers()
	costly, heavy := r.costs()
	site := map[*ir.Instr]int{}                            // loops of the nest in which an instruction is computed
	cheap, many := r.cheapMatrices(), map[*ir.Instr]bool{} // many: computed in several nests
	for i := len(r.body) - 1; i >= 0; i-- {
		in := r.body[i]
		site[in] = len(in.Loops)
		if in.Out == nil || !pointwise(in) || stored[in.Out] || r.hasPlace(in.Out) {
			continue
		}
		rs := readers[in.Out]
		switch {
		case costless(in), r.alwaysInline[in.Out]:
			r.inline[in.Out] = true
		case len(rs) == 1 && (!costly[in.Out] || site[rs[0]] <= len(in.Loops)) && !(heavy[in.Out] && many[rs[0]]):
			r.inline[in.Out] = true
			site[in], many[in] = site[rs[0]], many[rs[0]]
		case in.Out.Elem == ir.Bool && (r.top() || r.rows == nil && !r.search) && !expensive(in) && !slices.ContainsFunc(in.Args, func(a ir.Arg) bool { return costly[a.Val] && len(readers[a.Val]) < 2 }):
			r.inline[in.Out] = true // a vector unit keeps no truth values in memory
		case len(rs) > 1 && !costly[in.Out] && disjoint(in, rs):
			r.inline[in.Out] = true
			site[in] = len(in.Loops)
		case cheap[in.Out] && !slices.ContainsFunc(rs, func(x *ir.Instr) bool { return site[x] != len(in.Loops) }):
			r.inline[in.Out], r.rematerialised[in.Out], many[in] = true, true, true
		}
	}
}

// disjoint reports whether the readers of a value cut it into parts, so that no entry is
// computed twice.
func disjoint(in *ir.Instr, readers []*ir.Instr) bool {
	sum := shape.Int(0)
	volume := func(in *ir.Instr) shape.Poly {
		n := shape.Int(1)
		for _, a := range in.Loops {
			n = n.Mul(a.Size)
		}
		return n
	}
	for _, r := range readers {
		sum = sum.Add(volume(r))
	}
	return volume(in).Sub(sum).NonNegative()
}

// readers are the instructions that read a value, and stored the values that
// must be in memory for one of them.
func (r *region) readers() (readers map[*ir.Value][]*ir.Instr, stored map[*ir.Value]bool) {
	readers, stored = map[*ir.Value][]*ir.Instr{}, map[*ir.Value]bool{}
	for _, in := range r.body {
		for _, a := range in.Args {
			readers[a.Val] = append(readers[a.Val], in)
		}
		for _, v := range r.mustBeInMemory(in) {
			stored[v] = true
		}
	}
	return readers, stored
}

// costs are the values in which something expensive is computed, and those in
// which it is computed for each entry of a matrix.
func (r *region) costs() (costly, heavy map[*ir.Value]bool) {
	costly, heavy = map[*ir.Value]bool{}, map[*ir.Value]bool{}
	for _, in := range r.body {
		if in.Out == nil || !pointwise(in) { // what is in memory anyway costs nothing more
			continue
		}
		fromArg := func(of map[*ir.Value]bool) bool {
			return slices.ContainsFunc(in.Args, func(a ir.Arg) bool { return of[a.Val] })
		}
		costly[in.Out] = expensive(in) || fromArg(costly)
		heavy[in.Out] = expensive(in) && len(in.Out.Axes) > 1 || fromArg(heavy)
	}
	return costly, heavy
}

// maxRematerialised is the most operations of a rematerialised value.
const maxRematerialised = 8

// cheapMatrices are values of a step that are as large as a matrix and cheap
// to rematerialise: a few operations on at most one matrix. Storing and
// loading them takes longer than computing them again.
func (r *region) cheapMatrices() map[*ir.Value]bool {
	out, ops, from := map[*ir.Value]bool{}, map[*ir.Value]int{}, map[*ir.Value]*ir.Value{}
	if !r.step || r.rows != nil || r.wholeProducts {
		return out
	}
	for _, in := range r.body {
		if in.Out == nil || !pointwise(in) || expensive(in) || len(in.Out.Axes) < 2 {
			continue
		}
		v := in.Out
		n, matrix, ok := len(in.Args), (*ir.Value)(nil), true
		for _, a := range in.Args {
			x := a.Val
			if out[x] {
				n, x = n+ops[x], from[x]
			}
			if x == nil || len(x.Axes) < 2 {
				continue
			}
			ok = ok && (matrix == nil || matrix == x)
			matrix = x
		}
		out[v], ops[v], from[v] = ok && n <= maxRematerialised, n, matrix
	}
	return out
}

// mustBeInMemory lists the values that an instruction needs in memory.
func (r *region) mustBeInMemory(in *ir.Instr) []*ir.Value {
	var out []*ir.Value
	via := func(subs []ir.Sub) {
		for _, s := range subs {
			if s.Indirect != nil {
				out = append(out, s.Indirect.Val)
			}
		}
	}
	via(in.To)
	via(in.Guard)
	for i, a := range in.Args {
		via(a.Sub)
		gathered := slices.ContainsFunc(a.Sub, func(s ir.Sub) bool { return s.Indirect != nil })
		if gathered || in.Op == ir.SolveOp && i >= 2 || in.Op == ir.TriSolve && i == 0 || in.Op.Info().View || in.Op == ir.Softmax || in.Op == ir.LogSumExp {
			out = append(out, a.Val)
		}
	}
	switch {
	case in.Scan != nil:
		out = append(out, r.l.reads(in)...)
	case r.isProduct(in):
		for _, a := range in.Args {
			out = append(out, a.Val)
		}
	}
	return out
}

// hasPlace reports whether the region was made with a place for a value.
func (r *region) hasPlace(v *ir.Value) bool {
	return r.inMemory[v] || r.l.places[v] != nil || len(r.l.alsoTo[v]) > 0 || v.Def != nil && len(r.summands[v.Def]) > 0
}
