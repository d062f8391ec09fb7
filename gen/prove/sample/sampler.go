// Package sample draws the points at which programs are tested: sizes that tell all axes
// apart, parameters from their declared sets, points at which a program is finite, first
// values, trajectories, and tokens and parameters of very different sizes.
package sample

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/interval"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Sampler draws parameters of programs from their declared sets: rows on the sphere or
// the simplex, open ranges away from their ends, integers with the members of a union.
// Any other number is normally distributed.
type Sampler struct {
	Rand     *rand.Rand
	Block    *check.Block
	Frees    map[string]irbuild.Free
	Sizes    map[string]int
	Ties     bool // some entries equal another parameter, so that comparisons are tested at equality
	Halvings int  // unbounded numbers are drawn at 1/2^Halvings of the usual size
	gates    bool // a gate is being drawn
}

// New returns the sampler of a purpose's nth point. The numbers depend on the purpose, n
// and the order of a program's parameters, and on no name of a page.
func New(blk *check.Block, frees map[string]irbuild.Free, sizes map[string]int, purpose Purpose, n int) *Sampler {
	return &Sampler{Rand: rand.New(rand.NewPCG(uint64(purpose), uint64(n))), Block: blk, Frees: frees, Sizes: sizes}
}

// Params draws all parameters of a program.
func (s *Sampler) Params(f *ir.Func) numeric.Tensors {
	out := numeric.Tensors{}
	for _, p := range f.Params {
		out[p.Name] = s.Draw(p)
	}
	if s.Ties {
		s.placeTies(f, out)
	}
	return out
}

// Draw draws one parameter.
func (s *Sampler) Draw(p *ir.Value) *interp.Tensor {
	t := interp.NewTensor(interp.Shape(p.Axes, s.Sizes)...)
	typ := s.Frees[p.Name].Type
	switch p.Elem {
	case ir.Bool:
		s.Fill(t, func() float64 { return float64(s.Rand.IntN(2)) })
		return t
	case ir.Int:
		s.integers(t, typ)
		return t
	}
	switch {
	case typ != nil && typ.Kind == notation.RangeType:
		s.gates = s.isGate(s.Frees[p.Name].Sym)
		s.Fill(t, func() float64 { return s.inRange(typ) })
	case typ != nil && typ.Kind == notation.IntType: // an option that is a period: small, so that several periods are tested
		lo, hi := s.integer(typ.Lo, 0), s.integer(typ.Hi, 3)
		s.Fill(t, func() float64 { return float64(lo + s.Rand.IntN(min(hi-lo, 2)+1)) })
	case p.Role == ir.Constant && len(p.Axes) == 0 && typ == nil:
		s.Fill(t, func() float64 { return 1 + float64(s.Rand.IntN(4)) })
	default:
		scale := 0.8
		if p.Role == ir.Outer || p.Role == ir.State {
			scale = 0.6
		}
		s.Fill(t, func() float64 { return math.Ldexp(scale*s.Rand.NormFloat64(), -s.Halvings) })
	}
	if len(t.Shape) > 0 {
		s.normaliseRows(t, s.RowSet(p, typ))
	}
	return t
}

// RowSet is the set that contains the rows of a parameter: its declared set, or, for a
// state that is declared as real, the set in which some page of the rule says that it
// stays, which is proved from the state's first value.
func (s *Sampler) RowSet(p *ir.Value, typ *notation.Type) notation.TypeKind {
	if typ == nil {
		return notation.RealType
	}
	if sym := s.Frees[p.Name].Sym; sym != nil && sym.Kind == check.State && p.Role != ir.Adjoint && typ.Kind == notation.RealType {
		return s.Block.RowSet(sym)
	}
	return typ.Kind
}

func (s *Sampler) isGate(sym *check.Symbol) bool {
	if sym == nil {
		return false
	}
	eq := s.Block.Equation(sym.Name)
	return eq != nil && eq.Gate != nil
}

// Fill fills a tensor with independent draws.
func (s *Sampler) Fill(t *interp.Tensor, f func() float64) {
	for i := range t.Data {
		t.Data[i] = f()
	}
}

// normaliseRows projects rows onto the sphere or the simplex.
func (s *Sampler) normaliseRows(t *interp.Tensor, kind notation.TypeKind) {
	n := t.Shape[len(t.Shape)-1]
	if n == 0 || !proof.HasNormalisedRows(kind) {
		return
	}
	for i := 0; i < len(t.Data); i += n {
		row, sum := t.Data[i:i+n], 0.0
		for j, x := range row {
			if kind == notation.SimplexType {
				row[j] = math.Exp(x)
				sum += row[j]
			} else {
				sum += x * x
			}
		}
		if kind == notation.SphereType {
			sum = math.Sqrt(sum)
		}
		for j := range row {
			row[j] /= sum
		}
	}
}

// inRange draws a number of a range away from its ends.
func (s *Sampler) inRange(t *notation.Type) float64 {
	iv := interval.Declared(t)
	okLo, okHi := !math.IsInf(iv.Lo, 0), !math.IsInf(iv.Hi, 0)
	u := 0.05 + 0.9*s.Rand.Float64()
	if s.Ties && s.gates && s.Rand.IntN(3) == 0 {
		u = float64(s.Rand.IntN(2)) // a gate may round to its ends
	}
	switch {
	case okLo && okHi:
		return iv.Lo + (iv.Hi-iv.Lo)*u
	case okLo:
		return iv.Lo + u
	case okHi:
		return iv.Hi - u
	}
	return s.Rand.NormFloat64()
}

// integers draws indices of a declared range and the members of a union. Without a range
// they are positions, the number of tokens before a chunk.
func (s *Sampler) integers(t *interp.Tensor, typ *notation.Type) {
	lo, hi := 0, 3
	if typ != nil && typ.Kind == notation.IntType {
		lo, hi = s.integer(typ.Lo, 0), s.integer(typ.Hi, 3)
	}
	s.Fill(t, func() float64 {
		if typ != nil && len(typ.Members) > 0 && s.Rand.IntN(4) == 0 {
			return float64(s.integer(typ.Members[s.Rand.IntN(len(typ.Members))], 0))
		}
		return float64(lo + s.Rand.IntN(max(1, hi-lo+1)))
	})
}

// integer evaluates an integer expression over sizes.
func (s *Sampler) integer(e notation.Expr, otherwise int) int {
	if e == nil {
		return otherwise
	}
	if x, ok := notation.Constant(e); ok {
		return int(x)
	}
	p, ok := s.Block.SizeOf(e, nil)
	if !ok {
		return otherwise
	}
	n, err := ASCIISizes(p).Eval(s.Sizes)
	if err != nil {
		return otherwise
	}
	return n
}

// ASCIISizes renames the sizes of a polynomial to their names in programs.
func ASCIISizes(p shape.Poly) shape.Poly {
	for _, s := range p.Symbols() {
		if n := ident.ASCII(s); n != s {
			p = p.Replace(s, shape.Sym(n))
		}
	}
	return p
}

// placeTies copies zero or a scalar parameter into one entry of each real array.
func (s *Sampler) placeTies(f *ir.Func, params numeric.Tensors) {
	var numbers []float64
	for _, p := range f.Params {
		if p.Elem == ir.Real && len(params[p.Name].Data) == 1 && p.Role != ir.Adjoint {
			numbers = append(numbers, params[p.Name].Data[0])
		}
	}
	numbers = append(numbers, 0)
	for _, p := range f.Params {
		t := params[p.Name]
		if p.Elem != ir.Real || p.Role == ir.Adjoint || len(t.Data) < 2 || s.RowSet(p, s.Frees[p.Name].Type) != notation.RealType {
			continue
		}
		t.Data[s.Rand.IntN(len(t.Data))] = numbers[s.Rand.IntN(len(numbers))]
	}
}

// Weights draws random weights for a result.
func (s *Sampler) Weights(t *interp.Tensor) *interp.Tensor {
	w := interp.NewTensor(t.Shape...)
	s.Fill(w, s.Rand.NormFloat64)
	return w
}

// SetOptions gives the parameters of an update that are options of its page their values.
func (s *Sampler) SetOptions(params numeric.Tensors) {
	for name, o := range s.Block.Options {
		t := params[ident.ASCII(name)]
		if x, ok := notation.Constant(o.Value); ok && t != nil {
			s.Fill(t, func() float64 { return x })
		}
	}
}

// ResultWeights draws weights for the results of a program by their positions, so that
// another program with results of the same names has the same weights. A result that the
// program lacks has weight zero.
func ResultWeights(f *ir.Func, sizes map[string]int, round int) func(ir.Result, *interp.Tensor) *interp.Tensor {
	return func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		at := slices.IndexFunc(f.Results, func(s ir.Result) bool { return s.Name == r.Name })
		if at < 0 {
			return nil
		}
		return New(nil, nil, sizes, forWeights, round<<16+at).Weights(out)
	}
}
