package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

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

// A Sampler draws parameters of programs from their declared sets: unit rows,
// rows on the simplex, open ranges well inside, integers with the extra values
// that a union allows. Everything else is a normal number of moderate size.
type Sampler struct {
	Rand  *rand.Rand
	Block *check.Block
	Frees map[string]irbuild.Free
	Sizes map[string]int
	// edges makes some entries equal to a number that the program is given
	// too, so that comparisons are also tested at a tie.
	Ties     bool
	gates    bool // a gate is being drawn
	Halvings int  // how often what may be any number is drawn at half the size
}

// New makes the sampler of a purpose's nth point. Numbers follow from the
// purpose, n and the order in which they are drawn, which is that of a program's
// parameters: no name of a page decides what is drawn.
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
	case typ != nil && typ.Kind == notation.IntType: // an option that counts: small, so that what it counts comes round
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

// set is where the rows of a parameter lie: where it is declared, or, for a
// state that is declared as real, where some page of the rule says that it keeps
// it. Whether it does is proved from the state's own start.
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
	eq := (*check.Equation)(nil)
	if sym != nil {
		eq = s.Block.Equation(sym.Name)
	}
	return eq != nil && eq.Gate != nil
}

func (s *Sampler) Fill(t *interp.Tensor, f func() float64) {
	for i := range t.Data {
		t.Data[i] = f()
	}
}

// normaliseRows moves rows onto the sphere or the simplex.
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

// inRange draws a number of a range, away from its ends.
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

// integers draws indices of a declared range, the members of a union
// included; without a range they count the tokens before a chunk.
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

// integer evaluates an integer over sizes.
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

// ASCIISizes spells the sizes of a polynomial as programs do.
func ASCIISizes(p shape.Poly) shape.Poly {
	for _, s := range p.Symbols() {
		if n := ident.ASCII(s); n != s {
			p = p.Replace(s, shape.Sym(n))
		}
	}
	return p
}

// placeTies copies the value of some number among the parameters into one entry of
// each real array.
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

// spread draws weights for a result.
func (s *Sampler) Weights(t *interp.Tensor) *interp.Tensor {
	w := interp.NewTensor(t.Shape...)
	s.Fill(w, s.Rand.NormFloat64)
	return w
}

// isWindow reports whether a parameter is what a context keeps of a series.
func isWindow(name string) bool { return strings.HasSuffix(name, ".tail") }

// SetOptions gives the constants of an update that are options of its page their
// values, and the clock its first one.
func (s *Sampler) SetOptions(f *ir.Func, params numeric.Tensors) {
	for name, o := range s.Block.Options {
		t := params[ident.ASCII(name)]
		if x, ok := notation.Constant(o.Value); ok && t != nil {
			s.Fill(t, func() float64 { return x })
		}
	}
}

// ResultWeights draws the weights of a program's results by their places, so that
// another program with results of the same names gets the same ones. A result
// that the program does not have has the weight zero.
func ResultWeights(f *ir.Func, sizes map[string]int, round int) func(ir.Result, *interp.Tensor) *interp.Tensor {
	return func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		at := slices.IndexFunc(f.Results, func(s ir.Result) bool { return s.Name == r.Name })
		if at < 0 {
			return nil
		}
		return New(nil, nil, sizes, forWeights, round<<16+at).Weights(out)
	}
}
