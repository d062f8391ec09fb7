package numeric

import (
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Tensors are named arrays: parameters, results, adjoints.
type Tensors = map[string]*interp.Tensor

// ForwardBackward runs a program f forward and backward. weigh returns the adjoint of each
// result of f, nil for zero. Gradients have the names of the parameters; a parameter on
// which no result depends has none.
func ForwardBackward(f *ir.Func, pair *ir.Pair, sizes map[string]int, params Tensors, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (out, grads Tensors) {
	out = interp.Run(pair.Fwd, sizes, paramsOf(pair.Fwd, params))
	in := Tensors{}
	for n, t := range out {
		in[n] = t
	}
	for n, t := range params { // the value of a state before the call
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

// paramsOf selects the parameters of a program.
func paramsOf(f *ir.Func, from Tensors) Tensors {
	out := Tensors{}
	for _, v := range f.Params {
		out[v.Name] = from[v.Name]
	}
	return out
}

// GradientOf is the gradient of a parameter, zeros where it has none.
func GradientOf(grads, params Tensors, name string) *interp.Tensor {
	if g := grads[name]; g != nil {
		return g
	}
	return interp.NewTensor(params[name].Shape...)
}

// Ones is a tensor of ones in the shape of t.
func Ones(t *interp.Tensor) *interp.Tensor {
	u := interp.NewTensor(t.Shape...)
	for i := range u.Data {
		u.Data[i] = 1
	}
	return u
}
