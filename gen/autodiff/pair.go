package autodiff

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// The division of a program and its adjoint into forward and backward, and the
// choice between saved tensors and recomputation.

// NewPair derives the backward of f. Values of the forward that the backward
// needs are recomputed where that is cheap (products, sums and choices of
// values at hand) and saved where it is not (contractions, transcendental
// functions, outputs of a scan).
func NewPair(f *ir.Func) *ir.Pair { return newPair(f, func(*ir.Func) {}) }

// newPair is NewPair with a change of the simplified program.
func newPair(f *ir.Func, change func(joint *ir.Func)) *ir.Pair {
	joint, _ := f.Clone()
	simplify.Stacks(joint)
	simplify.Simplify(joint)
	change(joint)
	p := &pairer{joint: joint, adjoint: map[*ir.Value]bool{}}
	seeds := p.seed()
	var wrt []*ir.Value
	for _, v := range joint.Params {
		if v.Elem == ir.Real && !v.NoGrad && (v.Role == ir.Input || v.Role == ir.Outer || v.Role == ir.State) {
			wrt = append(wrt, v)
		}
	}
	adj := Reverse(&ir.Builder{F: joint}, seeds, wrt)
	return p.split(f.Name, wrt, adj)
}

type pairer struct {
	joint   *ir.Func
	adjoint map[*ir.Value]bool   // values that depend on an incoming adjoint
	name    map[*ir.Value]string // of what the backward takes from the forward
	given   map[*ir.Value]string // those that are results anyway
}

// seed adds one adjoint parameter per real result. A value that is two results
// has the sum of both.
func (p *pairer) seed() map[*ir.Value]*ir.Value {
	b := &ir.Builder{F: p.joint}
	seeds := map[*ir.Value]*ir.Value{}
	for _, r := range p.joint.Results {
		if r.Val.Elem != ir.Real {
			continue
		}
		bar := p.joint.AddParam(ir.AdjointName(r.Name), ir.Adjoint, ir.Real, r.Val.Axes...)
		if old := seeds[r.Val]; old != nil {
			bar = b.Lin(r.Val.Axes, 0, []float64{1, 1}, ir.All(old), ir.All(bar))
		}
		seeds[r.Val] = bar
	}
	return seeds
}

func (p *pairer) split(name string, wrt []*ir.Value, adj map[*ir.Value]*ir.Value) *ir.Pair {
	out := &ir.Pair{}
	primal := slices.Clone(p.joint.Results)
	for _, v := range wrt {
		if a := adj[v]; a != nil {
			p.joint.Results = append(p.joint.Results, ir.Result{Name: ir.AdjointName(v.Name), Val: a})
		} else {
			out.Missing = append(out.Missing, v.Name)
		}
	}
	simplify.Simplify(p.joint)
	simplify.Gathers(p.joint)
	simplify.Guards(p.joint)
	keepContractions(p.joint)
	simplify.Simplify(p.joint)
	p.mark()
	back := p.joint.Results[len(primal):]
	primal = p.joint.Results[:len(primal)]

	need := p.needs(back)
	p.nameSaved(primal, need)
	out.Fwd = p.forward(name, primal, need, out)
	out.Bwd = p.backward(ir.BackwardName(name), back, need)
	return out
}

// nameSaved names the saved tensors: as the result that the value is, unless a
// parameter has that name (a state before and after the call share one), else
// by the value's own name, made unique.
func (p *pairer) nameSaved(primal []ir.Result, need map[*ir.Value]bool) {
	taken := map[string]bool{}
	for _, v := range p.joint.Params {
		taken[v.Name] = true
	}
	p.name = map[*ir.Value]string{}
	for _, r := range primal {
		if need[r.Val] && !taken[r.Name] && p.name[r.Val] == "" {
			p.name[r.Val] = r.Name
		}
	}
	for _, r := range primal {
		taken[r.Name] = true
	}
	p.given = maps.Clone(p.name)
	for _, in := range p.joint.Body {
		for _, v := range in.Defines() {
			if !need[v] || p.name[v] != "" {
				continue
			}
			n := v.Label()
			if v.Temporary() {
				n = p.joint.Fresh(n)
			}
			for taken[n] {
				n = p.joint.Fresh(n)
			}
			p.name[v], taken[n] = n, true
		}
	}
}

// mark finds the values that depend on an incoming adjoint: they belong to the
// backward.
func (p *pairer) mark() {
	for _, v := range p.joint.Params {
		p.adjoint[v] = v.Role == ir.Adjoint
	}
	for _, in := range p.joint.Body {
		back := in.Scan != nil && in.Scan.Reverse
		for _, v := range in.Reads() {
			back = back || p.adjoint[v]
		}
		for _, v := range in.Defines() {
			p.adjoint[v] = back
		}
	}
}

// sortLoops sorts plain loop subscripts, so that a permutation counts as
// elementwise too.
func sortLoops(subs []ir.Sub) []ir.Sub {
	out := slices.Clone(subs)
	slices.SortFunc(out, func(a, b ir.Sub) int {
		x, okx := a.Loop()
		y, oky := b.Loop()
		if !okx || !oky {
			return 0
		}
		return x - y
	})
	return out
}

// forward is the joint program without the backward, its saved values named
// results.
func (p *pairer) forward(name string, primal []ir.Result, need map[*ir.Value]bool, out *ir.Pair) *ir.Func {
	f, m := p.joint.Clone()
	f.Name = name
	f.Params = slices.DeleteFunc(f.Params, func(v *ir.Value) bool { return v.Role == ir.Adjoint })
	f.Results = nil
	for _, r := range primal {
		f.Results = append(f.Results, ir.Result{Name: r.Name, Val: m[r.Val], State: r.State, Eq: r.Eq})
	}
	for _, in := range p.joint.Body {
		for _, v := range in.Defines() {
			if need[v] && p.given[v] == "" {
				out.Saved = append(out.Saved, p.name[v])
				f.Results = append(f.Results, ir.Result{Name: p.name[v], Val: m[v]})
			}
		}
	}
	f.Body = slices.DeleteFunc(f.Body, func(in *ir.Instr) bool {
		return slices.ContainsFunc(in.Defines(), func(v *ir.Value) bool { return p.adjointOf(m, v) })
	})
	f.Sweep()
	return f
}

func (p *pairer) adjointOf(m map[*ir.Value]*ir.Value, copied *ir.Value) bool {
	for old, n := range m {
		if n == copied {
			return p.adjoint[old]
		}
	}
	return false
}

// backward is the joint program with the saved values turned into parameters.
func (p *pairer) backward(name string, back []ir.Result, need map[*ir.Value]bool) *ir.Func {
	g := &ir.Func{Name: name, Axes: slices.Clone(p.joint.Axes)}
	c := ir.NewCloner(g)
	for _, v := range p.joint.Params {
		c.Map[v] = g.AddParam(v.Name, v.Role, v.Elem, v.Axes...)
	}
	for _, in := range p.joint.Body {
		for _, v := range in.Defines() {
			if need[v] {
				c.Map[v] = g.AddParam(p.name[v], ir.Saved, v.Elem, v.Axes...)
			}
		}
	}
	for _, in := range p.joint.Body {
		if slices.ContainsFunc(in.Defines(), func(v *ir.Value) bool { return need[v] }) {
			continue
		}
		c.Instr(in)
	}
	for _, r := range back {
		g.Results = append(g.Results, ir.Result{Name: r.Name, Val: c.Value(r.Val)})
	}
	g.Sweep()
	used := g.Uses()
	g.Params = slices.DeleteFunc(g.Params, func(v *ir.Value) bool { return used[v] == 0 })
	return g
}
