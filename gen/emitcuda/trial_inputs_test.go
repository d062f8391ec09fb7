package emitcuda_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// inputs draws the parameters of a program that have no values yet.
func (x *trial) inputs(rng *rand.Rand, f *ir.Func) {
	types := irbuild.Frees(x.p.blk, f)
	for _, v := range f.Params {
		if x.in[v.Name] == nil {
			x.in[v.Name] = x.draw(rng, v, types[v.Name].Type)
		}
	}
}

// rounded rounds numbers to float32, in place.
func rounded(t *interp.Tensor) *interp.Tensor {
	for i := range t.Data {
		t.Data[i] = float64(float32(t.Data[i]))
	}
	return t
}

// draw makes the values of a parameter: numbers about ½, in the set that the
// page declares, and indices in their range.
func (x *trial) draw(rng *rand.Rand, v *ir.Value, typ *notation.Type) *interp.Tensor {
	n := interp.NewTensor(interp.Shape(v.Axes, x.sizes)...)
	for i := range n.Data {
		switch v.Elem {
		case ir.Int:
			n.Data[i] = float64(x.index(rng, v))
		case ir.Bool:
			n.Data[i] = float64(rng.IntN(2))
		default:
			n.Data[i] = x.calm * x.p.spread() * rng.NormFloat64()
			if x.p.unit.Kind == abi.OpUnit && x.sizes["n"] == positive || x.p.unit.Kind == abi.UpdateUnit && v.Role != ir.Input {
				n.Data[i] = 0.125 + math.Abs(n.Data[i])
			}
		}
	}
	if x.calm < 1 {
		x.start(v.Name, n.Data)
	}
	if v.Elem == ir.Real {
		x.intoDomain(v.Name, typ, n.Data)
		x.clock(v, n.Data)
	}
	return rounded(n)
}

// start moves a parameter to the number that the page starts it from: gates then
// are what they are where a model begins, and rates so small that no state runs
// away.
func (x *trial) start(name string, data []float64) {
	for _, w := range x.p.unit.Weights {
		if w.Name == name && len(w.Init.Levels) > 0 {
			for i := range data {
				data[i] += w.Init.Levels[0]
			}
		}
	}
}

// spread is the deviation of numbers: of a rule so small that it does not
// explode within a trial.
func (p *program) spread() float64 {
	if p.unit.Kind == abi.RuleUnit {
		return 0.25
	}
	return 0.5
}

// index draws an index: of a table in its range, the extra values included; any
// other counts tokens.
func (x *trial) index(rng *rand.Rand, v *ir.Value) int {
	for _, u := range slices.Concat(x.p.unit.Inputs, x.p.unit.Consts) {
		if u.Name != v.Name || !u.HasRange {
			continue
		}
		lo, err1 := u.Lo.Eval(x.sizes)
		hi, err2 := u.Hi.Eval(x.sizes)
		if err1 != nil || err2 != nil {
			x.t.Fatal(err1, err2)
		}
		if hi < lo {
			x.empty = true
			return 0
		}
		if len(u.Extra) > 0 && rng.IntN(4) == 0 {
			return u.Extra[rng.IntN(len(u.Extra))]
		}
		return lo + rng.IntN(hi-lo+1)
	}
	return []int{0, 2, 100}[rng.IntN(3)]
}

// intoDomain moves numbers into the set that the page declares, and the options
// of an update to what they are by default.
func (x *trial) intoDomain(name string, typ *notation.Type, data []float64) {
	for _, c := range x.p.unit.Consts {
		if c.Name == name && c.HasSetting {
			for i := range data {
				data[i] = c.Setting
			}
		}
	}
	if typ == nil || typ.Kind != notation.RangeType {
		return
	}
	lo, okLo := bound(typ.Lo)
	hi, okHi := bound(typ.Hi)
	for i, v := range data {
		switch {
		case okLo && okHi:
			data[i] = lo + (hi-lo)/(1+math.Exp(-v))
		case okLo:
			data[i] = lo + math.Abs(v) + 0.0625
		case okHi:
			data[i] = hi - math.Abs(v) - 0.0625
		}
	}
}

// clock sets the clock of an update to a whole number, one of them a multiple of
// the window in which something gathers.
func (x *trial) clock(v *ir.Value, data []float64) {
	for _, s := range x.p.blk.SymSeq {
		if s.Kind == check.Clock && ident.ASCII(s.Name) == v.Name {
			data[0] = 8
			if x.sizes["n"]+x.sizes["r"] != positive {
				data[0] = 3
			}
		}
	}
}

func bound(e notation.Expr) (float64, bool) {
	if e == nil {
		return 0, false
	}
	x, ok := notation.Constant(e)
	return x, ok && !math.IsInf(x, 0)
}
