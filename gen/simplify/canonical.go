package simplify

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Canon is a canonical text of what a program computes: every result as a sum
// of products of atoms over summed loops. Products over sums are expanded,
// like terms added in exact rationals, factors sorted and loops renamed. An
// atom is a parameter, or a function that is no polynomial, of arguments in
// the same form. Two programs with the same text are the same function on
// reals; the converse does not hold.
func Canon(f *ir.Func) string { return newCanon(f).program(f) }

// program is the text of all results.
func (c *canon) program(f *ir.Func) string {
	var out []string
	for _, r := range f.Results {
		form := c.form(r.Val)
		out = append(out, fmt.Sprintf("%s %v %v = %s", r.Name, r.State, axesText(r.Val.Axes), c.text(form, freeNames(len(r.Val.Axes)))))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// Equal reports whether two programs provably have the same results as
// functions of parameters of the same names; false means that it does not
// know.
func Equal(f, g *ir.Func) bool { return Canon(f) == Canon(g) }

// EqualGradients is Equal, and the gradients are the same too: what stands under Stop
// or Override is an atom then.
func EqualGradients(f, g *ir.Func) bool {
	a, b := newCanon(f), newCanon(g)
	a.gradients, b.gradients = true, true
	return a.program(f) == b.program(g)
}

// A form is a sum of products. Its variables are numbers: first the entries of
// the value's axes, then for each product its own summed loops.
type form []mono

// A mono is coef · Π facs, summed over bound, where all conds hold. Variable
// number free+i is bound[i].
type mono struct {
	coef  *big.Rat
	bound []*ir.Axis
	facs  []ir.Arg // of atoms
	conds []cond
}

// A cond is a condition on a subscript: ≥ 0, = 0, or within an axis.
type cond struct {
	kind string
	sub  ir.Sub
}

// Limits beyond which a product is not expanded.
const (
	maxTerms = 300
	maxFacs  = 40
	// maxVolume bounds the factors of all terms together. A polynomial of a
	// matrix, iterated, has hundreds of terms that are chains of dozens: what it
	// is made of is compared then, and not what it expands to.
	maxVolume = 300

	maxPermuted = 5   // loops of one kind whose orders are tried
	maxOrders   = 200 // orders of all kinds together
)

type canon struct {
	forms map[*ir.Value]form
	keys  map[*ir.Value]string
	atoms map[string]*ir.Value
	scans map[*ir.Instr]string
	param map[*ir.Value]string // names of parameters
	depth int                  // of scans in scans

	gradients bool               // tell programs apart that have other gradients
	real      map[*ir.Value]bool // atoms that are parameters: zero outside a gather's table
}

func newCanon(f *ir.Func) *canon {
	c := &canon{forms: map[*ir.Value]form{}, keys: map[*ir.Value]string{}, atoms: map[string]*ir.Value{}, scans: map[*ir.Instr]string{},
		param: map[*ir.Value]string{}, real: map[*ir.Value]bool{}}
	for _, p := range f.Params {
		c.param[p] = p.Name
	}
	return c
}

func axesText(axes []*ir.Axis) string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = a.Name + "=" + a.Size.String()
	}
	return "[" + strings.Join(out, ",") + "]"
}

// atom returns the one value that stands for an atom's text.
func (c *canon) atom(text string, axes []*ir.Axis) *ir.Value {
	key := short(text)
	if c.atoms[key] == nil {
		c.atoms[key] = &ir.Value{Name: key, Elem: ir.Real, Axes: axes}
	}
	return c.atoms[key]
}

func number(x float64) *big.Rat {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return new(big.Rat).SetFloat64(x)
}

// form returns what v is at its entries.
func (c *canon) form(v *ir.Value) form {
	if f, ok := c.forms[v]; ok {
		return f
	}
	var f form
	switch {
	case v.Def == nil:
		n, ok := c.param[v]
		if !ok {
			n = fmt.Sprintf("%s at %p", v.Name, v)
		}
		a := c.atom(fmt.Sprintf("param %q %v %s", n, v.Elem, axesText(v.Axes)), v.Axes)
		c.real[a] = true
		f = single(ir.Arg{Val: a, Sub: ir.Ls(len(v.Axes))})
	case v.Def.Scan != nil:
		a := c.atom(c.scanOut(v), v.Axes)
		c.real[a] = true
		f = single(ir.Arg{Val: a, Sub: ir.Ls(len(v.Axes))})
	default:
		f = c.instr(v.Def)
	}
	c.forms[v] = f
	return f
}

// key is a text that values of one kind share which are provably the same
// function.
func (c *canon) key(v *ir.Value) string {
	if _, ok := c.keys[v]; !ok {
		c.keys[v] = kind(v) + c.text(c.form(v), freeNames(len(v.Axes)))
	}
	return c.keys[v]
}

// kind says what values must have in common before they are the same: their
// shape, and the operation that makes them, since 1 − σ(x) is σ(−x), and less
// exact. Sums and products are one operation.
func kind(v *ir.Value) string {
	op := ir.Prod
	if v.Def != nil && v.Def.Op != ir.Lin {
		op = v.Def.Op
	}
	return fmt.Sprint(op, v.Elem, axesText(v.Axes))
}

func single(facs ...ir.Arg) form { return form{{coef: big.NewRat(1, 1), facs: facs}} }

// instr is the form of an instruction's output.
func (c *canon) instr(in *ir.Instr) form {
	x := &instrCanon{canon: c, in: in, n: len(in.Loops)}
	body := x.body()
	for _, g := range in.Guard {
		sub, ok := x.sub(g)
		if !ok {
			return x.opaque()
		}
		for i := range body {
			body[i].conds = append(slices.Clone(body[i].conds), cond{"≥0", sub})
		}
	}
	if body == nil && x.failed {
		return x.opaque()
	}
	return c.like(x.publish(body), in.Out.Axes)
}

// An instrCanon is one instruction while its form is made. Its variables are
// the loops first.
type instrCanon struct {
	*canon
	in     *ir.Instr
	n      int
	failed bool
}

// body is the summand in terms of the loops.
func (x *instrCanon) body() form {
	in := x.in
	switch in.Op {
	case ir.Prod:
		return x.product(number(in.Coef[0]), in.Args...)
	case ir.Lin:
		return x.linear()
	case ir.Const:
		return x.product(number(in.Coef[0]))
	case ir.Stop, ir.Override:
		if x.gradients {
			return x.function()
		}
		return x.product(big.NewRat(1, 1), in.Args[0])
	case ir.ToReal:
		return x.product(big.NewRat(1, 1), in.Args[0])
	case ir.SizeOf:
		return x.size(in.Poly)
	case ir.Div:
		return x.quotient()
	case ir.Pow:
		if k, ok := x.whole(in.Args[1]); ok {
			return x.product(big.NewRat(1, 1), slices.Repeat(in.Args[:1], k)...)
		}
		return x.function()
	case ir.Stack:
		return x.stack()
	case ir.Iota:
		return single(ir.Arg{Val: x.atom("iota", in.Loops[in.Over[0]:in.Over[0]+1]), Sub: []ir.Sub{ir.L(in.Over[0])}})
	case ir.Max, ir.Softmax, ir.LogSumExp, ir.Reshape, ir.SolveOp, ir.TriSolve:
		x.failed = true
		return nil
	}
	return x.function()
}

func (x *instrCanon) fail() form {
	x.failed = true
	return nil
}

func (x *instrCanon) size(p shape.Poly) form {
	if n, ok := p.Const(); ok {
		return form{{coef: big.NewRat(n, 1)}}
	}
	return single(ir.Arg{Val: x.atom("size "+p.String(), nil)})
}

// linear is the sum of the arguments.
func (x *instrCanon) linear() form {
	var out form
	for i, a := range x.in.Args {
		part := x.product(number(x.in.Coef[i]), a)
		if x.failed {
			return nil
		}
		out = append(out, part...)
	}
	last := number(x.in.Coef[len(x.in.Args)])
	if last == nil {
		return x.fail()
	}
	return append(out, mono{coef: last})
}

// product expands coef · Π args.
func (x *instrCanon) product(coef *big.Rat, args ...ir.Arg) form {
	if coef == nil {
		return x.fail()
	}
	out := form{{coef: coef}}
	for _, a := range args {
		part, ok := x.read(a)
		if !ok || len(out)*len(part) > maxTerms {
			return x.fail()
		}
		out = x.times(out, part)
		if len(out) > 0 && len(out[0].facs) > maxFacs || volume(out) > maxVolume {
			return x.fail()
		}
	}
	return out
}

// volume is the number of factors of all terms.
func volume(f form) (n int) {
	for _, m := range f {
		n += len(m.facs)
	}
	return n
}

// times multiplies two forms over the same free variables.
func (x *instrCanon) times(a, b form) form {
	var out form
	for _, m := range a {
		for _, k := range b {
			k = k.shift(x.n, x.n+len(m.bound))
			out = append(out, mono{coef: new(big.Rat).Mul(m.coef, k.coef),
				bound: slices.Concat(m.bound, k.bound), facs: slices.Concat(m.facs, k.facs),
				conds: slices.Concat(m.conds, k.conds)})
		}
	}
	return out
}

// shift renumbers the summed loops, which start at variable from, to start at
// variable to.
func (m mono) shift(from, to int) mono {
	if len(m.bound) == 0 || from == to {
		return m
	}
	at := make([]ir.Sub, from+len(m.bound))
	for i := range at {
		at[i] = ir.L(i)
		if i >= from {
			at[i] = ir.L(i - from + to)
		}
	}
	out, _ := m.subst(at)
	return out
}

// subst replaces every variable i of m by at[i].
func (m mono) subst(at []ir.Sub) (mono, bool) {
	out := mono{coef: m.coef, bound: m.bound}
	for _, a := range m.facs {
		subs, ok := ir.SubstAll(a.Sub, at)
		if !ok {
			return out, false
		}
		out.facs = append(out.facs, ir.Arg{Val: a.Val, Sub: subs})
	}
	for _, k := range m.conds {
		sub, ok := k.sub.Subst(at)
		if !ok {
			return out, false
		}
		out.conds = append(out.conds, cond{k.kind, sub})
	}
	return out, true
}

// read is the form of an argument in terms of the loops.
func (x *instrCanon) read(a ir.Arg) (form, bool) {
	at := make([]ir.Sub, len(a.Sub))
	for i, s := range a.Sub {
		var ok bool
		if at[i], ok = x.sub(s); !ok {
			return nil, false
		}
	}
	var out form
	for _, m := range x.form(a.Val) {
		full := slices.Clone(at)
		for i := range m.bound {
			full = append(full, ir.L(x.n+i))
		}
		r, ok := m.subst(full)
		if !ok {
			return nil, false
		}
		for i, s := range at {
			if s.Indirect != nil && !x.zeroOutside(m, i, a.Val.Axes[i]) {
				r.conds = append(r.conds, cond{"in " + axesText(a.Val.Axes[i:i+1]), s})
			}
		}
		out = append(out, r)
	}
	return out, true
}

// zeroOutside reports whether a product is zero by itself where variable i
// misses the axis, because a parameter is read there.
func (x *instrCanon) zeroOutside(m mono, i int, axis *ir.Axis) bool {
	for _, a := range m.facs {
		for k, s := range a.Sub {
			if l, ok := s.Loop(); ok && l == i && x.real[a.Val] && a.Val.Axes[k] == axis {
				return true
			}
		}
	}
	return false
}

// sub is a subscript whose integer tensor is an atom.
func (x *instrCanon) sub(s ir.Sub) (ir.Sub, bool) {
	if s.Indirect == nil {
		return s, true
	}
	f, ok := x.read(*s.Indirect)
	if !ok || len(f) != 1 || len(f[0].facs) != 1 || len(f[0].bound)+len(f[0].conds) > 0 || f[0].coef.Cmp(big.NewRat(1, 1)) != 0 {
		return ir.Sub{}, false
	}
	return ir.Sub{Terms: s.Terms, Const: s.Const, Indirect: &f[0].facs[0]}, true
}

// publish turns a summand over the loops into a form over the output's
// entries: a loop that is an entry becomes that variable, other loops are
// summed, and an output written elsewhere is a condition.
func (x *instrCanon) publish(body form) form {
	rank := len(x.in.Out.Axes)
	entry := map[int]int{}
	for i, s := range x.in.To {
		if l, ok := s.Loop(); ok && x.in.Loops[l] == x.in.Out.Axes[i] {
			if _, twice := entry[l]; !twice {
				entry[l] = i
			}
		}
	}
	at := make([]ir.Sub, x.n)
	var bound []*ir.Axis
	for l, a := range x.in.Loops {
		if i, ok := entry[l]; ok {
			at[l] = ir.L(i)
			continue
		}
		at[l] = ir.L(rank + len(bound))
		bound = append(bound, a)
	}
	var out form
	for _, m := range body {
		full := slices.Clone(at)
		for i := range m.bound {
			full = append(full, ir.L(rank+len(bound)+i))
		}
		r, _ := m.subst(full)
		r.bound = slices.Concat(bound, m.bound)
		for i, s := range x.in.To {
			if l, ok := s.Loop(); ok && x.in.Loops[l] == x.in.Out.Axes[i] && entry[l] == i {
				continue
			}
			via, ok := x.sub(s)
			if !ok {
				return x.opaque()
			}
			eq, _ := via.Subst(full)
			eq.Terms = ir.MergeTerms(append(slices.Clone(eq.Terms), ir.Term{Loop: i, Coef: -1}))
			r.conds = append(r.conds, cond{"=0", eq})
		}
		out = append(out, r)
	}
	return out
}
