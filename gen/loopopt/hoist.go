package loopopt

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
)

// Loop-invariant code motion (Aho, Lam, Sethi, Ullman, Compilers, section 9.5).
// What does not depend on a loop moves in front of it: whole scalars, invariant
// parts of expressions, and the leading factors of products. Nothing leaves a
// condition, and a load stays in a loop whose range a guard narrows unless its
// address is in range without the guard. The innermost loops come first, and
// equal parts become one scalar on the way.

// hoist optimises the statements of one body, inner loops first.
func (o *optimizer) hoist(nodes []plan.Node) []plan.Node {
	var out []plan.Node
	known := available{}
	for _, n := range nodes {
		if body := plan.Body(n); body != nil {
			*body = o.hoist(*body)
		}
		if loop, ok := n.(*plan.Loop); ok {
			out = append(out, o.hoistFrom(loop, known)...)
		}
		out = append(out, n)
		known.forget(n)
	}
	return o.share(out)
}

// Available expressions are the scalars that hold one, by its text.
type available map[string]*plan.Let

// forget drops what a node makes out of date: what was loaded from buffers it
// writes, and what was computed from scalars it accumulates into.
func (a available) forget(n plan.Node) {
	written, accumulated := plan.Written([]plan.Node{n}), accumulators([]plan.Node{n})
	for key, let := range a {
		plan.WalkExpr(let.Val, func(e plan.Expr) {
			switch e := e.(type) {
			case plan.Load:
				if written[e.Buf.Base()] {
					delete(a, key)
				}
			case plan.Ref:
				if accumulated[e.To] {
					delete(a, key)
				}
			}
		})
	}
}

// Invariants are taken out of one loop.
type invariants struct {
	o        *optimizer
	loop     *plan.Loop
	known    available
	changing map[any]bool // variables and scalars that the loop sets
	written  map[*plan.Buffer]bool
	out      []plan.Node
}

// hoistFrom takes what is invariant out of a loop and returns it.
func (o *optimizer) hoistFrom(loop *plan.Loop, known available) []plan.Node {
	x := &invariants{o: o, loop: loop, known: known, changing: map[any]bool{loop.Var: true}, written: plan.Written(loop.Body)}
	accumulated := accumulators(loop.Body)
	plan.Walk(loop.Body, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Loop:
			x.changing[n.Var] = true
		case *plan.Let:
			x.changing[n.To] = true
		case *plan.Accumulate:
			x.changing[n.To] = true
		case *plan.Gather:
			x.changing[n.To] = true
		case *plan.FindRoot:
			x.changing[n.To], x.changing[n.X] = true, true
		}
	})
	// What is private to the loop does not exist outside of it.
	for _, b := range loop.Private {
		x.written[b] = true
	}
	var kept []plan.Node
	for _, n := range loop.Body {
		switch n := n.(type) {
		case *plan.Let:
			if !accumulated[n.To] && x.fixed(n.Val) && x.safe(n.Val) {
				delete(x.changing, n.To)
				x.out = append(x.out, n)
				continue
			}
		case *plan.Gather:
			if x.unchanged(n.From) && !x.varies(n.Plus) && !x.narrowed() {
				delete(x.changing, n.To)
				x.out = append(x.out, n)
				continue
			}
		}
		plan.MapExprs(n, x.expr)
		kept = append(kept, n)
	}
	loop.Body = kept
	return x.out
}

func (x *invariants) narrowed() bool { return len(x.loop.Lo) > 1 || len(x.loop.Hi) > 1 }

// safe reports whether an expression may be computed where the loop may not
// run: every address is in range wherever the loops outside run.
func (x *invariants) safe(e plan.Expr) bool {
	if !x.narrowed() {
		return true
	}
	ok := true
	plan.WalkExpr(e, func(e plan.Expr) {
		if l, load := e.(plan.Load); load {
			for _, i := range l.Index {
				ok = ok && (i.Var() != nil || len(i.Terms) == 0 && i.Const.IsZero())
			}
		}
	})
	return ok
}

// fixed reports whether an expression has the same value in every iteration.
func (x *invariants) fixed(e plan.Expr) bool {
	ok := true
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e := e.(type) {
		case plan.Ref:
			ok = ok && !x.changing[e.To]
		case plan.Load:
			ok = ok && x.unchanged(e.Access)
		case plan.IndexExpr:
			ok = ok && !x.varies(e.Index)
		}
	})
	return ok
}

// unchanged reports whether an access reads the same entry, unwritten.
func (x *invariants) unchanged(a plan.Access) bool {
	return !x.written[a.Buf.Base()] && !slices.ContainsFunc(a.Index, x.varies)
}

func (x *invariants) varies(i plan.Index) bool {
	return slices.ContainsFunc(i.Terms, func(t plan.Term) bool { return x.changing[t.Var] })
}

// expr replaces the invariant parts of an expression by scalars.
func (x *invariants) expr(e plan.Expr) plan.Expr {
	if x.fixed(e) {
		if x.safe(e) {
			return x.hoisted(e)
		}
		return e
	}
	switch e := e.(type) {
	case plan.Prod:
		return x.prod(e)
	case plan.Lin, plan.Call:
		return plan.WithArgs(e, x.list(plan.Args(e)))
	}
	return e
}

func (x *invariants) list(args []plan.Expr) []plan.Expr {
	out := make([]plan.Expr, len(args))
	for i, a := range args {
		out[i] = x.expr(a)
	}
	return out
}

// prod hoists the leading factors that are invariant, as one product.
func (x *invariants) prod(e plan.Prod) plan.Expr {
	n := 0
	for n < len(e.Args) && x.fixed(e.Args[n]) && x.safe(e.Args[n]) {
		n++
	}
	if n == 0 || n == 1 && (e.Coef == 1 || e.Coef == -1) {
		return plan.Prod{Coef: e.Coef, Args: x.list(e.Args)}
	}
	sign, coef := 1.0, e.Coef
	if coef == -1 {
		sign, coef = -1, 1
	}
	lead := x.hoisted(plan.Prod{Coef: coef, Args: e.Args[:n]})
	return plan.Prod{Coef: sign, Args: append([]plan.Expr{lead}, x.list(e.Args[n:])...)}
}

// hoisted makes an expression a scalar in front of the loop.
func (x *invariants) hoisted(e plan.Expr) plan.Expr {
	switch e.(type) {
	case plan.Ref, plan.Num:
		return e
	}
	key := plan.ExprString(e)
	if let := x.known[key]; let != nil {
		return plan.Ref{To: let.To}
	}
	let := &plan.Let{To: &plan.Local{Name: x.o.fresh(nameOf(e)), Elem: plan.ElemOf(e)}, Val: e}
	x.known[key] = let
	x.out = append(x.out, let)
	return plan.Ref{To: let.To}
}

func nameOf(e plan.Expr) string {
	if l, ok := e.(plan.Load); ok {
		return l.Buf.Name + ".entry"
	}
	return "w"
}
