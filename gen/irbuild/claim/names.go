package claim

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The free names of claims: parameters of the program of a claim, with their types.

// Frees lists the declared names of the parameters of a program that was built of the
// block, those of its parts included. For a function of a page of its own they are its
// parameters.
func Frees(blk *check.Block, f *ir.Func) map[string]Free {
	out := map[string]Free{}
	if d := blk.Unit.Result; blk.Unit.Kind == notation.FuncUnit && d != nil {
		for _, p := range d.Target.Params {
			out[ident.ASCII(p.Name.Text)] = Free{Text: p.Name.Text, Type: p.Type}
		}
	}
	frees(blk, f, "", out)
	return out
}

// frees adds the declared names of the parameters of a program of the block.
func frees(blk *check.Block, f *ir.Func, prefix string, out map[string]Free) {
	for _, s := range blk.SymSeq {
		if name := prefix + ident.ASCII(s.Name); f.Param(name) != nil {
			out[name] = Free{Text: prefix + s.Name, Sym: s, Type: s.Type}
		}
	}
	for _, p := range blk.Parts {
		if p.Block != nil {
			frees(p.Block, f, prefix+p.Name+".", out)
		}
	}
}

// A Free is a free name of a claim.
type Free struct {
	Text string         // as the page writes it: M_{t−1}
	Sym  *check.Symbol  // nil for a parameter of a function
	Type *notation.Type // nil where an equation decides
}

// names are the parameters of a claim.
type names struct {
	params  map[string]*tensor.Tensor
	frees   map[string]Free
	untyped map[string]bool // said already
}

func newNames() *names {
	return &names{params: map[string]*tensor.Tensor{}, frees: map[string]Free{}, untyped: map[string]bool{}}
}

func (n *names) vars() []*tensor.LoopVar { return nil }

func (n *names) known() map[string]Free { return n.frees }

// param is the parameter of a name, made where it is first read.
func (n *names) param(e *expr.Builder, key string, elem ir.Elem, axes []*ir.Axis, f Free) *tensor.Tensor {
	if n.params[key] == nil {
		v := e.Func.AddParam(key, ir.Input, elem, axes...)
		n.frees[v.Name] = f
		n.params[key] = e.FromValue(v, nil, axes)
	}
	return n.params[key]
}

// Free is a parameter of one of the page's functions, with the type that the
// first function that has it declares.
func (n *names) Free(e *expr.Builder, x *notation.Ident) *tensor.Tensor {
	p := paramNamed(e.Block, x.Name.Text)
	if p == nil {
		return nil
	}
	if t := n.params[x.Name.Text]; t != nil {
		return t
	}
	if p.Type == nil {
		if !n.untyped[x.Name.Text] {
			n.untyped[x.Name.Text] = true
			e.Diags.Errorf(diag.UnknownName, x.Span, "%s has no type here", x.Name.Text).See(p.Span, "declared without one").
				Hint("give it one in the signature: %s ∈ …", x.Name.Text)
		}
		return tensor.Number(0)
	}
	axes, ok := freeShape(e, p.Type)
	if !ok {
		return tensor.Number(0)
	}
	return n.param(e, ident.ASCII(x.Name.Text), ir.Real, axes, Free{Text: x.Name.Text, Type: p.Type})
}

// freeShape reads a type whose axes may be introduced here.
func freeShape(e *expr.Builder, t *notation.Type) ([]*ir.Axis, bool) {
	if t.AnyShape {
		return []*ir.Axis{e.AnyAxis()}, true
	}
	return e.ShapeOf(t, func(id *notation.Ident) *ir.Axis { return freeAxis(e, id) })
}

// paramNamed finds a parameter of a function that the block's own unit
// defines, or another page in its place.
func paramNamed(blk *check.Block, name string) *notation.Param {
	var found *notation.Param
	in := func(d *notation.Define) {
		for _, p := range d.Target.Params {
			if p.Name.Text == name && (found == nil || found.Type == nil) {
				found = p
			}
		}
	}
	for d := range notation.Functions(blk.Unit.Body) {
		in(d)
	}
	if blk.Unit.Kind == notation.FuncUnit {
		in(blk.Unit.Result)
	}
	if found != nil {
		return found
	}
	names := slices.Sorted(maps.Keys(blk.Funcs))
	for _, f := range names {
		if blk.Funcs[f].Block != nil {
			in(blk.Funcs[f].Def)
		}
	}
	return found
}

// Field builds a with-definition of a function of the page, its parameters
// free: ℓ.r.
func (n *names) Field(e *expr.Builder, x *notation.Field) *tensor.Tensor {
	id, ok := x.X.(*notation.Ident)
	f := (*check.Function)(nil)
	if ok {
		f = e.Block.Funcs[id.Name.Text]
	}
	if f == nil {
		e.Errorf(diag.UnknownName, x, "%s is not a function of this page", expr.Text(x.X))
		return nil
	}
	for _, w := range f.Def.With {
		if w.Target.Name.Name.Text == x.Name.Text {
			e.Push(&expr.Scope{})
			defer e.Pop()
			if !e.With(f.Def.With) {
				return nil
			}
			return e.Ident(&notation.Ident{Span: x.Span, Name: x.Name})
		}
	}
	e.Errorf(diag.UnknownName, x, "%s has no local name %s", id.Name.Text, x.Name.Text).See(f.Def.Span, "defined here")
	return nil
}

// realParams are the parameters of a program that can have adjoints.
func realParams(f *ir.Func) []*ir.Value {
	return slices.DeleteFunc(slices.Clone(f.Params), func(p *ir.Value) bool { return p.Elem != ir.Real })
}

// adjointOf is the adjoint of a tensor of one factor, zero where there is none.
func adjointOf(e *expr.Builder, adj map[*ir.Value]*ir.Value, t *tensor.Tensor) *tensor.Tensor {
	u, v := t.Clone(), t.Factors[0].Val
	if u.Factors[0].Val = adj[v]; adj[v] == nil {
		u.Factors[0].Val = e.IR.Const(0, v.Axes...)
	}
	return u
}

func (n *names) refuseAdjoint(e *expr.Builder, x *notation.Ident, hint string) *tensor.Tensor {
	e.Errorf(diag.UnknownName, x, "there is no adjoint %s here", expr.Text(x)).Hint("%s", hint)
	return tensor.Number(0)
}

// Claims of pages that are no programs by themselves: knobs and fronts. Every name with a
// type is a parameter.

// pageAxes introduces the axes that only the types of the page name: those of a front are
// not known on its page.
func pageAxes(e *expr.Builder) {
	introduce := func(t *notation.Type) {
		if t == nil || t.AnyShape {
			return
		}
		for id := range notation.Of[*notation.Ident](t.Shape) {
			if e.Block.AxisOf(id.Name.Text) == nil {
				freeAxis(e, id)
			}
		}
	}
	for _, s := range e.Block.SymSeq {
		introduce(s.Type)
	}
	for d := range notation.Functions(e.Block.Unit.Body) {
		for _, p := range d.Target.Params {
			introduce(p.Type)
		}
	}
}

// freeAxis introduces an axis in the scope of the whole claim, once.
func freeAxis(e *expr.Builder, id *notation.Ident) *ir.Axis {
	base := e.Scopes[0]
	if b := base.Names[id.Name.Text]; b != nil {
		return b.Axis
	}
	if base.Names == nil {
		base.Names = map[string]*expr.Binding{}
	}
	a := e.Func.NewAxis(ident.ASCII(id.Name.Text))
	base.Names[id.Name.Text] = &expr.Binding{Axis: a}
	return a
}

// A pageClaim serves a page that is no program by itself: a knob or a front.
type pageClaim struct{ *names }

// Resolve finds the value of a name with a type: a parameter.
func (n *pageClaim) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	if sym.Type == nil || when != (expr.Time{}) {
		e.Diags.Errorf(diag.TimeSuffix, span, "%s has no value on this page alone", sym.Name)
		return nil
	}
	axes, ok := freeShape(e, sym.Type)
	if !ok {
		return nil
	}
	return n.param(e, ident.ASCII(sym.Name), ir.Real, axes, Free{Text: sym.Name, Sym: sym, Type: sym.Type})
}

// Adjoint refuses adjoints.
func (n *pageClaim) Adjoint(e *expr.Builder, x *notation.Ident, _ string) *tensor.Tensor {
	return n.refuseAdjoint(e, x, "adjoints occur in the claims of an operation or a rule")
}
