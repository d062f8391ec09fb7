// Package claim builds the two sides of claims, kinks and invariants as programs, and
// isolates the gradients inside equations, all for proofs.
//
// A claim is an equation that must hold for all values of its names. So its program
// has a parameter for every free name: a state before the step, a key, a gate, an
// adjoint of later tokens. The states after one step and its results are computed
// from them once, and so are the adjoints of that step. The adjoint of a value is
// complete: what later tokens contribute, and what its use at this token adds.
package claim

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

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
	expr.Resolver
	expr.AdjointResolver
	expr.FreeResolver
	expr.FieldResolver
	vars() []*tensor.LoopVar // loops that every value has: the batch, for an operation
	known() map[string]Free
}

// newClaim makes a builder for the claims of a block.
func newClaim(blk *check.Block, name string, ds *diag.List) (*expr.Builder, claimNamer) {
	var n claimNamer
	var e *expr.Builder
	switch blk.Unit.Kind {
	case notation.RuleUnit:
		e, n = newStepClaim(blk, name, ds)
	case notation.UpdateUnit:
		e, n = newUpdateClaim(blk, name, ds)
	case notation.OpUnit, notation.ComposeUnit, notation.ModelUnit:
		e, n = newOutputClaim(blk, name, ds)
	default:
		e = expr.New(blk, name, ds)
		n = &pageClaim{names: newNames()}
	}
	e.Names = n
	e.Eq = name
	e.Push(&expr.Scope{})
	if _, ok := n.(*pageClaim); ok {
		pageAxes(e)
	}
	return e, n
}

// Of builds an equality that a block states; nil means that an error was reported.
func Of(blk *check.Block, c *notation.Claim, ds *diag.List) *Equality {
	e, n := newClaim(blk, blk.ID+".claim", ds)
	e.Span = c.Span
	if !e.With(c.With) {
		return nil
	}
	left, right := e.Agree(c.Left, c.Right, e.OpenExpr(c.Left), e.OpenExpr(c.Right))
	if left == nil || right == nil {
		return nil
	}
	left, right, ok := alike(e, c.Left, c.Right, left, right)
	if !ok {
		return nil
	}
	result(e, Left, left, n.vars())
	result(e, Right, right, n.vars())
	q := &Equality{}
	for i, t := range summands(e, c, right) {
		q.Terms = append(q.Terms, t.at)
		result(e, TermName(i), t.val, n.vars())
	}
	q.Func, q.Free = finished(e), n.known()
	return q
}

// alike checks that two sides have the same type; a number on one side is broadcast.
func alike(e *expr.Builder, xl, xr notation.Expr, left, right *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor, bool) {
	switch {
	case e.Closed(xl, left) == nil || e.Closed(xr, right) == nil:
		return nil, nil, false
	case tensor.SameAxes(left, right) && left.Row == right.Row:
	case right.IsNumber():
		right = &tensor.Tensor{Axes: left.Axes, Row: left.Row, Elem: ir.Real, Coef: right.Coef}
	case left.IsNumber():
		left = &tensor.Tensor{Axes: right.Axes, Row: right.Row, Elem: ir.Real, Coef: left.Coef}
	default:
		e.Unlike(xl, xr, left, right)
		return nil, nil, false
	}
	return left, right, true
}

// result makes a value a result, over the given loops and its visible axes.
func result(e *expr.Builder, name string, t *tensor.Tensor, vars []*tensor.LoopVar) {
	e.Func.Results = append(e.Func.Results, ir.Result{Name: name, Val: e.ValueOver(e.Copy(e.Materialize(t)), vars)})
}

// finished removes what no side reads from the program of a claim.
func finished(e *expr.Builder) *ir.Func {
	program.Prune(e.Func)
	return e.Func
}

// A summand is one addend of a claim's right side.
type summand struct {
	at  notation.Expr
	val *tensor.Tensor
}

// summands builds the addends of the right side one by one, so that a failing proof can
// localise the error in one of them. A right side that is a local name is replaced by its
// definition.
func summands(e *expr.Builder, c *notation.Claim, whole *tensor.Tensor) []summand {
	value, wrap := c.Right, func(x notation.Expr) *tensor.Tensor { return e.Fill(x, e.OpenExpr(x), whole.Axes) }
	if id, ok := c.Right.(*notation.Ident); ok {
		for _, w := range c.With {
			if w.Target.Name.Name.Text == id.Name.Text {
				value = w.Value
				wrap = func(x notation.Expr) *tensor.Tensor {
					d := *w
					d.Value = x
					return e.Define(&d)
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
		if t == nil || !tensor.SameAxes(t, whole) {
			return nil
		}
		out = append(out, summand{p, t})
	}
	return out
}

// addends splits a sum; an addend after a minus becomes a negation.
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

// callOf is the call of a function with its own parameters as arguments, and
// whether all of them have types.
func callOf(t *notation.Target) (call *notation.Call, typed bool) {
	call = &notation.Call{Span: t.Span, Fun: t.Name.Name}
	typed = true
	for _, p := range t.Params {
		call.Args = append(call.Args, &notation.Ident{Span: p.Span, Name: p.Name})
		typed = typed && p.Type != nil
	}
	return call, typed
}

// Function builds a function of a page of its own as a program: its typed
// parameters in, out. It returns nil for one whose parameters have no types,
// which is built only where it is called.
func Function(blk *check.Block, ds *diag.List) *ir.Func {
	d := blk.Unit.Result
	call, typed := callOf(d.Target)
	if !typed {
		return nil
	}
	e, n := newClaim(blk, blk.ID, ds)
	e.Span = d.Span
	t := e.Expr(call)
	if t == nil {
		return nil
	}
	result(e, "out", t, n.vars())
	program.ListAxes(e.Func)
	return e.Func
}
