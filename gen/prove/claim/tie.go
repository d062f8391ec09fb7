package claim

import (
	"math"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// A claim may be false at a kink and nowhere else: there a derivative is the one
// that the table of adjoints names, and the claim may name another. No number
// that is drawn at random falls on a kink. So the numbers that the two sides
// compare are watched along lines through random points, as in kink.go; where
// the difference of such a pair changes its sign the place is found by bisection,
// and there both sides are evaluated with the pair taken for equal.

const (
	tieLines = 4     // for each size, every other one a ray
	tieTol   = 1e-6  // of two sides this close to a kink
	tieNear  = 1e-12 // of the difference's range counts as equal
)

// A pair is a comparison of one run: an instruction, and which of its entries.
type pair struct {
	in    *ir.Instr
	entry int
}

// A tieLine is a claim's program that watches what it compares.
type tieLine struct {
	line
	see   *interp.Comparisons
	pairs []pair
	gaps  []float64 // by pair, of the last run
	to    []float64 // what the first of the pair is compared with
	count map[*ir.Instr]int
}

// testAtTies holds a claim that is true elsewhere to its kinks.
func testAtTies(p *proof.Context, it proof.Item, c *notation.Claim, q *irbuild.Equality) (points int, ok bool) {
	for i, sizes := range sample.Sizes(p.Block, false, q.Func) {
		for n := range tieLines {
			draw := sample.New(p.Block, q.Free, sizes, sample.ForTies, i*100+n)
			t := newTied(q.Func, draw, n%2 == 1)
			for _, k := range t.crossings() {
				out, far := t.atTie(k)
				if !far {
					continue
				}
				points++
				if w := numeric.Compare(out[irbuild.Left], out[irbuild.Right]); !(w.Err <= tieTol) {
					reportTie(p, it, c, t.pairs[k.pair].in, t.to[k.pair], sizes, w)
					return points, false
				}
			}
		}
	}
	return points, true
}

func newTied(f *ir.Func, draw *sample.Sampler, ray bool) *tieLine {
	t := &tieLine{see: &interp.Comparisons{Within: -1}}
	t.prog, t.f, t.sizes, t.ray = interp.Compile(f), f, draw.Sizes, ray
	t.prog.Comparisons = t.see
	t.base, t.dir = draw.Params(f), draw.Params(f)
	for _, v := range f.Params {
		moves := v.Elem == ir.Real && v.Role != ir.Adjoint && draw.RowSet(v, draw.Frees[v.Name].Type) == notation.RealType
		if !moves {
			clear(t.dir[v.Name].Data)
		} else if ray && len(v.Axes) > 0 {
			clear(t.base[v.Name].Data)
		}
	}
	t.see.Observe = func(in *ir.Instr, a, b float64) {
		t.pairs = append(t.pairs, pair{in, t.count[in]})
		t.gaps, t.to = append(t.gaps, a-b), append(t.to, b)
		t.count[in]++
	}
	return t
}

// differences are those of all pairs at a place of the line.
func (t *tieLine) differences(s float64) []float64 {
	t.pairs, t.gaps, t.to, t.count = t.pairs[:0], nil, t.to[:0], map[*ir.Instr]int{}
	t.run(s)
	return t.gaps
}

// A crossing is a place between two of the line where a pair changes places.
type crossing struct {
	pair           int
	lo, hi         float64
	fromLo, fromHi float64
}

// crossings are the first of each instruction.
func (t *tieLine) crossings() []crossing {
	var out []crossing
	done := map[*ir.Instr]bool{}
	grid := t.grid()
	last := t.differences(grid[0])
	for k := 1; k < len(grid) && len(last) > 0; k++ {
		now := t.differences(grid[k])
		for i := range now {
			if in := t.pairs[i].in; last[i]*now[i] < 0 && !done[in] {
				done[in] = true
				out = append(out, crossing{i, grid[k-1], grid[k], last[i], now[i]})
			}
		}
		last = now
	}
	return out
}

// atTie evaluates both sides where a pair is equal; ok is false where the pair
// jumps past it.
func (t *tieLine) atTie(k crossing) (out numeric.Tensors, ok bool) {
	lo, hi := k.lo, k.hi
	for range 80 {
		mid := lo + (hi-lo)/2
		if t.differences(mid)[k.pair]*k.fromLo > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	s := lo + (hi-lo)/2
	near := tieNear * math.Max(math.Abs(k.fromLo), math.Abs(k.fromHi))
	if !(math.Abs(t.differences(s)[k.pair]) <= near) {
		return nil, false
	}
	t.see.Within = near
	out = t.run(s)
	t.see.Within = -1
	return out, true
}

func reportTie(p *proof.Context, it proof.Item, c *notation.Claim, in *ir.Instr, bound float64, sizes map[string]int, w numeric.Deviation) {
	d := p.Diags.Errorf(claimCodes[it.Kind], c.Right.Where(), "%s at a kink: at %s the left side is %.9g and the right side %.9g%s",
		failureText[it.Kind], sample.SizesText(sizes), w.A, w.B, numeric.AtIndex(w.Index)).Labelf("where a number passes %.6g, with which it is compared", bound)
	if in.Span.File != nil && in.Span != c.Span {
		d.See(in.Span, "compared here")
	}
	d.Hint("at a kink the gradient is the one that the table of adjoints names: see whether < should be ≤, or the other way round")
}
