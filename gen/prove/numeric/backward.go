package numeric

import (
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Tensors are named arrays: parameters, results, adjoints.
type Tensors = map[string]*interp.Tensor

// ForwardBackward runs a pair forward and backward. weigh gives the adjoint of each
// result of f; a nil one is zero. Gradients come back under the names of the
// parameters; a parameter that receives nothing has none.
func ForwardBackward(f *ir.Func, pair *ir.Pair, sizes map[string]int, params Tensors, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (out, grads Tensors) {
	out = interp.Run(pair.Fwd, sizes, paramsOf(pair.Fwd, params))
	in := Tensors{}
	for n, t := range out {
		in[n] = t
	}
	for n, t := range params { // a state's value before the call, not after it
		in[n] = t
	}
	for _, r := range f.Results {
		bar := weigh(r, out[r.Name])
		if bar == nil {
			bar = interp.NewTensor(out[r.Name].Shape...)
		}
		in[ir.AdjointName(r.Name)] = bar
	}
	for _, v := range pair.Bwd.Params {
		if v.Role == ir.Saved {
			in[v.Name] = out[v.Name]
		}
	}
	back := interp.Run(pair.Bwd, sizes, paramsOf(pair.Bwd, in))
	grads = Tensors{}
	for _, v := range f.Params {
		if g := back[ir.AdjointName(v.Name)]; g != nil {
			grads[v.Name] = g
		}
	}
	return out, grads
}

// paramsOf keeps the parameters that a program has.
func paramsOf(f *ir.Func, from Tensors) Tensors {
	out := Tensors{}
	for _, v := range f.Params {
		out[v.Name] = from[v.Name]
	}
	return out
}

// GradientOf is the gradient of a parameter, zeros where it receives nothing.
func GradientOf(grads, params Tensors, name string) *interp.Tensor {
	if g := grads[name]; g != nil {
		return g
	}
	return interp.NewTensor(params[name].Shape...)
}

func Ones(t *interp.Tensor) *interp.Tensor {
	u := interp.NewTensor(t.Shape...)
	for i := range u.Data {
		u.Data[i] = 1
	}
	return u
}
