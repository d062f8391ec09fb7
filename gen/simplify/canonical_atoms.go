package simplify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Atoms of the canonical form: functions that are no polynomial, with their
// arguments in canonical form and only the entries they depend on.

// function is an elementwise function of the arguments. An odd function has the
// sign of its argument outside, an even one drops it.
func (x *instrCanon) function() form {
	var args []form
	for _, a := range x.in.Args {
		f, ok := x.read(a)
		if !ok {
			return x.fail()
		}
		args = append(args, x.combineLikeTerms(f, x.in.Loops))
	}
	sign := x.in.Op.Info().Parity
	if sign == 0 && x.in.Op != ir.Sigmoid {
		return single(x.call(x.in.Op.String(), args))
	}
	neg := scale(args[0], big.NewRat(-1, 1))
	names := freeNames(x.n)
	if x.text(args[0], names) <= x.text(neg, names) {
		return single(x.call(x.in.Op.String(), args))
	}
	flipped := single(x.call(x.in.Op.String(), []form{neg}))
	switch {
	case sign == 1:
		return flipped
	case sign == -1:
		return scale(flipped, big.NewRat(-1, 1))
	}
	// σ(−x) = 1 − σ(x)
	return append(scale(flipped, big.NewRat(-1, 1)), monomial{coef: big.NewRat(1, 1)})
}

func scale(f form, by *big.Rat) form {
	out := slices.Clone(f)
	for i := range out {
		out[i].coef = new(big.Rat).Mul(out[i].coef, by)
	}
	return out
}

// call is the atom of a function of forms over the loops. Its own subscripts
// are the loops that occur, in the order that gives the smallest text.
func (x *instrCanon) call(op string, args []form) ir.Arg {
	used := map[int]bool{}
	for _, f := range args {
		for _, m := range f {
			for _, a := range m.facs {
				a.Loops(used)
			}
			for _, k := range m.conds {
				k.sub.Loops(used)
			}
		}
	}
	var loops []int
	for l := range x.n {
		if used[l] {
			loops = append(loops, l)
		}
	}
	best, text := loops, ""
	permute(loops, func(order []int) {
		names := make([]string, x.n)
		for i, l := range order {
			names[l] = fmt.Sprintf("o%d", i)
		}
		parts := make([]string, len(args))
		for i, f := range args {
			parts[i] = x.text(f, names)
		}
		if commutes(op) {
			slices.Sort(parts)
		}
		if t := op + "(" + strings.Join(parts, "; ") + ")"; text == "" || t < text {
			best, text = slices.Clone(order), t
		}
	})
	var axes []*ir.Axis
	var subs []ir.Sub
	for _, l := range best {
		axes, subs = append(axes, x.in.Loops[l]), append(subs, ir.L(l))
	}
	return ir.Arg{Val: x.atom(text+axesText(axes), axes), Sub: subs}
}

func commutes(op string) bool {
	return op == "eq" || op == "and" || op == "or" || op == "max2" || op == "min2"
}

// permute calls f with the orders of xs, or only with xs when there are many.
func permute(xs []int, f func([]int)) {
	if len(xs) > maxPermuted {
		f(xs)
		return
	}
	var rec func(k int)
	xs = slices.Clone(xs)
	rec = func(k int) {
		if k == len(xs) {
			f(xs)
			return
		}
		for i := k; i < len(xs); i++ {
			xs[k], xs[i] = xs[i], xs[k]
			rec(k + 1)
			xs[k], xs[i] = xs[i], xs[k]
		}
	}
	rec(0)
}

// quotient is the numerator times the inverse of the denominator; the inverse
// of one product without a sum is the product of the inverses.
func (x *instrCanon) quotient() form {
	num, ok := x.read(x.in.Args[0])
	den, ok2 := x.read(x.in.Args[1])
	if !ok || !ok2 {
		return x.fail()
	}
	den = x.combineLikeTerms(den, x.in.Loops)
	if len(den) == 0 {
		return x.fail()
	}
	if len(den) > 1 || len(den[0].bound)+len(den[0].conds) > 0 {
		return x.times(num, single(x.call("inv", []form{den})))
	}
	inv := monomial{coef: new(big.Rat).Inv(den[0].coef)}
	for _, a := range den[0].facs {
		inv.facs = append(inv.facs, x.call("inv", []form{single(a)}))
	}
	return x.times(num, form{inv})
}

// whole returns a small positive whole constant.
func (x *instrCanon) whole(a ir.Arg) (int, bool) {
	f, ok := x.read(a)
	if f = x.combineLikeTerms(f, x.in.Loops); !ok || len(f) != 1 || len(f[0].facs)+len(f[0].bound)+len(f[0].conds) > 0 || !f[0].coef.IsInt() {
		return 0, false
	}
	k := f[0].coef.Num()
	return int(k.Int64()), k.IsInt64() && k.Int64() >= 1 && k.Int64() <= 8
}

// stack is the sum of the arguments, each where its subscript is in range.
func (x *instrCanon) stack() form {
	var out form
	for _, a := range x.in.Args {
		part, ok := x.read(a)
		if !ok {
			return x.fail()
		}
		at := slices.IndexFunc(a.Sub, func(s ir.Sub) bool { return len(s.Terms) == 1 && s.Terms[0].Loop == x.in.Over[0] })
		if at < 0 {
			return x.fail()
		}
		for _, m := range part {
			m.conds = append(slices.Clone(m.conds), cond{"in " + axesText(a.Val.Axes[at:at+1]), a.Sub[at]})
			out = append(out, m)
		}
	}
	return out
}

// opaque is an instruction as one atom over its output's entries: its
// arguments in canonical form at its own subscripts.
func (x *instrCanon) opaque() form {
	in := x.in
	names := make([]string, x.n)
	for i, s := range in.To {
		if l, ok := s.Loop(); ok && names[l] == "" {
			names[l] = fmt.Sprintf("o%d", i)
		}
	}
	over := []string{}
	for l, a := range in.Loops {
		if names[l] == "" {
			names[l] = fmt.Sprintf("r%d", l)
		}
		names[l] += ":" + axesText([]*ir.Axis{a})
		if slices.Contains(in.Over, l) {
			over = append(over, names[l])
		}
	}
	if in.Op != ir.Prod && len(over) == 1 {
		x.rename(names, over)
	}
	s := &opaqueText{canon: x.canon, names: names}
	text := fmt.Sprintf("%v %v %v over %v to %s guard %s", in.Op, in.Coef, axesText(in.Out.Axes), over, s.subs(in.To), s.subs(in.Guard))
	for _, a := range in.Args {
		if len(a.Sub) < len(a.Val.Axes) {
			// A reshape reads its argument whole.
			text += " " + s.arg(a)
			continue
		}
		if f, ok := x.read(a); ok {
			text += " (" + x.text(x.combineLikeTerms(f, x.in.Loops), names) + ")"
		} else {
			text += " " + s.arg(a)
		}
	}
	if in.Solve != nil {
		text += " " + Canon(in.Solve.Residual)
	}
	return single(ir.Arg{Val: x.atom(text, in.Out.Axes), Sub: ir.Ls(len(in.Out.Axes))})
}

// rename names the reduced loop independently of its number.
func (x *instrCanon) rename(names, over []string) {
	l := x.in.Over[0]
	if names[l][0] == 'r' {
		names[l] = "r:" + axesText(x.in.Loops[l:l+1])
		over[0] = names[l]
	}
}

// An opaqueText writes subscripts without renaming.
type opaqueText struct {
	*canon
	names []string
}

func (s *opaqueText) subs(subs []ir.Sub) string {
	out := make([]string, len(subs))
	for i, x := range subs {
		out[i] = subText(ir.Sub{Terms: x.Terms, Const: x.Const}, s.names)
		if x.Indirect != nil {
			out[i] += "+" + s.arg(*x.Indirect)
		}
	}
	return fmt.Sprint(out)
}

func (s *opaqueText) arg(a ir.Arg) string {
	return "{" + s.text(s.form(a.Val), freeNames(len(a.Val.Axes))) + "}" + s.subs(a.Sub)
}

// scanOut is the text of one output of a scan.
func (c *canon) scanOut(v *ir.Value) string {
	s, text := v.Def.Scan, c.scan(v.Def) // first: it names the body's parameters
	for i, k := range s.Carry {
		if k.Final == v {
			return fmt.Sprintf("final %d of %s", i, text)
		}
	}
	for _, o := range s.Outs {
		if o.Out == v {
			form := c.text(c.form(o.Val), freeNames(len(o.Val.Axes)))
			return fmt.Sprintf("output %s %v %v of %s", form, o.Sum, o.PerBatch, text)
		}
	}
	panic("autodiff: BUG: a scan does not define " + v.Name)
}

// scan is the text of the states of a recurrence: what the parameters of its
// body are bound to, and the next states in canonical form.
func (c *canon) scan(in *ir.Instr) string {
	if t, ok := c.scans[in]; ok {
		return t
	}
	s := in.Scan
	c.scans[in] = fmt.Sprintf("scan at %p", in) // a cycle would end here
	outer := func(v *ir.Value) string {
		if v == nil {
			return "0"
		}
		return c.text(c.form(v), freeNames(len(v.Axes)))
	}
	c.depth++
	defer func() { c.depth-- }()
	prefix := fmt.Sprintf("%d %v %v %v", c.depth, axesText([]*ir.Axis{s.Batch, s.Time}), s.Reverse, carryAxes(s))
	for i, k := range s.Carry {
		c.param[k.Param] = fmt.Sprintf("carry %d from %s of %s", i, outer(k.Init), prefix)
	}
	for _, t := range s.Tokens {
		window := ""
		if t.Window != nil {
			window = axesText([]*ir.Axis{t.Window})
		}
		c.param[t.Param] = fmt.Sprintf("token %s window %s base %s count %v", outer(t.Val), window, t.Base, t.Count)
	}
	for _, v := range s.Shared {
		c.param[v.Param] = fmt.Sprintf("shared %s %v", outer(v.Val), v.PerBatch)
	}
	for _, r := range s.Replay {
		primal := c.scan(s.Primal)
		c.param[r.Param] = fmt.Sprintf("replay %s of %s", c.text(c.form(r.Primal), freeNames(len(r.Primal.Axes))), primal)
	}
	text := "scan " + prefix
	for _, k := range s.Carry {
		text += fmt.Sprintf(" from %s next %s", outer(k.Init), c.text(c.form(k.Next), freeNames(len(k.Next.Axes))))
	}
	c.scans[in] = short(text)
	return c.scans[in]
}

func carryAxes(s *ir.Scan) string {
	var out []string
	for _, k := range s.Carry {
		out = append(out, axesText(k.Param.Axes))
	}
	return strings.Join(out, " ")
}
