package compose

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/rule"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Inlining: a composition or model with its parts as one program, for the interpreter.

// Whole builds a composition or model with its parts inlined: one program that
// the interpreter can evaluate and differentiate as a whole, independently of
// how the parts are emitted. Parameters of a part carry its name: memory.W_K. All
// levels are active.
func Whole(blk *check.Block, ds *diag.List) *ir.Func { return WholeAt(blk, nil, ds) }

// WholeAt is Whole at a token at which some levels are not active: where the pulse
// decides about a list of levels, those that are closed are read frozen.
func WholeAt(blk *check.Block, closed func(level int) bool, ds *diag.List) *ir.Func {
	if closed == nil {
		closed = func(int) bool { return false }
	}
	return inline(blk, closed, false, ds)
}

// inline is the program of a unit; with frozen, its rules are read and not written.
func inline(blk *check.Block, closed func(level int) bool, frozen bool, ds *diag.List) *ir.Func {
	switch {
	case blk.Unit.Kind == notation.RuleUnit && frozen:
		return rule.Frozen(blk, ds)
	case blk.Unit.Kind == notation.RuleUnit:
		return rule.Rule(blk, ds)
	}
	p := Build(blk, ds)
	if p == nil {
		return nil
	}
	w := newInliner(blk.ID)
	w.closed, w.frozen = closed, frozen
	for _, s := range p.Stages {
		switch {
		case s.Func != nil:
			w.stage(s.Func, "")
		case s.How == Opens:
			w.gateLevels(blk, s)
		case !w.call(blk, s, ds):
			return nil
		}
	}
	w.addResults(p)
	w.f.Results = append(w.f.Results, w.states...)
	w.substituteSizes()
	return w.f
}

// An inliner writes the programs of stages and parts into one program.
type inliner struct {
	equal  map[string]shape.Poly // sizes that a part says are products: d = H·d_h
	f      *ir.Func
	b      *ir.Builder
	vals   map[string]*ir.Value
	axes   map[string]*ir.Axis // of parts, by name and size: a part may be called at two sites
	states []ir.Result
	closed func(level int) bool
	frozen bool
}

func newInliner(name string) *inliner {
	f := &ir.Func{Name: name}
	return &inliner{f: f, b: &ir.Builder{F: f}, vals: map[string]*ir.Value{}, equal: map[string]shape.Poly{}, axes: map[string]*ir.Axis{}}
}

// addResults makes the outputs of a program results.
func (w *inliner) addResults(p *Program) {
	for _, o := range p.Output {
		w.f.Results = append(w.f.Results, ir.Result{Name: o, Val: w.vals[o]})
	}
}

// stage inlines one program; its parameters are values by name, or new
// parameters under the prefix.
func (w *inliner) stage(g *ir.Func, prefix string) map[string]*ir.Value {
	args := map[*ir.Value]*ir.Value{}
	for _, p := range g.Params {
		name := p.Name
		if p.Role != ir.Input && p.Role != ir.Constant {
			name = prefix + name
		}
		v := w.vals[name]
		if v == nil && p.Role != ir.Input {
			v = w.f.Param(name)
		}
		if v == nil {
			v = w.f.AddParam(name, p.Role, p.Elem, p.Axes...)
			v.NoGrad = p.NoGrad
			w.vals[name] = v
			w.giveName(v, name)
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

// giveName gives a parameter its name where a value of a part that was inlined before has
// it: a composition may declare an alpha, and a rule compute one.
func (w *inliner) giveName(p *ir.Value, name string) {
	for _, in := range w.f.Body {
		for _, v := range in.Defines() {
			if p.Name != name && v.Name == name {
				p.Name, v.Name = name, p.Name
			}
		}
	}
}

func (w *inliner) addAxis(a *ir.Axis) {
	if slices.Contains(w.f.Axes, a) {
		return
	}
	w.f.Axes = append(w.f.Axes, a)
}

// part inlines the program of a part. The axes of its input become those of the argument;
// its other sizes and its parameters get the part's name as a prefix. A frozen call has
// window states of its own.
func (w *inliner) part(p *check.Subpart, s Stage, frozen bool, ds *diag.List) bool {
	g := inline(p.Block, w.closed, w.frozen || frozen, ds)
	if g == nil {
		return false
	}
	g, _ = g.Clone()
	if s.Frozen {
		separateFrozenWindows(g)
	}
	arg := w.input(s.Arg, s.Axes) // it may be an input that no stage before has read
	in := program.Input(g)
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
	if out := program.Output(g); len(out.Axes) == len(arg.Axes) {
		same(out.Axes) // the result of a part has the axes of its argument
	}
	for _, a := range g.Axes {
		for _, sym := range a.Size.Symbols() {
			if _, ok := sizes[sym]; !ok {
				sizes[sym] = shape.Sym(p.Name + "." + sym)
			}
		}
	}
	for i, a := range in.Axes {
		sym, ok := arg.Axes[i].Size.Symbol()
		if _, same := a.Size.Symbol(); ok && !same && !w.equateProduct(sym, ir.Resize(a.Size, sizes)) {
			ds.Errorf(diag.ShapeMismatch, p.Block.Unit.Name.Span, "%s takes a width of %s, the part before it one of %s", p.Block.Name, a.Size, w.equal[sym])
			return false
		}
	}
	for _, a := range g.Axes {
		if axes[a] == nil {
			axes[a] = w.axis(p.Name+"."+a.Name, ir.Resize(a.Size, sizes))
		}
	}
	g.Relabel(axes, sizes)
	old := w.vals
	w.vals = map[string]*ir.Value{in.Name: arg}
	out := w.stage(g, p.Name+".")
	w.vals = old
	for _, r := range g.Results {
		if !r.State {
			w.vals[s.Out] = out[r.Name]
		}
	}
	return true
}

// equateProduct records that a part has a size as a product: d = H·d_h. A second part that
// has it as one has the factors of the first.
func (w *inliner) equateProduct(sym string, size shape.Poly) bool {
	known := w.equal[sym]
	if known.IsZero() {
		w.equal[sym] = size
		return true
	}
	factors := known.Symbols()
	for i, s := range size.Symbols() {
		if slices.Contains(factors, s) {
			continue
		}
		w.equal[s] = shape.Int(1)
		if i < len(factors) {
			w.equal[s] = shape.Sym(factors[i])
		}
	}
	return ir.Resize(size, w.equal).Equal(known)
}

// axis is the axis of a part of a name and a size, the same at every site.
func (w *inliner) axis(name string, size shape.Poly) *ir.Axis {
	key := name + " " + size.String()
	if w.axes[key] == nil {
		w.axes[key] = &ir.Axis{Name: name, Size: size}
	}
	return w.axes[key]
}

// substituteSizes replaces sizes by the products that parts have them as.
func (w *inliner) substituteSizes() {
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
