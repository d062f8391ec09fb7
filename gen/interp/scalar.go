package interp

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Scalar evaluates an entry-by-entry primitive at one point of its box.
func Scalar(in *ir.Instr, idx []int, v []float64) float64 {
	switch in.Op {
	case ir.Lin:
		sum := in.Coef[len(v)]
		for i, x := range v {
			sum += in.Coef[i] * x
		}
		return sum
	case ir.Const:
		return in.Coef[0]
	case ir.Iota:
		return float64(idx[in.Over[0]])
	case ir.Select:
		if v[0] != 0 {
			return v[1]
		}
		return v[2]
	case ir.Pow:
		return math.Pow(v[0], v[1])
	case ir.Mod:
		return v[0] - v[1]*math.Floor(v[0]/v[1])
	}
	if f, ok := unary[in.Op]; ok {
		return f(v[0])
	}
	if f, ok := binary[in.Op]; ok {
		return f(v[0], v[1])
	}
	panic(fmt.Sprintf("interp: BUG: no rule for %v", in.Op))
}

var unary = map[ir.Op]func(float64) float64{
	ir.Stop:     func(x float64) float64 { return x },
	ir.Exp:      math.Exp,
	ir.Log:      math.Log,
	ir.Log1p:    math.Log1p,
	ir.Expm1:    math.Expm1,
	ir.Sqrt:     math.Sqrt,
	ir.Tanh:     math.Tanh,
	ir.Sigmoid:  sigmoid,
	ir.Softplus: func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
	ir.Sin:      math.Sin,
	ir.Cos:      math.Cos,
	ir.Erf:      math.Erf,
	ir.Abs:      math.Abs,
	ir.Sign:     sign,
	ir.Floor:    math.Floor,
	ir.Not:      func(x float64) float64 { return truth(x == 0) },
	ir.Real_:    func(x float64) float64 { return x },
}

var binary = map[ir.Op]func(x, y float64) float64{
	ir.Override: func(x, _ float64) float64 { return x },
	ir.Div:      func(x, y float64) float64 { return x / y },
	ir.Max2:     func(x, y float64) float64 { return pick(y <= x, x, y) },
	ir.Min2:     func(x, y float64) float64 { return pick(x <= y, x, y) },
	ir.Less:     func(x, y float64) float64 { return truth(x < y) },
	ir.LessEq:   func(x, y float64) float64 { return truth(x <= y) },
	ir.Equal:    func(x, y float64) float64 { return truth(x == y) },
	ir.And:      func(x, y float64) float64 { return truth(x != 0 && y != 0) },
	ir.Or:       func(x, y float64) float64 { return truth(x != 0 || y != 0) },
}

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // zero stays zero, NaN stays NaN
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func pick(first bool, x, y float64) float64 {
	if first {
		return x
	}
	return y
}

// normalise evaluates max, softmax and logsumexp: for every point of the kept
// loops, over the loops in Over, where the guards hold.
func (e *Env) normalise(in *ir.Instr, out *Tensor, dims []int, to, arg *access, gs guards) {
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
