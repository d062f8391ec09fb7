package prove

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Some starts are traps: where everything begins at zero, a product of two
// learned matrices has no gradient in either, and they stay where they are for
// ever. So the gradients of what a block gives are taken at the values that the
// page itself starts from, and a parameter that receives exactly nothing, at
// any of several inputs, is an error.

// startTrials is how often a dead parameter is tried.
const startTrials = 3

// starts checks that every learned parameter of a program can begin to learn.
func (p *prover) starts(f *ir.Func) {
	pair := autodiff.NewPair(f)
	var ids []*ir.Value
	for _, v := range f.Params {
		if v.Role == ir.Outer && !v.NoGrad && p.noGrad(v.Name) == "" && !slices.Contains(pair.Missing, v.Name) {
			ids = append(ids, v)
		}
	}
	if len(ids) == 0 {
		return
	}
	it := Item{Kind: Init, Name: "gradients", Span: p.unit.Span}
	p.settle(it, func() Evidence { return p.startEvidence(f, pair, ids) })
}

func (p *prover) startEvidence(f *ir.Func, pair *autodiff.Pair, ids []*ir.Value) Evidence {
	ev := Evidence{Verdict: Tested}
	alive, wild := map[string]bool{}, false
	sizes := sizeSets(p.blk, false, f)[0]
	for n, x := range sizes {
		sizes[n] = max(x, 2)
	}
	for trial := range startTrials {
		draw := newSampler(p.blk, irbuild.Frees(p.blk, f), sizes, forStart, trial)
		params := p.startValues(f, draw)
		grads := p.outputGradients(f, pair, draw, params)
		for _, v := range ids {
			g := grads[v.Name]
			ev.Points++
			wild = wild || g != nil && !finite(g)
			if g != nil && norm(g) > 0 {
				alive[v.Name] = true
			}
		}
	}
	if wild {
		p.ds.Errorf(diag.NotFinite, p.unit.Name.Span, "a gradient of %s is not finite in float32 at the values that it starts from", p.unit.Name.Text).
			Hint("start from smaller values, or bound what grows")
		return failed("not finite")
	}
	dead := map[string][]*ir.Value{} // by what starts from zero
	var zeros []string
	for _, v := range ids {
		if !alive[v.Name] {
			ev = failed(v.Name + " is dead")
			zero := p.zeroFactor(f, pair, v, sizes)
			zeros, dead[zero] = append(zeros, zero), append(dead[zero], v)
		}
	}
	for _, zero := range zeros {
		for len(dead[zero]) > 0 {
			v := dead[zero][0]
			d := p.ds.Errorf(diag.DeadStart, p.declaredAt(v.Name), "%s receives no gradient at the values that %s starts from", v.Name, p.unit.Name.Text).
				See(p.unit.Name.Span, "%s is defined here", p.unit.Name.Text)
			if dead[zero] = dead[zero][1:]; zero == "" {
				d.Hint("start something that multiplies it from a value other than zero")
				continue
			}
			d.See(p.declaredAt(zero), "%s starts from zero, and the gradient of %s is multiplied by it", zero, v.Name).
				Hint("start %s from a value other than zero", zero)
			for _, w := range dead[zero] {
				d.See(p.declaredAt(w.Name), "%s receives none either", w.Name)
			}
			delete(dead, zero)
		}
	}
	return ev
}

// zeroFactor is the parameter or state that starts from zero and alone keeps a
// gradient from v: with other values in its place there is one. It is "" where no
// single one does.
func (p *prover) zeroFactor(f *ir.Func, pair *autodiff.Pair, v *ir.Value, sizes map[string]int) string {
	for _, u := range f.Params {
		draw := newSampler(p.blk, irbuild.Frees(p.blk, f), sizes, forStart, 0)
		params := p.startValues(f, draw)
		if u == v || u.Elem != ir.Real || u.Role != ir.Outer && u.Role != ir.State || norm(params[u.Name]) > 0 {
			continue
		}
		params[u.Name] = draw.draw(u)
		if g := p.outputGradients(f, pair, draw, params)[v.Name]; g != nil && norm(g) > 0 {
			return u.Name
		}
	}
	return ""
}

// outputGradients are the gradients of a weighted sum of what a block gives;
// its last states are left out, since nothing flows back from the next chunk.
func (p *prover) outputGradients(f *ir.Func, pair *autodiff.Pair, draw *sampler, params tensors) tensors {
	_, grads := evaluate(f, pair, draw.sizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		if r.State {
			return nil
		}
		return draw.weights(out)
	})
	return grads
}

// startValues draws inputs and gives everything else the value that the page
// starts it from.
func (p *prover) startValues(f *ir.Func, draw *sampler) tensors {
	params := draw.params(f)
	p.startBlock(p.blk, "", f, draw, params)
	for _, v := range f.Params {
		if isTail(v.Name) || base(v.Name) == "pos" {
			clear(params[v.Name].Data)
		}
	}
	return params
}

func (p *prover) startBlock(blk *check.Block, prefix string, f *ir.Func, draw *sampler, params tensors) {
	e := &evaluator{blk: blk, sizes: map[string]int{}}
	for n, x := range draw.sizes {
		e.sizes[strings.TrimPrefix(n, prefix)] = x
	}
	for _, s := range blk.SymSeq {
		e.learn(s, params[prefix+ident.ASCII(s.Name)])
	}
	for _, s := range blk.SymSeq {
		if t := params[prefix+ident.ASCII(s.Name)]; t != nil && (s.Kind == check.Outer || s.Drawn()) {
			e.start(s, t, draw)
		}
	}
	if blk.Unit.Kind == notation.RuleUnit {
		p.startStates(blk, prefix, e, draw, params)
	}
	for _, s := range blk.Parts {
		if s.Block != nil {
			p.startBlock(s.Block, prefix+s.Name+".", f, draw, params)
		}
	}
}

// startStates runs a rule's own start. What only the start reads, such as a
// learned first state, is drawn and started here: the chunk's program does not
// have it.
func (p *prover) startStates(blk *check.Block, prefix string, e *evaluator, draw *sampler, params tensors) {
	var quiet diag.List
	g := irbuild.Start(blk, &quiet)
	if g == nil {
		return
	}
	in, sizes := tensors{}, map[string]int{}
	for _, n := range sizeNames(blk, g) {
		sizes[n] = e.size(n)
	}
	own := *draw
	own.sizes = sizes
	for _, v := range g.Params {
		if in[v.Name] = params[prefix+v.Name]; in[v.Name] == nil {
			in[v.Name] = own.draw(v)
			for _, s := range blk.SymSeq {
				if ident.ASCII(s.Name) == v.Name && (s.Kind == check.Outer || s.Drawn()) {
					e.start(s, in[v.Name], draw)
				}
			}
		}
	}
	for n, t := range interp.Run(g, sizes, in) {
		if old := params[prefix+n]; old != nil {
			copy(old.Data, t.Data)
		}
	}
}
