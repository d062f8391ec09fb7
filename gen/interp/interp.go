// Package interp evaluates tensor programs plainly in float64.
//
// It is the oracle of the compiler: every gradient, claim, marker and emitted
// kernel is held to its numbers. So it does nothing clever: each instruction
// is its own loop nest over its box, in the order of the loops, with the
// address of every entry computed from the subscripts; sums run left to right.
// A gather outside its table reads zero and its scatter is dropped; the
// emitted wrappers refuse such input before it comes so far, except for the
// ignore id, for which this is the meaning.
package interp

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Tensor is a dense array in row-major order; integers and truth values are
// stored as float64 too.
type Tensor struct {
	Shape []int
	Data  []float64
}

// NewTensor returns a zero tensor.
func NewTensor(shape ...int) *Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return &Tensor{shape, make([]float64, n)}
}

// Clone returns a copy of t.
func (t *Tensor) Clone() *Tensor {
	return &Tensor{t.Shape, append([]float64(nil), t.Data...)}
}

// An Env holds the sizes and the values of one evaluation.
type Env struct {
	Sizes map[string]int
	vals  map[*ir.Value]*Tensor
	scans map[*ir.Instr]*history
}

// Run evaluates f for the given sizes and parameters, by name, and returns its
// results by name. It panics when a parameter is missing or has the wrong
// shape: its callers are the compiler's own tests.
func Run(f *ir.Func, sizes map[string]int, params map[string]*Tensor) map[string]*Tensor {
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

// Shape returns the sizes of axes for the given free sizes.
func Shape(axes []*ir.Axis, sizes map[string]int) []int {
	return (&Env{Sizes: sizes}).shape(axes)
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
type access struct {
	data   []float64
	base   int
	stride []int // per loop
	dyn    []*dynamic
	lo, hi int // bounds of the data
}

// A dynamic part of an address comes from an integer tensor.
type dynamic struct {
	via    access
	stride int
	extent int
	shift  access // the affine part that the tensor's entry is added to
}

func (e *Env) access(t *Tensor, subs []ir.Sub, loops int) access {
	a := access{data: t.Data, stride: make([]int, loops), hi: len(t.Data)}
	mul := 1
	for i := len(subs) - 1; i >= 0; i-- {
		s := subs[i]
		if s.Via != nil {
			d := &dynamic{via: e.access(e.vals[s.Via.Val], s.Via.Sub, loops), stride: mul, extent: t.Shape[i],
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
func (e *Env) affine(s ir.Sub, loops int) access {
	a := access{base: e.size(s.Const), stride: make([]int, loops)}
	for _, t := range s.Terms {
		a.stride[t.Loop] += t.Coef
	}
	return a
}

// offset returns the address at the given loop values, or −1 when a gather
// points outside.
func (a *access) offset(idx []int) int {
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

func (a *access) get(idx []int) float64 {
	o := a.offset(idx)
	if o < 0 && len(a.dyn) > 0 {
		return 0
	}
	return a.data[o]
}

// guards holds conditions that an entry must meet.
type guards []guard

type guard struct {
	aff access
	via *access
}

func (e *Env) guards(in *ir.Instr) guards {
	var out guards
	for _, s := range in.Guard {
		g := guard{aff: e.affine(s, len(in.Loops))}
		if s.Via != nil {
			v := e.access(e.vals[s.Via.Val], s.Via.Sub, len(in.Loops))
			g.via = &v
		}
		out = append(out, g)
	}
	return out
}

func (gs guards) ok(idx []int) bool {
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
func each(dims []int, gs guards, f func(idx []int)) {
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
	if in.Op == ir.Reshape {
		copy(out.Data, e.vals[in.Args[0].Val].Data)
		return out
	}
	if in.Op == ir.Stack {
		e.stack(in, out)
		return out
	}
	dims := e.shape(in.Loops)
	to := e.access(out, in.To, len(dims))
	args := make([]access, len(in.Args))
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
		panic("interp: BUG: solve is not evaluated")
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
