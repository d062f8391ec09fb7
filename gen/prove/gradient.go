package prove

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/source"
)

// A subject is a program whose adjoint is proved.
type subject struct {
	name    string
	f       *ir.Func
	span    source.Span
	learned bool // every learned parameter must receive a gradient
	sparse  bool // too large for every entry: a few of each parameter, drawn
	// draw makes the parameters; without it each is drawn by itself.
	draw func(f *ir.Func, s *sampler) tensors
}

// Of a parameter of a whole model so many entries are perturbed: its stages
// and its parts are proved entry by entry on their own.
const (
	sparseEntries     = 6
	deepSparseEntries = 60
)

// Of a larger parameter so many entries are perturbed, spread over it.
const (
	quickEntries = 48
	deepEntries  = 200
)

// outer holds the adjoint of a program to differences of the program, by every
// input, parameter, gate and initial state.
func (p *prover) outer(s subject) {
	pair := autodiff.NewPair(s.f)
	if s.learned {
		defer p.parameters(s.f, pair)
	}
	if p.opt.Facts {
		return
	}
	it := Item{Kind: OuterGradient, Name: s.name, Span: s.span}
	p.settle(it, func() Evidence { return p.outerEvidence(s, pair) })
}

func (p *prover) outerEvidence(s subject, pair *autodiff.Pair) Evidence {
	ev := Evidence{Verdict: Tested, Tolerance: gradRel}
	frees := irbuild.Frees(p.blk, s.f)
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, s.f) {
		if s.sparse && i > 0 && !p.opt.Deep {
			break
		}
		if bad := p.outerPoint(s, pair, frees, sizes, i, &ev); bad != "" {
			return failed(bad)
		}
	}
	if mostlySkipped(ev) {
		p.ds.Errorf(diag.OuterGradientDiffers, s.span, "%d of %d entries of the gradient lie so close to a kink, or change so fast, that no finite difference can test them", ev.Skipped, ev.Points+ev.Skipped).
			Labelf("%s", s.name).Hint("say with relax what stands for the value in gradients, or put stop around what jumps")
		return failed("mostly kinks")
	}
	return ev
}

func mostlySkipped(ev Evidence) bool {
	return float64(ev.Skipped) > maxSkipped*float64(ev.Points+ev.Skipped)
}

// calmer is how often a point at which differences say too little is drawn again
// at half the size: a recurrence that grows changes too fast for them long before
// it overflows.
const calmer = 3

// outerPoint holds the adjoint to differences at one point, and says what fails.
func (p *prover) outerPoint(s subject, pair *autodiff.Pair, frees map[string]irbuild.Free, sizes map[string]int, round int, ev *Evidence) string {
	var first *Evidence
	var why *noNumber
	for n := range halvings + 1 {
		draw := newSampler(p.blk, frees, sizes, forGradient, round)
		draw.halved = n
		d, grads, bad := p.adjoints(s, pair, draw)
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
		if !p.outerAt(s, d, grads, &at, round) {
			return "differs from finite differences"
		}
		at.halved(draw)
		if first == nil {
			first = &at
		}
		if !mostlySkipped(at) {
			first = &at
			break
		}
		if n >= calmer {
			break
		}
	}
	if first == nil && why.lost != "" {
		p.ds.Errorf(diag.OuterGradientDiffers, why.at, "rounding decides %s: %s", why.what, why.lost).
			Hint("do not subtract numbers that are nearly equal: write the difference itself")
		return "decided by rounding"
	}
	if first == nil {
		p.notFinite(why.at, why.what, sizes, why.trouble)
		return "not finite"
	}
	first.Points, first.Skipped = first.Points+ev.Points, first.Skipped+ev.Skipped
	*ev = *first
	return ""
}

// A noNumber is a result or an adjoint that is none, where the page says what it
// is, and the first value of the program that is none.
type noNumber struct {
	what string
	at   source.Span
	*trouble
	lost string // how rounding decides it
}

func (x *noNumber) undefined() bool { return x.lost != "" || x.trouble != nil && x.trouble.undefined }

// adjoints runs a pair at one point with random adjoints coming in.
func (p *prover) adjoints(s subject, pair *autodiff.Pair, draw *sampler) (*differ, tensors, *noNumber) {
	params := draw.params
	if s.draw != nil {
		params = func(f *ir.Func) tensors { return s.draw(f, draw) }
	}
	d := newDiffer(s.f, draw.sizes, params(s.f))
	plain := interp.Run(s.f, draw.sizes, d.params)
	for _, r := range s.f.Results {
		if !finite(plain[r.Name]) {
			return d, nil, &noNumber{what: r.Name, at: spanOf(r, s.span), trouble: troubleOf(s.f, draw.sizes, d.params)}
		}
	}
	d.weights = tensors{}
	var lost *noNumber
	_, grads := evaluate(s.f, pair, draw.sizes, d.params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		switch w := compare(plain[r.Name], out); {
		case w.err <= simplifyTol:
		case !(math.Abs(w.a-w.b) <= mostRoundings*roundingOf(s.f, draw.sizes, d.params)[r.Name]):
			panic(fmt.Sprintf("prove: BUG: simplifying %s changes %s%s from %g to %g", s.f.Name, r.Name, at(w.at), w.a, w.b))
		case !(w.err <= lostTol):
			lost = &noNumber{what: r.Name, at: spanOf(r, s.span), lost: fmt.Sprintf("two equal forms of its equation give %.9g and %.9g%s", w.a, w.b, at(w.at))}
		}
		d.weights[r.Name] = draw.weights(out)
		return d.weights[r.Name]
	})
	if lost != nil {
		return d, nil, lost
	}
	for _, v := range s.f.Params {
		if g := grads[v.Name]; g != nil && !finite(g) {
			return d, nil, &noNumber{what: "the adjoint of " + v.Name, at: s.span}
		}
	}
	return d, grads, nil
}

// outerAt compares all entries of all parameters at one point.
func (p *prover) outerAt(s subject, d *differ, grads tensors, ev *Evidence, round int) bool {
	limit := p.entryLimit()
	if s.sparse {
		if limit = sparseEntries; p.opt.Deep {
			limit = deepSparseEntries
		}
	}
	for _, v := range s.f.Params {
		if v.Elem != ir.Real || v.NoGrad || v.Role == ir.Constant {
			continue
		}
		t, g := d.params[v.Name], gradient(grads, d.params, v.Name)
		gmax := norm(g)
		for _, i := range entries(len(t.Data), limit, round) {
			e := d.check(t, i, g.Data[i], gmax)
			if e.bad() {
				p.outerWrong(s, v, d, i, g.Data[i], e)
				return false
			}
			if e.skipped {
				ev.Skipped++
				continue
			}
			ev.Points++
			ev.Worst = math.Max(ev.Worst, gradRel*e.err/e.tol)
		}
	}
	return true
}

func (p *prover) entryLimit() int {
	if p.opt.Entries > 0 {
		return p.opt.Entries
	}
	if p.opt.Deep {
		return deepEntries
	}
	return quickEntries
}

// entries are the indices of n entries, or limit of them spread evenly.
func entries(n, limit, round int) []int {
	var out []int
	if n <= limit {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	for k := range limit {
		out = append(out, (k*n/limit+round)%n)
	}
	return out
}

// outerWrong says which entry of which adjoint is wrong. The equation that is
// shown is the last one that reads the parameter.
func (p *prover) outerWrong(s subject, v *ir.Value, d *differ, i int, a float64, e entry) {
	idx := index(d.params[v.Name].Shape, i)
	dg := p.ds.Errorf(diag.OuterGradientDiffers, s.span, "the adjoint of %s%s is %.9g, but differences of the program give %.9g", v.Name, at(idx), a, e.difference).
		Labelf("%s, at %s", s.name, spelled(d.sizes))
	if in := reader(s.f, v); in != nil && !in.Span.IsZero() {
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

// parameters reports for each learned parameter whether it has a gradient.
func (p *prover) parameters(f *ir.Func, pair *autodiff.Pair) {
	for _, v := range f.Params {
		if v.Role != ir.Outer {
			continue
		}
		it := Item{Kind: Parameter, Name: v.Name, Span: p.declaredAt(v.Name)}
		reason := p.noGrad(v.Name)
		switch {
		case v.NoGrad && reason == "":
			it.Evidence = Evidence{Verdict: Proved, Note: "a const"}
		case reason != "":
			it.Evidence = Evidence{Verdict: Declared, Note: "no gradient: " + reason}
		case slices.Contains(pair.Missing, v.Name):
			it.Evidence = failed("no result depends on it smoothly")
			p.ds.Errorf(diag.NoGradient, it.Span, "%s never receives a gradient in %s", v.Name, p.unit.Name.Text).
				See(p.unit.Name.Span, "%s is defined here", p.unit.Name.Text).
				Hint("use it, or write nograd %s \"reason\"", v.Name)
		default:
			it.Evidence = Evidence{Verdict: Proved}
		}
		p.add(it)
	}
}

// declaredAt is where a parameter of a program is declared.
func (p *prover) declaredAt(name string) source.Span {
	if f, ok := irbuild.Frees(p.blk, &ir.Func{Params: []*ir.Value{{Name: name}}})[name]; ok && f.Sym != nil {
		return f.Sym.Span
	}
	return p.unit.Span
}

// noGrad is the reason that the page gives for a parameter without a gradient.
func (p *prover) noGrad(name string) string {
	var find func(blk *check.Block, prefix string) string
	find = func(blk *check.Block, prefix string) string {
		for _, n := range blk.NoGrads {
			if prefix+ident.ASCII(n.Name.Text) == name && n.Reason != nil {
				return n.Reason.Value
			}
		}
		for _, s := range blk.Parts {
			if s.Block != nil {
				if r := find(s.Block, prefix+s.Name+"."); r != "" {
					return r
				}
			}
		}
		return ""
	}
	return find(p.blk, "")
}
