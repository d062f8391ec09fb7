package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
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
	for _, u := range []*notation.Unit{blk.Strategy.Unit, p.unit} {
		for _, st := range u.Body {
			if c, ok := st.(*notation.Claim); ok {
				p.chunkClaim(c)
			}
		}
	}
	if blk.Strategy.Approximate() {
		p.approximation()
	}
	p.markers(f)
	p.chunkCosts()
	p.unproved(KinkKind, Invariant, Special, Requires)
	p.cut(f)
}

// chunkClaim settles a claim about a strategy.
func (p *prover) chunkClaim(c *notation.Claim) {
	it := Item{Kind: claimKinds[c.Keyword.Text], Name: claimName(c), Text: notation.Print(c, notation.Unicode), Span: c.Span}
	if c.Left == nil {
		p.sequential(c, it)
		return
	}
	it.Evidence = failed("not proved here")
	p.add(it)
	p.ds.Errorf(diag.NotProvable, c.Span, "of a strategy only claim ≡ sequential is proved").Hint("claim it of the rule")
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
	if ev.Verdict == Tested && ev.Points == 0 {
		ev = failed("at none of the lengths that are tried")
		p.ds.Errorf(diag.NotProvable, c.Span, "this claim holds at none of the lengths of a chunk that are tried, %v", chunkLengths(true))
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
	if !slices.ContainsFunc(blk.Claims, func(x *notation.Claim) bool { return x.Span == c.Span }) {
		return true
	}
	fast, slow := irbuild.Rule(blk, &ds), irbuild.Rule(blk.Strategy.Rule, &ds)
	if fast == nil || slow == nil || ds.HasErrors() {
		p.ds.Append(ds)
		*ev = failed("cannot be built")
		return false
	}
	fast, slow = shared(fast, slow), shared(slow, fast)
	pf, ps := autodiff.NewPair(fast), autodiff.NewPair(slow)
	prog := interp.Compile(slow)
	for i, t := range []int{n, 2*n + 1, 3*n - 1} {
		sizes := sizeSets(p.blk, false, fast, slow)[i%2]
		sizes[tokens] = t
		params, _, draw, _ := numbers(slow, prog, func() *sampler {
			return newSampler(blk, irbuild.Frees(blk, fast), sizes, forChunks, i)
		}, func(s *sampler) tensors { return s.params(slow) })
		ev.halved(draw)
		fresh(fast, params, sizes)
		weights := weightsOf(slow, sizes, i)
		a, _ := p.sideAt(fast, pf, params, sizes, weights)
		b, names := p.sideAt(slow, ps, params, sizes, weights)
		for _, name := range names {
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

// fresh gives what only the strategy remembers its value where a context begins.
func fresh(f *ir.Func, params tensors, sizes map[string]int) {
	for _, v := range f.Params {
		if params[v.Name] == nil {
			params[v.Name] = interp.NewTensor(interp.Shape(v.Axes, sizes)...)
		}
	}
}

// approximated are the lengths at which a strategy that is not its rule is
// measured, over as many tokens as the longest.
var approximated = []int{1, 2, 4, 8, 16}

// approximation measures how far the answers of a strategy are from the rule's.
func (p *prover) approximation() {
	it := Item{Kind: Approximate, Name: "answers", Span: p.unit.Span, Text: "how far the answers are from the rule's, relative to them"}
	off, err := Approximation(p.tree, p.unit)
	if err != nil {
		p.ds.Append(*err)
		it.Evidence = failed("cannot be built")
		p.add(it)
		return
	}
	var notes []string
	for i, n := range approximated {
		notes = append(notes, fmt.Sprintf("%.2g at C = %d", off[i], n))
	}
	it.Evidence = Evidence{Verdict: Tested, Points: len(off), Note: strings.Join(notes, ", ")}
	p.add(it)
}

// Approximation measures how far the answers of a rule with a strategy are from
// those of the rule, max |y − y_rule| / max |y_rule|, with chunks of 1, 2, 4, 8 and 16
// tokens, over sixteen tokens from the parameters' own starts.
func Approximation(tree *units.Tree, u *notation.Unit) ([]float64, *diag.List) {
	var out []float64
	for _, n := range approximated {
		blk, ds := check.WithChunks(tree, u, n)
		if blk == nil || ds.HasErrors() {
			return nil, &ds
		}
		fast, slow := irbuild.Rule(blk, &ds), irbuild.Rule(blk.Strategy.Rule, &ds)
		if fast == nil || slow == nil || ds.HasErrors() {
			return nil, &ds
		}
		sizes := setOf(sizeNames(blk, fast, slow), 2, approximated[len(approximated)-1], 6, 5, 4, 3)
		draw := newSampler(blk.Strategy.Rule, irbuild.Frees(blk.Strategy.Rule, slow), sizes, forApproximation, 0)
		params := (&prover{tree: tree, unit: u, blk: blk.Strategy.Rule}).startValues(slow, draw)
		fresh(fast, params, sizes)
		y, want := interp.Run(fast, sizes, params)["y"], interp.Run(slow, sizes, params)["y"]
		d := y.Clone()
		for i := range d.Data {
			d.Data[i] -= want.Data[i]
		}
		out = append(out, norm(d)/math.Max(norm(want), 1e-300))
	}
	return out, nil
}

func (p *prover) unlike(c *notation.Claim, why string) {
	d := p.ds.Errorf(diag.StrategyDiffers, c.Span, "the strategy does not compute %s: %s", p.blk.Strategy.Rule.Unit.Name.Text, why)
	d.See(p.unit.Name.Span, "given this rule here").See(p.blk.Strategy.Rule.Unit.Name.Span, "the rule")
}
