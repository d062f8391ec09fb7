package vectors

import (
	"maps"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/interval"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// An operation is tested at its edges first: on both sides of every kink of its page, at
// ties with its constants, and, where it acts on entries, at tiny, zero and large numbers.
// Finite differences are useless there, and the interpreter decides. Cases of moderate
// numbers follow.

// extremes are the numbers for operations that act entry by entry.
var extremes = []float64{0, 0x1p-30, -0x1p-30, 1, -1, 4.5, -4.5, 30, -30}

// kinkOffset is the relative distance from a kink at which its two sides are evaluated:
// far above the rounding of a norm, far below anything else.
const kinkOffset = 0x1p-20

// op adds the trial of an operation.
func (m *maker) op(t *emitgo.Trial, blk *check.Block) {
	var ds diag.List
	f := irbuild.Op(blk, &ds)
	t.Declared = declared(blk)
	o := &opVectors{blk: blk, types: irbuild.Frees(blk, f), e: &evaluator{trial: t, out: &vectors.File{}, pair: newEvaluated(f), kernel: true}}
	o.e.kind = "edge"
	for _, k := range blk.Kinks {
		o.kink(k)
	}
	o.ties()
	o.extremeCases()
	o.e.kind, o.n = "case", 0
	for i := range t.Sizes {
		c := o.draw(i)
		o.write(c)
	}
	m.add(t, o.e.out)
}

// declared reports whether a page declares an adjoint that is not the derivative.
func declared(b *check.Block) bool {
	return slices.ContainsFunc(b.Claims, func(c *notation.Claim) bool { return c.Keyword.Text == "adjoint" || c.Keyword.Text == "relax" })
}

// opVectors write the cases of an operation.
type opVectors struct {
	blk   *check.Block
	types map[string]irbuild.Free
	e     *evaluator
	n     int // cases of the current kind
}

// draw makes a case of moderate numbers at sizes i.
func (o *opVectors) draw(i int) *testCase {
	z := maps.Clone(o.e.trial.Program[i])
	z["L"] = batchSize
	c := o.e.newCase(o.n, z)
	c.draw()
	for _, p := range o.e.pair.f.Params {
		if p.Elem == ir.Real {
			intoDomain(o.types[p.Name].Type, c.in[p.Name])
		}
	}
	return c
}

// intoDomain moves numbers between −1 and 1 into the set that the page declares.
func intoDomain(typ *notation.Type, t *interp.Tensor) {
	if typ == nil || typ.Kind != notation.RangeType {
		return
	}
	iv := interval.Declared(typ)
	okLo, okHi := !math.IsInf(iv.Lo, 0), !math.IsInf(iv.Hi, 0)
	for i, x := range t.Data {
		switch {
		case okLo && okHi:
			t.Data[i] = iv.Lo + (iv.Hi-iv.Lo)*(x+1.125)/2.25
		case okLo:
			t.Data[i] = iv.Lo + math.Abs(x) + 0.0625
		case okHi:
			t.Data[i] = iv.Hi - math.Abs(x) - 0.0625
		}
	}
}

// write evaluates a case and writes it, unless a number is not finite.
func (o *opVectors) write(c *testCase) {
	out, grads := c.pair.Run(c.sizes, c.in, c.bar)
	for _, ts := range []tensors{out, grads} {
		for _, t := range ts {
			if !finite(t) {
				return
			}
		}
	}
	o.n++
	c.writeSizes(c.sizes)
	c.store(out, grads)
}

// extremeCases writes one number at a time through an operation that acts on entries.
func (o *opVectors) extremeCases() {
	for i := range extremes {
		c := o.e.newCase(o.n, map[string]int{"L": 1, "n": 1})
		for k, p := range o.e.pair.f.Params {
			typ := o.types[p.Name].Type
			if p.Role == ir.Input && (typ == nil || !typ.AnyShape) {
				return
			}
			c.in[p.Name] = interp.NewTensor(interp.Shape(p.Axes, c.sizes)...)
			c.in[p.Name].Data[0] = extremes[(i+3*k)%len(extremes)]
			if c.in[p.Name].Data[0] <= interval.Declared(typ).Lo {
				return // the domain is a half line
			}
		}
		o.write(c)
	}
}

// ties writes entries that equal a constant of the call.
func (o *opVectors) ties() {
	c := o.draw(0)
	var numbers []float64
	for _, p := range o.e.pair.f.Params {
		if p.Role == ir.Constant && p.Elem == ir.Real && len(p.Axes) == 0 {
			numbers = append(numbers, c.in[p.Name].Data[0])
		}
	}
	if len(numbers) == 0 {
		return
	}
	for _, p := range o.e.pair.f.Params {
		if p.Role != ir.Input || p.Elem != ir.Real {
			continue
		}
		for i, x := range numbers {
			if t := c.in[p.Name]; i < len(t.Data) {
				t.Data[i] = x
			}
		}
	}
	o.write(c)
}

// kink writes both sides of a kink. Its place on a ray from the origin is found by
// bisection, since some kinks are at norms of 1e-8.
func (o *opVectors) kink(k *notation.Kink) {
	var ds diag.List
	q := irbuild.Kink(o.blk, k, &ds)
	if q == nil || ds.HasErrors() {
		return
	}
	r := &ray{o: o, base: o.draw(0), prog: interp.Compile(q.Func), q: q.Func}
	if s, ok := numeric.SignChange(r.sides, numeric.RayGrid()); ok {
		o.write(r.at(s * (1 - kinkOffset)))
		o.write(r.at(s * (1 + kinkOffset)))
	}
}

// A ray scales all inputs of a case.
type ray struct {
	o    *opVectors
	base *testCase
	prog *interp.Program
	q    *ir.Func
}

func (r *ray) at(s float64) *testCase {
	c := r.o.e.newCase(r.o.n, r.base.sizes)
	for _, p := range r.o.e.pair.f.Params {
		t := r.base.in[p.Name].Clone()
		if p.Role == ir.Input && p.Elem == ir.Real && len(p.Axes) > 1 {
			for i := range t.Data {
				t.Data[i] *= s
			}
		}
		c.in[p.Name] = t
	}
	return c
}

// sides are the differences of the two sides of the kink.
func (r *ray) sides(s float64) []float64 {
	out := r.prog.Run(r.base.sizes, numeric.ParamsOf(r.q, r.at(s).in))
	d := slices.Clone(out[irbuild.Left].Data)
	for i, x := range out[irbuild.Right].Data {
		d[i] -= x
	}
	return d
}
