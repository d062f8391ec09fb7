package vjpcheck

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Programs: operations of the notation that are built, differentiated and evaluated.

// A program is an expression of an entry, built, with its derived adjoints. Parameters
// have the entry's names.
type program struct {
	idents map[string]string // the entry's names to the program's
	axes   map[string]string
	fwd    *ir.Func
	pair   *ir.Pair
}

// assemble builds an operation of a body. Every real array is an input, so that it has an
// adjoint; numbers whose adjoint no line defines are constants.
func (t *translator) assemble(bs []*notation.Binder, body notation.Expr) *program {
	p := &program{idents: t.operation.idents, axes: t.operation.axes}
	target := &notation.Target{Name: nameNode(resultName), Index: bs}
	unit := &notation.Unit{Kind: notation.OpUnit, Name: wordOf("Entry"),
		Result: &notation.Define{Target: target, Value: body, With: t.operation.with}}
	for _, n := range t.operation.order {
		unit.Params = append(unit.Params, t.parameter(n))
	}
	blk, ds := check.Instantiate(t.functions.tree, unit)
	if blk == nil || ds.HasErrors() {
		panic(notationError(ds))
	}
	var bd diag.List
	if p.fwd = irbuild.Op(blk, &bd); p.fwd == nil || bd.HasErrors() {
		panic(notationError(bd))
	}
	p.pair = autodiff.NewPair(p.fwd)
	return p
}

// notationError is an error of a translation that the notation does not accept: a limit of
// this package, not of the page.
func notationError(ds diag.List) error {
	if ds := ds.Sorted(); len(ds) > 0 {
		return pseudo.Gapf("it cannot be built: %s", ds[0].Text)
	}
	return pseudo.Gapf("it cannot be built")
}

func (t *translator) parameter(n string) *notation.Param {
	x := t.params[n]
	ty := &notation.Type{Kind: notation.RealType}
	for _, a := range x.axes {
		ty.Shape = append(ty.Shape, nameNode(t.axis(a)))
	}
	p := &notation.Param{Name: wordOf(t.operation.idents[n]), Type: ty}
	if x.elem == integer {
		ty.Kind = notation.IntType
		ty.Lo, ty.Hi = numeral(0), numeral(math.MaxInt32)
	}
	if len(x.axes) == 0 && (x.elem == integer || !t.e.hasAdjoint(n) && t.e.steps[n] == nil) {
		p.Group = 1
	}
	return p
}

// A point is a choice of sizes and values.
type point struct {
	sizes map[string]int
	vals  map[string]*interp.Tensor // by the entry's names, without a batch axis
}

// args are the point's values under the program's names; inputs have a batch of one.
func (p *program) args(f *ir.Func, at *point, more map[string]*interp.Tensor) map[string]*interp.Tensor {
	out := map[string]*interp.Tensor{}
	for n, id := range p.idents {
		v := at.vals[n]
		if v == nil {
			continue
		}
		out[id] = v
		if q := p.fwd.Param(id); q != nil && q.Role == ir.Input {
			out[id] = withBatch(v)
		}
	}
	for n, v := range more {
		out[n] = v
	}
	return out
}

func withBatch(t *interp.Tensor) *interp.Tensor {
	return &interp.Tensor{Shape: append([]int{1}, t.Shape...), Data: t.Data}
}

func withoutBatch(t *interp.Tensor) *interp.Tensor {
	return &interp.Tensor{Shape: t.Shape[1:], Data: t.Data}
}

func (p *program) sizes(at *point) map[string]int {
	out := map[string]int{"L": 1, "T": 1}
	for a, id := range p.axes {
		out[id] = at.sizes[a]
	}
	return out
}

// run evaluates the program.
func (p *program) run(at *point) *interp.Tensor {
	return withoutBatch(interp.Run(p.fwd, p.sizes(at), p.args(p.fwd, at, nil))[resultName])
}

// adjoint evaluates the derived adjoint of a parameter for an adjoint of the
// result.
func (p *program) adjoint(at *point, of string, seed *interp.Tensor) *interp.Tensor {
	id, ok := p.idents[of]
	var bar *ir.Value
	if ok {
		bar = p.pair.Bwd.Result(ir.AdjointName(id))
	}
	if bar == nil {
		return zero(at.vals[of])
	}
	saved := interp.Run(p.pair.Fwd, p.sizes(at), p.args(p.pair.Fwd, at, nil))
	saved[ir.AdjointName(resultName)] = withBatch(seed)
	all := p.args(p.pair.Bwd, at, saved)
	return withoutBatch(interp.Run(p.pair.Bwd, p.sizes(at), all)[ir.AdjointName(id)])
}

func zero(t *interp.Tensor) *interp.Tensor { return interp.NewTensor(slices.Clone(t.Shape)...) }

// confirmsDifferences reports whether one-sided finite differences of the program agree
// with the derived adjoint from both sides. At a kink they do not, and such a point is no
// evidence about a printed line.
func (p *program) confirmsDifferences(at *point, of string, seed, derived *interp.Tensor) bool {
	const near = 0.02 // of the larger one: one-sided differences of smooth functions are well inside
	x := at.vals[of]
	scale := 0.0
	for _, d := range derived.Data {
		scale = max(scale, math.Abs(d))
	}
	base := p.loss(at, seed)
	for i, v := range x.Data {
		h := 1e-4 * math.Abs(v)
		if h == 0 {
			h = 1e-7
		}
		x.Data[i] = v + h
		up := (p.loss(at, seed) - base) / h
		x.Data[i] = v - h
		down := (base - p.loss(at, seed)) / h
		x.Data[i] = v
		for _, d := range []float64{up, down} {
			if !(math.Abs(d-derived.Data[i]) <= near*(scale+math.Abs(d))+1e-6) {
				return false
			}
		}
	}
	return true
}

func (p *program) loss(at *point, seed *interp.Tensor) float64 {
	sum := 0.0
	for i, y := range p.run(at).Data {
		sum += y * seed.Data[i]
	}
	return sum
}

func finite(ts ...*interp.Tensor) bool {
	for _, t := range ts {
		for _, x := range t.Data {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return false
			}
		}
	}
	return true
}
