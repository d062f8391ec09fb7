package gradient

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Zero gradients at initialisation: a product of two learned matrices that both start at
// zero has no gradient in either, and they never change. So the gradients of a unit's
// outputs are taken at the values that its page starts from, and a parameter whose
// gradient is exactly zero at each of several inputs is an error.

// startDraws is the number of inputs at which gradients are taken.
const startDraws = 3

// AtStart checks that every learned parameter of a program has a gradient at the values
// that it starts from.
func AtStart(p *proof.Context, f *ir.Func) {
	pair := autodiff.NewPair(f)
	var ids []*ir.Value
	for _, v := range f.Params {
		if v.Role == ir.Outer && !v.NoGrad && noGrad(p, v.Name) == "" && !slices.Contains(pair.Missing, v.Name) {
			ids = append(ids, v)
		}
	}
	if len(ids) == 0 {
		return
	}
	it := proof.Item{Kind: proof.Init, Name: "gradients", Span: p.Unit.Span}
	p.Decide(it, func() proof.Evidence { return startEvidence(p, f, pair, ids) })
}

func startEvidence(p *proof.Context, f *ir.Func, pair *ir.Pair, ids []*ir.Value) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Tested}
	alive, overflow := map[string]bool{}, false
	sizes := sample.Sizes(p.Block, false, f)[0]
	for n, x := range sizes {
		sizes[n] = max(x, 2)
	}
	for n := range startDraws {
		draw := sample.New(p.Block, irbuild.Frees(p.Block, f), sizes, sample.ForStart, n)
		params := draw.StartValues(f)
		grads := outputGradients(f, pair, draw, params)
		for _, v := range ids {
			g := grads[v.Name]
			ev.Points++
			overflow = overflow || g != nil && !numeric.Finite(g)
			if g != nil && numeric.MaxNorm(g) > 0 {
				alive[v.Name] = true
			}
		}
	}
	if overflow {
		p.Diags.Errorf(diag.NotFinite, p.Unit.Name.Span, "a gradient of %s is not finite in float32 at the values that it starts from", p.Unit.Name.Text).
			Hint("start from smaller values, or bound what grows")
		return proof.Failure("not finite")
	}
	dead := map[string][]*ir.Value{} // by the factor that starts from zero
	var zeros []string
	for _, v := range ids {
		if !alive[v.Name] {
			ev = proof.Failure(v.Name + " is dead")
			zero := zeroFactor(p, f, pair, v, sizes)
			zeros, dead[zero] = append(zeros, zero), append(dead[zero], v)
		}
	}
	for _, zero := range zeros {
		for len(dead[zero]) > 0 {
			v := dead[zero][0]
			d := p.Diags.Errorf(diag.DeadStart, declaredAt(p, v.Name), "%s receives no gradient at the values that %s starts from", v.Name, p.Unit.Name.Text).
				See(p.Unit.Name.Span, "%s is defined here", p.Unit.Name.Text)
			if dead[zero] = dead[zero][1:]; zero == "" {
				d.Hint("start something that multiplies it from a value other than zero")
				continue
			}
			d.See(declaredAt(p, zero), "%s starts from zero, and the gradient of %s is multiplied by it", zero, v.Name).
				Hint("start %s from a value other than zero", zero)
			for _, w := range dead[zero] {
				d.See(declaredAt(p, w.Name), "%s receives none either", w.Name)
			}
			delete(dead, zero)
		}
	}
	return ev
}

// zeroFactor is the parameter or state that starts from zero and by itself makes the
// gradient of v zero: with a random value in its place the gradient is not. It is ""
// where there is no such factor.
func zeroFactor(p *proof.Context, f *ir.Func, pair *ir.Pair, v *ir.Value, sizes map[string]int) string {
	for _, u := range f.Params {
		draw := sample.New(p.Block, irbuild.Frees(p.Block, f), sizes, sample.ForStart, 0)
		params := draw.StartValues(f)
		if u == v || u.Elem != ir.Real || u.Role != ir.Outer && u.Role != ir.State || numeric.MaxNorm(params[u.Name]) > 0 {
			continue
		}
		params[u.Name] = draw.Draw(u)
		if g := outputGradients(f, pair, draw, params)[v.Name]; g != nil && numeric.MaxNorm(g) > 0 {
			return u.Name
		}
	}
	return ""
}

// outputGradients are the gradients of a random combination of the outputs. The final
// states have adjoint zero, as at the last chunk of a sequence.
func outputGradients(f *ir.Func, pair *ir.Pair, draw *sample.Sampler, params numeric.Tensors) numeric.Tensors {
	_, grads := numeric.ForwardBackward(f, pair, draw.Sizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		if r.State {
			return nil
		}
		return draw.Weights(out)
	})
	return grads
}
