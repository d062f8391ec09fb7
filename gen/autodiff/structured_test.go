package autodiff_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/interp/interptest"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// A structured is a random program: a matrix M of m×n between structured factors,
// each a diagonal, a multiple of the identity, columns times rows, or a sum of such,
// multiplied in a random order, their names shared at random.
type structured struct {
	rng  *rand.Rand
	f    *ir.Func
	b    *ir.Builder
	m, n *ir.Axis
	old  map[*ir.Axis][]*ir.Value
}

func (s *structured) vector(a *ir.Axis) *ir.Value {
	if vs := s.old[a]; len(vs) > 0 && s.rng.IntN(3) == 0 {
		return vs[s.rng.IntN(len(vs))]
	}
	v := s.f.AddParam("v", ir.Input, ir.Real, a)
	s.old[a] = append(s.old[a], v)
	return v
}

// square is a structured matrix over an axis twice.
func (s *structured) square(a *ir.Axis) *ir.Value {
	axes := []*ir.Axis{a, a}
	var terms []ir.Arg
	var coefs []float64
	for range 1 + s.rng.IntN(3) {
		var t *ir.Value
		switch s.rng.IntN(4) {
		case 0:
			t = s.b.Prod(axes[:1], axes, []ir.Sub{ir.L(0), ir.L(0)}, 0.5)
		case 1:
			t = s.b.Prod(axes[:1], axes, []ir.Sub{ir.L(0), ir.L(0)}, 1, ir.All(s.vector(a)))
		case 2:
			c := s.f.AddParam("c", ir.Input, ir.Real)
			t = s.b.Prod(axes, axes, ir.Ls(2), 1, ir.At(s.vector(a), ir.L(1)), ir.At(c), ir.At(s.vector(a), ir.L(0)))
		default:
			t = s.b.Prod(axes, axes, ir.Ls(2), -1, ir.At(s.vector(a), ir.L(0)), ir.At(s.vector(a), ir.L(1)))
		}
		terms, coefs = append(terms, ir.All(t)), append(coefs, s.rng.NormFloat64())
	}
	if len(terms) == 1 {
		return terms[0].Val
	}
	constant := 0.0
	if s.rng.IntN(4) == 0 {
		constant = 0.3
	}
	return s.b.Lin(axes, constant, coefs, terms...)
}

// times is A B, summed over the axis in the middle.
func (s *structured) times(a, b *ir.Value) *ir.Value {
	return s.b.Prod([]*ir.Axis{a.Axes[0], b.Axes[1], a.Axes[1]}, []*ir.Axis{a.Axes[0], b.Axes[1]}, ir.Ls(2), 1,
		ir.At(a, ir.L(0), ir.L(2)), ir.At(b, ir.L(2), ir.L(1)))
}

func structuredProgram(seed uint64) *ir.Func {
	s := &structured{rng: rand.New(rand.NewPCG(seed, 11)), f: &ir.Func{Name: "chain"}, old: map[*ir.Axis][]*ir.Value{}}
	s.b = &ir.Builder{F: s.f}
	s.m, s.n = s.f.NewAxis("m"), s.f.NewAxis("n")
	var chain []*ir.Value
	for range s.rng.IntN(3) {
		chain = append(chain, s.square(s.m))
	}
	chain = append(chain, s.f.AddParam("M", ir.State, ir.Real, s.m, s.n))
	for range s.rng.IntN(3) {
		next := s.square(s.n)
		if s.rng.IntN(3) == 0 && chain[len(chain)-1].Axes[0] == s.n {
			next = chain[len(chain)-1] // a power
		}
		chain = append(chain, next)
	}
	for len(chain) > 1 {
		k := s.rng.IntN(len(chain) - 1)
		chain = append(append(chain[:k:k], s.times(chain[k], chain[k+1])), chain[k+2:]...)
	}
	s.f.Results = []ir.Result{{Name: "r", Val: chain[0]}}
	return s.f
}

// TestStructuredChains: products of one matrix with structured ones, in any order,
// keep their values, and neither the program nor its backward has an iteration
// space of three loops.
func TestStructuredChains(t *testing.T) {
	sizes := map[string]int{"m": 4, "n": 3}
	flat := func(f *ir.Func, what string, seed uint64) {
		t.Helper()
		for _, in := range f.Body {
			if len(in.Loops) > 2 {
				t.Fatalf("seed %d: the %s has a box of three loops\n%s\nfrom\n%s", seed, what, f, structuredProgram(seed))
			}
		}
	}
	for seed := range uint64(400) {
		f := structuredProgram(seed)
		if err := ir.Verify(f); err != nil {
			t.Fatal(err)
		}
		params := interptest.Inputs(f, sizes, seed)
		want := interp.Run(f, sizes, params)
		g, _ := f.Clone()
		simplify.Simplify(g)
		if err := ir.Verify(g); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g)
		}
		interptest.Compare(t, g.String()+"\nfrom\n"+f.String(), want, interp.Run(g, sizes, params))
		flat(g, "program", seed)
		p := autodiff.NewPair(f)
		flat(p.Fwd, "forward", seed)
		flat(p.Bwd, "backward", seed)
		if seed%8 == 0 {
			for _, e := range gradErrors(f, sizes, params) {
				t.Errorf("seed %d: %s", seed, e)
			}
		}
	}
}
