package gokernel_test

import (
	"math"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/shape"
)

func deltaRule() *ir.Func {
	r := newRule("delta")
	dk, dv := r.axis("d_k"), r.axis("d_v")
	k, q, v, rho, theta := r.token("k", dk), r.token("q", dk), r.token("v", dv), r.token("rho"), r.token("theta")
	M := r.state("M", dv, dk)
	e := plus(r.b, matvec(r.b, M, k), v, 1, -1)
	write := r.b.Prod(M.Axes, M.Axes, ir.Ls(2), -1, ir.At(theta), ir.At(e, ir.L(0)), ir.At(k, ir.L(1)))
	next := plus(r.b, scaled(r.b, rho, M), write, 1, 1)
	r.next(M, next)
	r.give("y", matvec(r.b, next, q))
	return r.done()
}

// squareDelta is the delta rule with d_k = d_v = d as one axis, gates from
// logits inside of the step, and a read before the write.
func squareDelta() *ir.Func {
	r := newRule("square")
	d := r.axis("d")
	k, q, v, a, w := r.token("k", d), r.token("q", d), r.token("v", d), r.token("a"), r.shared("w", d)
	M := r.state("M", d, d)
	rho := r.b.Map(ir.Sigmoid, a)
	kw := r.b.Prod(k.Axes, k.Axes, ir.Ls(1), 1, ir.All(k), ir.All(w))
	e := plus(r.b, matvec(r.b, M, kw), v, 1, -1)
	write := r.b.Prod(M.Axes, M.Axes, ir.Ls(2), -0.25, ir.At(e, ir.L(0)), ir.At(kw, ir.L(1)))
	r.next(M, plus(r.b, scaled(r.b, rho, M), write, 1, 1))
	r.give("y", matvec(r.b, M, q))
	return r.done()
}

func titans() *ir.Func {
	r := newRule("titans")
	dk, dv := r.axis("d_k"), r.axis("d_v")
	k, q, v := r.token("k", dk), r.token("q", dk), r.token("v", dv)
	rho, theta, eta := r.token("rho"), r.token("theta"), r.token("eta")
	M, S := r.state("M", dv, dk), r.state("S", dv, dk)
	e := plus(r.b, matvec(r.b, M, k), v, 1, -1)
	write := r.b.Prod(M.Axes, M.Axes, ir.Ls(2), -1, ir.At(theta), ir.At(e, ir.L(0)), ir.At(k, ir.L(1)))
	s := plus(r.b, scaled(r.b, eta, S), write, 1, 1)
	m := plus(r.b, scaled(r.b, rho, M), s, 1, 1)
	r.next(S, s)
	r.next(M, m)
	r.give("y", matvec(r.b, m, q))
	return r.done()
}

func hebbian() *ir.Func {
	r := newRule("hebbian")
	dk, dv := r.axis("d_k"), r.axis("d_v")
	k, q, v, rho := r.token("k", dk), r.token("q", dk), r.token("v", dv), r.token("rho")
	M := r.state("M", dv, dk)
	write := r.b.Prod(M.Axes, M.Axes, ir.Ls(2), 1, ir.At(v, ir.L(0)), ir.At(k, ir.L(1)))
	next := plus(r.b, scaled(r.b, rho, M), write, 1, 1)
	r.next(M, next)
	r.give("y", matvec(r.b, next, q))
	return r.done()
}

// slots has a softmax over the rows of its state: rows see each other.
func slots() *ir.Func {
	r := newRule("slots")
	m, d := r.axis("m"), r.axis("d")
	k, v := r.token("k", d), r.token("v", d)
	M := r.state("M", m, d)
	score := r.b.Prod([]*ir.Axis{m, d}, []*ir.Axis{m}, ir.Ls(1), 1, ir.All(M), ir.At(k, ir.L(1)))
	p := r.b.Norm(ir.Softmax, []*ir.Axis{m}, []int{0}, nil, ir.All(score))
	y := r.b.Prod([]*ir.Axis{d, m}, []*ir.Axis{d}, ir.Ls(1), 1, ir.At(p, ir.L(1)), ir.At(M, ir.L(1), ir.L(0)))
	diff := r.b.Lin(M.Axes, 0, []float64{1, -1}, ir.At(v, ir.L(1)), ir.All(M))
	write := r.b.Prod(M.Axes, M.Axes, ir.Ls(2), 0.5, ir.At(p, ir.L(0)), ir.All(diff))
	r.next(M, plus(r.b, M, write, 1, 1))
	r.give("y", y)
	return r.done()
}

// gatedVector is a recurrence of a vector: all of it is rows.
func gatedVector() *ir.Func {
	r := newRule("vector")
	d := r.axis("d")
	a, x := r.token("a", d), r.token("x", d)
	h := r.state("h", d)
	g := r.b.Map(ir.Sigmoid, a)
	gh := r.b.Map(ir.Prod, g, h)
	gh.Def.Coef = []float64{1}
	u := r.b.Map(ir.Tanh, plus(r.b, gh, x, 1, 1))
	r.next(h, u)
	r.give("y", u)
	return r.done()
}

// scalarState is a running mean with a state of no axes beside one that
// remembers the value before it.
func scalarState() *ir.Func {
	r := newRule("mean")
	rho, x := r.token("rho"), r.token("x")
	c, old := r.state("c"), r.state("old")
	kept := r.b.Prod(nil, nil, nil, 1, ir.At(rho), ir.At(c))
	next := r.b.Lin(nil, 0, []float64{1, 1, -0.5}, ir.At(kept), ir.At(x), ir.At(old))
	r.next(c, next)
	r.next(old, c)
	r.give("y", next)
	return r.done()
}

// windowed writes a key that is a sum over the last tokens of a series, and
// keeps the vector it read last.
func windowed() *ir.Func {
	r := newRule("windowed")
	dk, dv, w := r.axis("d_k"), r.axis("d_v"), r.axis("w")
	long := r.f.NewSizedAxis("long", shape.Sym("T").Add(shape.Sym("w")).Sub(shape.Int(1)))
	series := r.f.AddParam("k", ir.Input, ir.Real, r.L, long, dk)
	win := r.b.F.AddParam("k", ir.Token, ir.Real, w, dk)
	r.scan.Tokens = append(r.scan.Tokens, ir.ScanInput{Param: win, Val: series, Window: w, Base: shape.Sym("w").Sub(shape.Int(1))})
	q, v, rho, taps := r.token("q", dk), r.token("v", dv), r.token("rho"), r.shared("taps", w)
	M, last := r.state("M", dv, dk), r.state("last", dv)
	k := r.b.Prod([]*ir.Axis{dk, w}, []*ir.Axis{dk}, ir.Ls(1), 1, ir.At(win, ir.L(1), ir.L(0)), ir.At(taps, ir.L(1)))
	e := r.b.Lin(last.Axes, 0, []float64{1, -1, 0.25}, ir.All(matvec(r.b, M, k)), ir.All(v), ir.All(last))
	write := r.b.Prod(M.Axes, M.Axes, ir.Ls(2), -0.3, ir.At(e, ir.L(0)), ir.At(k, ir.L(1)))
	next := plus(r.b, scaled(r.b, rho, M), write, 1, 1)
	y := matvec(r.b, next, q)
	r.next(M, next)
	r.next(last, y)
	r.give("y", y)
	return r.done()
}

// convolution is a causal window over a series with the tail of the call
// before it, then a gate.
func convolution() *ir.Func {
	f := &ir.Func{Name: "conv"}
	L, T, d, w := f.NewAxis("L"), f.NewAxis("T"), f.NewAxis("d"), f.NewAxis("w")
	tail := f.NewSizedAxis("tail", shape.Sym("w").Sub(shape.Int(1)))
	long := f.NewSizedAxis("long", shape.Sym("T").Add(shape.Sym("w")).Sub(shape.Int(1)))
	x := f.AddParam("x", ir.Input, ir.Real, L, T, d)
	c := f.AddParam("x.tail", ir.State, ir.Real, L, tail, d)
	weight := f.AddParam("W", ir.Outer, ir.Real, w, d)
	b := &ir.Builder{F: f, Eq: "conv.window"}
	all := b.Stack([]*ir.Axis{L, long, d}, 1, c, x)
	back := ir.Sub{Terms: []ir.Term{{Loop: 1, Coef: 1}, {Loop: 3, Coef: -1}}, Const: shape.Sym("w").Sub(shape.Int(1))}
	y := b.Prod([]*ir.Axis{L, T, d, w}, []*ir.Axis{L, T, d}, ir.Ls(3), 1, ir.At(all, ir.L(0), back, ir.L(2)), ir.At(weight, ir.L(3), ir.L(2)))
	g := b.Map(ir.Sigmoid, y)
	out := b.Map(ir.Prod, y, g)
	out.Def.Coef = []float64{1}
	late := ir.Sub{Terms: []ir.Term{{Loop: 1, Coef: 1}}, Const: shape.Sym("T")}
	last := b.Lin([]*ir.Axis{L, tail, d}, 0, []float64{1}, ir.At(all, ir.L(0), late, ir.L(2)))
	f.Results = []ir.Result{{Name: "y", Val: out}, {Name: "x.tail", Val: last, State: true}}
	return f
}

// attention is causal, within a window of w tokens.
func attention() *ir.Func {
	f := &ir.Func{Name: "attention"}
	L, T, d := f.NewAxis("L"), f.NewAxis("T"), f.NewAxis("d")
	S := f.NewSizedAxis("S", shape.Sym("T"))
	q := f.AddParam("q", ir.Input, ir.Real, L, T, d)
	k := f.AddParam("k", ir.Input, ir.Real, L, T, d)
	v := f.AddParam("v", ir.Input, ir.Real, L, T, d)
	b := &ir.Builder{F: f, Eq: "attention.scores"}
	guard := []ir.Sub{{Terms: []ir.Term{{Loop: 1, Coef: 1}, {Loop: 2, Coef: -1}}},
		{Terms: []ir.Term{{Loop: 2, Coef: 1}, {Loop: 1, Coef: -1}}, Const: shape.Sym("w").Sub(shape.Int(1))}}
	lts := []*ir.Axis{L, T, S}
	score := b.Add(&ir.Instr{Op: ir.Prod, Loops: []*ir.Axis{L, T, S, d}, Guard: guard, To: ir.Ls(3), Coef: []float64{0.3},
		Args: []ir.Arg{ir.At(q, ir.L(0), ir.L(1), ir.L(3)), ir.At(k, ir.L(0), ir.L(2), ir.L(3))},
		Out:  &ir.Value{Name: f.Fresh("score"), Elem: ir.Real, Axes: lts}})
	p := b.Norm(ir.Softmax, lts, []int{2}, guard, ir.All(score))
	y := b.Add(&ir.Instr{Op: ir.Prod, Loops: []*ir.Axis{L, T, d, S}, To: ir.Ls(3), Coef: []float64{1},
		Guard: []ir.Sub{{Terms: []ir.Term{{Loop: 1, Coef: 1}, {Loop: 3, Coef: -1}}}},
		Args:  []ir.Arg{ir.At(p, ir.L(0), ir.L(1), ir.L(3)), ir.At(v, ir.L(0), ir.L(3), ir.L(2))},
		Out:   &ir.Value{Name: f.Fresh("y"), Elem: ir.Real, Axes: []*ir.Axis{L, T, d}}})
	f.Results = []ir.Result{{Name: "y", Val: y}}
	return f
}

// crossEntropy embeds tokens, maps them to logits and takes the mean loss,
// where targets of −1 do not count.
func crossEntropy() *ir.Func {
	f := &ir.Func{Name: "loss"}
	L, T, V, d := f.NewAxis("L"), f.NewAxis("T"), f.NewAxis("V"), f.NewAxis("d")
	in := f.AddParam("in", ir.Input, ir.Int, L, T)
	target := f.AddParam("target", ir.Input, ir.Int, L, T)
	E := f.AddParam("E", ir.Outer, ir.Real, V, d)
	W := f.AddParam("W", ir.Outer, ir.Real, V, d)
	b := &ir.Builder{F: f, Eq: "loss.embed"}
	token := ir.At(in, ir.L(0), ir.L(1))
	want := ir.At(target, ir.L(0), ir.L(1))
	ltd, ltv := []*ir.Axis{L, T, d}, []*ir.Axis{L, T, V}
	x := b.Lin(ltd, 0, []float64{1}, ir.At(E, ir.Sub{Indirect: &token}, ir.L(2)))
	h := b.Map(ir.Tanh, x)
	logits := b.Prod([]*ir.Axis{L, T, V, d}, ltv, ir.Ls(3), 1, ir.At(h, ir.L(0), ir.L(1), ir.L(3)), ir.At(W, ir.L(2), ir.L(3)))
	lse := b.Norm(ir.LogSumExp, ltv, []int{2}, nil, ir.All(logits))
	keep := []ir.Sub{{Indirect: &want}}
	zero := []*ir.Axis{L, T}
	hit := b.Add(&ir.Instr{Op: ir.Prod, Loops: zero, To: ir.Ls(2), Coef: []float64{1}, Guard: keep,
		Args: []ir.Arg{ir.At(logits, ir.L(0), ir.L(1), ir.Sub{Indirect: &want})},
		Out:  &ir.Value{Name: f.Fresh("hit"), Elem: ir.Real, Axes: zero}})
	norm := b.Add(&ir.Instr{Op: ir.Prod, Loops: zero, To: ir.Ls(2), Coef: []float64{1}, Guard: keep,
		Args: []ir.Arg{ir.All(lse)}, Out: &ir.Value{Name: f.Fresh("norm"), Elem: ir.Real, Axes: zero}})
	each := plus(b, norm, hit, 1, -1)
	loss := b.Prod(zero, nil, nil, 0.125, ir.All(each))
	f.Results = []ir.Result{{Name: "loss", Val: loss}, {Name: "logits", Val: logits}}
	return f
}

// chain is entry by entry: every kind of function, choices and comparisons.
func chain() *ir.Func {
	f := &ir.Func{Name: "chain"}
	n, m := f.NewAxis("n"), f.NewAxis("m")
	x := f.AddParam("x", ir.Input, ir.Real, n, m)
	y := f.AddParam("y", ir.Input, ir.Real, m)
	b := &ir.Builder{F: f}
	nm := []*ir.Axis{n, m}
	yy := ir.At(y, ir.L(1))
	pos := b.Map(ir.Softplus, x)
	root := b.Map(ir.Sqrt, b.Lin(nm, 0.5, []float64{1}, ir.All(pos)))
	log := b.Map(ir.Log, root)
	ratio := b.Elementwise(ir.Div, nm, ir.All(log), ir.All(root))
	power := b.Elementwise(ir.Pow, nm, ir.All(root), ir.At(b.Const(1.5)))
	erf := b.Map(ir.Erf, x)
	top := b.Elementwise(ir.Max2, nm, ir.All(x), yy)
	low := b.Elementwise(ir.Min2, nm, ir.All(erf), yy)
	side := b.Elementwise(ir.Less, nm, ir.All(x), yy)
	pick := b.Elementwise(ir.Select, nm, ir.All(side), ir.All(ratio), ir.All(power))
	wave := plus(b, b.Map(ir.Sin, x), b.Map(ir.Cos, x), 2, -0.5)
	more := plus(b, b.Map(ir.Expm1, x), b.Map(ir.Log1p, pos), 1, 1)
	size := b.Map(ir.Abs, b.Map(ir.Exp, x))
	sum := b.Lin(nm, 0.25, []float64{1, 1, 1, 1, 1, 1}, ir.All(top), ir.All(low), ir.All(pick), ir.All(wave), ir.All(more), ir.All(size))
	total := b.Prod(nm, []*ir.Axis{m}, []ir.Sub{ir.L(1)}, 1, ir.All(sum))
	mean := b.Norm(ir.Max, nm, []int{1}, nil, ir.All(sum))
	f.Results = []ir.Result{{Name: "sum", Val: sum}, {Name: "total", Val: total}, {Name: "top", Val: mean}}
	return f
}

// heads splits d into H heads, multiplies within them and joins them again.
func heads() *ir.Func {
	f := &ir.Func{Name: "heads"}
	B, T, H, dh := f.NewAxis("B"), f.NewAxis("T"), f.NewAxis("H"), f.NewAxis("d_h")
	d := f.NewSizedAxis("d", shape.Sym("H").Mul(shape.Sym("d_h")))
	slot := f.NewSizedAxis("slot", shape.Sym("B").Mul(shape.Sym("H")))
	x := f.AddParam("x", ir.Input, ir.Real, B, T, d)
	W := f.AddParam("W", ir.Outer, ir.Real, d, d)
	e := f.NewSizedAxis("e", shape.Sym("d_h"))
	U := f.AddParam("U", ir.Outer, ir.Real, dh, e)
	b := &ir.Builder{F: f, Eq: "heads.project"}
	p := b.Prod([]*ir.Axis{B, T, d, d}, []*ir.Axis{B, T, d}, ir.Ls(3), 1, ir.At(x, ir.L(0), ir.L(1), ir.L(3)), ir.At(W, ir.L(2), ir.L(3)))
	split := b.Reshape(p, B, T, H, dh)
	moved := b.Prod([]*ir.Axis{B, H, T, dh}, []*ir.Axis{B, H, T, dh}, ir.Ls(4), 1, ir.At(split, ir.L(0), ir.L(2), ir.L(1), ir.L(3)))
	flat := b.Reshape(moved, slot, T, dh)
	u := b.Prod([]*ir.Axis{slot, T, e, dh}, []*ir.Axis{slot, T, e}, ir.Ls(3), -0.5, ir.At(flat, ir.L(0), ir.L(1), ir.L(3)), ir.At(U, ir.L(3), ir.L(2)))
	gram := b.Prod([]*ir.Axis{slot, dh, e, T}, []*ir.Axis{slot, dh, e}, ir.Ls(3), 1, ir.At(flat, ir.L(0), ir.L(3), ir.L(1)), ir.At(u, ir.L(0), ir.L(3), ir.L(2)))
	f.Results = []ir.Result{{Name: "u", Val: u}, {Name: "gram", Val: gram}, {Name: "flat", Val: flat}}
	return f
}

func sizesOf(names []string, rows ...[]int) []map[string]int {
	var out []map[string]int
	for _, r := range rows {
		m := map[string]int{}
		for i, n := range names {
			m[n] = r[i]
		}
		out = append(out, m)
	}
	return out
}

// gates keeps gates in the range in which a rule does not explode.
func gates(rng *rand.Rand, p *ir.Value, sizes map[string]int) float64 {
	r32 := func(x float64) float64 { return float64(float32(x)) }
	switch p.Name {
	case "rho":
		return r32(0.9 + 0.1*rng.Float64())
	case "theta":
		return r32(0.05 * rng.Float64())
	case "eta":
		return r32(0.7 * rng.Float64())
	case "k", "q", "w":
		n := sizes["d_k"] + sizes["d"]
		return r32((2*rng.Float64() - 1) / math.Sqrt(float64(n)))
	case "in":
		return float64(rng.IntN(sizes["V"]))
	case "target":
		return float64(rng.IntN(sizes["V"]+1) - 1)
	}
	return math.NaN()
}

// chunks keeps what comes into a chunk in the range of its products of gates.
func chunks(rng *rand.Rand, p *ir.Value, sizes map[string]int) float64 {
	switch p.Name {
	case "K", "Q":
		return float64(float32((2*rng.Float64() - 1) / math.Sqrt(float64(sizes["d_k"]))))
	case "D", "Gm", "g", "gp", "gam", "gC", "h", "hp", "gae", "hC", "pC":
		return float64(float32(0.5 + 0.5*rng.Float64()))
	case "theta":
		return float64(float32(0.5 * rng.Float64()))
	}
	return math.NaN()
}

func programs() []*program {
	matrix := sizesOf([]string{"L", "T", "d_k", "d_v"}, []int{1, 1, 1, 1}, []int{2, 63, 5, 31}, []int{3, 64, 33, 5}, []int{1, 65, 31, 33}, []int{2, 3, 8, 4})
	square := sizesOf([]string{"L", "T", "d"}, []int{1, 1, 1}, []int{2, 63, 5}, []int{3, 65, 9}, []int{1, 64, 33})
	return []*program{
		{name: "Delta", f: deltaRule(), sizes: matrix, input: gates},
		{name: "Square", f: squareDelta(), sizes: square, input: gates},
		{name: "Titans", f: titans(), sizes: matrix, input: gates},
		{name: "Hebbian", f: hebbian(), sizes: matrix, input: gates},
		{name: "Vector", f: gatedVector(), sizes: square, input: gates},
		{name: "Slots", f: slots(), sizes: sizesOf([]string{"L", "T", "m", "d"}, []int{1, 1, 1, 1}, []int{2, 65, 3, 5}, []int{3, 4, 5, 2}), input: gates},
		{name: "Scalar", f: scalarState(), sizes: sizesOf([]string{"L", "T"}, []int{1, 1}, []int{3, 65}), input: gates},
		{name: "Windowed", f: windowed(), sizes: sizesOf([]string{"L", "T", "d_k", "d_v", "w"}, []int{1, 1, 1, 1, 1}, []int{2, 65, 5, 9, 4}, []int{3, 5, 7, 6, 2}), input: gates},
		{name: "Conv", f: convolution(), sizes: sizesOf([]string{"L", "T", "d", "w"}, []int{1, 1, 1, 4}, []int{2, 9, 5, 4}, []int{3, 3, 2, 1})},
		{name: "Attention", f: attention(), sizes: sizesOf([]string{"L", "T", "d", "w"}, []int{1, 1, 1, 1}, []int{2, 9, 5, 4}, []int{3, 7, 2, 100})},
		{name: "Loss", f: crossEntropy(), sizes: sizesOf([]string{"L", "T", "V", "d"}, []int{1, 1, 2, 1}, []int{2, 9, 7, 5}, []int{3, 5, 4, 8}), input: gates},
		{name: "Chain", f: chain(), sizes: sizesOf([]string{"n", "m"}, []int{1, 1}, []int{4, 7}, []int{13, 3})},
		{name: "Triangular", f: irtest.Triangular(), sizes: sizesOf([]string{"B", "c", "d"}, []int{1, 1, 1}, []int{2, 5, 3}, []int{3, 9, 1}, []int{1, 33, 20})},
		{name: "Chunk", f: irtest.Chunk(), sizes: sizesOf([]string{"L", "T", "C", "d_k", "d_v"}, []int{1, 1, 1, 1, 1}, []int{2, 3, 2, 31, 1}, []int{1, 2, 4, 33, 31}, []int{3, 1, 16, 5, 33}, []int{1, 3, 32, 7, 9}, []int{1, 2, 64, 31, 33}), input: chunks},
		{name: "Momentum", f: irtest.Momentum(), sizes: sizesOf([]string{"L", "T", "C", "d_k", "d_v"}, []int{1, 1, 1, 1, 1}, []int{2, 3, 4, 33, 31}, []int{1, 2, 32, 7, 9}), input: chunks},
		{name: "Linear", f: irtest.Linear(), sizes: sizesOf([]string{"L", "T", "C", "d_k", "d_v"}, []int{1, 1, 1, 1, 1}, []int{2, 3, 4, 33, 31}, []int{1, 2, 32, 7, 9}), input: chunks},
		{name: "Heads", f: heads(), sizes: sizesOf([]string{"B", "T", "H", "d_h"}, []int{1, 1, 1, 1}, []int{2, 5, 3, 4}, []int{3, 2, 2, 7})},
	}
}
