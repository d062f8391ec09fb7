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

// Equalities at the kinks of their own program. An equality may be false at a kink and nowhere
// else: there a derivative is the one that the table of adjoints chooses. Random points are
// never at a kink. So the comparisons that the two sides make are observed along lines
// through random points; where the difference of two compared numbers changes its sign, the
// root is found by bisection, and both sides are evaluated there with the two numbers treated
// as equal.

const (
	comparisonLines = 4     // for each assignment of sizes, every other one a ray
	kinkTol         = 1e-6  // of two sides at a kink
	equalWithin     = 1e-12 // of the range of a difference: numbers so close are treated as equal
)

// A comparisonLine is a program along a line that observes its comparisons.
type comparisonLine struct {
	line
	hook *interp.Comparisons
	// The comparisons of the last run, in order.
	made   []*ir.Instr
	gaps   []float64 // differences of the compared numbers
	bounds []float64 // the second of the compared numbers
}

// testAtKinks tests an equality that holds elsewhere at the kinks of its program.
func testAtKinks(p *proof.Context, it proof.Item, c *notation.Claim, q *irbuild.Equality) (points int, ok bool) {
	for i, sizes := range sample.Sizes(p.Block, false, q.Func) {
		for n := range comparisonLines {
			draw := sample.New(p.Block, q.Free, sizes, sample.ForTies, i*100+n)
			t := newComparisonLine(q.Func, draw, n%2 == 1)
			for _, k := range t.crossings() {
				out, found := t.atKink(k)
				if !found {
					continue
				}
				points++
				if w := numeric.Compare(out[irbuild.Left], out[irbuild.Right]); !(w.Err <= kinkTol) {
					reportAtKink(p, it, c, t.made[k.comparison], t.bounds[k.comparison], sizes, w)
					return points, false
				}
			}
		}
	}
	return points, true
}

func newComparisonLine(f *ir.Func, draw *sample.Sampler, ray bool) *comparisonLine {
	t := &comparisonLine{hook: &interp.Comparisons{Within: -1}}
	t.prog, t.f, t.sizes, t.ray = interp.Compile(f), f, draw.Sizes, ray
	t.prog.Comparisons = t.hook
	t.base, t.dir = draw.Params(f), draw.Params(f)
	for _, v := range f.Params {
		moves := v.Elem == ir.Real && v.Role != ir.Adjoint && draw.RowSet(v, draw.Frees[v.Name].Type) == notation.RealType
		if !moves {
			clear(t.dir[v.Name].Data)
		} else if ray && len(v.Axes) > 0 {
			clear(t.base[v.Name].Data)
		}
	}
	t.hook.Observe = func(in *ir.Instr, a, b float64) {
		t.made = append(t.made, in)
		t.gaps, t.bounds = append(t.gaps, a-b), append(t.bounds, b)
	}
	return t
}

// differences are those of all comparisons at a point of the line.
func (t *comparisonLine) differences(s float64) []float64 {
	t.made, t.gaps, t.bounds = t.made[:0], nil, t.bounds[:0]
	t.run(s)
	return t.gaps
}

// A crossing is an interval of the line in which a difference changes its sign.
type crossing struct {
	comparison     int
	lo, hi         float64
	fromLo, fromHi float64
}

// crossings are the first crossing of each instruction.
func (t *comparisonLine) crossings() []crossing {
	var out []crossing
	done := map[*ir.Instr]bool{}
	grid := t.grid()
	last := t.differences(grid[0])
	for k := 1; k < len(grid) && len(last) > 0; k++ {
		now := t.differences(grid[k])
		for i := range now {
			if in := t.made[i]; last[i]*now[i] < 0 && !done[in] {
				done[in] = true
				out = append(out, crossing{i, grid[k-1], grid[k], last[i], now[i]})
			}
		}
		last = now
	}
	return out
}

// atKink evaluates both sides where two compared numbers are equal; ok is false where their
// difference jumps past zero.
func (t *comparisonLine) atKink(k crossing) (out numeric.Tensors, ok bool) {
	s := numeric.Bisect(func(s float64) float64 { return t.differences(s)[k.comparison] }, k.lo, k.hi, k.fromLo)
	near := equalWithin * math.Max(math.Abs(k.fromLo), math.Abs(k.fromHi))
	if !(math.Abs(t.differences(s)[k.comparison]) <= near) {
		return nil, false
	}
	t.hook.Within = near
	out = t.run(s)
	t.hook.Within = -1
	return out, true
}

func reportAtKink(p *proof.Context, it proof.Item, c *notation.Claim, in *ir.Instr, bound float64, sizes map[string]int, w numeric.Deviation) {
	d := p.Diags.Errorf(claimCodes[it.Kind], c.Right.Where(), "%s at a kink: at %s the left side is %.9g and the right side %.9g%s",
		failureText[it.Kind], sample.SizesText(sizes), w.A, w.B, numeric.AtIndex(w.Index)).Labelf("where a number passes %.6g, with which it is compared", bound)
	if in.Span.File != nil && in.Span != c.Span {
		d.See(in.Span, "compared here")
	}
	d.Hint("at a kink the gradient is the one that the table of adjoints names: see whether < should be ≤, or the other way round")
}
