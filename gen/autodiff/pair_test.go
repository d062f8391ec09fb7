package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// deltaRule is the recurrence M' = ρM − θ(Mk − v)kᵀ, y = M'q with series k, q,
// v, ρ, θ as inputs.
func deltaRule() *ir.Func {
	f := &ir.Func{Name: "delta"}
	L, T, dk, dv := f.NewAxis("L"), f.NewAxis("T"), f.NewAxis("d_k"), f.NewAxis("d_v")
	k := f.AddParam("k", ir.Input, ir.Real, L, T, dk)
	q := f.AddParam("q", ir.Input, ir.Real, L, T, dk)
	v := f.AddParam("v", ir.Input, ir.Real, L, T, dv)
	rho := f.AddParam("rho", ir.Input, ir.Real, L, T)
	theta := f.AddParam("theta", ir.Input, ir.Real, L, T)
	m0 := f.AddParam("M", ir.State, ir.Real, L, dv, dk)

	body := &ir.Func{Name: "delta.step"}
	b := &ir.Builder{F: body}
	M := body.AddParam("M", ir.Carry, ir.Real, dv, dk)
	bk := body.AddParam("k", ir.Token, ir.Real, dk)
	bq := body.AddParam("q", ir.Token, ir.Real, dk)
	bv := body.AddParam("v", ir.Token, ir.Real, dv)
	br := body.AddParam("rho", ir.Token, ir.Real)
	bt := body.AddParam("theta", ir.Token, ir.Real)
	ij := []*ir.Axis{dv, dk}
	mk := b.Prod(ij, ij[:1], ir.Ls(1), 1, ir.All(M), ir.At(bk, ir.L(1)))
	e := b.Lin(ij[:1], 0, []float64{1, -1}, ir.All(mk), ir.All(bv))
	keep := b.Prod(ij, ij, ir.Ls(2), 1, ir.At(br), ir.All(M))
	write := b.Prod(ij, ij, ir.Ls(2), -1, ir.At(bt), ir.At(e, ir.L(0)), ir.At(bk, ir.L(1)))
	next := b.Lin(ij, 0, []float64{1, 1}, ir.All(keep), ir.All(write))
	y := b.Prod(ij, ij[:1], ir.Ls(1), 1, ir.All(next), ir.At(bq, ir.L(1)))

	yOut := &ir.Value{Name: "y", Elem: ir.Real, Axes: []*ir.Axis{L, T, dv}}
	mOut := &ir.Value{Name: "M.next", Elem: ir.Real, Axes: []*ir.Axis{L, dv, dk}}
	s := &ir.Scan{Lane: L, Time: T, Body: body,
		Carry:  []ir.Carried{{Param: M, Next: next, Init: m0, Final: mOut}},
		Tokens: []ir.Sliced{{Param: bk, Val: k}, {Param: bq, Val: q}, {Param: bv, Val: v}, {Param: br, Val: rho}, {Param: bt, Val: theta}},
		Outs:   []ir.Series{{Val: y, Out: yOut}}}
	in := &ir.Instr{Op: ir.ScanOp, Scan: s}
	yOut.Def, mOut.Def = in, in
	f.Body = append(f.Body, in)
	f.Results = []ir.Result{{Name: "y", Val: yOut}, {Name: "M", Val: mOut, State: true}}
	return f
}

// relTol is the agreement of a derivative with a fourth-order central
// difference in float64.
const relTol = 1e-7

func TestPairOfDeltaRule(t *testing.T) {
	pair := autodiff.NewPair(deltaRule())
	checkPair(t, pair, map[string]int{"L": 2, "T": 5, "d_k": 3, "d_v": 4})
	if len(pair.Missing) != 0 {
		t.Errorf("missing gradients: %v", pair.Missing)
	}
	fmt.Println(pair.Saved)
}

func checkPair(t *testing.T, pair *autodiff.Pair, sizes map[string]int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	params := map[string]*interp.Tensor{}
	for _, p := range pair.Fwd.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		params[p.Name] = x
	}
	weights := map[string]*interp.Tensor{}
	out := interp.Run(pair.Fwd, sizes, params)
	back := map[string]*interp.Tensor{}
	for n, v := range params {
		back[n] = v
	}
	for n, v := range out {
		w := interp.NewTensor(v.Shape...)
		for i := range w.Data {
			w.Data[i] = rng.NormFloat64()
		}
		if pair.Bwd.Param(autodiff.Bar(n)) != nil {
			weights[n], back[autodiff.Bar(n)] = w, w
		} else {
			back[n] = v
		}
	}
	for n, v := range out {
		if pair.Bwd.Param(n) != nil && pair.Bwd.Param(n).Role == ir.Saved {
			back[n] = v
		}
	}
	loss := func() float64 {
		sum := 0.0
		for n, v := range interp.Run(pair.Fwd, sizes, params) {
			if w := weights[n]; w != nil {
				for i, x := range v.Data {
					sum += x * w.Data[i]
				}
			}
		}
		return sum
	}
	grads := interp.Run(pair.Bwd, sizes, back)
	for n, p := range params {
		g := grads[autodiff.Bar(n)]
		if g == nil {
			t.Errorf("no gradient for %s", n)
			continue
		}
		for i := range p.Data {
			x, h := p.Data[i], 1e-3
			at := func(d float64) float64 { p.Data[i] = x + d; return loss() }
			fd := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			p.Data[i] = x
			if err := math.Abs(fd - g.Data[i]); !(err <= relTol*math.Max(1, math.Abs(fd))) {
				t.Errorf("%s[%d]: adjoint %g, difference %g", n, i, g.Data[i], fd)
			}
		}
	}
}
