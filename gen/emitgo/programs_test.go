package emitgo_test

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

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
