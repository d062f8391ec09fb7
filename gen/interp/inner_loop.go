package interp

// The innermost loops of the elementwise primitives and of products, in float64 and with
// every number rounded to float32.

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// Scalar evaluates an elementwise primitive at one point of its iteration space.
func Scalar(in *ir.Instr, idx []int, v []float64) float64 {
	switch in.Op {
	case ir.Lin:
		sum := in.Coef[len(v)]
		for i, x := range v {
			sum += float64(in.Coef[i] * x)
		}
		return sum
	case ir.Const:
		return in.Coef[0]
	case ir.Iota:
		at := float64(idx[in.Over[0]])
		for _, x := range v {
			at += x
		}
		return at
	}
	x, ok := in.Op.Eval(v)
	if !ok {
		panic("interp: BUG: no rule for " + in.Op.String())
	}
	return x
}

// instr compiles one instruction.
func (m *machine) instr(in *ir.Instr) func() {
	out := m.vals[in.Out]
	switch in.Op {
	case ir.SizeOf:
		n := float64(m.size(in.Poly))
		return func() { out.Data[0] = m.round(n) }
	case ir.Reshape, ir.Narrow:
		src := m.vals[in.Args[0].Val]
		return func() {
			copy(out.Data, src.Data)
			if in.Op == ir.Narrow && m.narrow != nil {
				for i, x := range out.Data {
					out.Data[i] = m.narrow(x)
				}
			}
		}
	case ir.Stack:
		return m.stack(in)
	case ir.Max, ir.Softmax, ir.LogSumExp:
		return m.normalise(in)
	case ir.SolveOp:
		return m.root(in)
	case ir.TriSolve:
		return m.triangularSolve(in)
	}
	var f func(r *row)
	n := m.nest(in, in.Args)
	if in.Op == ir.Iota {
		n.dims = append(n.dims, 1) // a row is an entry, so that its index is known
		n.each(func(a *access) { a.pad() })
		n.idx = make([]int, len(n.dims))
		n.row.args = make([]cursor, len(n.args))
		f = func(r *row) {
			at := float64(n.idx[in.Over[0]])
			for _, a := range r.args {
				at += a.data[a.at]
			}
			r.to.data[r.to.at] = m.round(at)
		}
	} else {
		n.prepare()
		f = m.kernel(in)
		if m.comparisons != nil && isComparison(in.Op) {
			f = m.comparisons.loop(in)
		}
	}
	whole := in.Op != ir.Prod && len(in.Guard) == 0
	return func() {
		if !whole {
			clear(out.Data)
		}
		n.run(f)
	}
}

func (m *machine) round(x float64) float64 {
	if m.single {
		return r32(x)
	}
	return x
}

// kernel is the innermost loop of an instruction.
func (m *machine) kernel(in *ir.Instr) func(r *row) {
	if m.single {
		return rounding(in)
	}
	switch {
	case in.Op == ir.Prod:
		return product(in.Coef[0], len(in.Args))
	case in.Op == ir.Lin:
		return linear(in.Coef)
	case in.Op == ir.Const:
		c := in.Coef[0]
		return func(r *row) {
			for i, o := 0, r.to.at; i < r.n; i, o = i+1, o+r.to.stride {
				r.to.data[o] = c
			}
		}
	case in.Op.Unary() != nil:
		f := in.Op.Unary()
		return func(r *row) {
			a, o := r.args[0], r.to
			for range r.n {
				o.data[o.at] = f(a.data[a.at])
				o.at, a.at = o.at+o.stride, a.at+a.stride
			}
		}
	case in.Op.Binary() != nil:
		f := in.Op.Binary()
		return func(r *row) {
			a, b, o := r.args[0], r.args[1], r.to
			for range r.n {
				o.data[o.at] = f(a.data[a.at], b.data[b.at])
				o.at, a.at, b.at = o.at+o.stride, a.at+a.stride, b.at+b.stride
			}
		}
	}
	return pointwise(in, func(vals []float64) float64 { return Scalar(in, nil, vals) })
}

// pointwise is the innermost loop that computes each entry from those of the arguments.
func pointwise(in *ir.Instr, f func(vals []float64) float64) func(r *row) {
	vals := make([]float64, len(in.Args))
	return func(r *row) {
		for i := range r.n {
			for k := range vals {
				a := &r.args[k]
				vals[k] = a.data[a.at+i*a.stride]
			}
			r.to.data[r.to.at+i*r.to.stride] = f(vals)
		}
	}
}

// product adds coef · Π args along a row.
func product(coef float64, args int) func(r *row) {
	switch args {
	case 1:
		return func(r *row) {
			a, o := r.args[0], r.to
			for range r.n {
				o.data[o.at] += float64(coef * a.data[a.at])
				o.at, a.at = o.at+o.stride, a.at+a.stride
			}
		}
	case 2:
		return func(r *row) { product2(coef, r) }
	}
	return func(r *row) {
		for i := range r.n {
			p := coef
			for k := range r.args {
				a := &r.args[k]
				p *= a.data[a.at+i*a.stride]
			}
			r.to.data[r.to.at+i*r.to.stride] += float64(p)
		}
	}
}

func product2(coef float64, r *row) {
	a, b, o := r.args[0], r.args[1], r.to
	if o.stride == 0 {
		sum := o.data[o.at]
		for range r.n {
			sum += float64(coef * a.data[a.at] * b.data[b.at])
			a.at, b.at = a.at+a.stride, b.at+b.stride
		}
		o.data[o.at] = sum
		return
	}
	for range r.n {
		o.data[o.at] += float64(coef * a.data[a.at] * b.data[b.at])
		o.at, a.at, b.at = o.at+o.stride, a.at+a.stride, b.at+b.stride
	}
}

func linear(coef []float64) func(r *row) {
	n := len(coef) - 1
	if n == 2 {
		c0, c1, c2 := coef[0], coef[1], coef[2]
		return func(r *row) {
			a, b, o := r.args[0], r.args[1], r.to
			for range r.n {
				o.data[o.at] = c2 + float64(c0*a.data[a.at]) + float64(c1*b.data[b.at])
				o.at, a.at, b.at = o.at+o.stride, a.at+a.stride, b.at+b.stride
			}
		}
	}
	return func(r *row) {
		for i := range r.n {
			sum := coef[n]
			for k := range r.args {
				a := &r.args[k]
				sum += float64(coef[k] * a.data[a.at+i*a.stride])
			}
			r.to.data[r.to.at+i*r.to.stride] = sum
		}
	}
}

// r32 rounds to float32.
func r32(x float64) float64 { return float64(float32(x)) }

// rounding is the loop of any primitive with every number rounded to float32.
func rounding(in *ir.Instr) func(r *row) {
	switch in.Op {
	case ir.Prod:
		coef := r32(in.Coef[0])
		return func(r *row) {
			for i := range r.n {
				p := coef
				for k := range r.args {
					a := &r.args[k]
					p = r32(p * a.data[a.at+i*a.stride])
				}
				out := &r.to.data[r.to.at+i*r.to.stride]
				*out = r32(*out + p)
			}
		}
	case ir.Lin:
		coef := make([]float64, len(in.Coef))
		for k, c := range in.Coef {
			coef[k] = r32(c)
		}
		return func(r *row) {
			for i := range r.n {
				sum := coef[len(coef)-1]
				for k := range r.args {
					a := &r.args[k]
					sum = r32(sum + r32(coef[k]*a.data[a.at+i*a.stride]))
				}
				r.to.data[r.to.at+i*r.to.stride] = sum
			}
		}
	}
	return pointwise(in, func(vals []float64) float64 { return r32(Scalar(in, nil, vals)) })
}
