package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
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
		p.settle(it, func() Evidence {
			if left.start != nil && right.start != nil {
				if ev := p.special(s, "at the start of a context, ", left.start, right.start); ev.Verdict == Failed {
					return ev
				}
			}
			return p.special(s, "", left.f, right.f)
		}, left.f, right.f, left.start, right.start)
	}
}

func formulaName(s *notation.Special) string {
	var out []string
	for _, f := range []*notation.Formula{s.Left, s.Right} {
		var names []string
		for _, a := range f.Parts {
			names = append(names, check.ID(a.Name.Text))
		}
		out = append(out, strings.Join(names, "+"))
	}
	return strings.Join(out, "=")
}

// A side of a special case: its program, and that of its first states.
type side struct{ f, start *ir.Func }

// side builds one side of a special case.
func (p *prover) side(f *notation.Formula, with []*notation.Override) side {
	blk, ds := check.InstantiateFormula(p.tree, p.unit.Name.Text, f, with)
	if blk == nil || ds.HasErrors() {
		p.ds.Append(ds)
		return side{}
	}
	var built diag.List
	s := side{f: irbuild.Whole(blk, &built)}
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
	if autodiff.Equal(simplified(left), simplified(right)) {
		return Evidence{Verdict: Proved}
	}
	ev := Evidence{Verdict: Tested, Tolerance: exactTol}
	pl, pr := autodiff.NewPair(left), autodiff.NewPair(right)
	for i, sizes := range sizeSets(p.opt.Deep, left, right) {
		sl, sr := subject{f: left, span: s.Span}, subject{f: right, span: s.Span}
		draw := newSampler(p.blk, p.specialFrees(left, right), sizes, "special"+left.Name, i)
		params := draw.params(left)
		for n, t := range draw.params(right) {
			if params[n] == nil {
				params[n] = t
			}
		}
		al := p.sideAt(sl, pl, params, sizes, i)
		ar := p.sideAt(sr, pr, params, sizes, i)
		for _, n := range sortedNames(al) {
			if ar[n] == nil {
				continue
			}
			w := compare(al[n], ar[n])
			if !(w.err <= exactTol*10) {
				p.specialWrong(s, fmt.Sprintf("%sat %s, %s%s is %.12g on the left and %.12g on the right", when, spelled(sizes), n, at(w.at), w.a, w.b))
				return failed(n + " differs")
			}
			ev.Points += len(al[n].Data)
			ev.Worst = math.Max(ev.Worst, w.err)
		}
	}
	return ev
}

func (p *prover) specialFrees(left, right *ir.Func) map[string]irbuild.Free {
	out := irbuild.Frees(p.blk, left)
	for n, f := range irbuild.Frees(p.blk, right) {
		out[n] = f
	}
	return out
}

// sideAt evaluates a side and its gradients for the same weights of results.
func (p *prover) sideAt(s subject, pair *autodiff.Pair, params map[string]*interp.Tensor, sizes map[string]int, round int) map[string]*interp.Tensor {
	out := interp.Run(pair.Fwd, sizes, pick(pair.Fwd, params))
	in, all := map[string]*interp.Tensor{}, map[string]*interp.Tensor{}
	for n, v := range out {
		in[n] = v
	}
	for n, v := range params {
		in[n] = v
	}
	for _, r := range s.f.Results {
		all["value of "+r.Name] = out[r.Name]
		w := newSampler(p.blk, nil, sizes, "weights"+r.Name, round)
		in[autodiff.Bar(r.Name)] = w.weights(out[r.Name])
	}
	for _, v := range pair.Bwd.Params {
		if v.Role == ir.Saved {
			in[v.Name] = out[v.Name]
		}
	}
	for n, v := range interp.Run(pair.Bwd, sizes, pick(pair.Bwd, in)) {
		all["adjoint "+n] = v
	}
	return all
}

func sortedNames(m map[string]*interp.Tensor) []string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// shared is f with the results that g has too.
func shared(f, g *ir.Func) *ir.Func {
	h, _ := f.Clone()
	h.Results = slices.DeleteFunc(h.Results, func(r ir.Result) bool { return g.Result(r.Name) == nil })
	autodiff.Simplify(h)
	h.Sweep()
	used := h.Uses()
	h.Params = slices.DeleteFunc(h.Params, func(v *ir.Value) bool { return used[v] == 0 })
	return h
}

func simplified(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	autodiff.Simplify(g)
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

// errata lists the corrections to papers with the claims that they rest on.
func (p *prover) errata() {
	for _, e := range own(p, p.blk.Errata) {
		it := Item{Kind: Erratum, Name: check.ID(e.By.Text), Text: notation.Print(e, notation.Unicode), Span: e.Span}
		by := p.claimItem(e.By.Text)
		if by == nil {
			it.Evidence = failed("no such claim")
			p.ds.Errorf(diag.ErratumUnbacked, e.By.Span, "there is no claim %s on this page", e.By.Text).
				Hint("tag the claim that shows it: claim … {%s}", e.By.Text)
		} else {
			it.Evidence = Evidence{Verdict: by.Verdict, Note: "by " + by.ID}
		}
		p.add(it)
	}
}

// claimItem finds a settled claim by its name.
func (p *prover) claimItem(name string) *Item {
	for i, it := range p.rep.Items {
		if it.Kind == Claim && (it.Name == name || strings.ReplaceAll(it.Name, ":", ".") == name) {
			return &p.rep.Items[i]
		}
	}
	return nil
}

// overridden compares a knob's own function with what the law would have taken
// in its place, where the law derives that from another function of the knob:
// a slope that is written beside its loss.
func (p *prover) overridden() {
	for _, law := range p.tree.Kinds(notation.LawUnit) {
		for _, st := range law.Body {
			d, ok := st.(*notation.Define)
			if !ok || !d.Target.IsFunc {
				continue
			}
			f := p.blk.Funcs[d.Target.Name.Name.Text]
			if f == nil || f.Block == nil || f.Unit != p.unit || !p.derives(d) || len(f.Params) != len(d.Target.Params) {
				continue
			}
			p.override(d, f)
		}
	}
}

// derives reports whether a function of the law is made of functions of this
// knob.
func (p *prover) derives(d *notation.Define) bool {
	n, all := 0, true
	notation.Inspect(d.Value, func(x any) bool {
		if c, ok := x.(*notation.Call); ok {
			f := p.blk.Funcs[c.Fun.Text]
			n, all = n+1, all && f != nil && f.Unit == p.unit
		}
		return true
	})
	return n > 0 && all
}

func (p *prover) override(d *notation.Define, f *check.Function) {
	call := &notation.Call{Span: f.Def.Target.Span, Fun: f.Def.Target.Name.Name}
	rename := map[string]notation.Word{}
	for i, q := range f.Params {
		call.Args = append(call.Args, &notation.Ident{Span: q.Span, Name: q.Name})
		rename[d.Target.Params[i].Name.Text] = q.Name
	}
	c := &notation.Claim{Span: f.Def.Span, Keyword: notation.Word{Text: "claim"}, Left: call, Right: check.Rename(d.Value, rename)}
	it := Item{Kind: InnerGradient, Name: check.ID(f.Name), Text: notation.Print(c, notation.Unicode), Span: f.Def.Span}
	var ds diag.List
	q := irbuild.Claim(p.blk, c, &ds)
	p.ds.Append(ds)
	if q == nil {
		it.Evidence = failed("cannot be built")
		p.add(it)
		return
	}
	p.settle(it, func() Evidence {
		var quiet prover
		quiet.blk, quiet.opt, quiet.unit, quiet.tree = p.blk, p.opt, p.unit, p.tree
		ev := quiet.equality(Item{Kind: Claim, Text: it.Text}, c, q)
		if ev.Verdict == Failed {
			p.ds.Errorf(diag.InnerGradientDiffers, valueSpan(f.Def), "%s is not the gradient that the law takes: %s", f.Name, ev.Note).
				See(d.Span, "the law takes %s", notation.Print(d.Value, notation.Unicode)).Hint("leave %s out, or write the derivative", f.Name)
		}
		return ev
	}, q.Func)
}

func valueSpan(d *notation.Define) source.Span { return d.Value.Where() }
