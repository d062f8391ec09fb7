package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A claim is an equation that must hold whatever its names stand for. So its
// program has a parameter for every name: a state before the step, a key, a
// gate, an adjoint that comes from later. What the block computes from them in
// one step, the states after it and what it gives, is computed here too, once,
// and so are the adjoints of that step: the adjoint of a value is the whole of
// it, what comes from later tokens and what this token's own use adds.

// A Free is a name that a claim speaks of.
type Free struct {
	Text string         // as the page writes it: M_{t−1}
	Sym  *check.Symbol  // nil for a parameter of a function
	Type *notation.Type // nil where an equation decides
}

// An Equality is the program of a claim: its results are left and right, and
// term.0, term.1, … where the right side is a sum of Terms.
type Equality struct {
	Func  *ir.Func
	Free  map[string]Free // by parameter
	Terms []notation.Expr
}

// The results of an Equality.
const (
	Left  = "left"
	Right = "right"
)

// TermName is the name of the result for summand i of the right side.
func TermName(i int) string { return "term." + string(rune('0'+i)) }

// maxTermResults is how many summands get a result of their own.
const maxTermResults = 9

// A claimNamer serves the names of one claim.
type claimNamer interface {
	namer
	barNamer
	freeNamer
	fieldNamer
	vars() []*loopVar // loops that every value has: the lane, for an operation
	known() map[string]Free
}

// newClaim makes a builder for the claims of a block.
func newClaim(blk *check.Block, name string, ds *diag.List) (*builder, claimNamer) {
	var n claimNamer
	var e *builder
	switch blk.Unit.Kind {
	case notation.RuleUnit:
		e, n = newStepClaim(blk, name, ds)
	case notation.UpdateUnit:
		e, n = newFireClaim(blk, name, ds)
	case notation.OpUnit, notation.ComposeUnit, notation.ModelUnit:
		e, n = newPlainClaim(blk, name, ds)
	default:
		e = newBuilder(blk, name, ds)
		n = &looseClaim{claimNames: newClaimNames()}
	}
	e.names = n
	e.eq = name
	e.push(&scope{})
	if _, ok := n.(*looseClaim); ok {
		e.pageAxes()
	}
	return e, n
}

// Claim builds an equality that a block states; nil means that a message was
// given.
func Claim(blk *check.Block, c *notation.Claim, ds *diag.List) *Equality {
	e, n := newClaim(blk, blk.ID+".claim", ds)
	e.span = c.Span
	if !e.with(c.With) {
		return nil
	}
	left, right := e.agree(c.Left, c.Right, e.any(c.Left), e.any(c.Right))
	if left == nil || right == nil {
		return nil
	}
	left, right, ok := e.alike(c.Left, c.Right, left, right)
	if !ok {
		return nil
	}
	e.result(Left, left, n.vars())
	e.result(Right, right, n.vars())
	q := &Equality{}
	for i, t := range e.summands(c, right) {
		q.Terms = append(q.Terms, t.at)
		e.result(TermName(i), t.val, n.vars())
	}
	q.Func, q.Free = e.finished(), n.known()
	return q
}

// alike checks that two sides have the same type; a number on one side stands
// for the array of it.
func (e *builder) alike(xl, xr notation.Expr, left, right *ten) (*ten, *ten, bool) {
	switch {
	case e.closed(xl, left) == nil || e.closed(xr, right) == nil:
		return nil, nil, false
	case sameAxes(left, right) && left.row == right.row:
	case right.isLiteral():
		right = &ten{axes: left.axes, row: left.row, elem: ir.Real, coef: right.coef}
	case left.isLiteral():
		left = &ten{axes: right.axes, row: right.row, elem: ir.Real, coef: left.coef}
	default:
		e.unlike(xl, xr, left, right)
		return nil, nil, false
	}
	return left, right, true
}

// unlike says that two sides have different types.
func (e *builder) unlike(xl, xr notation.Expr, left, right *ten) {
	e.errorf(diag.ShapeMismatch, xr, "%s is %s, but %s is %s", text(xr), e.typ(right), text(xl), e.typ(left)).
		Labelf("%s", e.typ(right)).See(xl.Where(), "%s is %s", text(xl), e.typ(left))
}

// result gives out a value over the given loops and its visible axes.
func (e *builder) result(name string, t *ten, vars []*loopVar) {
	e.f.Results = append(e.f.Results, ir.Result{Name: name, Val: e.pack(e.copied(e.one(t)), vars)})
}

func (e *builder) finished() *ir.Func {
	e.f.Sweep()
	used := e.f.Uses()
	e.f.Params = slices.DeleteFunc(e.f.Params, func(p *ir.Value) bool { return used[p] == 0 })
	adopt(e.f)
	return e.f
}

// A summand of a claim's right side.
type summand struct {
	at  notation.Expr
	val *ten
}

// summands builds the addends of the right side one by one, so that a proof
// that fails can say which of them is to blame. A right side that is a local
// name is looked into.
func (e *builder) summands(c *notation.Claim, whole *ten) []summand {
	value, wrap := c.Right, func(x notation.Expr) *ten { return e.fill(x, e.any(x), whole.axes) }
	if id, ok := c.Right.(*notation.Ident); ok {
		for _, w := range c.With {
			if w.Target.Name.Name.Text == id.Name.Text {
				value = w.Value
				wrap = func(x notation.Expr) *ten {
					d := *w
					d.Value = x
					return e.define(&d)
				}
			}
		}
	}
	parts := addends(value)
	if len(parts) < 2 || len(parts) > maxTermResults {
		return nil
	}
	var out []summand
	for _, p := range parts {
		t := wrap(p)
		if t == nil || !sameAxes(t, whole) {
			return nil
		}
		out = append(out, summand{p, t})
	}
	return out
}

// addends splits a sum; an addend behind a minus is wrapped in one.
func addends(x notation.Expr) []notation.Expr {
	if b, ok := x.(*notation.Binary); ok && (b.Op == "+" || b.Op == "−") {
		left, right := addends(b.X), addends(b.Y)
		if b.Op == "−" {
			for i, r := range right {
				right[i] = &notation.Unary{Span: r.Where(), X: r}
			}
		}
		return append(left, right...)
	}
	return []notation.Expr{x}
}

// claimNames are the parameters of a claim.
type claimNames struct {
	params  map[string]*ten
	frees   map[string]Free
	untyped map[string]bool // said already
}

func newClaimNames() *claimNames {
	return &claimNames{params: map[string]*ten{}, frees: map[string]Free{}, untyped: map[string]bool{}}
}

func (n *claimNames) vars() []*loopVar       { return nil }
func (n *claimNames) known() map[string]Free { return n.frees }

// param is the parameter of a name, made where it is first read.
func (n *claimNames) param(e *builder, key string, elem ir.Elem, axes []*ir.Axis, f Free) *ten {
	if n.params[key] == nil {
		v := e.f.AddParam(key, ir.Input, elem, axes...)
		n.frees[v.Name] = f
		n.params[key] = e.ofValue(v, nil, axes)
	}
	return n.params[key]
}

// free is a parameter of one of the page's functions, with the type that the
// first function that has it declares.
func (n *claimNames) free(e *builder, x *notation.Ident) *ten {
	p := paramNamed(e.blk, x.Name.Text)
	if p == nil {
		return nil
	}
	if t := n.params[x.Name.Text]; t != nil {
		return t
	}
	if p.Type == nil {
		if !n.untyped[x.Name.Text] {
			n.untyped[x.Name.Text] = true
			e.ds.Errorf(diag.UnknownName, x.Span, "%s has no type here", x.Name.Text).See(p.Span, "declared without one").
				Hint("give it one in the signature: %s ∈ …", x.Name.Text)
		}
		return literal(0)
	}
	axes, ok := e.freeShape(p.Type)
	if !ok {
		return literal(0)
	}
	return n.param(e, ident.ASCII(x.Name.Text), ir.Real, axes, Free{Text: x.Name.Text, Type: p.Type})
}

// freeShape reads a type whose axes may be introduced here.
func (e *builder) freeShape(t *notation.Type) ([]*ir.Axis, bool) {
	if t.AnyShape {
		return []*ir.Axis{e.anyAxis()}, true
	}
	return e.shapeOf(t, e.freeAxis)
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
	for _, st := range blk.Unit.Body {
		if d, ok := st.(*notation.Define); ok && d.Target.IsFunc {
			in(d)
		}
	}
	if blk.Unit.Kind == notation.FuncUnit {
		in(blk.Unit.Result)
	}
	if found != nil {
		return found
	}
	var names []string
	for f := range blk.Funcs {
		names = append(names, f)
	}
	slices.Sort(names)
	for _, f := range names {
		if blk.Funcs[f].Block != nil {
			in(blk.Funcs[f].Def)
		}
	}
	return found
}

// inside builds a with-definition of a function of the page, its parameters
// free: ℓ.r.
func (n *claimNames) inside(e *builder, x *notation.Field) *ten {
	id, ok := x.X.(*notation.Ident)
	f := (*check.Function)(nil)
	if ok {
		f = e.blk.Funcs[id.Name.Text]
	}
	if f == nil {
		e.errorf(diag.UnknownName, x, "%s is not a function of this page", text(x.X))
		return nil
	}
	for _, w := range f.Def.With {
		if w.Target.Name.Name.Text == x.Name.Text {
			e.push(&scope{})
			defer e.pop()
			if !e.with(f.Def.With) {
				return nil
			}
			return e.ident(&notation.Ident{Span: x.Span, Name: x.Name})
		}
	}
	e.errorf(diag.UnknownName, x, "%s has no local name %s", id.Name.Text, x.Name.Text).See(f.Def.Span, "defined here")
	return nil
}

func (n *claimNames) noBar(e *builder, x *notation.Ident, hint string) *ten {
	e.errorf(diag.UnknownName, x, "there is no adjoint %s here", text(x)).Hint("%s", hint)
	return literal(0)
}

// A looseClaim serves a page that is no program by itself: a knob or a front.
type looseClaim struct{ *claimNames }

func (n *looseClaim) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	if sym.Type == nil || when != (moment{}) {
		e.ds.Errorf(diag.TimeSuffix, span, "%s has no value on this page alone", sym.Name)
		return nil
	}
	axes, ok := e.freeShape(sym.Type)
	if !ok {
		return nil
	}
	return n.param(e, ident.ASCII(sym.Name), ir.Real, axes, Free{Text: sym.Name, Sym: sym, Type: sym.Type})
}

func (n *looseClaim) barred(e *builder, x *notation.Ident, _ string) *ten {
	return n.noBar(e, x, "adjoints stand in the claims of an operation or a rule")
}
