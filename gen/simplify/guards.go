package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Guards removes conditions on a position that change no value that is read. They hold for
// nearly all entries, unlike those between loops, which halve the work of a triangle. A
// condition goes
//
//   - of a product, where one of its factors is zero wherever the condition fails;
//   - of a product or a linear combination that is only read under the same condition.
//
// Without its condition an instruction can be computed where it is read.
func Guards(f *ir.Func) {
	p := &guardPass{readers: map[*ir.Value][]*ir.Instr{}, result: map[*ir.Value]bool{}}
	for _, r := range f.Results {
		p.result[r.Val] = true
	}
	for _, in := range f.Body {
		for _, v := range in.Reads() {
			p.readers[v] = append(p.readers[v], in)
		}
	}
	for _, in := range f.Body {
		if (in.Op == ir.Lin || in.Op == ir.Prod) && len(in.Reduced()) == 0 {
			in.Guard = slices.DeleteFunc(slices.Clone(in.Guard), func(g ir.Sub) bool { return p.readUnder(in, g) })
		}
	}
	for _, in := range f.Body {
		if in.Op == ir.Prod && len(in.Reduced()) == 0 {
			in.Guard = slices.DeleteFunc(slices.Clone(in.Guard), func(g ir.Sub) bool {
				return g.Indirect != nil && inRange(in) && slices.ContainsFunc(in.Args, func(a ir.Arg) bool { return p.vanishes(a, g) })
			})
		}
	}
}

type guardPass struct {
	readers map[*ir.Value][]*ir.Instr
	result  map[*ir.Value]bool
}

// readUnder reports whether every reader of an instruction has the condition g itself, at the
// entries that it reads.
func (p *guardPass) readUnder(in *ir.Instr, g ir.Sub) bool {
	if g.Indirect == nil || !inRange(in) || !wholeOutput(in) {
		return false
	}
	var under func(v *ir.Value) bool
	under = func(v *ir.Value) bool {
		rs := p.readers[v]
		return !p.result[v] && len(rs) > 0 && !slices.ContainsFunc(rs, func(r *ir.Instr) bool {
			switch {
			case r.Op == ir.Narrow:
				return !under(r.Out)
			case r.Scan != nil || r.Solve != nil || r.Op.Info().View:
				return true
			}
			return slices.ContainsFunc(r.Args, func(a ir.Arg) bool {
				return a.Val == v && !slices.ContainsFunc(r.Guard, func(h ir.Sub) bool { return sameCondition(at(in, g, a), h) })
			})
		})
	}
	return under(in.Out)
}

// inRange reports whether an instruction reads and writes inside all axes whatever its
// conditions are.
func inRange(in *ir.Instr) bool {
	for _, a := range append([]ir.Arg{{Val: in.Out, Sub: in.To}}, in.Args...) {
		for i, s := range a.Sub {
			if s.Indirect != nil {
				return false
			}
			least, most := s.Const, s.Const
			for _, t := range s.Terms {
				end := in.Loops[t.Loop].Size.Sub(shape.Int(1)).Mul(shape.Int(int64(t.Coef)))
				if t.Coef < 0 {
					least = least.Add(end)
				} else {
					most = most.Add(end)
				}
			}
			if !least.NonNegative() || !a.Val.Axes[i].Size.Sub(shape.Int(1)).Sub(most).NonNegative() {
				return false
			}
		}
	}
	return true
}

// vanishes reports whether an argument is zero where g, a condition on the loops of its
// reader, fails.
func (p *guardPass) vanishes(a ir.Arg, g ir.Sub) bool {
	d := a.Val.Def
	for d != nil && d.Op == ir.Narrow {
		d = d.Args[0].Val.Def
	}
	if d == nil || d.Op != ir.Prod && d.Op != ir.Softmax || !wholeOutput(d) {
		return false
	}
	if slices.ContainsFunc(d.Guard, func(h ir.Sub) bool { return sameCondition(at(d, h, a), g) }) {
		return true
	}
	if d.Op != ir.Prod || len(d.Reduced()) > 0 {
		return false
	}
	return slices.ContainsFunc(d.Args, func(b ir.Arg) bool {
		sub, ok := ir.SubstAll(b.Sub, loopsOf(d, a))
		return ok && p.vanishes(ir.Arg{Val: b.Val, Sub: sub}, g)
	})
}

// at is a condition of the instruction that defines an argument, on the loops of its reader,
// or nil where it is none there.
func at(def *ir.Instr, g ir.Sub, a ir.Arg) *ir.Sub {
	to := ir.LoopsOf(def.To)
	for l := range ir.LoopsOf([]ir.Sub{g}) {
		if !to[l] {
			return nil
		}
	}
	out, ok := g.Subst(loopsOf(def, a))
	if !ok {
		return nil
	}
	return &out
}

// loopsOf are the loops of the instruction that defines an argument where it is read.
func loopsOf(def *ir.Instr, a ir.Arg) []ir.Sub {
	loops := make([]ir.Sub, len(def.Loops))
	for i, s := range def.To {
		l, _ := s.Loop()
		loops[l] = a.Sub[i]
	}
	return loops
}

func sameCondition(g *ir.Sub, h ir.Sub) bool {
	if g == nil || (g.Indirect == nil) != (h.Indirect == nil) || !(ir.Sub{Terms: g.Terms, Const: g.Const}).Equal(ir.Sub{Terms: h.Terms, Const: h.Const}) {
		return false
	}
	return g.Indirect == nil || g.Indirect.Val == h.Indirect.Val && slices.EqualFunc(g.Indirect.Sub, h.Indirect.Sub, ir.Sub.Equal)
}
