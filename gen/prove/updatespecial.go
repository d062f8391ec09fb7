package prove

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Two updates are the same where they move every parameter in the same way: from
// slots of zero, fire after fire, by the same gradients. What they keep in their
// slots is their own affair, and the settings are those of each side. Where one
// of them moves matrices, both are tried on matrices.

// specialFires is how many fires in a row are compared: more than the windows of
// the pages in which something gathers.
const specialFires = 12

// specialTol bounds the difference of two ways to the same step, by how far the
// parameter has gone: a step may be a hundred-thousandth of what it is added to,
// and an iteration of five rounds makes a rounding error a few hundred times as
// large.
const specialTol = 1e-9

// matrixShapes are the parameters: wide, tall, square, a row and a column.
var matrixShapes = [][2]int{{3, 5}, {5, 3}, {4, 4}, {1, 4}, {6, 1}}

// updateSpecials settles the special cases that stand under the update itself:
// what they compare is named, so an instance has nothing to add.
func (p *prover) updateSpecials() {
	for _, st := range p.unit.Body {
		s, ok := st.(*notation.Special)
		if !ok {
			continue
		}
		it := Item{Kind: Special, Name: formulaName(s), Text: notation.Print(s, notation.Unicode), Span: s.Span}
		left, right := p.machine(s.Left, s.LWith), p.machine(s.Right, s.With)
		if left == nil || right == nil {
			it.Evidence = failed("cannot be built")
			p.add(it)
			continue
		}
		p.settle(it, func() Evidence { return p.sameMoves(s, left, right) })
	}
}

// A machine is an update ready to fire.
type machine struct {
	blk *check.Block
	f   *ir.Func
}

// machine builds one side of a special case.
func (p *prover) machine(f *notation.Formula, with []*notation.Override) *machine {
	u := p.tree.Units[f.Parts[0].Name.Text]
	if len(f.Parts) != 1 || u != nil && u.Kind != notation.UpdateUnit {
		p.ds.Errorf(diag.NotProvable, f.Span, "a special case of an update compares updates")
		return nil
	}
	blk, ds := check.InstantiateFormula(p.tree, p.unit.Name.Text, f, with)
	if p.ds.Append(ds); blk == nil || ds.HasErrors() {
		return nil
	}
	var built diag.List
	g := irbuild.UpdateOfMatrix(blk, &built)
	if p.ds.Append(built); g == nil || built.HasErrors() {
		return nil
	}
	return &machine{blk: blk, f: g}
}

// sameMoves fires both sides and compares what the parameter becomes.
func (p *prover) sameMoves(s *notation.Special, left, right *machine) Evidence {
	ev := Evidence{Verdict: Tested, Tolerance: specialTol}
	for i, shape := range matrixShapes {
		for _, nodecay := range []float64{0, 1} {
			draw := newSampler(p.blk, nil, nil, forSpecial, i)
			a, b := left.start(shape, nodecay), right.start(shape, nodecay)
			draw.fill(a.w(), draw.rng.NormFloat64)
			b.at(a.w())
			a.at(a.w())
			g := interp.NewTensor(shape[0], shape[1])
			for n := 1; n <= specialFires; n++ {
				draw.fill(g, draw.rng.NormFloat64)
				a.fire(n, g)
				b.fire(n, g)
				w := moves(a, b)
				if !(w.err <= specialTol) {
					p.specialWrong(s, fmt.Sprintf("a parameter of %d×%d begins alike, and after fire %d its entry%s has moved by %.12g on the left and by %.12g on the right",
						shape[0], shape[1], n, at(w.at), w.a, w.b))
					return failed("the parameter differs")
				}
				ev.Points += len(a.w().Data)
				ev.Worst = math.Max(ev.Worst, w.err)
			}
		}
	}
	return ev
}

// A firing is an update on its way: one parameter with its slots.
type firing struct {
	*machine
	sizes  map[string]int
	params tensors
	from   *interp.Tensor // where the parameter began
}

// start is a parameter of zeros under the update, with the settings of its side.
func (m *machine) start(shape [2]int, nodecay float64) *firing {
	x := &firing{machine: m, sizes: map[string]int{}, params: tensors{}}
	axes := m.f.Param(m.updated()).Axes
	if len(axes) == 1 { // of entries
		x.sizes[axes[0].Size.String()] = shape[0] * shape[1]
	} else {
		for i, a := range axes {
			x.sizes[a.Size.String()] = shape[i]
		}
	}
	for _, v := range m.f.Params {
		t := interp.NewTensor(interp.Shape(v.Axes, x.sizes)...)
		if v.Elem == ir.Bool {
			t.Data[0] = nodecay
		}
		x.params[v.Name] = t
	}
	(&sampler{blk: m.blk}).options(m.f, x.params)
	x.at(x.w())
	return x
}

func (m *machine) updated() string { return ident.ASCII(m.blk.Unit.Params[0].Name.Text) }

func (x *firing) w() *interp.Tensor { return x.params[x.updated()] }

// at puts the parameter where another one is.
func (x *firing) at(w *interp.Tensor) {
	copy(x.w().Data, w.Data)
	x.from = interp.NewTensor(w.Shape...)
	copy(x.from.Data, w.Data)
}

// moves compares how far two parameters have gone.
func moves(a, b *firing) worst {
	x, y := a.moved(), b.moved()
	return compareBy(x, y, math.Max(math.Max(norm(x), norm(y)), math.SmallestNonzeroFloat64))
}

// moved is how far the parameter has gone.
func (x *firing) moved() *interp.Tensor {
	d := interp.NewTensor(x.from.Shape...)
	for i := range d.Data {
		d.Data[i] = x.w().Data[i] - x.from.Data[i]
	}
	return d
}

// fire moves the parameter once.
func (x *firing) fire(n int, g *interp.Tensor) {
	for _, s := range x.blk.SymSeq {
		t := x.params[ident.ASCII(s.Name)]
		switch {
		case t == nil:
		case s.Kind == check.Clock:
			t.Data[0] = float64(n)
		case s.Kind == check.Input:
			copy(t.Data, g.Data)
		}
	}
	for name, t := range interp.Run(x.f, x.sizes, x.params) {
		x.params[name] = t
	}
}

// oriented holds the iterations that are said to hold for the transpose to it:
// the program for tall matrices, and this one.
func (p *prover) oriented(f *ir.Func) {
	var ds diag.List
	tall := irbuild.UpdateTall(p.blk, &ds)
	if p.ds.Append(ds); tall == nil || ds.HasErrors() {
		return
	}
	it := Item{Kind: Claim, Name: "orient", Text: "what iterates holds for the transpose", Span: p.unit.Span}
	p.settle(it, func() Evidence {
		ev := Evidence{Verdict: Tested, Tolerance: specialTol}
		for i, shape := range matrixShapes {
			draw := newSampler(p.blk, nil, nil, forOrientation, i)
			a, b := (&machine{blk: p.blk, f: f}).start(shape, 0), (&machine{blk: p.blk, f: tall}).start(shape, 0)
			g := interp.NewTensor(shape[0], shape[1])
			for n := 1; n <= fires; n++ {
				draw.fill(g, draw.rng.NormFloat64)
				a.fire(n, g)
				b.fire(n, g)
				w := moves(a, b)
				if !(w.err <= specialTol) {
					p.ds.Errorf(diag.ClaimFails, p.orientation(), "this iteration does not hold for the transpose: the entry%s of a parameter of %d×%d moves by %.12g one way and by %.12g the other",
						at(w.at), shape[0], shape[1], w.a, w.b).Hint("take orient away")
					return failed("the parameter differs")
				}
				ev.Points += len(g.Data)
				ev.Worst = math.Max(ev.Worst, w.err)
			}
		}
		return ev
	})
}

// orientation is where the page says that an iteration holds for the transpose.
func (p *prover) orientation() notation.Span {
	for _, eq := range p.blk.Eqs {
		if eq.Iter != nil && eq.Iter.Orient {
			return eq.Iter.Span
		}
	}
	return p.unit.Span
}
