package prove

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A sampler draws parameters of programs from their declared sets: unit rows,
// rows on the simplex, open ranges well inside, integers with the extra values
// that a union allows. Everything else is a normal number of moderate size.
type sampler struct {
	rng   *rand.Rand
	blk   *check.Block
	frees map[string]irbuild.Free
	sizes map[string]int
	// edges makes some entries equal to a number that the program is given
	// too, so that comparisons are also tested at a tie.
	edges  bool
	gates  bool // a gate is being drawn
	halved int  // how often what may be any number is drawn at half the size
}

// newSampler makes the sampler of a purpose's nth point. Numbers follow from the
// purpose, n and the order in which they are drawn, which is that of a program's
// parameters: no name of a page decides what is drawn.
func newSampler(blk *check.Block, frees map[string]irbuild.Free, sizes map[string]int, purpose purpose, n int) *sampler {
	return &sampler{rng: rand.New(rand.NewPCG(uint64(purpose), uint64(n))), blk: blk, frees: frees, sizes: sizes}
}

// A purpose is what numbers are drawn for: each has its own.
type purpose uint64

const (
	_ purpose = iota
	forGradient
	forInner
	forClaim
	forCounterexample
	forBlame
	forTie
	forKink
	forInvariant
	forTrajectory
	forHard
	forSet
	forStart
	forCausality
	forSpecial
	forWeights
	forOrientation
	forFires
	forSame
	forRoot
	forChunks
	forApproximation
	forCourse
	forTokens
	forPrimitive
)

// params draws all parameters of a program.
func (s *sampler) params(f *ir.Func) tensors {
	out := tensors{}
	for _, p := range f.Params {
		out[p.Name] = s.draw(p)
	}
	if s.edges {
		s.tie(f, out)
	}
	return out
}

func (s *sampler) draw(p *ir.Value) *interp.Tensor {
	t := interp.NewTensor(interp.Shape(p.Axes, s.sizes)...)
	typ := s.frees[p.Name].Type
	switch p.Elem {
	case ir.Bool:
		s.fill(t, func() float64 { return float64(s.rng.IntN(2)) })
		return t
	case ir.Int:
		s.integers(t, typ)
		return t
	}
	switch {
	case typ != nil && typ.Kind == notation.RangeType:
		s.gates = s.isGate(s.frees[p.Name].Sym)
		s.fill(t, func() float64 { return s.inside(typ) })
	case typ != nil && typ.Kind == notation.IntType: // an option that counts: small, so that what it counts comes round
		lo, hi := s.whole(typ.Lo, 0), s.whole(typ.Hi, 3)
		s.fill(t, func() float64 { return float64(lo + s.rng.IntN(min(hi-lo, 2)+1)) })
	case p.Role == ir.Constant && len(p.Axes) == 0 && typ == nil:
		s.fill(t, func() float64 { return 1 + float64(s.rng.IntN(4)) })
	default:
		scale := 0.8
		if p.Role == ir.Outer || p.Role == ir.State {
			scale = 0.6
		}
		s.fill(t, func() float64 { return math.Ldexp(scale*s.rng.NormFloat64(), -s.halved) })
	}
	if len(t.Shape) > 0 {
		s.rows(t, s.set(p, typ))
	}
	return t
}

// set is where the rows of a parameter lie: where it is declared, or, for a
// state that is declared as real, where some page of the rule says that it keeps
// it. Whether it does is proved from the state's own start.
func (s *sampler) set(p *ir.Value, typ *notation.Type) notation.TypeKind {
	if typ == nil {
		return notation.RealType
	}
	if sym := s.frees[p.Name].Sym; sym != nil && sym.Kind == check.State && p.Role != ir.Adjoint && typ.Kind == notation.RealType {
		return s.blk.RowSet(sym)
	}
	return typ.Kind
}

// ofRows reports whether a set is one of rows, on which they lie up to rounding.
func ofRows(kind notation.TypeKind) bool {
	return kind == notation.SphereType || kind == notation.SimplexType
}

func (s *sampler) isGate(sym *check.Symbol) bool {
	eq := (*check.Equation)(nil)
	if sym != nil {
		eq = s.blk.Equation(sym.Name)
	}
	return eq != nil && eq.Gate != nil
}

func (s *sampler) fill(t *interp.Tensor, f func() float64) {
	for i := range t.Data {
		t.Data[i] = f()
	}
}

// rows moves rows onto the sphere or the simplex.
func (s *sampler) rows(t *interp.Tensor, kind notation.TypeKind) {
	n := t.Shape[len(t.Shape)-1]
	if n == 0 || !ofRows(kind) {
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

// inside draws a number of a range, away from its ends.
func (s *sampler) inside(t *notation.Type) float64 {
	lo, okLo := bound(t.Lo)
	hi, okHi := bound(t.Hi)
	u := 0.05 + 0.9*s.rng.Float64()
	if s.edges && s.gates && s.rng.IntN(3) == 0 {
		u = float64(s.rng.IntN(2)) // a gate may round to its ends
	}
	switch {
	case okLo && okHi:
		return lo + (hi-lo)*u
	case okLo:
		return lo + u
	case okHi:
		return hi - u
	}
	return s.rng.NormFloat64()
}

func bound(e notation.Expr) (float64, bool) {
	if e == nil {
		return 0, false
	}
	x, ok := check.Number(e)
	return x, ok && !math.IsInf(x, 0)
}

// integers draws indices of a declared range, the members of a union
// included; without a range they count the tokens before a chunk.
func (s *sampler) integers(t *interp.Tensor, typ *notation.Type) {
	lo, hi := 0, 3
	if typ != nil && typ.Kind == notation.IntType {
		lo, hi = s.whole(typ.Lo, 0), s.whole(typ.Hi, 3)
	}
	s.fill(t, func() float64 {
		if typ != nil && len(typ.Members) > 0 && s.rng.IntN(4) == 0 {
			return float64(s.whole(typ.Members[s.rng.IntN(len(typ.Members))], 0))
		}
		return float64(lo + s.rng.IntN(max(1, hi-lo+1)))
	})
}

// whole evaluates an integer over sizes.
func (s *sampler) whole(e notation.Expr, otherwise int) int {
	if e == nil {
		return otherwise
	}
	if x, ok := check.Number(e); ok {
		return int(x)
	}
	p, ok := s.blk.SizeOf(e, nil)
	if !ok {
		return otherwise
	}
	n, err := ascii(p).Eval(s.sizes)
	if err != nil {
		return otherwise
	}
	return n
}

// ascii spells the sizes of a polynomial as programs do.
func ascii(p shape.Poly) shape.Poly {
	for _, s := range p.Symbols() {
		if n := ident.ASCII(s); n != s {
			p = p.Replace(s, shape.Sym(n))
		}
	}
	return p
}

// tie copies the value of some number among the parameters into one entry of
// each real array.
func (s *sampler) tie(f *ir.Func, params tensors) {
	var numbers []float64
	for _, p := range f.Params {
		if p.Elem == ir.Real && len(params[p.Name].Data) == 1 && p.Role != ir.Adjoint {
			numbers = append(numbers, params[p.Name].Data[0])
		}
	}
	numbers = append(numbers, 0)
	for _, p := range f.Params {
		t := params[p.Name]
		if p.Elem != ir.Real || p.Role == ir.Adjoint || len(t.Data) < 2 || s.set(p, s.frees[p.Name].Type) != notation.RealType {
			continue
		}
		t.Data[s.rng.IntN(len(t.Data))] = numbers[s.rng.IntN(len(numbers))]
	}
}

// spread draws weights for a result.
func (s *sampler) weights(t *interp.Tensor) *interp.Tensor {
	w := interp.NewTensor(t.Shape...)
	s.fill(w, s.rng.NormFloat64)
	return w
}

// isTail reports whether a parameter is what a context keeps of a series.
func isTail(name string) bool { return strings.HasSuffix(name, ".tail") }

// options gives the constants of an update that are options of its page their
// values, and the clock its first one.
func (s *sampler) options(f *ir.Func, params tensors) {
	for name, o := range s.blk.Options {
		t := params[ident.ASCII(name)]
		if x, ok := check.Number(o.Value); ok && t != nil {
			s.fill(t, func() float64 { return x })
		}
	}
}
