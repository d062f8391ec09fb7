package irbuild

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// plainNames serves units in which time is an axis like any other: operations,
// compositions and models.
type plainNames struct {
	vals    map[string]*ten
	unions  map[string]*unionVal
	earlier map[string]*ten // what earlier stages of a composition made
	failed  map[string]bool // equations with an error, which has been reported
}

func newPlainNames() *plainNames {
	return &plainNames{vals: map[string]*ten{}, unions: map[string]*unionVal{}, failed: map[string]bool{}}
}

func (n *plainNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	if when != (moment{}) {
		e.ds.Errorf(diag.TimeSuffix, span, "%s has no moments here", sym.Name).Hint("index it: %s[t]", sym.Name)
		return nil
	}
	if t := n.vals[sym.Name]; t != nil {
		return t
	}
	if t := n.earlier[sym.Name]; t != nil {
		vars := e.lanes()
		if v := t.fs[0].val; len(v.Axes) == len(t.axes) {
			vars = nil // the same for all lanes
		}
		p := e.f.AddParam(ident.ASCII(sym.Name), ir.Input, ir.Real, append(axesOf(vars), t.axes...)...)
		n.vals[sym.Name] = e.ofValue(p, vars, t.axes)
		return n.vals[sym.Name]
	}
	switch sym.Kind {
	case check.Snap:
		return n.carried(e, sym)
	case check.Outer, check.Input, check.Constant:
		vars := e.lanes()
		if roleOf(sym) == ir.Outer {
			vars = nil
		}
		t := e.param(sym, roleOf(sym), vars)
		n.vals[sym.Name] = t
		return t
	}
	if !n.failed[sym.Name] {
		e.ds.Errorf(diag.UnknownName, span, "%s has no value here", sym.Name)
	}
	return nil
}

// carried is what a state of a composition was where the call began.
func (n *plainNames) carried(e *builder, sym *check.Symbol) *ten {
	of := e.blk.Symbols[sym.Of]
	axes, _, ok := e.declared(of)
	if !ok {
		return nil
	}
	if x, isNumber := check.Number(of.Decl.Init); of.Decl.Init == nil || !isNumber || x != 0 {
		e.ds.Errorf(diag.NotSupported, of.Span, "a state of a composition begins with zero").Hint("write state %s = 0", of.Name)
		return nil
	}
	v := e.f.AddParam(ident.ASCII(of.Name), ir.State, ir.Real, append(axesOf(e.lanes()), axes...)...)
	n.vals[sym.Name] = e.ofValue(v, e.lanes(), axes)
	return n.vals[sym.Name]
}

// param adds a parameter for a declared name: axes are the variables, then
// what the type says.
func (e *builder) param(sym *check.Symbol, role ir.Role, vars []*loopVar) *ten {
	axes, elem, ok := e.declared(sym)
	if !ok {
		return nil
	}
	if role == ir.Constant {
		vars = nil
	}
	v := e.f.AddParam(ident.ASCII(sym.Name), role, elem, append(axesOf(vars), axes...)...)
	v.NoGrad = v.NoGrad || sym.Kind == check.Constant || e.blk.NoGrad(sym.Name) != nil
	return e.ofValue(v, vars, axes)
}

// declared reads the type of a declared name.
func (e *builder) declared(sym *check.Symbol) ([]*ir.Axis, ir.Elem, bool) {
	t := sym.Type
	if t == nil {
		return nil, ir.Real, true
	}
	elem := ir.Real
	if t.Kind == notation.IntType {
		elem = ir.Int
	}
	if t.AnyShape {
		return []*ir.Axis{e.anyAxis()}, elem, true
	}
	axes, ok := e.shapeOf(t, e.generic())
	return axes, elem, ok
}

// anyShape is the key of the axis that stands for any one shape.
const anyShape = "any shape"

// anyAxis stands for any one shape: all entries in a row.
func (e *builder) anyAxis() *ir.Axis {
	if x := e.sized[anyShape]; x != nil {
		return x
	}
	name := "n"
	taken := check.Signature(e.blk.Unit.Params)
	for i := 0; taken[name] || e.blk.Axes[name] != nil; i++ {
		name = fmt.Sprintf("any_%d", i) // two axes of one name would have one size
	}
	x := e.f.NewAxis(name)
	e.sized[anyShape] = x
	return x
}

// generic makes axes of the names that an operation's signature introduces.
func (e *builder) generic() func(id *notation.Ident) *ir.Axis {
	if e.blk.Unit.Kind != notation.OpUnit || e.inCall {
		return nil
	}
	return func(id *notation.Ident) *ir.Axis {
		a := e.blk.Axes[id.Name.Text]
		if a == nil {
			a = e.blk.AddFreeAxis(id.Name.Text)
		}
		return e.axis(a)
	}
}

// equation builds one equation of a plain unit and remembers its value.
func (n *plainNames) equation(e *builder, eq *check.Equation) *ten {
	e.eq, e.span = eq.ID, eq.Span()
	if eq.Def != nil {
		if u := e.asUnion(n, eq); u {
			return n.vals[eq.Name]
		}
	}
	t := e.column(e.real(e.side(eq), eq.Value()), eq.Value())
	if t == nil {
		n.failed[eq.Name] = true
		return nil
	}
	t = e.one(t)
	if t.fs[0].val.Def == nil || t.fs[0].val.Name[0] != '%' {
		t = e.copied(t)
	}
	e.named(t.fs[0].val, eq.Name)
	n.vals[eq.Name] = t
	return t
}

// copied gives t a value of its own.
func (e *builder) copied(t *ten) *ten {
	out := e.emit(emission{op: ir.Prod, coef: []float64{1}, locals: t.axes, out: len(t.axes), args: t.place(upTo(len(t.axes))), elem: t.elem})
	out.row = t.row
	return out
}

// asUnion keeps a value whose rows are indexed by a union of axes in parts.
func (e *builder) asUnion(n *plainNames, eq *check.Equation) bool {
	d := eq.Def
	if st, ok := d.Value.(*notation.Stack); ok && len(d.Target.Index) == 0 && e.blk.Unit.Kind != notation.OpUnit {
		u := &unionVal{}
		for _, it := range st.Items {
			t := e.expr(it)
			if t == nil {
				return true
			}
			u.parts = append(u.parts, t)
		}
		n.unions[eq.Name] = u
		return true
	}
	if len(d.Target.Index) != 1 {
		return false
	}
	e.push(&scope{})
	defer e.pop()
	r, ok := d.Target.Index[0].Range.(*notation.Binary)
	if !ok || r.Op != "∪" {
		return false
	}
	spans, ok := e.rangeOf(r)
	if !ok {
		return true
	}
	for _, s := range spans {
		if s.window {
			return false
		}
	}
	if b := d.Target.Index[0]; b.PerChunk && !e.perChunk(b, spans) {
		return true
	}
	u := e.newUnion(d.Target.Index[0], spans)
	out := &unionVal{}
	for i, t := range e.eachPart(u, func() *ten { return e.expr(d.Value) }) {
		t = e.one(t)
		name := eq.Name
		if spans[i].axis != e.timeAxis() {
			name += "." + spans[i].axis.Name
		}
		e.named(t.fs[0].val, name)
		out.parts = append(out.parts, t)
	}
	n.unions[eq.Name] = out
	return true
}
