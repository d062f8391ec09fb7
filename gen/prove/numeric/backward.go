package numeric

import (
	"maps"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Tensors are named arrays: parameters, results, adjoints.
type Tensors = map[string]*interp.Tensor

// A CompiledPair is a program f with its forward and backward, compiled for the interpreter.
type CompiledPair struct {
	f        *ir.Func
	pair     *ir.Pair
	Fwd, Bwd *interp.Program
}

// CompilePair compiles the forward and the backward of a program f.
func CompilePair(f *ir.Func, pair *ir.Pair) *CompiledPair {
	return &CompiledPair{f, pair, interp.Compile(pair.Fwd), interp.Compile(pair.Bwd)}
}

// ForwardBackward runs a program f forward and backward, once; see CompiledPair.Run.
func ForwardBackward(f *ir.Func, pair *ir.Pair, sizes map[string]int, params Tensors, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (out, grads Tensors) {
	return CompilePair(f, pair).Run(sizes, params, weigh)
}

// Run runs the program forward and backward. weigh returns the adjoint of each result of f,
// nil for zero. Gradients have the names of the parameters; a parameter on which no result
// depends has none.
func (c *CompiledPair) Run(sizes map[string]int, params Tensors, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (out, grads Tensors) {
	out = c.Fwd.Run(sizes, ParamsOf(c.pair.Fwd, params))
	in := maps.Clone(out)
	maps.Copy(in, params) // the value of a state before the call
	for _, r := range c.f.Results {
		bar := weigh(r, out[r.Name])
		if bar == nil {
			bar = interp.NewTensor(out[r.Name].Shape...)
		}
		in[ir.AdjointName(r.Name)] = bar
	}
	for _, v := range c.pair.Bwd.Params {
		if v.Role == ir.Saved {
			in[v.Name] = out[v.Name]
		}
	}
	back := c.Bwd.Run(sizes, ParamsOf(c.pair.Bwd, in))
	grads = Tensors{}
	for _, v := range c.f.Params {
		if g := back[ir.AdjointName(v.Name)]; g != nil {
			grads[v.Name] = g
		}
	}
	return out, grads
}

// ParamsOf selects the parameters of a program.
func ParamsOf(f *ir.Func, from Tensors) Tensors {
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
