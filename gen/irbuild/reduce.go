package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

func sortVars(vars []*loopVar) {
	slices.SortFunc(vars, func(a, b *loopVar) int { return a.seq - b.seq })
}

// reduce builds Σ, mean, softmax, logsumexp, max and min over bound indices.
func (e *builder) reduce(x *notation.Reduce) *ten {
	e.push(&scope{})
	defer e.pop()
	vars, unions, conds, ok := e.binders(x.Binders)
	if !ok {
		return nil
	}
	if len(unions) > 0 {
		return e.overUnion(x, vars, unions[0])
	}
	body := e.value(x.Body)
	if body == nil {
		return nil
	}
	switch x.Op {
	case "Σ":
		return e.sumOver(e.masked(body, conds), vars)
	case "mean":
		return e.mean(x, body, vars, conds)
	case "softmax", "logsumexp", "max":
		if len(conds) > 0 {
			e.errorf(diag.NotSupported, x, "a condition on data cannot stand in %s", x.Op).Hint("compare indices, or choose inside the parentheses")
			return nil
		}
		return e.normal(x, body, vars)
	case "min":
		if t := e.normal(x, body.scale(-1), vars); t != nil {
			return t.scale(-1)
		}
		return nil
	}
	e.errorf(diag.NotSupported, x, "%s cannot be computed here", x.Op).Hint("only Σ, mean, softmax, logsumexp, max and min")
	return nil
}

// masked is body where all conditions hold, and zero elsewhere.
func (e *builder) masked(body *ten, conds []*ten) *ten {
	for _, c := range conds {
		body = e.selectTen(c, body, literal(0))
	}
	return body
}

// sumOver adds the entries of t over the variables.
func (e *builder) sumOver(t *ten, vars []*loopVar) *ten {
	out := e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), sum: vars,
		args: t.place(upTo(len(t.axes)))})
	out.row = t.row
	return out
}

// mean is the sum over the number of entries that count; an empty mean has the
// value that the page gives it.
func (e *builder) mean(x *notation.Reduce, body *ten, vars []*loopVar, conds []*ten) *ten {
	sum := e.sumOver(e.masked(body, conds), vars)
	count := e.sumOver(e.masked(literal(1), conds), vars)
	if x.Empty == nil {
		return e.scalar2(ir.Div, sum, count)
	}
	empty := e.value(x.Empty)
	if empty == nil || !e.same(x, x.Body, x.Empty, sum, empty) {
		return nil
	}
	none := e.scalar2(ir.Equal, count, literal(0))
	return e.selectTen(none, empty, e.scalar2(ir.Div, sum, e.selectTen(none, literal(1), count)))
}

// normal builds softmax, logsumexp and max. A softmax over an index that it
// binds itself is a vector over that index; over one that the left-hand side
// binds it is the entry at that index.
func (e *builder) normal(x *notation.Reduce, body *ten, vars []*loopVar) *ten {
	op := map[string]ir.Op{"softmax": ir.Softmax, "logsumexp": ir.LogSumExp, "max": ir.Max, "min": ir.Max}[x.Op]
	if len(body.axes) > 0 {
		e.errorf(diag.NotScalar, x.Body, "%s needs a number, and %s is %s", x.Op, text(x.Body), e.typ(body))
		return nil
	}
	body = e.one(body)
	out := e.emit(emission{op: op, args: body.place(nil), overV: vars})
	if op != ir.Softmax || x.Binders[0].Range == nil {
		return out
	}
	return e.lift(out, vars)
}

// binders binds indices; conditions between indices become guards, conditions
// on data are returned.
func (e *builder) binders(bs []*notation.Binder) (vars []*loopVar, unions []*unionIndex, conds []*ten, ok bool) {
	for _, b := range bs {
		if b.Range == nil {
			if b.PerChunk && !e.perChunk(b, nil) {
				return nil, nil, nil, false
			}
			v, u := e.bareBinder(b)
			if v == nil && u == nil {
				return nil, nil, nil, false
			}
			if u != nil {
				unions = append(unions, u)
			} else {
				vars = append(vars, v)
			}
			continue
		}
		r, okr := e.rangeOf(b.Range)
		if !okr || b.PerChunk && !e.perChunk(b, r) {
			return nil, nil, nil, false
		}
		if len(r) > 1 {
			u := e.newUnion(b, r)
			unions = append(unions, u)
			continue
		}
		v := e.bindRange(b.Name.Text, r[0])
		vars = append(vars, v)
	}
	for _, b := range bs {
		if b.Cond == nil {
			continue
		}
		cs, okc := e.guardOrCond(b.Cond, vars)
		if !okc {
			return nil, nil, nil, false
		}
		conds = append(conds, cs...)
	}
	return vars, unions, conds, true
}

// bareBinder is an index that the left-hand side has bound.
func (e *builder) bareBinder(b *notation.Binder) (*loopVar, *unionIndex) {
	old := e.local(b.Name.Text)
	switch {
	case old != nil && old.pick != nil:
		return nil, old.pick
	case old != nil && old.idx != nil:
		return old.idx, nil
	case old != nil && old.loop != nil:
		return old.loop, nil
	case old != nil && old.time != nil:
		if v := old.time.single(); v != nil {
			return v, nil
		}
	}
	e.ds.Errorf(diag.UnknownName, b.Span, "index %s is not bound", b.Name.Text).Hint("give its range: %s∈…", b.Name.Text)
	return nil, nil
}

// A span of an index: a whole axis, or a window that ends at a moment.
type span struct {
	axis   *ir.Axis
	window bool
	end    affine // window: the moment at which it ends
	local  bool   // window: it ends at the start of the call
}

// perChunk cuts the window of a range at the start of the call. What lies
// before that is absent, and no tail is kept.
func (e *builder) perChunk(b *notation.Binder, r []span) bool {
	found := false
	for i := range r {
		r[i].local = r[i].window
		found = found || r[i].window
	}
	switch {
	case !found:
		e.ds.Errorf(diag.NotSupported, b.Span, "per chunk means nothing behind a range that is no window").Hint("take it away")
	case e.plainTime():
		e.ds.Errorf(diag.NotSupported, b.Span, "an operation has no context: its windows begin where its input begins").Hint("take per chunk away")
	case e.step != nil:
		e.ds.Errorf(diag.NotSupported, b.Span, "a window per chunk cannot stand behind a state, nor in a claim").
			Hint("give it an equation of its own: u_t = Σ_{%s∈window(t, w) per chunk} …", b.Name.Text)
	default:
		return true
	}
	return false
}

// rangeOf reads what stands behind ∈: an axis, window(t, w), or a union.
func (e *builder) rangeOf(x notation.Expr) ([]span, bool) {
	switch x := x.(type) {
	case *notation.Binary:
		if x.Op == "∪" {
			a, ok := e.rangeOf(x.X)
			b, okb := e.rangeOf(x.Y)
			return append(a, b...), ok && okb
		}
	case *notation.Call:
		if x.Fun.Text == "window" && len(x.Args) == 2 {
			end, ok := e.affine(x.Args[0])
			w := e.axisExpr(x.Args[1], e.generic())
			ok = ok && w != nil && e.endsNow(x.Args[0], end)
			return []span{{axis: w, window: true, end: end}}, ok
		}
	}
	a := e.axisExpr(x, e.generic())
	return []span{{axis: a}}, a != nil
}

// bindRange binds one index to a range. In a window the index is a moment:
// s = t − j for j = 0 … w−1, as far as the context reaches back.
func (e *builder) bindRange(name string, r span) *loopVar {
	v := e.newVar(name, r.axis)
	if !r.window {
		b := &binding{idx: v}
		if e.chunk != nil && r.axis == e.token.axis { // a token of the chunk is a moment
			at := varAff(v)
			b.time = &at
		}
		e.bind(name, b)
		return v
	}
	at := r.end.add(varAff(v), -1)
	v.guards = append(v.guards, e.sinceStart(at, r.local))
	b := &binding{time: &at, loop: v}
	if !e.plainTime() && !r.local {
		b.wide = r.axis
	}
	e.bind(name, b)
	return v
}

// sinceStart is ≥ 0 exactly where a moment of this chunk, or one before it,
// lies in the context. A local window reaches back to the start of the chunk.
func (e *builder) sinceStart(at affine, local bool) affine {
	if local || e.plainTime() {
		return at
	}
	if e.step != nil {
		return e.step.sinceStart(e, at)
	}
	p := e.position0()
	return affine{terms: slices.Clone(at.terms), c: at.c, via: &p}
}

// position0 is how many tokens of the context came before this chunk.
func (e *builder) position0() factor {
	if e.pos == nil {
		e.pos = e.f.Param("pos")
		if e.pos == nil {
			var axes []*ir.Axis
			if e.lane != nil {
				axes = []*ir.Axis{e.lane.axis}
			}
			e.pos = e.f.AddParam("pos", ir.State, ir.Int, axes...)
		}
	}
	f := factor{val: e.pos}
	if len(e.pos.Axes) > 0 {
		f.sub = []vsub{{-1, varAff(e.lane)}}
	}
	return f
}

// guardOrCond turns conditions between indices into guards of the variables
// they bound, and returns the others.
func (e *builder) guardOrCond(x notation.Expr, vars []*loopVar) ([]*ten, bool) {
	if and, ok := x.(*notation.And); ok {
		a, oka := e.guardOrCond(and.X, vars)
		b, okb := e.guardOrCond(and.Y, vars)
		return append(a, b...), oka && okb
	}
	if r, ok := x.(*notation.Relation); ok && len(vars) > 0 {
		if gs := e.indexGuards(r); gs != nil {
			last := vars[len(vars)-1]
			last.guards = append(last.guards, gs...)
			return nil, true
		}
	}
	c := e.condition(x)
	if c == nil {
		return nil, false
	}
	return []*ten{c}, true
}

// indexGuards are the affines that must be ≥ 0 for a relation between indices,
// or nil when it is about data.
func (e *builder) indexGuards(r *notation.Relation) []affine {
	a, ok := e.pureAffine(r.X)
	b, okb := e.pureAffine(r.Y)
	if !ok || !okb {
		return nil
	}
	one := affine{c: shape.Int(1)}
	switch r.Op {
	case "≤":
		return []affine{b.add(a, -1)}
	case "<":
		return []affine{b.add(a, -1).add(one, -1)}
	case "≥":
		return []affine{a.add(b, -1)}
	case ">":
		return []affine{a.add(b, -1).add(one, -1)}
	case "=":
		return []affine{a.add(b, -1), b.add(a, -1)}
	}
	return nil
}

func (e *builder) pureAffine(x notation.Expr) (affine, bool) {
	switch x := x.(type) {
	case *notation.Ident:
		if b := e.local(x.Name.Text); b != nil && (b.idx != nil || b.time != nil) {
			return e.affine(x)
		}
	case *notation.Number:
		return e.affine(x)
	case *notation.Binary:
		if x.Op == "+" || x.Op == "−" {
			a, ok := e.pureAffine(x.X)
			b, okb := e.pureAffine(x.Y)
			if !ok || !okb {
				return affine{}, false
			}
			if x.Op == "−" {
				return a.add(b, -1), true
			}
			return a.add(b, 1), true
		}
	}
	return affine{}, false
}
