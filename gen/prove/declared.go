package prove

import (
	"math"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/notation"
)

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
	default:
		fill(0)
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
