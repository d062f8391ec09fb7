package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Whole builds a composition or model with its parts inlined: one program that
// the interpreter can evaluate and differentiate as a whole, independently of
// how the parts are emitted. Parameters of a part carry its name: memory.W_K.
func Whole(blk *check.Block, ds *diag.List) *ir.Func {
	if blk.Unit.Kind == notation.RuleUnit {
		return Rule(blk, ds)
	}
	p := Compose(blk, ds)
	if p == nil {
		return nil
	}
	w := &whole{f: &ir.Func{Name: blk.ID}, vals: map[string]*ir.Value{}, results: map[string]bool{}, equal: map[string]shape.Poly{}}
	w.b = &ir.Builder{F: w.f}
	for _, s := range p.Stages {
		if s.Func != nil {
			w.stage(s.Func, "")
			continue
		}
		part := partNamed(blk, s.Part)
		if part == nil || part.Block == nil {
			ds.Errorf(diag.UnknownPage, blk.Unit.Name.Span, "part %s of %s is not given", s.Part, blk.Name)
			return nil
		}
		if !w.part(part, s, ds) {
			return nil
		}
	}
	for _, o := range p.Output {
		w.f.Results = append(w.f.Results, ir.Result{Name: o, Val: w.vals[o]})
	}
	w.f.Results = append(w.f.Results, w.states...)
	w.equate()
	return w.f
}

func partNamed(blk *check.Block, name string) *check.Subpart {
	for _, p := range blk.Parts {
		if p.Name == name {
			return p
		}
	}
	return nil
}

type whole struct {
	equal   map[string]shape.Poly // sizes that a part says are products: d = H·d_h
	f       *ir.Func
	b       *ir.Builder
	vals    map[string]*ir.Value
	states  []ir.Result
	results map[string]bool
}

// stage inlines one program; its parameters are values by name, or new
// parameters under the prefix.
func (w *whole) stage(g *ir.Func, prefix string) map[string]*ir.Value {
	args := map[*ir.Value]*ir.Value{}
	for _, p := range g.Params {
		name := p.Name
		if p.Role != ir.Input && p.Role != ir.Constant {
			name = prefix + name
		}
		v := w.vals[name]
		if v == nil {
			v = w.f.AddParam(name, p.Role, p.Elem, p.Axes...)
			v.NoGrad = p.NoGrad
			w.vals[name] = v
		}
		args[p] = v
	}
	for _, a := range g.Axes {
		w.addAxis(a)
	}
	out := w.b.Inline(g, args)
	for _, r := range g.Results {
		if r.State {
			w.states = append(w.states, ir.Result{Name: prefix + r.Name, Val: out[r.Name], State: true})
		} else if prefix == "" {
			w.vals[r.Name] = out[r.Name]
		}
	}
	return out
}

func (w *whole) addAxis(a *ir.Axis) {
	for _, b := range w.f.Axes {
		if a == b {
			return
		}
	}
	w.f.Axes = append(w.f.Axes, a)
}

// part inlines the program of a part: its input's axes become the argument's,
// its other sizes and its parameters take the part's name in front.
func (w *whole) part(p *check.Subpart, s Stage, ds *diag.List) bool {
	g := Whole(p.Block, ds)
	if g == nil {
		return false
	}
	g, _ = g.Clone()
	arg := w.input(s.Arg, s.Axes) // it may be an input that no stage before has read
	in := input(g)
	if in == nil || len(in.Axes) != len(arg.Axes) {
		ds.Errorf(diag.ShapeMismatch, p.Block.Unit.Name.Span, "%s does not take a sequence of vectors", p.Block.Name)
		return false
	}
	axes, sizes := map[*ir.Axis]*ir.Axis{}, map[string]shape.Poly{}
	same := func(as []*ir.Axis) {
		for i, a := range as {
			axes[a] = arg.Axes[i]
			if sym, ok := a.Size.Symbol(); ok {
				sizes[sym] = arg.Axes[i].Size
			}
		}
	}
	same(in.Axes)
	if out := output(g); len(out.Axes) == len(arg.Axes) {
		same(out.Axes) // a part gives back what it takes
	}
	for _, a := range g.Axes {
		for _, sym := range a.Size.Symbols() {
			if _, ok := sizes[sym]; !ok {
				sizes[sym] = shape.Sym(s.Part + "." + sym)
			}
		}
	}
	for i, a := range in.Axes {
		sym, ok := arg.Axes[i].Size.Symbol()
		if _, same := a.Size.Symbol(); ok && !same && w.equal[sym].IsZero() {
			w.equal[sym] = ir.Resize(a.Size, sizes)
		}
	}
	for _, a := range g.Axes {
		if axes[a] == nil {
			axes[a] = &ir.Axis{Name: s.Part + "." + a.Name, Size: ir.Resize(a.Size, sizes)}
		}
	}
	g.Relabel(axes, sizes)
	old := w.vals
	w.vals = map[string]*ir.Value{in.Name: arg}
	out := w.stage(g, s.Part+".")
	w.vals = old
	for _, r := range g.Results {
		if !r.State {
			w.vals[s.Out] = out[r.Name]
		}
	}
	return true
}

// equate replaces sizes by the products that the parts know them as.
func (w *whole) equate() {
	if len(w.equal) == 0 {
		return
	}
	axes := map[*ir.Axis]*ir.Axis{}
	for _, a := range w.f.Axes {
		if size := ir.Resize(a.Size, w.equal); !size.Equal(a.Size) {
			axes[a] = &ir.Axis{Name: a.Name, Size: size}
		}
	}
	w.f.Relabel(axes, w.equal)
}

// input is the one input of a part.
func input(g *ir.Func) *ir.Value {
	for _, p := range g.Params {
		if p.Role == ir.Input {
			return p
		}
	}
	return nil
}

// output is the one result of a part beside its states.
func output(g *ir.Func) *ir.Value {
	for _, r := range g.Results {
		if !r.State {
			return r.Val
		}
	}
	return nil
}

// Sizes lists the free sizes of a program, in the order of its axes.
func Sizes(f *ir.Func) []string {
	var out []string
	seen := map[string]bool{}
	for _, a := range f.Axes {
		for _, s := range a.Size.Symbols() {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}
