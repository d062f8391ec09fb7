package interp

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The plain evaluator: every entry's address is computed from the subscripts,
// and a scan's body is set up again for every token. It is what this package
// was at first, kept as the measure of what it became.

// An Env holds the sizes and the values of one evaluation.
type Env struct {
	Sizes map[string]int
	vals  map[*ir.Value]*Tensor
	scans map[*ir.Instr]*history
}

// Run evaluates f for the given sizes and parameters, by name, and returns its
// results by name. It panics when a parameter is missing or has the wrong
// shape: its callers are the compiler's own tests.
func plainRun(f *ir.Func, sizes map[string]int, params map[string]*Tensor) map[string]*Tensor {
	e := &Env{Sizes: sizes, vals: map[*ir.Value]*Tensor{}, scans: map[*ir.Instr]*history{}}
	for _, p := range f.Params {
		t := params[p.Name]
		if t == nil {
			panic(fmt.Sprintf("interp: BUG: parameter %s of %s is missing", p.Name, f.Name))
		}
		if want := e.shape(p.Axes); fmt.Sprint(want) != fmt.Sprint(t.Shape) && len(want)+len(t.Shape) > 0 {
			panic(fmt.Sprintf("interp: BUG: parameter %s of %s has shape %v, want %v", p.Name, f.Name, t.Shape, want))
		}
		e.vals[p] = t
	}
	e.body(f)
	out := map[string]*Tensor{}
	for _, r := range f.Results {
		out[r.Name] = e.vals[r.Val]
	}
	return out
}

func (e *Env) shape(axes []*ir.Axis) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = e.size(a.Size)
	}
	return out
}

func (e *Env) size(p shape.Poly) int {
	n, err := p.Eval(e.Sizes)
	if err != nil {
		panic("interp: BUG: " + err.Error())
	}
	return n
}

func (e *Env) body(f *ir.Func) {
	for _, in := range f.Body {
		switch in.Op {
		case ir.ScanOp:
			e.scan(in)
		default:
			e.vals[in.Out] = e.instr(in)
		}
	}
}

// An access is a value with its address as a function of the loops.
type plainAccess struct {
	data   []float64
	base   int
	stride []int // per loop
	dyn    []*plainDynamic
	hi     int // bound of the data
}

// A dynamic part of an address comes from an integer tensor.
type plainDynamic struct {
	via    plainAccess
	stride int
	extent int
	shift  plainAccess // the affine part that the tensor's entry is added to
}

func (e *Env) access(t *Tensor, subs []ir.Sub, loops int) plainAccess {
	a := plainAccess{data: t.Data, stride: make([]int, loops), hi: len(t.Data)}
	mul := 1
	for i := len(subs) - 1; i >= 0; i-- {
		s := subs[i]
		if s.Indirect != nil {
			d := &plainDynamic{via: e.access(e.vals[s.Indirect.Val], s.Indirect.Sub, loops), stride: mul, extent: t.Shape[i],
				shift: e.affine(s, loops)}
			a.dyn = append(a.dyn, d)
		} else {
			aff := e.affine(s, loops)
			a.base += aff.base * mul
			for l, c := range aff.stride {
				a.stride[l] += c * mul
			}
		}
		mul *= t.Shape[i]
	}
	return a
}

// affine is the value of a subscript without its integer tensor.
func (e *Env) affine(s ir.Sub, loops int) plainAccess {
	a := plainAccess{base: e.size(s.Const), stride: make([]int, loops)}
	for _, t := range s.Terms {
		a.stride[t.Loop] += t.Coef
	}
	return a
}

// offset returns the address at the given loop values, or −1 when a gather
// points outside.
func (a *plainAccess) offset(idx []int) int {
	o := a.base
	for l, i := range idx {
		o += i * a.stride[l]
	}
	for _, d := range a.dyn {
		v := int(d.via.data[d.via.offset(idx)]) + d.shift.offset(idx)
		if v < 0 || v >= d.extent {
			return -1
		}
		o += v * d.stride
	}
	return o
}

func (a *plainAccess) get(idx []int) float64 {
	o := a.offset(idx)
	if o < 0 && len(a.dyn) > 0 {
		return 0
	}
	return a.data[o]
}

// guards holds conditions that an entry must meet.
type plainGuards []plainGuard

type plainGuard struct {
	aff plainAccess
	via *plainAccess
}

func (e *Env) guards(in *ir.Instr) plainGuards {
	var out plainGuards
	for _, s := range in.Guard {
		g := plainGuard{aff: e.affine(s, len(in.Loops))}
		if s.Indirect != nil {
			v := e.access(e.vals[s.Indirect.Val], s.Indirect.Sub, len(in.Loops))
			g.via = &v
		}
		out = append(out, g)
	}
	return out
}

func (gs plainGuards) ok(idx []int) bool {
	for _, g := range gs {
		v := g.aff.offset(idx)
		if g.via != nil {
			v += int(g.via.get(idx))
		}
		if v < 0 {
			return false
		}
	}
	return true
}

// each calls f for every point of the box that meets the guards.
func each(dims []int, gs plainGuards, f func(idx []int)) {
	for _, d := range dims {
		if d == 0 {
			return
		}
	}
	idx := make([]int, len(dims))
	for {
		if gs.ok(idx) {
			f(idx)
		}
		l := len(dims) - 1
		for ; l >= 0; l-- {
			idx[l]++
			if idx[l] < dims[l] {
				break
			}
			idx[l] = 0
		}
		if l < 0 {
			return
		}
	}
}

func (e *Env) instr(in *ir.Instr) *Tensor {
	out := NewTensor(e.shape(in.Out.Axes)...)
	if in.Op == ir.SizeOf {
		out.Data[0] = float64(e.size(in.Poly))
		return out
	}
	if in.Op.Info().View {
		copy(out.Data, e.vals[in.Args[0].Val].Data)
		return out
	}
	if in.Op == ir.Stack {
		e.stack(in, out)
		return out
	}
	dims := e.shape(in.Loops)
	to := e.access(out, in.To, len(dims))
	args := make([]plainAccess, len(in.Args))
	for i, a := range in.Args {
		args[i] = e.access(e.vals[a.Val], a.Sub, len(dims))
	}
	gs := e.guards(in)
	switch in.Op {
	case ir.Prod:
		each(dims, gs, func(idx []int) {
			p := in.Coef[0]
			for i := range args {
				p *= args[i].get(idx)
			}
			if o := to.offset(idx); o >= 0 {
				out.Data[o] += p
			}
		})
	case ir.Max, ir.Softmax, ir.LogSumExp:
		e.normalise(in, out, dims, &to, &args[0], gs)
	case ir.SolveOp:
		each(e.shape(in.Out.Axes), nil, func(point []int) {
			out.Data[to.offset(append(point, make([]int, len(in.Over))...))] = e.root(in, args, point)
		})
	case ir.TriSolve:
		e.triangle(in, out, dims, &to, args)
	default:
		vals := make([]float64, len(args))
		each(dims, gs, func(idx []int) {
			for i := range args {
				vals[i] = args[i].get(idx)
			}
			out.Data[to.offset(idx)] = Scalar(in, idx, vals)
		})
	}
	return out
}

// triangle puts what is there into X = B − L X as often as there are rows, each
// time for all of X: one row more is right every time.
func (e *Env) triangle(in *ir.Instr, out *Tensor, dims []int, to *plainAccess, args []plainAccess) {
	t, i := in.Triangle()
	for range dims[t] {
		next := make([]float64, len(out.Data))
		each(dims, nil, func(idx []int) {
			at := to.offset(idx)
			if idx[i] == 0 {
				next[at] = args[1].get(idx)
			}
			if row, col := idx[t], idx[i]; col < row {
				c := args[0].get(idx)
				idx[t] = col
				next[at] -= float64(c * out.Data[to.offset(idx)])
				idx[t] = row
			}
		})
		copy(out.Data, next)
	}
}

// root solves one equation by halving a fixed number of times.
func (e *Env) root(in *ir.Instr, args []plainAccess, point []int) float64 {
	f := in.Solve.Residual
	inner := &Env{Sizes: e.Sizes, vals: map[*ir.Value]*Tensor{}, scans: map[*ir.Instr]*history{}}
	idx := append(append([]int{}, point...), make([]int, len(in.Over))...)
	first := len(point)
	for k, p := range f.Params[1:] {
		t := NewTensor(e.shape(p.Axes)...)
		n := 0
		each(t.Shape, nil, func(own []int) {
			copy(idx[first:], own)
			t.Data[n] = args[k+2].get(idx)
			n++
		})
		inner.vals[p] = t
		first += len(p.Axes)
	}
	residual := func(x float64) float64 {
		inner.vals[f.Params[0]] = &Tensor{Data: []float64{x}}
		inner.body(f)
		return inner.vals[f.Results[0].Val].Data[0]
	}
	lo, hi := args[0].get(idx), args[1].get(idx)
	falling := residual(lo) > residual(hi)
	for range 200 {
		switch v := residual((lo + hi) / 2); {
		case v == 0:
			return (lo + hi) / 2
		case (v < 0) == falling:
			hi = (lo + hi) / 2
		default:
			lo = (lo + hi) / 2
		}
	}
	if math.Abs(residual(hi)) < math.Abs(residual(lo)) {
		return hi
	}
	return lo
}

// normalise evaluates max, softmax and logsumexp: for every point of the kept
// loops, over the loops in Over, where the guards hold.
func (e *Env) normalise(in *ir.Instr, out *Tensor, dims []int, to, arg *plainAccess, gs plainGuards) {
	over := map[int]bool{}
	for _, l := range in.Over {
		over[l] = true
	}
	kept, inner := make([]int, len(dims)), make([]int, len(dims))
	for l, d := range dims {
		kept[l], inner[l] = d, 1
		if over[l] {
			kept[l], inner[l] = 1, d
		}
	}
	full := make([]int, len(dims))
	each(kept, nil, func(base []int) {
		point := func(f func(idx []int)) {
			each(inner, nil, func(in []int) {
				for l := range full {
					full[l] = base[l] + in[l]
				}
				if gs.ok(full) {
					f(full)
				}
			})
		}
		top := math.Inf(-1)
		point(func(idx []int) {
			if x := arg.get(idx); !(x <= top) {
				top = x
			}
		})
		if in.Op == ir.Max {
			out.Data[to.offset(base)] = top
			return
		}
		sum := 0.0
		point(func(idx []int) { sum += math.Exp(arg.get(idx) - top) })
		if in.Op == ir.LogSumExp {
			out.Data[to.offset(base)] = top + math.Log(sum)
			return
		}
		point(func(idx []int) { out.Data[to.offset(idx)] = math.Exp(arg.get(idx)-top) / sum })
	})
}

// stack copies each argument to its place along the stacked axis: an
// argument's own box, moved by the constant of its subscript there.
func (e *Env) stack(in *ir.Instr, out *Tensor) {
	for _, a := range in.Args {
		src := e.vals[a.Val]
		mul, base := 1, 0
		stride := make([]int, len(src.Shape))
		outStride := make([]int, len(out.Shape))
		for i := len(out.Shape) - 1; i >= 0; i-- {
			outStride[i] = mul
			mul *= out.Shape[i]
		}
		for i, s := range a.Sub {
			loop := s.Terms[0].Loop
			stride[i] = outStride[loop]
			base -= e.size(s.Const) * outStride[loop]
		}
		n := 0
		each(src.Shape, nil, func(idx []int) {
			o := base
			for i, x := range idx {
				o += x * stride[i]
			}
			out.Data[o] = src.Data[n]
			n++
		})
	}
}
