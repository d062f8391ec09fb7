package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// A special case says that two formulas are one function. Both are built, and
// what both give is compared, parameter by parameter of the same name: the
// outputs, the states that both have after a chunk, and the gradients. A
// parameter that only one side has must make no difference.

func (p *prover) specials() {
	for _, s := range own(p, p.blk.Specials) {
		it := Item{Kind: Special, Name: formulaName(s), Text: notation.Print(s, notation.Unicode), Span: s.Span}
		left, right := p.side(s.Left, s.LWith), p.side(s.Right, s.With)
		if left.f == nil || right.f == nil {
			it.Evidence = failed("cannot be built")
			p.add(it)
			continue
		}
		left.namesake(right)
		p.settle(it, func() Evidence {
			if left.start != nil && right.start != nil {
				if ev := p.special(s, "at the start of a context, ", left.start, right.start); ev.Verdict == Failed {
					return ev
				}
			}
			return p.special(s, "", left.f, right.f)
		})
	}
}

func formulaName(s *notation.Special) string {
	var out []string
	for _, f := range []*notation.Formula{s.Left, s.Right} {
		var names []string
		for _, a := range f.Parts {
			names = append(names, ident.ID(a.Name.Text))
		}
		out = append(out, strings.Join(names, "+"))
	}
	return strings.Join(out, "=")
}

// A side of a special case: its program, and that of its first states.
type side struct {
	blk      *check.Block
	f, start *ir.Func
}

// namesake gives the anchors of a side the names that the other side has for
// the anchors of the same states.
func (s side) namesake(other side) {
	for _, a := range s.blk.SymSeq {
		if a.Kind != check.Anchor || other.f.Param(ident.ASCII(a.Name)) != nil {
			continue
		}
		b := other.blk.AnchorOf(a.Of)
		if b == nil || s.f.Param(ident.ASCII(b.Name)) != nil {
			continue
		}
		for _, f := range []*ir.Func{s.f, s.start} {
			renameState(f, ident.ASCII(a.Name), ident.ASCII(b.Name))
		}
	}
}

// renameState renames a state of a program, before the call and after it.
func renameState(f *ir.Func, old, name string) {
	if f == nil {
		return
	}
	if p := f.Param(old); p != nil {
		p.Name = name
	}
	for i := range f.Results {
		if f.Results[i].Name == old {
			f.Results[i].Name = name
		}
	}
}

// side builds one side of a special case.
func (p *prover) side(f *notation.Formula, with []*notation.Override) side {
	blk, ds := check.InstantiateFormula(p.tree, p.unit.Name.Text, f, with)
	if blk == nil || ds.HasErrors() {
		p.ds.Append(ds)
		return side{}
	}
	var built diag.List
	s := side{blk: blk, f: irbuild.Whole(blk, &built)}
	if s.f != nil && blk.Unit.Kind == notation.RuleUnit {
		s.start = irbuild.Start(blk, &built)
	}
	p.ds.Append(built)
	if built.HasErrors() {
		return side{}
	}
	return s
}

func (p *prover) special(s *notation.Special, when string, left, right *ir.Func) Evidence {
	left, right = shared(left, right), shared(right, left)
	if extra := unmatched(left, right); extra != "" {
		p.specialWrong(s, fmt.Sprintf("%s%s counts on one side only", when, extra))
		return failed(extra + " counts on one side only")
	}
	if simplify.EqualGradients(simplified(left), simplified(right)) {
		return Evidence{Verdict: Proved}
	}
	ev := Evidence{Verdict: Tested, Tolerance: exactTol}
	pl, pr := autodiff.NewPair(left), autodiff.NewPair(right)
	prog := interp.Compile(left)
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, left, right) {
		for _, v := range left.Params {
			w := right.Param(v.Name)
			if a, b := interp.Shape(v.Axes, sizes), interp.Shape(w.Axes, sizes); !slices.Equal(a, b) {
				p.specialWrong(s, fmt.Sprintf("%sat %s, %s has the shape %v on the left and %v on the right", when, spelled(sizes), v.Name, a, b))
				return failed(v.Name + " has another shape")
			}
		}
		params, _, draw, _ := numbers(left, prog, func() *sampler {
			return newSampler(p.blk, p.specialFrees(left, right), sizes, forSpecial, i)
		}, func(s *sampler) tensors { return s.params(left) })
		ev.halved(draw)
		weights := weightsOf(left, sizes, i)
		al, names := p.sideAt(left, pl, params, sizes, weights)
		ar, more := p.sideAt(right, pr, params, sizes, weights)
		for _, n := range more {
			if al[n] == nil {
				names = append(names, n)
			}
		}
		for _, n := range names {
			w := compare(orZero(al[n], ar[n]), orZero(ar[n], al[n]))
			if !(w.err <= exactTol*10) {
				p.specialWrong(s, fmt.Sprintf("%sat %s, %s%s is %.12g on the left and %.12g on the right", when, spelled(sizes), n, at(w.at), w.a, w.b))
				return failed(n + " differs")
			}
			ev.Points += len(orZero(al[n], ar[n]).Data)
			ev.Worst = math.Max(ev.Worst, w.err)
		}
	}
	return ev
}

// orZero is a tensor, or zeros in the shape of the other side's: an adjoint that a
// program does not have is zero.
func orZero(t, other *interp.Tensor) *interp.Tensor {
	if t == nil {
		return interp.NewTensor(other.Shape...)
	}
	return t
}

func (p *prover) specialFrees(left, right *ir.Func) map[string]irbuild.Free {
	out := irbuild.Frees(p.blk, left)
	for n, f := range irbuild.Frees(p.blk, right) {
		out[n] = f
	}
	return out
}

// sideAt evaluates a side and its gradients for given weights of the results, and
// lists the names of what it gives, in the order of the program.
func (p *prover) sideAt(f *ir.Func, pair *autodiff.Pair, params tensors, sizes map[string]int, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (tensors, []string) {
	all, names := tensors{}, []string{}
	_, grads := evaluate(f, pair, sizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		all["value of "+r.Name] = out
		names = append(names, "value of "+r.Name)
		return weigh(r, out)
	})
	for _, v := range f.Params {
		if g := grads[v.Name]; g != nil {
			all["adjoint of "+v.Name] = g
			names = append(names, "adjoint of "+v.Name)
		}
	}
	return all, names
}

// weightsOf draws the weights of a program's results by their places, so that
// another program with results of the same names gets the same ones. A result
// that the program does not have has the weight zero.
func weightsOf(f *ir.Func, sizes map[string]int, round int) func(ir.Result, *interp.Tensor) *interp.Tensor {
	return func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		at := slices.IndexFunc(f.Results, func(s ir.Result) bool { return s.Name == r.Name })
		if at < 0 {
			return nil
		}
		return newSampler(nil, nil, sizes, forWeights, round<<16+at).weights(out)
	}
}

// shared is f with the results that g has too.
func shared(f, g *ir.Func) *ir.Func {
	h, _ := f.Clone()
	h.Results = slices.DeleteFunc(h.Results, func(r ir.Result) bool { return g.Result(r.Name) == nil })
	simplify.Simplify(h)
	h.Sweep()
	used := h.Uses()
	h.Params = slices.DeleteFunc(h.Params, func(v *ir.Value) bool { return used[v] == 0 })
	return h
}

func simplified(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	simplify.Simplify(g)
	return g
}

// unmatched is a parameter that one side reads and the other does not have.
func unmatched(f, g *ir.Func) string {
	for _, pair := range [][2]*ir.Func{{f, g}, {g, f}} {
		for _, v := range pair[0].Params {
			if pair[1].Param(v.Name) == nil {
				return v.Name
			}
		}
	}
	return ""
}

func (p *prover) specialWrong(s *notation.Special, why string) {
	at := s.Span
	if len(s.With) > 0 {
		at = s.With[0].Span
	}
	d := p.ds.Errorf(diag.SpecialDiffers, at, "the two sides are not the same function: %s", why)
	if u := p.tree.Units[s.Left.Parts[0].Name.Text]; u != nil && len(s.Left.Parts) == 1 {
		d.See(u.Span, "the left side")
	}
	if u := p.tree.Units[s.Right.Parts[0].Name.Text]; u != nil && len(s.Right.Parts) == 1 {
		d.See(u.Span, "the right side")
	}
}
