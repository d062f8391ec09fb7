package prove

import (
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
		if v.Role == ir.Outer && p.noGrad(v.Name) == "" && !slices.Contains(pair.Missing, v.Name) {
			ids = append(ids, v)
		}
	}
	if len(ids) == 0 {
		return
	}
	it := Item{Kind: Init, Name: "gradients", Span: p.unit.Span}
	p.settle(it, func() Evidence { return p.startEvidence(f, pair, ids) }, f, p.startText())
}

// startText is what the declarations say about initial values.
func (p *prover) startText() string {
	out := ""
	var add func(blk *check.Block)
	add = func(blk *check.Block) {
		for _, s := range blk.SymSeq {
			if s.Decl != nil {
				out += s.Decl.Span.Text() + "\n"
			}
		}
		for _, s := range blk.Parts {
			if s.Block != nil {
				add(s.Block)
			}
		}
	}
	add(p.blk)
	return out
}

func (p *prover) startEvidence(f *ir.Func, pair *autodiff.Pair, ids []*ir.Value) Evidence {
	ev := Evidence{Verdict: Tested}
	alive := map[string]bool{}
	sizes := sizeSets(false, f)[0]
	for n, x := range sizes {
		sizes[n] = max(x, 2)
	}
	for trial := range startTrials {
		draw := newSampler(p.blk, irbuild.Frees(p.blk, f), sizes, "start"+f.Name, trial)
		params := p.startValues(f, draw)
		grads := p.outputGradients(f, pair, draw, params)
		for _, v := range ids {
			g := grads[autodiff.Bar(v.Name)]
			ev.Points++
			if g != nil && norm(g) > 0 {
				alive[v.Name] = true
			}
		}
	}
	for _, v := range ids {
		if !alive[v.Name] {
			at := p.declaredAt(v.Name)
			p.ds.Errorf(diag.DeadStart, at, "%s receives no gradient at the values that %s starts from", v.Name, p.unit.Name.Text).
				See(p.unit.Name.Span, "%s is defined here", p.unit.Name.Text).
				Hint("start something that multiplies it from a value other than zero")
			ev = failed(v.Name + " is dead")
		}
	}
	return ev
}

// outputGradients are the gradients of a weighted sum of what a block gives;
// its last states are left out, since nothing flows back from the next chunk.
func (p *prover) outputGradients(f *ir.Func, pair *autodiff.Pair, draw *sampler, params map[string]*interp.Tensor) map[string]*interp.Tensor {
	out := interp.Run(pair.Fwd, draw.sizes, pick(pair.Fwd, params))
	in := map[string]*interp.Tensor{}
	for n, v := range out {
		in[n] = v
	}
	for n, v := range params {
		in[n] = v
	}
	for _, r := range f.Results {
		w := interp.NewTensor(out[r.Name].Shape...)
		if !r.State {
			w = draw.weights(out[r.Name])
		}
		in[autodiff.Bar(r.Name)] = w
	}
	for _, v := range pair.Bwd.Params {
		if v.Role == ir.Saved {
			in[v.Name] = out[v.Name]
		}
	}
	return interp.Run(pair.Bwd, draw.sizes, pick(pair.Bwd, in))
}

// startValues draws inputs and gives everything else the value that the page
// starts it from.
func (p *prover) startValues(f *ir.Func, draw *sampler) map[string]*interp.Tensor {
	params := draw.params(f)
	p.startBlock(p.blk, "", f, draw, params)
	for _, v := range f.Params {
		if isTail(v.Name) || base(v.Name) == "pos" {
			clear(params[v.Name].Data)
		}
	}
	return params
}

func (p *prover) startBlock(blk *check.Block, prefix string, f *ir.Func, draw *sampler, params map[string]*interp.Tensor) {
	e := &evaluator{blk: blk, sizes: map[string]int{}}
	for n, x := range draw.sizes {
		e.sizes[strings.TrimPrefix(n, prefix)] = x
	}
	for _, s := range blk.SymSeq {
		e.learn(s, params[prefix+check.ASCII(s.Name)])
	}
	for _, s := range blk.SymSeq {
		if t := params[prefix+check.ASCII(s.Name)]; t != nil && s.Kind == check.Outer {
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
func (p *prover) startStates(blk *check.Block, prefix string, e *evaluator, draw *sampler, params map[string]*interp.Tensor) {
	var quiet diag.List
	g := irbuild.Start(blk, &quiet)
	if g == nil {
		return
	}
	in, sizes := map[string]*interp.Tensor{}, map[string]int{}
	for _, n := range sizeNames(g) {
		sizes[n] = e.size(n)
	}
	own := *draw
	own.sizes = sizes
	for _, v := range g.Params {
		if in[v.Name] = params[prefix+v.Name]; in[v.Name] == nil {
			in[v.Name] = own.draw(v)
			for _, s := range blk.SymSeq {
				if check.ASCII(s.Name) == v.Name && s.Kind == check.Outer {
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

// An evaluator computes the numbers of a declaration. The sizes of a part
// inside a whole are those of the arrays that it was given.
type evaluator struct {
	blk   *check.Block
	sizes map[string]int
}

// learn reads the sizes of a declared array off its value.
func (e *evaluator) learn(s *check.Symbol, t *interp.Tensor) {
	if t == nil || s.Type == nil {
		return
	}
	at := len(t.Shape) - len(s.Type.Shape)
	for i, x := range s.Type.Shape {
		if size, ok := e.blk.SizeOf(x, nil); ok && at >= 0 {
			if sym, ok := ascii(size).Symbol(); ok {
				e.sizes[sym] = t.Shape[at+i]
			}
		}
	}
}

func (e *evaluator) size(name string) int {
	if n, ok := e.sizes[name]; ok {
		return n
	}
	return 2
}

// start fills a learned parameter with a value that the page starts it from.
func (e *evaluator) start(s *check.Symbol, t *interp.Tensor, draw *sampler) {
	d := s.Decl
	if d == nil {
		return
	}
	fill := func(x float64) {
		for i := range t.Data {
			t.Data[i] = x
		}
	}
	switch {
	case len(d.ByLevel) > 0:
		if x, ok := e.number(d.ByLevel[0]); ok {
			fill(x)
		}
	case d.Init != nil:
		if x, ok := e.number(d.Init); ok {
			fill(x)
		}
	case d.Dist != nil:
		e.draw(d.Dist, t, draw)
	}
}

// draw fills a tensor from a distribution.
func (e *evaluator) draw(dist notation.Expr, t *interp.Tensor, s *sampler) {
	c, ok := dist.(*notation.Call)
	if !ok || len(c.Args) != 2 {
		return
	}
	a, ok := e.number(c.Args[0])
	b, okb := e.number(c.Args[1])
	if !ok || !okb {
		return
	}
	switch c.Fun.Text {
	case "uniform":
		s.fill(t, func() float64 { return a + (b-a)*s.rng.Float64() })
	case "normal":
		s.fill(t, func() float64 { return a + b*s.rng.NormFloat64() })
	}
}

// number evaluates a constant of a declaration; sizes and options count.
func (e *evaluator) number(x notation.Expr) (float64, bool) {
	if v, ok := check.Number(x); ok {
		return v, true
	}
	switch x := x.(type) {
	case *notation.Ident:
		if o := e.blk.Options[x.Name.Text]; o != nil {
			if v, ok := check.Number(o.Value); ok {
				return v, true
			}
		}
	case *notation.Unary:
		v, ok := e.number(x.X)
		return -v, ok
	case *notation.Binary:
		a, ok := e.number(x.X)
		b, okb := e.number(x.Y)
		switch {
		case !ok || !okb:
			return 0, false
		case x.Op == "/":
			return a / b, true
		case x.Op == "+":
			return a + b, true
		case x.Op == "−":
			return a - b, true
		case x.Op == "·":
			return a * b, true
		}
	case *notation.Call:
		if x.Fun.Text == "sqrt" && len(x.Args) == 1 {
			v, ok := e.number(x.Args[0])
			return math.Sqrt(v), ok
		}
	}
	poly, ok := e.blk.SizeOf(x, nil)
	if !ok {
		return 0, false
	}
	poly = ascii(poly)
	sizes := map[string]int{}
	for _, n := range poly.Symbols() {
		sizes[n] = e.size(n)
	}
	v, err := poly.Eval(sizes)
	return float64(v), err == nil
}
