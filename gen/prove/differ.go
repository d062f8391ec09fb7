package prove

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Derivatives are compared with fourth-order central differences of the
// program itself, as the page wrote it: not simplified, with what `relax` says
// in place of what cannot be differentiated and with stopped values held. The differences are taken
// result by result before they are weighted and added, which keeps their
// rounding at that of one number.
//
// An entry whose difference straddles a kink proves nothing. Where a comparison
// fails, a smaller distance is tried, at last one that is small beside the
// entry itself; where none agrees, the program tells which way every comparison
// inside it went, and if the two ends disagree even then, the entry is skipped
// and counted. So is one at which no two distances give the same difference: a
// program that divides by a norm near its floor turns faster than any of them.
// And so is one where every deviation is within the rounding of results so large
// that a difference of them has no digits left.

// steps are the distances of the difference. The last two are for programs that
// overflow or turn within the others.
var steps = []float64{1e-3, 1e-4, 1e-5, 1e-6, 1e-7}

// kinkStep is the distance at which a comparison that goes another way excuses a
// difference: the least at which differences of a smooth program keep six digits.
const kinkStep = 1e-5

// relStep is the last distance, by the size of the entry.
const relStep = 1e-3

// roundings is how many units in the last place of its results a difference may
// be off: two from taking it, the others from the program's own.
const roundings = 16

// epsilon is the spacing of float64 at one.
const epsilon = 0x1p-52

// A differ takes differences of one program at one point.
type differ struct {
	f       *ir.Func
	prog    *interp.Program
	sizes   map[string]int
	params  tensors
	weights tensors         // of the results that count
	choices *interp.Program // made when it is needed
}

func newDiffer(f *ir.Func, sizes map[string]int, params tensors) *differ {
	g := frozen(relaxed(f), sizes, params)
	return &differ{f: g, prog: interp.Compile(g), sizes: sizes, params: params}
}

// derivative is Σ w·dout/dx at entry i of a parameter, and what its rounding can
// amount to.
func (d *differ) derivative(t *interp.Tensor, i int, h float64) (difference, rounding float64) {
	x := t.Data[i]
	at := func(s float64) tensors {
		t.Data[i] = x + s
		return d.prog.Run(d.sizes, d.params)
	}
	p1, m1 := at(h), at(-h)
	p2, m2 := at(2*h), at(-2*h)
	t.Data[i] = x
	sum, size := 0.0, 0.0
	for _, r := range d.f.Results {
		w := d.weights[r.Name]
		if w == nil {
			continue
		}
		for k, c := range w.Data {
			a := 8 * (p1[r.Name].Data[k] - m1[r.Name].Data[k])
			b := p2[r.Name].Data[k] - m2[r.Name].Data[k]
			sum += c * (a - b)
			size += math.Abs(c * p1[r.Name].Data[k])
		}
	}
	return sum / (12 * h), roundings * epsilon * size / h
}

// A verdict on one entry.
type entry struct {
	difference float64
	err, tol   float64
	skipped    bool
}

func (e entry) bad() bool { return !e.skipped && !(e.err <= e.tol) }

// check holds a derivative to differences; gmax is the largest entry of the
// gradient.
func (d *differ) check(t *interp.Tensor, i int, a, gmax float64) entry {
	var first, last entry
	h, wild, drowned := 0.0, true, true
	for k := range len(steps) + 1 {
		if h = relStep * math.Abs(t.Data[i]); k < len(steps) {
			h = steps[k]
		} else if h == 0 {
			break
		}
		var e entry
		var rounding float64
		e.difference, rounding = d.derivative(t, i, h)
		e.err = math.Abs(a - e.difference)
		e.tol = gradAbs*math.Max(1, gmax) + gradRel*math.Max(math.Abs(a), math.Abs(e.difference))
		if math.IsInf(e.tol, 0) { // an infinity is no tolerance
			e.tol = math.NaN()
		}
		if e.err <= e.tol {
			return e
		}
		if k == 0 || math.IsNaN(first.difference) {
			first = e
		}
		wild = wild && !math.IsNaN(e.err+e.tol) && (k == 0 || apart(e.difference, last.difference))
		drowned = drowned && e.err <= e.tol+rounding
		last = e
	}
	first.skipped = wild || drowned || d.straddles(t, i, 2*kinkStep)
	return first
}

// apart reports whether two differences are no one number.
func apart(a, b float64) bool {
	return math.Abs(a-b) > gradAbs+gradRel*math.Max(math.Abs(a), math.Abs(b))
}

// straddles reports whether any comparison inside the program goes another way
// at the two ends of a difference, or at its middle.
func (d *differ) straddles(t *interp.Tensor, i int, h float64) bool {
	if d.choices == nil {
		d.choices = interp.Compile(choices(d.f))
	}
	x := t.Data[i]
	defer func() { t.Data[i] = x }()
	var seen tensors
	for _, s := range []float64{0, h, -h} {
		t.Data[i] = x + s
		now := d.choices.Run(d.sizes, d.params)
		for name, v := range now {
			if seen != nil && !slices.Equal(seen[name].Data, v.Data) {
				return true
			}
		}
		seen = now
	}
	return false
}

// relaxed is f with what stands for a value in gradients in the value's place.
func relaxed(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	relax(g)
	return g
}

func relax(f *ir.Func) {
	for _, in := range f.Body {
		if in.Op == ir.Override {
			in.Op, in.Args, in.Coef = ir.Prod, in.Args[1:], []float64{1}
		}
		if in.Scan != nil {
			relax(in.Scan.Body)
		}
	}
}

// choices is f with the outcomes of all its comparisons as results.
func choices(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	g.Results = nil
	tell(g, func(v *ir.Value) {
		g.Results = append(g.Results, ir.Result{Name: v.Name, Val: v})
	})
	return g
}

// tell adds the outcomes of a program's comparisons to it; those of a scan's
// body are given out token by token.
func tell(f *ir.Func, give func(*ir.Value)) {
	for _, in := range slices.Clone(f.Body) {
		if s := in.Scan; s != nil {
			tell(s.Body, func(v *ir.Value) {
				axes := append([]*ir.Axis{s.Batch, s.Time}, v.Axes...)
				out := &ir.Value{Name: f.Fresh("choice"), Elem: ir.Real, Axes: axes, Def: in}
				s.Outs = append(s.Outs, ir.ScanOutput{Val: v, Out: out})
				give(out)
			})
		} else if v := outcome(f, in); v != nil {
			give(v)
		}
	}
}

// outcome is which way an instruction goes, or nil for one that has no kink.
func outcome(f *ir.Func, in *ir.Instr) *ir.Value {
	here := func(v *ir.Value) ir.Arg { return ir.Arg{Val: v, Sub: ir.Ls(len(in.Loops))} }
	add := func(op ir.Op, args ...ir.Arg) *ir.Value {
		n := &ir.Instr{Op: op, Loops: in.Loops, Guard: in.Guard, To: ir.Ls(len(in.Loops)), Args: args}
		elem := op.Info().Out
		n.Out = &ir.Value{Name: f.Fresh("choice"), Elem: elem, Axes: in.Loops, Def: n}
		f.Body = append(f.Body, n)
		return n.Out
	}
	switch in.Op {
	case ir.Less, ir.LessEq, ir.Equal:
		return add(ir.ToReal, ir.Arg{Val: in.Out, Sub: in.To})
	case ir.Max2, ir.Min2:
		return add(ir.ToReal, here(add(ir.LessEq, in.Args[1], in.Args[0])))
	case ir.Max:
		return add(ir.ToReal, here(add(ir.Equal, in.Args[0], ir.Arg{Val: in.Out, Sub: in.To})))
	case ir.Abs, ir.Sign:
		return add(ir.Sign, in.Args[0])
	case ir.Floor:
		return add(ir.Floor, in.Args[0])
	case ir.Mod:
		return add(ir.Floor, here(add(ir.Div, in.Args...)))
	}
	return nil
}
