package interp

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Two formulas that differ by a part in 10¹² look equal in float64, where a sum of
// products has a rounding error of that size. So equalities are decided in double-double
// arithmetic (Dekker, A floating-point technique for extending the available precision,
// 1971): a number is the unevaluated sum of two float64 and has about 31 digits. This
// evaluator computes the address of every entry from its subscripts.

// A DoubleDoubleTensor is a dense array of double-double numbers in row-major order.
type DoubleDoubleTensor struct {
	Shape []int
	Data  []DoubleDouble
}

// withoutDoubleDouble are the primitives that have no rule in double-double arithmetic.
var withoutDoubleDouble = map[ir.Op]bool{ir.ScanOp: true, ir.SolveOp: true, ir.TriSolve: true}

// RunDoubleDouble evaluates f like Run, in double-double arithmetic; ok is false for a
// program with a scan, a root search or a triangular solve, which it does not support.
func RunDoubleDouble(f *ir.Func, sizes map[string]int, params map[string]*Tensor) (out map[string]*DoubleDoubleTensor, ok bool) {
	e := &doubleDoubleRun{m: &machine{sizes: sizes, vals: map[*ir.Value]*Tensor{}}, vals: map[*ir.Value]*DoubleDoubleTensor{}}
	for _, p := range f.Params {
		t := params[p.Name]
		if t == nil {
			panic(fmt.Sprintf("interp: BUG: parameter %s of %s is missing", p.Name, f.Name))
		}
		w := &DoubleDoubleTensor{Shape: t.Shape, Data: make([]DoubleDouble, len(t.Data))}
		for i, x := range t.Data {
			w.Data[i].Hi = x
		}
		e.set(p, w)
	}
	for _, in := range f.Body {
		if withoutDoubleDouble[in.Op] {
			return nil, false
		}
		w := &DoubleDoubleTensor{Shape: e.m.shape(in.Out.Axes)}
		w.Data = make([]DoubleDouble, len(NewTensor(w.Shape...).Data))
		e.instr(in, w)
		e.set(in.Out, w)
	}
	out = map[string]*DoubleDoubleTensor{}
	for _, r := range f.Results {
		out[r.Name] = e.vals[r.Val]
	}
	return out, true
}

// A doubleDoubleRun is one evaluation. The machine holds the integer arrays that
// subscripts read.
type doubleDoubleRun struct {
	m    *machine
	vals map[*ir.Value]*DoubleDoubleTensor
}

func (e *doubleDoubleRun) set(v *ir.Value, w *DoubleDoubleTensor) {
	e.vals[v] = w
	t := &Tensor{Shape: w.Shape}
	if v.Elem == ir.Int {
		for _, x := range w.Data {
			t.Data = append(t.Data, x.Hi)
		}
	}
	e.m.vals[v] = t
}

func (e *doubleDoubleRun) instr(in *ir.Instr, out *DoubleDoubleTensor) {
	switch in.Op {
	case ir.SizeOf:
		out.Data[0].Hi = float64(e.m.size(in.Poly))
		return
	case ir.Reshape, ir.Narrow:
		copy(out.Data, e.vals[in.Args[0].Val].Data)
		return
	case ir.Stack:
		e.stack(in, out)
		return
	}
	n := len(in.Loops)
	dims := e.m.shape(in.Loops)
	to := e.m.access(&Tensor{Shape: out.Shape}, in.To, n)
	args, data := make([]access, len(in.Args)), make([][]DoubleDouble, len(in.Args))
	for i, a := range in.Args {
		args[i], data[i] = e.m.access(e.m.vals[a.Val], a.Sub, n), e.vals[a.Val].Data
	}
	guard := e.guards(in)
	get := func(i int, idx []int) DoubleDouble {
		if at, ok := args[i].value(idx); ok {
			return data[i][at]
		}
		return DoubleDouble{} // a gather outside of its table
	}
	switch in.Op {
	case ir.Max, ir.Softmax, ir.LogSumExp:
		e.normalise(in, out, dims, &to, guard, get)
		return
	}
	vals := make([]DoubleDouble, len(args))
	eachPoint(dims, func(idx []int) {
		if !guard(idx) {
			return
		}
		for i := range args {
			vals[i] = get(i, idx)
		}
		if at, ok := to.value(idx); ok {
			if in.Op == ir.Prod {
				p := DoubleDouble{Hi: in.Coef[0]}
				for _, x := range vals {
					p = p.Mul(x)
				}
				out.Data[at] = out.Data[at].Add(p)
				return
			}
			out.Data[at] = doubleDoubleScalar(in, idx, vals)
		}
	})
}

// guards are the conditions that a point must meet.
func (e *doubleDoubleRun) guards(in *ir.Instr) func(idx []int) bool {
	var all []access
	for _, s := range in.Guard {
		all = append(all, e.m.affine(s, len(in.Loops), true))
	}
	return func(idx []int) bool {
		for i := range all {
			if v, _ := all[i].value(idx); v < 0 {
				return false
			}
		}
		return true
	}
}

func (e *doubleDoubleRun) normalise(in *ir.Instr, out *DoubleDoubleTensor, dims []int, to *access, guard func([]int) bool, get func(int, []int) DoubleDouble) {
	groups := map[string][]DoubleDouble{}
	places := map[string][]int{}
	var order []string
	for i := range out.Data {
		if in.Op != ir.Softmax {
			out.Data[i].Hi = math.Inf(-1)
		}
	}
	eachPoint(dims, func(idx []int) {
		at, ok := to.value(idx)
		if !ok || !guard(idx) {
			return
		}
		kept := slices.Clone(idx)
		for _, l := range in.Over {
			kept[l] = 0
		}
		key := fmt.Sprint(kept)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key], places[key] = append(groups[key], get(0, idx)), append(places[key], at)
	})
	for _, key := range order {
		xs, at := groups[key], places[key]
		top := xs[0]
		for _, x := range xs {
			if top.less(x) {
				top = x
			}
		}
		if in.Op == ir.Max {
			out.Data[at[0]] = top
			continue
		}
		sum := DoubleDouble{}
		for i, x := range xs {
			xs[i] = x.Sub(top).exp()
			sum = sum.Add(xs[i])
		}
		if in.Op == ir.LogSumExp {
			out.Data[at[0]] = top.Add(sum.log())
			continue
		}
		for i, x := range xs {
			out.Data[at[i]] = x.Div(sum)
		}
	}
}

// stack copies each argument to its place along the stacked axis.
func (e *doubleDoubleRun) stack(in *ir.Instr, out *DoubleDoubleTensor) {
	for _, a := range in.Args {
		src := e.vals[a.Val]
		eachPoint(src.Shape, func(idx []int) {
			from, to := 0, 0
			for i, n := range src.Shape {
				from = from*n + idx[i]
			}
			for i, n := range out.Shape {
				to = to * n
				for k, s := range a.Sub {
					if s.Terms[0].Loop == i {
						to += idx[k] - e.m.size(s.Const)
					}
				}
			}
			out.Data[to] = src.Data[from]
		})
	}
}

// eachPoint calls f for every point of a box.
func eachPoint(dims []int, f func(idx []int)) {
	if slices.Contains(dims, 0) {
		return
	}
	idx := make([]int, len(dims))
	for {
		f(idx)
		l := len(dims) - 1
		for ; l >= 0; l-- {
			if idx[l]++; idx[l] < dims[l] {
				break
			}
			idx[l] = 0
		}
		if l < 0 {
			return
		}
	}
}

// doubleDoubleScalar evaluates an entry-by-entry primitive at one point.
func doubleDoubleScalar(in *ir.Instr, idx []int, v []DoubleDouble) DoubleDouble {
	switch in.Op {
	case ir.Lin:
		sum := DoubleDouble{Hi: in.Coef[len(v)]}
		for i, x := range v {
			sum = sum.Add(DoubleDouble{Hi: in.Coef[i]}.Mul(x))
		}
		return sum
	case ir.Const:
		return DoubleDouble{Hi: in.Coef[0]}
	case ir.Iota:
		at := DoubleDouble{Hi: float64(idx[in.Over[0]])}
		for _, x := range v {
			at = at.Add(x)
		}
		return at
	case ir.Select:
		if v[0].Hi != 0 {
			return v[1]
		}
		return v[2]
	}
	if f := doubleDoubleUnary[in.Op]; f != nil {
		return f(v[0])
	}
	if f := doubleDoubleBinary[in.Op]; f != nil {
		return f(v[0], v[1])
	}
	panic("interp: BUG: no double-double rule for " + in.Op.String())
}
