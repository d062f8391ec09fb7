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

// EqualityPoint evaluates the program of a claim at numbers that it can be evaluated at.
func EqualityPoint(blk *check.Block, q *irbuild.Equality, prog *interp.Program, sizes map[string]int, why Purpose, n int, edges bool) (params, out numeric.Tensors, s *Sampler) {
	params, out, s, _ = FinitePoint(q.Func, prog, func() *Sampler {
		s := New(blk, q.Free, sizes, why, n)
		s.Ties = edges
		return s
	}, func(s *Sampler) numeric.Tensors { return s.Params(q.Func) })
	return params, out, s
}

// A program may fail to give numbers for two reasons. Something in it may be
// undefined: the logarithm of a negative number, a quotient by zero. That is an
// error of the page wherever it happens. Or its numbers grow until float32 does
// not hold them, as those of an unstable recurrence do under parameters that
// nobody has trained; its equations may be right all the same, and are tested
// where they give numbers. So a point that overflows is drawn again at half the
// size, and again, and the report says at which size the program was tested.
// What still overflows at a thousandth of the usual size is refused.

// MaxHalvings is how often a point is drawn again at half the size.
const MaxHalvings = 10

// A NonFinite is the first instruction of a run that gives no float32 number.
type NonFinite struct {
	Instr     *ir.Instr
	Undefined bool // no number at all, or a pole; else one that is too large
}

// FirstNonFinite runs a program, whose results are not all finite in float32, and finds
// where that begins.
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
		panic("prove: BUG: " + f.Name + " gives no number, and none of its instructions is the first")
	}
	return first
}

// isUndefined reports whether an operation on float32 numbers gave something that
// is no number, or the value at a pole.
func isUndefined(op ir.Op, out *interp.Tensor) bool {
	pole := op == ir.Div || op == ir.Log || op == ir.Log1p
	for _, x := range out.Data {
		if math.IsNaN(x) || pole && math.IsInf(x, 0) {
			return true
		}
	}
	return false
}

// FinitePoint draws parameters at which a program gives numbers, with the sampler
// that drew them; the trouble says why there are none.
func FinitePoint(f *ir.Func, prog *interp.Program, sampler func() *Sampler, draw func(s *Sampler) numeric.Tensors) (params, out numeric.Tensors, s *Sampler, why *NonFinite) {
	for n := range MaxHalvings + 1 {
		s = sampler()
		s.Halvings = n
		params = draw(s)
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

// ResultSpan is where a page says what a result is.
func ResultSpan(r ir.Result, otherwise source.Span) source.Span {
	if r.Val.Def != nil && !r.Val.Def.Span.IsZero() {
		return r.Val.Def.Span
	}
	return otherwise
}

// ReportNonFinite reports that a program gives no float32 numbers. The caret is under
// the first operation that gives none, where the page has it.
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
