package gradient

import (
	"math"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/source"
)

// An unknown that an equation defines must have exactly one root in its bracket, and a
// nonzero slope of the residual there: implicit differentiation divides by the slope.
// This is tested first, at points drawn from the declared sets and at numbers between −1
// and 1, with which generated tests begin. One failure is one message, and nothing else
// of the unit is decided.

const (
	rootGrid  = 64    // points of the bracket at which signs are compared
	rootJump  = 1e-6  // a larger change around the root, relative to the residual at the ends, is a jump
	rootEps   = 1e-12 // distance around the root, relative to the bracket
	rootStep  = 1e-5  // step of the slope, relative to the bracket
	flatRatio = 30    // a slope is zero where ten times the step changes the residual more than this
)

// Roots tests all unknowns of a unit's programs. Where ok is false nothing else of the
// unit can be decided.
func Roots(p *proof.Context, fs ...*ir.Func) (ok bool) {
	seen := map[string]bool{}
	for _, f := range fs {
		if f == nil || len(solves(f)) == 0 {
			continue
		}
		points, bad := rootsOf(p, f)
		for _, in := range solves(f) {
			if seen[in.Eq] || bad != nil && bad.in != in {
				continue
			}
			seen[in.Eq] = true
			it := proof.Item{Kind: proof.Root, Name: in.Eq[strings.LastIndexByte(in.Eq, '.')+1:], Eq: in.Eq, Span: in.Span, Evidence: proof.Evidence{Verdict: proof.Tested, Points: points}}
			if bad != nil {
				it.Evidence = proof.Failure(bad.why)
			}
			p.Add(it)
		}
		if bad != nil {
			return false
		}
	}
	return true
}

// solves lists the root searches of a program, scans included.
func solves(f *ir.Func) []*ir.Instr {
	var out []*ir.Instr
	for _, in := range f.Body {
		if in.Solve != nil {
			out = append(out, in)
		}
		if in.Scan != nil {
			out = append(out, solves(in.Scan.Body)...)
		}
	}
	return out
}

// A rootFailure is the first root search that fails.
type rootFailure struct {
	in  *ir.Instr
	why string
}

func rootsOf(p *proof.Context, f *ir.Func) (points int, bad *rootFailure) {
	frees := irbuild.Frees(p.Block, f)
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, f) {
		for round := range 4 {
			draw := sample.New(p.Block, frees, sizes, sample.ForRoot, 4*i+round)
			draw.Ties = round == 2
			params := draw.Params(f)
			if round == 3 {
				drawUniform(draw, f, params)
			}
			prog := interp.Compile(f)
			prog.ObserveRoot = func(in *ir.Instr, residual func(x float64) float64, lo, hi, root float64) {
				points++
				if bad == nil {
					bad = rootAt(p, in, sizes, residual, lo, hi, root)
				}
			}
			prog.Run(sizes, params)
			if bad != nil {
				return points, bad
			}
		}
	}
	return points, nil
}

// drawUniform draws all real parameters without a declared range between −1 and 1.
func drawUniform(s *sample.Sampler, f *ir.Func, params numeric.Tensors) {
	for _, v := range f.Params {
		if t := s.Frees[v.Name].Type; v.Elem == ir.Real && (t == nil || t.Kind != notation.RangeType) {
			s.Fill(params[v.Name], func() float64 { return 2*s.Rand.Float64() - 1 })
		}
	}
}

// rootAt tests one root at one point.
func rootAt(p *proof.Context, in *ir.Instr, sizes map[string]int, residual func(x float64) float64, lo, hi, root float64) *rootFailure {
	equation := in.Span
	if d := in.Solve.Residual.Results[0].Val.Def; d != nil && !d.Span.IsZero() {
		equation = d.Span
	}
	report := func(at source.Span, hint, why string, args ...any) *rootFailure {
		p.Diags.Errorf(diag.NoRoot, at, why, args...).Labelf("at %s", sample.SizesText(sizes)).Hint("%s", hint)
		return &rootFailure{in, "no single root with a slope"}
	}
	name := in.Solve.Residual.Name
	a, b := residual(lo), residual(hi)
	switch {
	case math.IsNaN(a) || math.IsNaN(b) || math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo):
		return report(in.Span, "choose a range in which both sides of the equation are numbers",
			"the equation of %s is no number at an end of its range: left minus right is %.4g at %.4g and %.4g at %.4g", name, a, lo, b, hi)
	case !(lo < hi):
		return report(in.Span, "the lower end comes first", "the range of %s is empty: it runs from %.4g to %.4g", name, lo, hi)
	case math.IsNaN(root):
		return report(in.Span, "widen the range, or check the equation: between the ends, left minus right must change its sign",
			"the equation of %s has no root in its range: left minus right is %.4g at %.4g and %.4g at %.4g", name, a, lo, b, hi)
	case crossings(residual, lo, hi) > 1:
		return report(in.Span, "narrow the range to the root that is meant",
			"the equation of %s has more than one root between %.4g and %.4g", name, lo, hi)
	case !(changeAround(residual, root, rootEps*(hi-lo)) <= rootJump*max(math.Abs(a), math.Abs(b))):
		return report(equation, "an equation that jumps over its root has none; write one that is continuous",
			"the sides of the equation jump past each other at %s = %.6g", name, root)
	case flat(residual, lo, hi, root):
		return report(equation, "where an equation has no slope, its root has no gradient; write one that crosses",
			"the equation of %s is flat at its root %.6g", name, root)
	}
	return nil
}

// crossings counts the sign changes over a grid.
func crossings(f func(float64) float64, lo, hi float64) int {
	n, before := 0, 0.0
	for i := range rootGrid + 1 {
		v := f(lo + (hi-lo)*float64(i)/rootGrid)
		if v == 0 || v != v {
			continue
		}
		if before != 0 && (v < 0) != (before < 0) {
			n++
		}
		before = v
	}
	return n
}

// changeAround is the change of a function between x − step and x + step.
func changeAround(f func(float64) float64, x, step float64) float64 {
	step = math.Max(step, 1e-15*math.Abs(x))
	return math.Abs(f(x+step) - f(x-step))
}

// flat reports whether the slope at a root is zero: otherwise ten times the step changes
// the residual about ten times as much.
func flat(f func(float64) float64, lo, hi, root float64) bool {
	step := math.Max(rootStep*(hi-lo), 1e-9*math.Abs(root))
	return !(flatRatio*changeAround(f, root, step) > changeAround(f, root, 10*step))
}
