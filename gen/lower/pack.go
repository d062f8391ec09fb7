package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Packing (Lam, Rothberg and Wolf 1991): a sum of products whose last loop has no unit stride in
// an argument, as the distance of a window, reads a copy of it in which it has, in the
// opposite order where it runs back:
//
//	s[t, m] = Σ_i q[t, i]·k[t−m+c, i]        K[i, r] = k[n−1−r, i]
//	                                         s[t, m] = Σ_i q[t, i]·K[i, n−1−t+m−c]
//
// Then the sum runs outside, and vectors over m. The copy is made where its entries are read
// several times.
func (l *lowerer) pack() {
	var out []*ir.Instr
	for _, in := range l.f.Body {
		if a := badStride(in); a >= 0 {
			out = append(out, l.packed(in, a))
		}
		out = append(out, in)
	}
	l.f.Body = out
}

// badStride is the argument that is packed for an instruction, or −1.
func badStride(in *ir.Instr) int {
	column, summed := lastLoop(in.To), in.Reduced()
	if in.Op != ir.Prod || len(in.Args) < 2 || column < 0 || len(summed) != 1 || asMatmul(in) != nil {
		return -1
	}
	bad := -1
	for i, a := range in.Args {
		switch {
		case uses(a.Sub, summed[0]) && !unitStride(a.Sub, summed[0]):
			return -1
		case !uses(a.Sub, column) || unitStride(a.Sub, column):
		case bad < 0 && uses(a.Sub, summed[0]) && dimension(a.Sub, column) >= 0 && readAgain(in, a):
			bad = i
		default:
			return -1
		}
	}
	return bad
}

// lastLoop is the loop of the last subscript where each has one, with unit stride, or −1.
func lastLoop(to []ir.Sub) int {
	last := -1
	for _, s := range to {
		if s.Indirect != nil || len(s.Terms) != 1 || s.Terms[0].Coef != 1 {
			return -1
		}
		last = s.Terms[0].Loop
	}
	return last
}

// dimension is the only subscript that a loop moves, by one entry, or −1.
func dimension(subs []ir.Sub, loop int) int {
	at := -1
	for d, s := range subs {
		if !uses(subs[d:d+1], loop) {
			continue
		}
		if at >= 0 || s.Indirect != nil || !slices.ContainsFunc(s.Terms, func(t ir.Term) bool { return t.Loop == loop && (t.Coef == 1 || t.Coef == -1) }) {
			return -1
		}
		at = d
	}
	return at
}

// readAgain reports whether an instruction has more loops than an argument has axes, so that it
// reads an entry more than once.
func readAgain(in *ir.Instr, a ir.Arg) bool { return len(in.Loops) > len(a.Val.Axes) }

// packed copies an argument of an instruction and lets it read the copy.
func (l *lowerer) packed(in *ir.Instr, arg int) *ir.Instr {
	a := in.Args[arg]
	column := lastLoop(in.To)
	d := dimension(a.Sub, column)
	axes := moved(a.Val.Axes, d)
	last := len(axes) - 1
	back := runsBack(a.Sub[d:d+1], column)
	from := slices.Insert(ir.Ls(last), d, ir.L(last))
	read := a.Sub[d]
	if end := axes[last].Size.Sub(shape.Int(1)); back {
		from[d], read = fromEnd(from[d], end), fromEnd(read, end)
	}
	copied := &ir.Instr{Op: ir.Lin, Loops: axes, To: ir.Ls(len(axes)), Coef: []float64{1, 0}, Args: []ir.Arg{{Val: a.Val, Sub: from}}, Eq: in.Eq, Span: in.Span}
	define(l.f, copied, axes)
	l.places[copied.Out] = whole(l.work(copied.Out.Name, ir.Real, dims(axes)))
	in.Args[arg] = ir.Arg{Val: copied.Out, Sub: append(slices.Delete(slices.Clone(a.Sub), d, d+1), read)}
	return copied
}

// fromEnd is a subscript counted from the end of its axis.
func fromEnd(s ir.Sub, end shape.Poly) ir.Sub {
	out := ir.Sub{Const: end.Sub(s.Const)}
	for _, t := range s.Terms {
		out.Terms = append(out.Terms, ir.Term{Loop: t.Loop, Coef: -t.Coef})
	}
	return out
}
