package sample

import (
	"math"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// PointsPerSize is the number of points at which an equality is tested at each
// assignment of sizes, DeepPointsPerSize the same for a deep proof.
const (
	PointsPerSize     = 4
	DeepPointsPerSize = 24
)

// EqualityPoint draws a point at which the program of an equality is finite.
func EqualityPoint(blk *check.Block, q *irbuild.Equality, prog *interp.Program, sizes map[string]int, why Purpose, n int, ties bool) (params, out numeric.Tensors, s *Sampler) {
	params, out, s, _ = FinitePoint(q.Func, prog, func() *Sampler {
		s := New(blk, q.Free, sizes, why, n)
		s.Ties = ties
		return s
	})
	return params, out, s
}

// A result may be no finite float32 for two reasons. An operation may be undefined, such as
// the logarithm of a negative number or a quotient by zero: an error of the page at any
// point. Or the numbers overflow, as in an unstable recurrence with untrained parameters:
// its equations may be right, and are tested where they are finite. So a point that
// overflows is drawn again at half the size, up to MaxHalvings times, and the report says
// at which size the program was tested.

// MaxHalvings is the number of times that a point is drawn again at half the size.
const MaxHalvings = 10

// A NonFinite is the first instruction of a run whose output is not finite in float32.
type NonFinite struct {
	Instr     *ir.Instr
	Undefined bool // NaN or a pole; else an overflow
}

// FirstNonFinite finds the first instruction whose output is not finite in a program that
// has a result which is not.
func FirstNonFinite(f *ir.Func, sizes map[string]int, params numeric.Tensors) *NonFinite {
	var first *NonFinite
	prog := interp.Compile(f)
	prog.ObserveInstr = func(in *ir.Instr, out *interp.Tensor) {
		if first == nil && in.Out.Elem == ir.Real && !numeric.Finite(out) {
			first = &NonFinite{in, isUndefined(in.Op, out)}
		}
	}
	prog.Run(sizes, params)
	if first == nil {
		panic("sample: BUG: a result of " + f.Name + " is not finite, but every instruction is")
	}
	return first
}

// isUndefined reports whether an operation returned NaN or the value at a pole.
func isUndefined(op ir.Op, out *interp.Tensor) bool {
	pole := op == ir.Div || op == ir.Log || op == ir.Log1p
	for _, x := range out.Data {
		if math.IsNaN(x) || pole && math.IsInf(x, 0) {
			return true
		}
	}
	return false
}

// FinitePoint draws parameters at which a program is finite, and returns the sampler that
// drew them; why is the reason where there are none.
func FinitePoint(f *ir.Func, prog *interp.Program, sampler func() *Sampler) (params, out numeric.Tensors, s *Sampler, why *NonFinite) {
	for n := range MaxHalvings + 1 {
		s = sampler()
		s.Halvings = n
		params = s.Params(f)
		if out = prog.Run(s.Sizes, params); numeric.AllFinite(out) {
			return params, out, s, nil
		}
		t := FirstNonFinite(f, s.Sizes, params)
		if why == nil || t.Undefined {
			why = t
		}
		if t.Undefined {
			break
		}
	}
	return params, out, s, why
}

// ResultSpan is the span of the equation that defines a result.
func ResultSpan(r ir.Result, otherwise source.Span) source.Span {
	if r.Val.Def != nil && !r.Val.Def.Span.IsZero() {
		return r.Val.Def.Span
	}
	return otherwise
}

// ReportNonFinite reports that a result is not finite in float32, with the first operation
// whose output is not.
func ReportNonFinite(p *proof.Context, at source.Span, what string, sizes map[string]int, why *NonFinite) {
	text, hint := "overflows float32", "bound what grows, or scale it down"
	if why != nil && why.Undefined {
		text, hint = "is not a number", "declare the set that the input comes from, such as x ∈ (0,∞)^{n}, or guard the function"
	}
	d := p.Diags.Errorf(diag.NotFinite, at, "%s of %s %s for input that the page allows", what, p.Unit.Name.Text, text).Labelf("at %s", SizesText(sizes))
	if why != nil && !why.Instr.Span.IsZero() && why.Instr.Span != at {
		d.See(why.Instr.Span, "the first such value is computed here")
	}
	d.Hint("%s", hint)
}
