package prove

import (
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/source"
)

// A program may fail to give numbers for two reasons. Something in it may be
// undefined: the logarithm of a negative number, a quotient by zero. That is an
// error of the page wherever it happens. Or its numbers grow until float32 does
// not hold them, as those of an unstable recurrence do under parameters that
// nobody has trained; its equations may be right all the same, and are tested
// where they give numbers. So a point that overflows is drawn again at half the
// size, and again, and the report says at which size the program was tested.
// What still overflows at a thousandth of the usual size is refused.

// halvings is how often a point is drawn again at half the size.
const halvings = 10

// A trouble is the first instruction of a run that gives no float32 number.
type trouble struct {
	in        *ir.Instr
	undefined bool // no number at all, or a pole; else one that is too large
}

// troubleOf runs a program, whose results are not all finite in float32, and finds
// where that begins.
func troubleOf(f *ir.Func, sizes map[string]int, params tensors) *trouble {
	var first *trouble
	prog := interp.Compile(f)
	prog.After = func(in *ir.Instr, out *interp.Tensor) {
		if first == nil && in.Out.Elem == ir.Real && !finite(out) {
			first = &trouble{in, undefined(in.Op, out)}
		}
	}
	prog.Run(sizes, params)
	if first == nil {
		panic("prove: BUG: " + f.Name + " gives no number, and none of its instructions is the first")
	}
	return first
}

// undefined reports whether an operation on float32 numbers gave something that
// is no number, or the value at a pole.
func undefined(op ir.Op, out *interp.Tensor) bool {
	pole := op == ir.Div || op == ir.Log || op == ir.Log1p
	for _, x := range out.Data {
		if math.IsNaN(x) || pole && math.IsInf(x, 0) {
			return true
		}
	}
	return false
}

// numbers draws parameters at which a program gives numbers, with the sampler
// that drew them; the trouble says why there are none.
func numbers(f *ir.Func, prog *interp.Program, sampler func() *sampler, draw func(s *sampler) tensors) (params, out tensors, s *sampler, why *trouble) {
	for n := range halvings + 1 {
		s = sampler()
		s.halved = n
		params = draw(s)
		if out = prog.Run(s.sizes, params); allFinite(out) {
			return params, out, s, nil
		}
		t := troubleOf(f, s.sizes, params)
		if why == nil || t.undefined {
			why = t
		}
		if t.undefined {
			break
		}
	}
	return params, out, s, why
}

func allFinite(all tensors) bool {
	for _, t := range all {
		if !finite(t) {
			return false
		}
	}
	return true
}

// halved notes at which size a point was drawn.
func (ev *Evidence) halved(s *sampler) { ev.Halved = max(ev.Halved, s.halved) }

// spanOf is where a page says what a result is.
func spanOf(r ir.Result, otherwise source.Span) source.Span {
	if r.Val.Def != nil && !r.Val.Def.Span.IsZero() {
		return r.Val.Def.Span
	}
	return otherwise
}

// notFinite reports that a program gives no float32 numbers. The caret is under
// the first operation that gives none, where the page has it.
func (p *prover) notFinite(at source.Span, what string, sizes map[string]int, why *trouble) {
	text, hint := "overflows float32", "bound what grows, or scale it down"
	if why != nil && why.undefined {
		text, hint = "is not a number", "declare the set that the input comes from, such as x ∈ (0,∞)^{n}, or guard the function"
	}
	d := p.ds.Errorf(diag.NotFinite, at, "%s of %s %s for input that the page allows", what, p.unit.Name.Text, text).Labelf("at %s", spelled(sizes))
	if why != nil && !why.in.Span.IsZero() && why.in.Span != at {
		d.See(why.in.Span, "the first such value is computed here")
	}
	d.Hint("%s", hint)
}
