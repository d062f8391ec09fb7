// Package gradient compares derivatives with finite differences.
//
// The gradient inside an equation is compared with its function (inner_gradient.go), and the adjoint
// of a whole program with the program (adjoint.go), independently: an error in the first
// is invisible to every test of the second, since the adjoint differentiates whatever the
// equation computes. A parameter must have a gradient at the values that it starts from
// (zero_gradient.go), an unknown one simple root (root.go), and every primitive of the IR
// the derivative that the table of adjoints says (primitive.go).
package gradient

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/source"
)

// A Subject is a program whose adjoint is proved.
type Subject struct {
	Name    string
	Func    *ir.Func
	Span    source.Span
	Learned bool // every learned parameter must receive a gradient
	Sparse  bool // only a few entries of each parameter are perturbed
}

// Entries that are perturbed of each parameter of a whole model, whose stages and parts
// are proved entry by entry on their own.
const (
	sparseEntries     = 6
	deepSparseEntries = 60
)

const (
	simplifyTol = 1e-10 // a program and its simplified form
	lostTol     = 1e-6  // the rounding error of a result that float64 may leave
	maxSkipped  = 0.2   // the share of entries that may be at kinks
)

// Adjoints compares the adjoint of each program with finite differences by every input,
// parameter, gate and initial state.
func Adjoints(p *proof.Context, all []Subject) {
	for _, s := range all {
		proveAdjoint(p, s)
	}
}

func proveAdjoint(p *proof.Context, s Subject) {
	pair := autodiff.NewPair(s.Func)
	if s.Learned {
		defer proveParameters(p, s.Func, pair)
	}
	if p.Options.Facts {
		return
	}
	it := proof.Item{Kind: proof.OuterGradient, Name: s.Name, Span: s.Span}
	p.Decide(it, func() proof.Evidence { return adjointEvidence(p, s, pair) })
}

func adjointEvidence(p *proof.Context, s Subject, pair *ir.Pair) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Tested, Tolerance: gradRel}
	frees := irbuild.Frees(p.Block, s.Func)
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, s.Func) {
		if s.Sparse && i > 0 && !p.Options.Deep {
			break
		}
		if bad := adjointAtPoint(p, s, pair, frees, sizes, i, &ev); bad != "" {
			return proof.Failure(bad)
		}
	}
	if mostlySkipped(ev) {
		p.Diags.Errorf(diag.OuterGradientDiffers, s.Span, "%d of %d entries of the gradient are so close to a kink, or change so fast, that no finite difference can test them", ev.Skipped, ev.Points+ev.Skipped).
			Labelf("%s", s.Name).Hint("write with relax the value that gradients use, or put stop around what jumps")
		return proof.Failure("mostly kinks")
	}
	return ev
}

func mostlySkipped(ev proof.Evidence) bool {
	return float64(ev.Skipped) > maxSkipped*float64(ev.Points+ev.Skipped)
}

// maxRedraws is the number of times that a point with too many skipped entries is drawn
// again at half the size: a growing recurrence changes too fast for finite differences
// long before it overflows.
const maxRedraws = 3

// adjointAtPoint compares the adjoint with differences at one point and returns what fails.
func adjointAtPoint(p *proof.Context, s Subject, pair *ir.Pair, frees map[string]irbuild.Free, sizes map[string]int, round int, ev *proof.Evidence) string {
	var first *proof.Evidence
	var why *badValue
	for n := range sample.MaxHalvings + 1 {
		draw := sample.New(p.Block, frees, sizes, sample.ForGradient, round)
		draw.Halvings = n
		d, grads, bad := adjointsAt(s, pair, draw)
		if bad != nil {
			if why == nil || bad.undefined() {
				why = bad
			}
			if bad.undefined() {
				break
			}
			continue
		}
		at := *ev
		at.Points, at.Skipped = 0, 0
		if !compareEntries(p, s, d, grads, &at, round) {
			return "differs from finite differences"
		}
		at.DrawnAt(draw.Halvings)
		if first == nil {
			first = &at
		}
		if !mostlySkipped(at) {
			first = &at
			break
		}
		if n >= maxRedraws {
			break
		}
	}
	if first == nil && why.lost != "" {
		p.Diags.Errorf(diag.OuterGradientDiffers, why.at, "rounding decides %s: %s", why.what, why.lost).
			Hint("do not subtract numbers that are nearly equal: write the difference itself")
		return "decided by rounding"
	}
	if first == nil {
		sample.ReportNonFinite(p, why.at, why.what, sizes, why.NonFinite)
		return "not finite"
	}
	first.Points, first.Skipped = first.Points+ev.Points, first.Skipped+ev.Skipped
	*ev = *first
	return ""
}

// A badValue is a result or an adjoint that is not finite, or that rounding decides.
type badValue struct {
	what              string
	at                source.Span // its definition on the page
	*sample.NonFinite             // the first value of the program that is not finite
	lost              string      // how rounding decides it
}

func (x *badValue) undefined() bool {
	return x.lost != "" || x.NonFinite != nil && x.NonFinite.Undefined
}

// adjointsAt runs a pair at one point with random adjoints of the results.
func adjointsAt(s Subject, pair *ir.Pair, draw *sample.Sampler) (*finiteDifference, numeric.Tensors, *badValue) {
	d := newFiniteDifference(s.Func, draw.Sizes, draw.Params(s.Func))
	plain := interp.Run(s.Func, draw.Sizes, d.params)
	for _, r := range s.Func.Results {
		if !numeric.Finite(plain[r.Name]) {
			return d, nil, &badValue{what: r.Name, at: sample.ResultSpan(r, s.Span), NonFinite: sample.FirstNonFinite(s.Func, draw.Sizes, d.params)}
		}
	}
	d.weights = numeric.Tensors{}
	var lost *badValue
	_, grads := numeric.ForwardBackward(s.Func, pair, draw.Sizes, d.params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		switch w := numeric.Compare(plain[r.Name], out); {
		case w.Err <= simplifyTol:
		case !(math.Abs(w.A-w.B) <= numeric.MostRoundings*numeric.RoundingError(s.Func, draw.Sizes, d.params)[r.Name]):
			panic(fmt.Sprintf("gradient: BUG: simplifying %s changes %s%s from %g to %g", s.Func.Name, r.Name, numeric.AtIndex(w.Index), w.A, w.B))
		case !(w.Err <= lostTol):
			lost = &badValue{what: r.Name, at: sample.ResultSpan(r, s.Span), lost: fmt.Sprintf("two equal forms of its equation give %.9g and %.9g%s", w.A, w.B, numeric.AtIndex(w.Index))}
		}
		d.weights[r.Name] = draw.Weights(out)
		return d.weights[r.Name]
	})
	if lost != nil {
		return d, nil, lost
	}
	for _, v := range s.Func.Params {
		if g := grads[v.Name]; g != nil && !numeric.Finite(g) {
			return d, nil, &badValue{what: "the adjoint of " + v.Name, at: s.Span}
		}
	}
	return d, grads, nil
}

// compareEntries compares all entries of all parameters at one point.
func compareEntries(p *proof.Context, s Subject, d *finiteDifference, grads numeric.Tensors, ev *proof.Evidence, round int) bool {
	limit := p.Options.EntryLimit()
	if s.Sparse {
		if limit = sparseEntries; p.Options.Deep {
			limit = deepSparseEntries
		}
	}
	for _, v := range s.Func.Params {
		if v.Elem != ir.Real || v.NoGrad || v.Role == ir.Constant {
			continue
		}
		t, g := d.params[v.Name], numeric.GradientOf(grads, d.params, v.Name)
		if i, e, ok := d.compare(ev, t, g, limit, round); !ok {
			reportAdjoint(p, s, v, d, i, g.Data[i], e)
			return false
		}
	}
	return true
}

// reportAdjoint reports an entry of an adjoint that is wrong, with the first equation that
// reads the parameter.
func reportAdjoint(p *proof.Context, s Subject, v *ir.Value, d *finiteDifference, i int, a float64, e difference) {
	idx := numeric.Unravel(d.params[v.Name].Shape, i)
	dg := p.Diags.Errorf(diag.OuterGradientDiffers, s.Span, "the adjoint of %s%s is %.9g, but differences of the program give %.9g", v.Name, numeric.AtIndex(idx), a, e.value).
		Labelf("%s, at %s", s.Name, sample.SizesText(d.sizes))
	if in := reader(s.Func, v); in != nil && !in.Span.IsZero() {
		dg.See(in.Span, "%s is read here", v.Name)
	}
	dg.Hint("if a jump or a choice depends on %s, say so with kink, stop or relax", v.Name)
}

// reader is the first instruction that reads a value.
func reader(f *ir.Func, v *ir.Value) *ir.Instr {
	for _, in := range f.Body {
		if slices.Contains(in.Reads(), v) {
			return in
		}
	}
	return nil
}
