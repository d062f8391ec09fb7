package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Stacks rewrites the readers of concatenations, so that no concatenation is copied together
// only to be summed over or cut again:
//
//   - a sum over the concatenated axis becomes one sum for each part;
//   - a condition that a position is not before the document becomes zeros in the parts that
//     come from before the call, for in all others it holds;
//   - a few rows cut from a concatenation are cut from its parts.
//
// A concatenation that is read in another way stays as it is, with all its readers.
func Stacks(f *ir.Func) {
	p := &stackPass{f: f, masked: map[maskKey]*ir.Value{}, whole: map[*ir.Value]bool{}}
	p.findWhole()
	for _, in := range f.Body {
		p.rewrite(in)
		p.body = append(p.body, in)
	}
	f.Body = p.body
	f.Sweep()
}

type stackPass struct {
	f      *ir.Func
	body   []*ir.Instr
	masked map[maskKey]*ir.Value
	whole  map[*ir.Value]bool // concatenations that some reader needs as they are
}

// A maskKey names a concatenation with zeros where row + shift + position < 0.
type maskKey struct {
	of       *ir.Value
	position *ir.Value
	shift    int64
}

// A stacked is an argument that is a concatenation.
type stacked struct {
	arg  int
	of   *ir.Instr
	axis int
	row  ir.Sub // where it is read along that axis
}

// stackedArg is argument n, or nil where it is no concatenation of parts in full.
func stackedArg(in *ir.Instr, n int) *stacked {
	a := in.Args[n]
	d := a.Val.Def
	if d == nil || d.Op != ir.Stack || !ir.Identity(d.To, len(d.Loops)) {
		return nil
	}
	s := &stacked{n, d, d.Over[0], a.Sub[d.Over[0]]}
	for _, x := range d.Args {
		for i, sub := range x.Sub {
			if l, plain := (ir.Sub{Terms: sub.Terms, Indirect: sub.Indirect}).Loop(); !plain || l != i || i != s.axis && !sub.Const.IsZero() {
				return nil
			}
		}
	}
	return s
}

// offset is where a part begins.
func (s *stacked) offset(part int) shape.Poly {
	return s.of.Args[part].Sub[s.axis].Const.Mul(shape.Int(-1))
}

func (s *stacked) part(k int) *ir.Value { return s.of.Args[k].Val }

// findWhole finds the concatenations that must stay.
func (p *stackPass) findWhole() {
	for _, r := range p.f.Results {
		p.whole[r.Val] = true
	}
	for _, in := range p.f.Body {
		for _, v := range in.Reads() {
			if v.Def != nil && v.Def.Op == ir.Stack && !p.handles(in, v) {
				p.whole[v] = true
			}
		}
	}
}

// handles reports whether a reader can do without a concatenation that it reads once.
func (p *stackPass) handles(in *ir.Instr, v *ir.Value) bool {
	if in.Op != ir.Prod {
		return false
	}
	n := -1
	for i, a := range in.Args {
		if a.Val == v {
			if n >= 0 {
				return false
			}
			n = i
		}
	}
	if n < 0 {
		return false
	}
	s := stackedArg(in, n)
	return s != nil && (s.summed(in) || s.cut(in) || s.guard(in) >= 0)
}

func (p *stackPass) rewrite(in *ir.Instr) {
	for n := 0; in.Op == ir.Prod && n < len(in.Args); n++ {
		s := stackedArg(in, n)
		if s == nil || p.whole[in.Args[n].Val] {
			continue
		}
		switch g := s.guard(in); {
		case g >= 0:
			p.mask(in, s, g)
		case s.cut(in):
			p.splitRows(in, s)
		case s.summed(in):
			p.splitSum(in, s)
		}
	}
}

// summed reports whether an instruction sums over the whole concatenated axis.
func (s *stacked) summed(in *ir.Instr) bool {
	l, plain := s.row.Loop()
	return plain && wholeOutput(in) && in.Loops[l].Size.Equal(s.of.Loops[s.axis].Size) && !ir.LoopsOf(in.To)[l] && !ir.LoopsOf(in.Guard)[l]
}

// cut reports whether an instruction takes a fixed number of rows and nothing else.
func (s *stacked) cut(in *ir.Instr) bool {
	if len(in.Args) != 1 || len(in.Guard) > 0 || !wholeOutput(in) || s.row.Indirect != nil || len(s.row.Terms) != 1 || s.row.Terms[0].Coef != 1 {
		return false
	}
	_, fixed := in.Loops[s.row.Terms[0].Loop].Size.Const()
	return fixed
}

// guard is the number of the condition row + shift + position ≥ 0, or −1.
func (s *stacked) guard(in *ir.Instr) int {
	return slices.IndexFunc(in.Guard, func(g ir.Sub) bool { _, ok := s.shift(in, g); return ok && inRange(in) })
}

// shift is that of a condition row + shift + position ≥ 0, where the position is that of the
// batch element which is read.
func (s *stacked) shift(in *ir.Instr, g ir.Sub) (int64, bool) {
	if g.Indirect == nil || !g.Indirect.Val.IsPosition() || s.row.Indirect != nil {
		return 0, false
	}
	c, ok := g.Const.Sub(s.row.Const).Const()
	same := ir.Sub{Terms: g.Terms}.Equal(ir.Sub{Terms: s.row.Terms})
	for _, x := range g.Indirect.Sub {
		same = same && s.axisAt(in, x) >= 0
	}
	return c, ok && same
}

// axisAt is the axis of the concatenation at which a plain loop is read, or −1.
func (s *stacked) axisAt(in *ir.Instr, x ir.Sub) int {
	if _, plain := x.Loop(); !plain {
		return -1
	}
	return slices.IndexFunc(in.Args[s.arg].Sub, x.Equal)
}

// mask takes condition g off a reader, which reads a concatenation with zeros instead.
func (p *stackPass) mask(in *ir.Instr, s *stacked, g int) {
	cond := in.Guard[g]
	shift, _ := s.shift(in, cond)
	key := maskKey{in.Args[s.arg].Val, cond.Indirect.Val, shift}
	if p.masked[key] == nil {
		p.masked[key] = p.withZeros(in, s, cond, shift)
	}
	in.Args[s.arg].Val = p.masked[key]
	in.Guard = slices.Delete(slices.Clone(in.Guard), g, g+1)
}

func (p *stackPass) withZeros(in *ir.Instr, s *stacked, cond ir.Sub, shift int64) *ir.Value {
	position := &ir.Arg{Val: cond.Indirect.Val}
	for _, x := range cond.Indirect.Sub {
		position.Sub = append(position.Sub, ir.L(s.axisAt(in, x)))
	}
	var parts []*ir.Value
	for k := range s.of.Args {
		v := s.part(k)
		at := s.offset(k).Add(shape.Int(shift))
		if c, ok := at.Const(); !ok || c < 0 {
			row := ir.Sub{Terms: ir.L(s.axis).Terms, Const: at, Indirect: position}
			v = p.add(&ir.Instr{Op: ir.Prod, Loops: v.Axes, Guard: []ir.Sub{row}, To: ir.Ls(len(v.Axes)), Coef: []float64{1}, Args: []ir.Arg{ir.All(v)}}, s.of, v.Axes)
		}
		parts = append(parts, v)
	}
	b := &ir.Builder{F: &ir.Func{}}
	stack := b.Stack(s.of.Loops, s.axis, parts...).Def
	return p.add(stack, s.of, s.of.Out.Axes)
}

// add appends an instruction for the equation of another.
func (p *stackPass) add(in, of *ir.Instr, axes []*ir.Axis) *ir.Value {
	in.Eq, in.Span = of.Eq, of.Span
	in.Out = &ir.Value{Name: p.f.Fresh("%"), Elem: ir.Real, Axes: axes, Def: in}
	p.body = append(p.body, in)
	return in.Out
}

// splitSum makes a sum over all parts the sum of one over each.
func (p *stackPass) splitSum(in *ir.Instr, s *stacked) {
	l, _ := s.row.Loop()
	p.split(in, func(k int, c *ir.Instr) bool {
		c.Loops[l] = s.part(k).Axes[s.axis]
		at := ir.Ls(len(in.Loops))
		at[l].Const = s.offset(k)
		for i := range c.Args {
			if i != s.arg {
				sub, ok := ir.SubstAll(c.Args[i].Sub, at)
				if !ok {
					return false
				}
				c.Args[i].Sub = sub
			}
		}
		c.Args[s.arg].Val = s.part(k)
		return true
	}, len(s.of.Args))
}

// splitRows takes rows from the parts that have them.
func (p *stackPass) splitRows(in *ir.Instr, s *stacked) {
	l := s.row.Terms[0].Loop
	p.split(in, func(k int, c *ir.Instr) bool {
		first := s.row.Const.Sub(s.offset(k))
		last := s.part(k).Axes[s.axis].Size.Sub(shape.Int(1)).Sub(first)
		c.Args[0].Sub[s.axis].Const = first
		c.Args[0].Val = s.part(k)
		rows := in.Loops[l].Size.Sub(shape.Int(1))
		if !first.NonNegative() {
			c.Guard = append(c.Guard, ir.Sub{Terms: []ir.Term{{Loop: l, Coef: 1}}, Const: first})
		}
		if !last.Sub(rows).NonNegative() {
			c.Guard = append(c.Guard, ir.Sub{Terms: []ir.Term{{Loop: l, Coef: -1}}, Const: last})
		}
		return true
	}, len(s.of.Args))
}

// split makes an instruction the sum of n copies of it, each changed for one part.
func (p *stackPass) split(in *ir.Instr, change func(part int, c *ir.Instr) bool, n int) {
	var copies []*ir.Instr
	for k := range n {
		c := &ir.Instr{Op: in.Op, Loops: slices.Clone(in.Loops), Guard: slices.Clone(in.Guard), To: in.To, Coef: slices.Clone(in.Coef)}
		for _, a := range in.Args {
			c.Args = append(c.Args, ir.Arg{Val: a.Val, Sub: slices.Clone(a.Sub)})
		}
		if !change(k, c) {
			return
		}
		copies = append(copies, c)
	}
	var args []ir.Arg
	coef := make([]float64, n+1)
	for k, c := range copies {
		p.rewrite(c) // another argument may be a concatenation too
		args = append(args, ir.All(p.add(c, in, in.Out.Axes)))
		coef[k] = 1
	}
	in.Op, in.Loops, in.To, in.Guard, in.Args, in.Coef = ir.Lin, in.Out.Axes, ir.Ls(len(in.Out.Axes)), nil, args, coef
}

// Gathers turns sums that are scattered along an axis, such as the adjoint of a convolution,
//
//	out[j − k + c] += x[j]·w[k]    into    out[s] = Σ_k x[s + k − c]·w[k]
//
// where x has zeros before and after its entries.
func Gathers(f *ir.Func) {
	p := &stackPass{f: f}
	padded := map[padKey]*ir.Value{}
	for _, in := range f.Body {
		p.gather(in, padded)
		p.body = append(p.body, in)
	}
	f.Body = p.body
}

type padKey struct {
	of            *ir.Value
	axis          int
	before, after int64
}

func (p *stackPass) gather(in *ir.Instr, padded map[padKey]*ir.Value) {
	if in.Op != ir.Prod || len(in.Guard) > 0 {
		return
	}
	axis := slices.IndexFunc(in.To, func(s ir.Sub) bool { return len(s.Terms) == 2 })
	if axis < 0 {
		return
	}
	at := in.To[axis]
	j, k := at.Terms[0], at.Terms[1]
	if j.Coef < 0 {
		j, k = k, j
	}
	if at.Indirect != nil || j.Coef != 1 || k.Coef != -1 {
		return
	}
	for i, s := range in.To { // all other axes have a loop of their own
		if l, plain := s.Loop(); i != axis && (!plain || l == j.Loop || l == k.Loop) {
			return
		}
	}
	taps, fixed := in.Loops[k.Loop].Size.Const()
	before, shifted := at.Const.Const()
	after, even := in.Out.Axes[axis].Size.Add(shape.Int(taps - 1 - before)).Sub(in.Loops[j.Loop].Size).Const()
	if !fixed || !shifted || !even || min(before, after) < 0 || max(before, after, taps) > ir.ShortSum {
		return
	}
	arg, along := -1, -1
	for n, a := range in.Args {
		for q, s := range a.Sub {
			if !ir.LoopsOf([]ir.Sub{s})[j.Loop] {
				continue
			}
			if _, plain := s.Loop(); arg >= 0 || !plain {
				return
			}
			arg, along = n, q
		}
	}
	if arg < 0 {
		return
	}
	x := in.Args[arg]
	key := padKey{x.Val, along, before, after}
	if padded[key] == nil {
		padded[key] = p.pad(in, key)
	}
	in.Loops = slices.Clone(in.Loops)
	in.Loops[j.Loop] = in.Out.Axes[axis]
	in.To = slices.Clone(in.To)
	in.To[axis] = ir.L(j.Loop)
	sub := slices.Clone(x.Sub)
	sub[along] = ir.Sub{Terms: []ir.Term{{Loop: j.Loop, Coef: 1}, {Loop: k.Loop, Coef: 1}}}
	in.Args[arg] = ir.Arg{Val: padded[key], Sub: sub}
}

// pad puts zeros around a value along an axis.
func (p *stackPass) pad(of *ir.Instr, k padKey) *ir.Value {
	zeros := func(n int64) *ir.Value {
		axes := slices.Clone(k.of.Axes)
		axes[k.axis] = p.axis(shape.Int(n))
		return p.add(&ir.Instr{Op: ir.Const, Loops: axes, To: ir.Ls(len(axes)), Coef: []float64{0}}, of, axes)
	}
	var parts []*ir.Value
	if k.before > 0 {
		parts = append(parts, zeros(k.before))
	}
	parts = append(parts, k.of)
	if k.after > 0 {
		parts = append(parts, zeros(k.after))
	}
	axes := slices.Clone(k.of.Axes)
	axes[k.axis] = p.axis(axes[k.axis].Size.Add(shape.Int(k.before + k.after)))
	b := &ir.Builder{F: &ir.Func{}}
	return p.add(b.Stack(axes, k.axis, parts...).Def, of, axes)
}

func (p *stackPass) axis(size shape.Poly) *ir.Axis { return p.f.NewSizedAxis(size.String(), size) }
