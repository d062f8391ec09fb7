package equivalence

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// A rule that a strategy computes in chunks is proved with chunks of two tokens, so that a few
// tokens make several chunks and a remainder. `claim ≡ sequential` says that the strategy is
// its rule, and is tested at several lengths of a chunk, with calls that end inside a chunk,
// at its end and after it.

// ProvedChunk is the length of a chunk at which adjoints are proved.
const ProvedChunk = 2

// chunkLengths are the lengths at which a strategy is compared with its rule.
func chunkLengths(deep bool) []int {
	if deep {
		return []int{1, 2, 4, 16, 64}
	}
	return []int{1, 2, 4}
}

// StrategyClaims decides the claims of a strategy and of the rule that uses it.
func StrategyClaims(p *proof.Context) {
	for _, u := range []*notation.Unit{p.Block.Strategy.Unit, p.Unit} {
		for c := range notation.Of[*notation.Claim](u.Body) {
			chunkClaim(p, c)
		}
	}
}

// chunkClaim decides one such claim.
func chunkClaim(p *proof.Context, c *notation.Claim) {
	it := proof.Item{Kind: proof.ClaimKinds[c.Keyword.Text], Name: proof.ClaimName(c), Text: notation.Print(c, notation.Unicode), Span: c.Span}
	if c.Left == nil {
		Sequential(p, c, it)
		return
	}
	p.Fail(it, "not proved here")
	p.Diags.Errorf(diag.NotProvable, c.Span, "of a strategy only claim ≡ sequential is proved").Hint("claim it of the rule")
}

// isSequential reports whether a claim is ≡ sequential.
func isSequential(c *notation.Claim) bool {
	id, ok := c.Right.(*notation.Ident)
	return c.Left == nil && ok && id.Name.Text == "sequential"
}

// Sequential compares a strategy with its rule: outputs, states and adjoints.
func Sequential(p *proof.Context, c *notation.Claim, it proof.Item) {
	if p.Block.Strategy == nil || !isSequential(c) {
		p.Fail(it, "no equality")
		p.Diags.Errorf(diag.NotProvable, c.Span, "this claim is about a strategy, and %s has none", p.Unit.Name.Text)
		return
	}
	ev := proof.Evidence{Verdict: proof.Tested, Tolerance: exactTol}
	for _, n := range chunkLengths(p.Options.Deep) {
		if !compareChunks(p, n, c, &ev) {
			break
		}
	}
	if ev.Verdict == proof.Tested && ev.Points == 0 {
		ev = proof.Failure("holds at no length that is tried")
		p.Diags.Errorf(diag.NotProvable, c.Span, "this claim holds at no length of a chunk that is tried: %v", chunkLengths(true))
	}
	it.Evidence = ev
	p.Add(it)
}

// compareChunks compares them at one length of a chunk.
func compareChunks(p *proof.Context, n int, c *notation.Claim, ev *proof.Evidence) bool {
	blk, ds := check.WithChunks(p.Tree, p.Unit, n)
	if blk == nil || ds.HasErrors() {
		p.Diags.Append(ds)
		*ev = proof.Failure("cannot be built")
		return false
	}
	if !slices.ContainsFunc(blk.Claims, func(x *notation.Claim) bool { return x.Span == c.Span }) {
		return true
	}
	fast, slow := irbuild.Rule(blk, &ds), irbuild.Rule(blk.Strategy.Rule, &ds)
	if fast == nil || slow == nil || ds.HasErrors() {
		p.Diags.Append(ds)
		*ev = proof.Failure("cannot be built")
		return false
	}
	fast, slow = commonResults(fast, slow), commonResults(slow, fast)
	pf, ps := autodiff.NewPair(fast), autodiff.NewPair(slow)
	prog := interp.Compile(slow)
	for i, t := range []int{n, 2*n + 1, 3*n - 1} {
		sizes := sample.Sizes(p.Block, false, fast, slow)[i%2]
		sizes[sample.Tokens] = t
		params, _, draw, _ := sample.FinitePoint(slow, prog, func() *sample.Sampler {
			return sample.New(blk, irbuild.Frees(blk, fast), sizes, sample.ForChunks, i)
		})
		ev.DrawnAt(draw.Halvings)
		fillMissing(fast, params, sizes)
		weights := sample.ResultWeights(slow, sizes, i)
		a, _ := Evaluate(fast, pf, params, sizes, weights)
		b, names := Evaluate(slow, ps, params, sizes, weights)
		for _, name := range names {
			if a[name] == nil {
				reportDifference(p, c, fmt.Sprintf("%s is missing in chunks", name))
				*ev = proof.Failure(name + " is missing in chunks")
				return false
			}
			w := numeric.Compare(a[name], b[name])
			if !(w.Err <= exactTol*10) {
				reportDifference(p, c, fmt.Sprintf("with chunks of %d, at %s, %s%s is %.12g and token by token %.12g", n, sample.SizesText(sizes), name, numeric.AtIndex(w.Index), w.A, w.B))
				*ev = proof.Failure(name + " differs")
				return false
			}
			ev.Points += len(b[name].Data)
			ev.Worst = math.Max(ev.Worst, w.Err)
		}
	}
	return true
}

// fillMissing sets the states that only the strategy has to zero, their first value.
func fillMissing(f *ir.Func, params numeric.Tensors, sizes map[string]int) {
	for _, v := range f.Params {
		if params[v.Name] == nil {
			params[v.Name] = interp.NewTensor(interp.Shape(v.Axes, sizes)...)
		}
	}
}

// reportDifference reports why a strategy is not its rule.
func reportDifference(p *proof.Context, c *notation.Claim, why string) {
	d := p.Diags.Errorf(diag.StrategyDiffers, c.Span, "the strategy does not compute %s: %s", p.Block.Strategy.Rule.Unit.Name.Text, why)
	d.See(p.Unit.Name.Span, "given this rule here").See(p.Block.Strategy.Rule.Unit.Name.Span, "the rule")
}
