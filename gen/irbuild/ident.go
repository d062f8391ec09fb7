package irbuild

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// ident builds a name: a local one, an option, a size, or a name of the block
// at the moment that its suffix says.
func (e *builder) ident(x *notation.Ident) *ten {
	text := x.Name.Text
	if b := e.local(text); b != nil && !x.Bar {
		return e.bound(x, b)
	}
	if e.fenced() {
		if t := e.constant(x); t != nil {
			return t
		}
		if isIdentity(x) {
			return identity()
		}
		e.unknown(x)
		return nil
	}
	name, suffix := e.blk.Split(text)
	if x.Bar {
		if n, ok := e.names.(barNamer); ok {
			if t := n.barred(e, x, suffix); t != nil {
				return t
			}
		}
		e.errorf(diag.UnknownName, x, "there is no adjoint %s here", notation.Print(x, notation.Unicode)).Hint("adjoints stand in claims")
		return nil
	}
	if z := e.blk.Replaced[name]; z != nil && !e.own[name] {
		e.own[name] = true
		defer delete(e.own, name)
		return e.any(z)
	}
	sym := e.blk.Symbols[name]
	if sym == nil {
		if t := e.constant(x); t != nil {
			return t
		}
		if n, ok := e.names.(freeNamer); ok {
			if t := n.free(e, x); t != nil {
				return t
			}
		}
		if isIdentity(x) {
			return identity()
		}
		e.unknown(x)
		return nil
	}
	when, ok := e.moment(x, suffix)
	if !ok {
		return nil
	}
	return e.names.name(e, sym, when, x.Span)
}

// fenced reports whether the block's names are hidden: in a function of a page
// of its own.
func (e *builder) fenced() bool {
	for i := len(e.scopes) - 1; i >= 0; i-- {
		if e.scopes[i].fence {
			return true
		}
	}
	return false
}

// bound builds a local name.
func (e *builder) bound(x *notation.Ident, b *binding) *ten {
	switch {
	case b.val != nil && (b.expr == nil || slices.Equal(b.safe, e.safe) && e.stands(b.val)):
		return b.val
	case b.failed:
		return nil
	case b.busy > e.solves:
		e.errorf(diag.Cycle, x, "%s needs itself", x.Name.Text)
		b.failed = true
		return nil
	case b.expr != nil:
		busy := b.busy
		b.busy = e.solves + 1
		t := e.define(b.expr.Define)
		b.busy = busy
		if b.failed = b.failed || t == nil; b.failed {
			return nil
		}
		if len(t.fs) > 0 && !t.open() {
			t = e.one(t)
			b.val, b.safe = t, slices.Clone(e.safe)
			e.locals = append(e.locals, b)
		}
		return t
	case b.axis != nil:
		return e.sizeTen(b.axis)
	case b.idx != nil:
		return e.position(varAff(b.idx))
	case b.turn != nil:
		return literal(float64(b.turn.round))
	}
	e.errorf(diag.NotSupported, x, "%s is a moment, not a number", x.Name.Text)
	return nil
}

// stands reports whether a local value that was built for one reader holds for
// this one: all its indices are bound here too.
func (e *builder) stands(t *ten) bool {
	bound := map[*loopVar]bool{e.lane: true, e.token: true}
	add := func(v *loopVar) { bound[v] = true }
	for _, s := range e.scopes {
		for _, b := range s.names {
			switch {
			case b.idx != nil:
				add(b.idx)
			case b.time != nil:
				b.time.vars(add)
			case b.pick != nil:
				add(b.pick.whole)
				add(b.pick.v)
			}
		}
	}
	ok := true
	for i := range t.fs {
		t.fs[i].vars(func(v *loopVar) { ok = ok && bound[v] })
	}
	return ok
}

// constant is an option's number, or a size as a number.
func (e *builder) constant(x *notation.Ident) *ten {
	text := x.Name.Text
	if text == "∞" {
		return literal(math.Inf(1))
	}
	if o := e.blk.Options[text]; o != nil {
		if e.blk.Unit.Kind == notation.UpdateUnit && !o.Static {
			return e.setting(text)
		}
		if n, ok := check.Number(o.Value); ok {
			if a := e.blk.Axes[text]; a != nil && a.Free {
				return e.sizeTen(e.axis(a))
			}
			return literal(n)
		}
	}
	if a := e.blk.AxisOf(text); a != nil {
		return e.sizeTen(e.axis(a))
	}
	return nil
}

// setting is an option of an update: it may change from call to call.
func (e *builder) setting(name string) *ten {
	ascii := ident.ASCII(name)
	v := e.f.Param(ascii)
	if v == nil {
		v = e.f.AddParam(ascii, ir.Constant, ir.Real)
	}
	return &ten{elem: ir.Real, coef: 1, fs: []factor{{val: v}}}
}

// sizeTen is the size of an axis as a number.
func (e *builder) sizeTen(a *ir.Axis) *ten {
	if n, ok := a.Size.Const(); ok {
		return literal(float64(n))
	}
	out := e.emit(emission{op: ir.SizeOf})
	out.fs[0].val.Def.Poly = a.Size
	return out
}

// moment reads a time suffix: _t, _{t−1}, _0, or a bound moment.
func (e *builder) moment(x *notation.Ident, suffix string) (moment, bool) {
	t := e.blk.Time
	if x.Time != nil {
		if bin, ok := x.Time.(*notation.Binary); ok && bin.Op == "−" {
			id, isID := bin.X.(*notation.Ident)
			n, isNum := bin.Y.(*notation.Number)
			if isID && isNum && id.Name.Text == t && n.Value == 1 {
				return moment{before: true}, true
			}
		}
		if id, ok := x.Time.(*notation.Ident); ok {
			suffix = id.Name.Text
		} else if n, ok := x.Time.(*notation.Number); ok && n.Value == 0 {
			return moment{initial: true}, true
		} else if ok && n.Value == 1 && e.blk.Unit.Kind == notation.UpdateUnit {
			return moment{first: true}, true
		} else {
			e.errorf(diag.TimeSuffix, x.Time, "%s is not a moment", notation.Print(x.Time, notation.Unicode)).Hint("a name is read at %s, at %s−1, at 0 or at an index bound to a window", t, t)
			return moment{}, false
		}
	}
	switch suffix {
	case "":
		return moment{}, true
	case t:
		return moment{now: true}, true
	case "0":
		return moment{initial: true}, true
	}
	if b := e.local(suffix); b != nil && (b.time != nil || b.pick != nil) {
		return moment{at: b}, true
	}
	d := e.errorf(diag.TimeSuffix, x, "_%s is not a moment", suffix)
	if t == "" {
		d.Hint("time is an axis here: write an index, such as X[t]")
	} else {
		d.Hint("bind it: Σ_{%s∈window(%s, w)}", suffix, t)
	}
	return moment{}, false
}

// unknown refuses a name that nothing declares, once in each unit.
func (e *builder) unknown(x *notation.Ident) {
	text := notation.Print(x, notation.Unicode) + " is not declared"
	for _, d := range e.ds.Sorted() {
		if u := e.blk.Unit.Span; d.Text == text && d.Span.File == x.Span.File && (x.Span.Start >= u.Start && x.Span.End <= u.End) == (d.Span.Start >= u.Start && d.Span.End <= u.End) {
			return
		}
	}
	if file := x.Span.File; file != nil && strings.HasPrefix(file.Text[x.Span.End:], "(") {
		e.unknownFunction(x)
		return
	}
	var names []string
	for n := range e.blk.Symbols {
		names = append(names, n)
	}
	for n := range e.blk.Options {
		names = append(names, n)
	}
	for _, s := range e.scopes {
		for n := range s.names {
			names = append(names, n)
		}
	}
	name := x.Name.Text
	base, suffix := name, ""
	if t := e.blk.Time; t != "" && len(name) > len(t)+1 && name[len(name)-len(t)-1:] == "_"+t {
		base, suffix = name[:len(name)-len(t)-1], "_"+t
	}
	d := e.errorf(diag.UnknownName, x, "%s", text)
	if n := ident.Nearest(base, slices.Compact(names)); n != "" {
		d.Hint("did you mean %s%s?", n, suffix)
	} else {
		d.Hint("declare it, or give it an equation")
	}
}

// unknownFunction is for a name that nothing declares and that is written as a call.
func (e *builder) unknownFunction(x *notation.Ident) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(e.blk.Funcs)), maps.Keys(functions))
	names = slices.AppendSeq(names, maps.Keys(functions2))
	d := e.errorf(diag.UnknownName, x, "%s is not declared", text(x)).Labelf("no function has this name")
	if n := ident.Nearest(x.Name.Text, names); n != "" {
		d.Hint("did you mean %s?", n)
	} else {
		d.Hint("define it: %s(x ∈ ℝ) = …", x.Name.Text)
	}
}

// field builds ℓ.r, which claims and kinks use; nothing else may look inside
// another definition.
func (e *builder) field(x *notation.Field) *ten {
	if n, ok := e.names.(fieldNamer); ok {
		return n.inside(e, x)
	}
	e.errorf(diag.NotSupported, x, "%s looks inside a definition; only kink may", notation.Print(x, notation.Unicode))
	return nil
}

// A barNamer knows adjoints: the claims of an operation or of a step.
type barNamer interface {
	barred(e *builder, x *notation.Ident, suffix string) *ten
}

// A freeNamer knows names that only stand for something in a claim: the
// parameters of the page's functions.
type freeNamer interface {
	free(e *builder, x *notation.Ident) *ten
}

// A fieldNamer looks inside a definition: ℓ.r.
type fieldNamer interface {
	inside(e *builder, x *notation.Field) *ten
}
