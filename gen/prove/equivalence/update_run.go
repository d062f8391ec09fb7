package equivalence

import (
	"math"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// matrixShapes are the shapes of parameters: wide, tall, square, a row and a column.
var matrixShapes = [][2]int{{3, 5}, {5, 3}, {4, 4}, {1, 4}, {6, 1}}

// An updateProgram is the program of an update.
type updateProgram struct {
	blk *check.Block
	f   *ir.Func
}

// buildUpdate builds one side of a special case of updates.
func buildUpdate(p *proof.Context, f *notation.Formula, with []*notation.Override) *updateProgram {
	u := p.Tree.Units[f.Parts[0].Name.Text]
	if len(f.Parts) != 1 || u != nil && u.Kind != notation.UpdateUnit {
		p.Diags.Errorf(diag.NotProvable, f.Span, "a special case of an update compares updates")
		return nil
	}
	blk, ds := check.InstantiateFormula(p.Tree, p.Unit.Name.Text, f, with)
	if p.Diags.Append(ds); blk == nil || ds.HasErrors() {
		return nil
	}
	var built diag.List
	g := irbuild.UpdateOfMatrix(blk, &built)
	if p.Diags.Append(built); g == nil || built.HasErrors() {
		return nil
	}
	return &updateProgram{blk: blk, f: g}
}

// An updateRun is a parameter under an update, with its slots.
type updateRun struct {
	*updateProgram
	sizes  map[string]int
	params numeric.Tensors
	began  *interp.Tensor // the first value of the parameter
}

// run starts with a parameter of zeros and the options of the update.
func (m *updateProgram) run(shape [2]int, nodecay float64) *updateRun {
	x := &updateRun{updateProgram: m, sizes: map[string]int{}, params: numeric.Tensors{}}
	axes := m.f.Param(m.paramName()).Axes
	if len(axes) == 1 { // of entries
		x.sizes[axes[0].Size.String()] = shape[0] * shape[1]
	} else {
		for i, a := range axes {
			x.sizes[a.Size.String()] = shape[i]
		}
	}
	for _, v := range m.f.Params {
		t := interp.NewTensor(interp.Shape(v.Axes, x.sizes)...)
		if v.Elem == ir.Bool {
			t.Data[0] = nodecay
		}
		x.params[v.Name] = t
	}
	(&sample.Sampler{Block: m.blk}).SetOptions(x.params)
	x.setParam(x.param())
	return x
}

// paramName is the name of the updated parameter.
func (m *updateProgram) paramName() string { return ident.ASCII(m.blk.Unit.Params[0].Name.Text) }

func (x *updateRun) param() *interp.Tensor { return x.params[x.paramName()] }

// setParam sets the first value of the parameter.
func (x *updateRun) setParam(w *interp.Tensor) {
	copy(x.param().Data, w.Data)
	x.began = interp.NewTensor(w.Shape...)
	copy(x.began.Data, w.Data)
}

// compareMoves compares how far two parameters have moved.
func compareMoves(a, b *updateRun) numeric.Deviation {
	x, y := a.moved(), b.moved()
	return numeric.CompareScaled(x, y, math.Max(math.Max(numeric.MaxNorm(x), numeric.MaxNorm(y)), math.SmallestNonzeroFloat64))
}

// moved is the difference of the parameter from its first value.
func (x *updateRun) moved() *interp.Tensor {
	d := interp.NewTensor(x.began.Shape...)
	for i := range d.Data {
		d.Data[i] = x.param().Data[i] - x.began.Data[i]
	}
	return d
}

// step takes step n by a gradient.
func (x *updateRun) step(n int, g *interp.Tensor) {
	for _, s := range x.blk.SymSeq {
		t := x.params[ident.ASCII(s.Name)]
		switch {
		case t == nil:
		case s.Kind == check.Clock:
			t.Data[0] = float64(n)
		case s.Kind == check.Input:
			copy(t.Data, g.Data)
		}
	}
	for name, t := range interp.Run(x.f, x.sizes, x.params) {
		x.params[name] = t
	}
}

// compareSteps takes steps with two updates by the same random gradients. It returns the first
// step after which the parameters have not moved equally, and 0 where there is none.
func compareSteps(ev *proof.Evidence, draw *sample.Sampler, a, b *updateRun, shape [2]int, steps int) (int, numeric.Deviation) {
	g := interp.NewTensor(shape[0], shape[1])
	for n := 1; n <= steps; n++ {
		draw.Fill(g, draw.Rand.NormFloat64)
		a.step(n, g)
		b.step(n, g)
		w := compareMoves(a, b)
		if !(w.Err <= specialTol) {
			return n, w
		}
		ev.Points += len(g.Data)
		ev.Worst = math.Max(ev.Worst, w.Err)
	}
	return 0, numeric.Deviation{}
}
