package prove

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A rule that a strategy computes is proved like any other, with chunks of two
// tokens, so that few tokens make several chunks and a rest. What its page says
// beside that is how it stands to the rule: `claim ≡ sequential` is held at
// several lengths of a chunk, with calls that end inside a chunk, at its edge and
// behind it.

// provedChunk is the length of a chunk at which the adjoints are proved.
const provedChunk = 2

// chunkLengths are the lengths at which a strategy is held to its rule.
func chunkLengths(deep bool) []int {
	if deep {
		return []int{1, 2, 4, 16, 64}
	}
	return []int{1, 2, 4}
}

// strategy proves a rule that is computed in chunks. What is true of its gates,
// its frozen read and its first states is true of the rule, and proved there.
func (p *prover) strategy() {
	blk, ds := check.WithChunks(p.tree, p.unit, provedChunk)
	if blk == nil || ds.HasErrors() {
		p.built(ds)
		return
	}
	p.blk = blk
	f := irbuild.Rule(blk, &ds)
	if !p.built(ds) || f == nil || !p.roots(f) {
		return
	}
	p.outer(subject{name: "chunk", f: f, span: p.unit.Span, learned: true})
	p.claims()
	p.causal(f)
	p.unproved(KinkKind, Invariant, Special, Requires)
	p.cut(f)
}

// isSequential reports whether a claim says that a strategy computes its rule.
func isSequential(c *notation.Claim) bool {
	id, ok := c.Right.(*notation.Ident)
	return c.Left == nil && ok && id.Name.Text == "sequential"
}

// sequential holds a strategy to its rule: the same answers, states and adjoints.
func (p *prover) sequential(c *notation.Claim, it Item) {
	if p.blk.Strategy == nil || !isSequential(c) {
		it.Evidence = failed("no equality")
		p.add(it)
		p.ds.Errorf(diag.NotProvable, c.Span, "this claim is about a strategy, and %s is none", p.unit.Name.Text)
		return
	}
	ev := Evidence{Verdict: Tested, Tolerance: exactTol}
	for _, n := range chunkLengths(p.opt.Deep) {
		if !p.chunksOf(n, c, &ev) {
			break
		}
	}
	it.Evidence = ev
	p.add(it)
}

// chunksOf compares at one length of a chunk.
func (p *prover) chunksOf(n int, c *notation.Claim, ev *Evidence) bool {
	blk, ds := check.WithChunks(p.tree, p.unit, n)
	if blk == nil || ds.HasErrors() {
		p.ds.Append(ds)
		*ev = failed("cannot be built")
		return false
	}
	fast, slow := irbuild.Rule(blk, &ds), irbuild.Rule(blk.Strategy.Rule, &ds)
	if fast == nil || slow == nil || ds.HasErrors() {
		p.ds.Append(ds)
		*ev = failed("cannot be built")
		return false
	}
	pf, ps := autodiff.NewPair(fast), autodiff.NewPair(slow)
	for i, t := range []int{n, 2*n + 1, 3*n - 1} {
		sizes := sizeSets(false, fast, slow)[i%2]
		sizes[tokens] = t
		params := newSampler(blk, irbuild.Frees(blk, fast), sizes, "chunks"+fast.Name, i).params(slow)
		a := p.sideAt(subject{f: fast, span: c.Span}, pf, params, sizes, i)
		b := p.sideAt(subject{f: slow, span: c.Span}, ps, params, sizes, i)
		for _, name := range slices.Sorted(maps.Keys(b)) {
			if a[name] == nil {
				p.unlike(c, fmt.Sprintf("%s does not count in chunks", name))
				*ev = failed(name + " does not count in chunks")
				return false
			}
			w := compare(a[name], b[name])
			if !(w.err <= exactTol*10) {
				p.unlike(c, fmt.Sprintf("with chunks of %d, at %s, %s%s is %.12g and token by token %.12g", n, spelled(sizes), name, at(w.at), w.a, w.b))
				*ev = failed(name + " differs")
				return false
			}
			ev.Points += len(b[name].Data)
			ev.Worst = math.Max(ev.Worst, w.err)
		}
	}
	return true
}

func (p *prover) unlike(c *notation.Claim, why string) {
	d := p.ds.Errorf(diag.StrategyDiffers, c.Span, "the strategy does not compute %s: %s", p.blk.Strategy.Rule.Unit.Name.Text, why)
	d.See(p.unit.Name.Span, "given this rule here").See(p.blk.Strategy.Rule.Unit.Name.Span, "the rule")
}
