package sample

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
)

// The values that a page starts its learned parameters and states from: constants, random
// distributions, and the program of a rule's first states.

// A startEvaluator evaluates the declarations of a block. The sizes of a part inside a
// whole are read off the arrays of the whole.
type startEvaluator struct {
	blk   *check.Block
	sizes map[string]int
}

// learn reads the sizes of a declared array off its shape.
func (e *startEvaluator) learn(s *check.Symbol, t *interp.Tensor) {
	if t == nil || s.Type == nil {
		return
	}
	at := len(t.Shape) - len(s.Type.Shape)
	for i, x := range s.Type.Shape {
		if size, ok := e.blk.SizeOf(x, nil); ok && at >= 0 {
			if sym, ok := ASCIISizes(size).Symbol(); ok {
				e.sizes[sym] = t.Shape[at+i]
			}
		}
	}
}

func (e *startEvaluator) size(name string) int {
	if n, ok := e.sizes[name]; ok {
		return n
	}
	return 2
}

// start fills a learned parameter with its declared first value.
func (e *startEvaluator) start(s *check.Symbol, t *interp.Tensor, draw *Sampler) {
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
	default:
		fill(0)
	}
}

// draw fills a tensor from a distribution.
func (e *startEvaluator) draw(dist notation.Expr, t *interp.Tensor, s *Sampler) {
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
		s.Fill(t, func() float64 { return a + (b-a)*s.Rand.Float64() })
	case "normal":
		s.Fill(t, func() float64 { return a + b*s.Rand.NormFloat64() })
	}
}

// number evaluates a constant of a declaration over options and sizes.
func (e *startEvaluator) number(x notation.Expr) (float64, bool) {
	return constant(x, func(name string) (float64, bool) {
		if o := e.blk.Options[name]; o != nil {
			if v, ok := notation.Constant(o.Value); ok {
				return v, true
			}
		}
		poly, ok := e.blk.SizeOf(&notation.Ident{Name: notation.Word{Text: name}}, nil)
		if !ok {
			return 0, false
		}
		poly = ASCIISizes(poly)
		sizes := map[string]int{}
		for _, n := range poly.Symbols() {
			sizes[n] = e.size(n)
		}
		v, err := poly.Eval(sizes)
		return float64(v), err == nil
	})
}

// StartValues draws the inputs of a program and gives everything else its declared first
// value.
func (s *Sampler) StartValues(f *ir.Func) numeric.Tensors {
	params := s.Params(f)
	s.StartParams(s.Block, "", params)
	for _, v := range f.Params {
		if v.IsWindow() || v.IsPosition() {
			clear(params[v.Name].Data)
		}
	}
	return params
}

// StartParams gives the learned parameters and states of a block and of its parts their
// declared first values.
func (s *Sampler) StartParams(blk *check.Block, prefix string, params numeric.Tensors) {
	e := &startEvaluator{blk: blk, sizes: map[string]int{}}
	for n, x := range s.Sizes {
		e.sizes[strings.TrimPrefix(n, prefix)] = x
	}
	for _, sym := range blk.SymSeq {
		e.learn(sym, params[prefix+ident.ASCII(sym.Name)])
	}
	for _, sym := range blk.SymSeq {
		if t := params[prefix+ident.ASCII(sym.Name)]; t != nil && (sym.Kind == check.Outer || sym.Drawn()) {
			e.start(sym, t, s)
		}
	}
	if blk.Unit.Kind == notation.RuleUnit {
		s.startStates(blk, prefix, e, params)
	}
	for _, part := range blk.Parts {
		if part.Block != nil {
			s.StartParams(part.Block, prefix+part.Name+".", params)
		}
	}
}

// StartValue gives one learned parameter or state its declared first value.
func (s *Sampler) StartValue(sym *check.Symbol, t *interp.Tensor) {
	(&startEvaluator{blk: s.Block, sizes: s.Sizes}).start(sym, t, s)
}

// startStates runs the program of a rule's first states. A parameter that only this
// program reads, such as a learned initial state, is drawn and started here.
func (s *Sampler) startStates(blk *check.Block, prefix string, e *startEvaluator, params numeric.Tensors) {
	var quiet diag.List
	g := irbuild.Start(blk, &quiet)
	if g == nil {
		return
	}
	in, sizes := numeric.Tensors{}, map[string]int{}
	for _, n := range SizeNames(blk, g) {
		sizes[n] = e.size(n)
	}
	draw := *s
	draw.Sizes = sizes
	for _, v := range g.Params {
		if in[v.Name] = params[prefix+v.Name]; in[v.Name] == nil {
			in[v.Name] = draw.Draw(v)
			for _, sym := range blk.SymSeq {
				if ident.ASCII(sym.Name) == v.Name && (sym.Kind == check.Outer || sym.Drawn()) {
					e.start(sym, in[v.Name], s)
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
