package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Names: local names, options, sizes, and the names of the block.

// Ident builds a name: a local one, an option, a size, or a name of the block
// at the time step that its suffix says.
func (e *Builder) Ident(x *notation.Ident) *tensor.Tensor {
	text := x.Name.Text
	if b := e.Local(text); b != nil && !x.Bar {
		return e.bound(x, b)
	}
	if e.fenced() {
		return e.undeclared(x, nil)
	}
	name, suffix := e.Block.Split(text)
	if x.Bar {
		if n, ok := e.Names.(AdjointResolver); ok {
			if t := n.Adjoint(e, x, suffix); t != nil {
				return t
			}
		}
		e.Errorf(diag.UnknownName, x, "there is no adjoint %s here", Text(x)).Hint("adjoints occur in claims")
		return nil
	}
	if z := e.Block.Replaced[name]; z != nil && !e.replacing[name] {
		e.replacing[name] = true
		defer delete(e.replacing, name)
		return e.OpenExpr(z)
	}
	sym := e.Block.Symbols[name]
	if sym == nil {
		free, _ := e.Names.(FreeResolver)
		return e.undeclared(x, free)
	}
	when, ok := e.ReadTime(x, suffix)
	if !ok {
		return nil
	}
	t := e.Names.Resolve(e, sym, when, x.Span)
	if eq := e.Block.Equation(name); t != nil && len(t.Axes) == 1 && eq != nil && eq.Gate != nil {
		t = t.Clone()
		t.Gate = true
	}
	return t
}

// undeclared builds a name that the block does not declare: an option, a size, a name that is
// free in a claim, or I.
func (e *Builder) undeclared(x *notation.Ident, free FreeResolver) *tensor.Tensor {
	if t := e.constant(x); t != nil {
		return t
	}
	if free != nil {
		if t := free.Free(e, x); t != nil {
			return t
		}
	}
	if isIdentity(x) {
		return tensor.Eye()
	}
	e.unknown(x)
	return nil
}

// bound builds a local name.
func (e *Builder) bound(x *notation.Ident, b *Binding) *tensor.Tensor {
	switch {
	case b.Value != nil && (b.expr == nil || slices.Equal(b.branches, e.Branches) && e.inScope(b.Value)):
		return b.Value
	case b.failed:
		return nil
	case b.busy > e.solves:
		e.Errorf(diag.Cycle, x, "%s needs itself", x.Name.Text)
		b.failed = true
		return nil
	case b.expr != nil:
		busy := b.busy
		b.busy = e.solves + 1
		t := e.Define(b.expr.Define)
		b.busy = busy
		if b.failed = b.failed || t == nil; b.failed {
			return nil
		}
		if len(t.Factors) > 0 && !t.HasOpenAxes() {
			t = e.Materialize(t)
			b.Value, b.branches = t, slices.Clone(e.Branches)
			e.cached = append(e.cached, b)
		}
		return t
	case b.Axis != nil:
		return e.Size(b.Axis)
	case b.Index != nil:
		return e.Position(tensor.AffineOf(b.Index))
	case b.Round != nil:
		return tensor.Number(float64(b.Round.number))
	}
	e.Errorf(diag.NotSupported, x, "%s is a time step, not a number", x.Name.Text)
	return nil
}

// constant is an option's number, or a size as a number.
func (e *Builder) constant(x *notation.Ident) *tensor.Tensor {
	text := x.Name.Text
	if o := e.Block.Options[text]; o != nil {
		if e.Block.Unit.Kind == notation.UpdateUnit && !o.Static {
			return e.setting(text)
		}
		if n, ok := notation.Constant(o.Value); ok {
			if a := e.Block.Axes[text]; a != nil && a.Free {
				return e.Size(e.Axis(a))
			}
			return tensor.Number(n)
		}
	}
	if a := e.Block.AxisOf(text); a != nil {
		return e.Size(e.Axis(a))
	}
	return nil
}

// setting is an option of an update: it may change from call to call.
func (e *Builder) setting(name string) *tensor.Tensor {
	ascii := ident.ASCII(name)
	v := e.Func.Param(ascii)
	if v == nil {
		v = e.Func.AddParam(ascii, ir.Constant, ir.Real)
	}
	return &tensor.Tensor{Elem: ir.Real, Coef: 1, Factors: []tensor.Factor{{Val: v}}}
}

// unknown refuses an undeclared name, once in each unit.
func (e *Builder) unknown(x *notation.Ident) {
	text := Text(x) + " is not declared"
	for _, d := range e.Diags.Sorted() {
		if u := e.Block.Unit.Span; d.Text == text && d.Span.File == x.Span.File && (x.Span.Start >= u.Start && x.Span.End <= u.End) == (d.Span.Start >= u.Start && d.Span.End <= u.End) {
			return
		}
	}
	if file := x.Span.File; file != nil && strings.HasPrefix(file.Text[x.Span.End:], "(") {
		e.unknownFunction(x)
		return
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(e.Block.Symbols)), maps.Keys(e.Block.Options))
	for _, s := range e.Scopes {
		names = slices.AppendSeq(names, maps.Keys(s.Names))
	}
	base, suffix := x.Name.Text, ""
	if name, timed := strings.CutSuffix(base, "_"+e.Block.Time); timed && e.Block.Time != "" && name != "" {
		base, suffix = name, "_"+e.Block.Time
	}
	d := e.Errorf(diag.UnknownName, x, "%s", text)
	if n := ident.Nearest(base, slices.Compact(names)); n != "" {
		d.Hint("did you mean %s%s?", n, suffix)
	} else {
		d.Hint("declare it, or give it an equation")
	}
}

// unknownFunction is for a name that nothing declares and that is written as a call.
func (e *Builder) unknownFunction(x *notation.Ident) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(e.Block.Funcs)), ir.PageFunctions())
	d := e.Errorf(diag.UnknownName, x, "%s is not declared", Text(x)).Labelf("no function has this name")
	if n := ident.Nearest(x.Name.Text, names); n != "" {
		d.Hint("did you mean %s?", n)
	} else {
		d.Hint("define it: %s(x ∈ ℝ) = …", x.Name.Text)
	}
}

// field builds ℓ.r, a local name of a definition, which only claims and kinks may read.
func (e *Builder) field(x *notation.Field) *tensor.Tensor {
	if n, ok := e.Names.(FieldResolver); ok {
		return n.Field(e, x)
	}
	e.Errorf(diag.NotSupported, x, "%s reads a local name of a definition; only claims and kinks may", Text(x))
	return nil
}
