package lower

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A hoister moves out of each loop what does not depend on it: whole scalars,
// invariant parts of expressions, and leading factors of products. Nothing
// leaves a condition, and no loop that a guard narrows lets go of a load whose
// address might be out of range without it. Equal parts become one scalar.
type hoister struct {
	l        *lowerer
	gathered map[*plan.Local]bool
}

func (h *hoister) top(nodes []plan.Node) []plan.Node {
	h.gathered = gathers(nodes)
	return h.divide(clean(h.body(nodes)))
}

func (h *hoister) body(nodes []plan.Node) []plan.Node {
	var out []plan.Node
	known := scalars{}
	for _, n := range nodes {
		switch n := n.(type) {
		case *plan.Loop:
			n.Body = h.body(n.Body)
			out = append(out, h.extract(n, known)...)
		case *plan.If:
			n.Body = h.body(n.Body)
		case *plan.FindRoot:
			n.Body = h.body(n.Body)
		}
		out = append(out, n)
		known.forget(n)
	}
	return h.share(out)
}

// scalars are the expressions that are scalars already, by their text.
type scalars map[string]*plan.Let

// forget drops what a node makes out of date: what was loaded from buffers it
// writes, and what was computed from scalars it gathers into.
func (s scalars) forget(n plan.Node) {
	written, gathered := plan.Written([]plan.Node{n}), gathers([]plan.Node{n})
	for key, let := range s {
		plan.WalkExpr(let.Val, func(e plan.Expr) {
			switch e := e.(type) {
			case plan.Load:
				if written[e.Buf.Base()] {
					delete(s, key)
				}
			case plan.Ref:
				if gathered[e.To] {
					delete(s, key)
				}
			}
		})
	}
}

// gathers are the scalars that nodes gather into.
func gathers(ns []plan.Node) map[*plan.Local]bool {
	out := map[*plan.Local]bool{}
	plan.Walk(ns, func(n plan.Node) {
		if acc, ok := n.(*plan.Accumulate); ok {
			out[acc.To] = true
		}
	})
	return out
}

// An extraction is one loop while its invariants are taken out.
type extraction struct {
	h        *hoister
	loop     *plan.Loop
	known    scalars
	changing map[any]bool // variables and scalars that the loop sets
	written  map[*plan.Buffer]bool
	out      []plan.Node
}

func (h *hoister) extract(loop *plan.Loop, known scalars) []plan.Node {
	x := &extraction{h: h, loop: loop, known: known, changing: map[any]bool{loop.Var: true}, written: plan.Written(loop.Body)}
	gathered := gathers(loop.Body)
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
			if !gathered[n.To] && x.fixed(n.Val) && x.safe(n.Val) {
				delete(x.changing, n.To)
				x.out = append(x.out, n)
				continue
			}
		case *plan.Gather:
			if x.still(n.From) && x.stillIndex(n.Plus) && !x.narrowed() {
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

func (x *extraction) narrowed() bool { return len(x.loop.Lo) > 1 || len(x.loop.Hi) > 1 }

// safe reports whether an expression may be computed where the loop may not
// run: every address is in range wherever the loops outside run.
func (x *extraction) safe(e plan.Expr) bool {
	if !x.narrowed() {
		return true
	}
	ok := true
	plan.WalkExpr(e, func(e plan.Expr) {
		l, load := e.(plan.Load)
		if !load {
			return
		}
		for _, i := range l.Index {
			ok = ok && (i.Var() != nil || len(i.Terms) == 0 && i.Const.IsZero())
		}
	})
	return ok
}

// fixed reports whether an expression has the same value in every iteration.
func (x *extraction) fixed(e plan.Expr) bool {
	ok := true
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e := e.(type) {
		case plan.Ref:
			ok = ok && !x.changing[e.To]
		case plan.Load:
			ok = ok && x.still(e.Access)
		case plan.IndexExpr:
			ok = ok && x.stillIndex(e.Index)
		}
	})
	return ok
}

// still reports whether an access reads the same entry, unwritten.
func (x *extraction) still(a plan.Access) bool {
	return !x.written[a.Buf.Base()] && all(a.Index, x.stillIndex)
}

func (x *extraction) stillIndex(i plan.Index) bool {
	return all(i.Terms, func(t plan.Term) bool { return !x.changing[t.Var] })
}

// expr replaces the invariant parts of an expression by scalars.
func (x *extraction) expr(e plan.Expr) plan.Expr {
	if x.fixed(e) {
		if x.safe(e) {
			return x.take(e)
		}
		return e
	}
	switch e := e.(type) {
	case plan.Prod:
		return x.prod(e)
	case plan.Lin:
		return plan.Lin{Coef: e.Coef, Args: x.list(e.Args), Const: e.Const}
	case plan.Call:
		return plan.Call{Op: e.Op, Args: x.list(e.Args)}
	}
	return e
}

func (x *extraction) list(args []plan.Expr) []plan.Expr {
	out := make([]plan.Expr, len(args))
	for i, a := range args {
		out[i] = x.expr(a)
	}
	return out
}

// prod takes out the leading factors that are invariant, as one product.
func (x *extraction) prod(e plan.Prod) plan.Expr {
	n := 0
	for n < len(e.Args) && x.fixed(e.Args[n]) && x.safe(e.Args[n]) {
		n++
	}
	if n == 0 || n == 1 && unit(e.Coef) {
		return plan.Prod{Coef: e.Coef, Args: x.list(e.Args)}
	}
	sign, coef := 1.0, e.Coef
	if coef == -1 {
		sign, coef = -1, 1
	}
	lead := x.take(plan.Prod{Coef: coef, Args: e.Args[:n]})
	return plan.Prod{Coef: sign, Args: append([]plan.Expr{lead}, x.list(e.Args[n:])...)}
}

// take makes an expression a scalar in front of the loop.
func (x *extraction) take(e plan.Expr) plan.Expr {
	switch e.(type) {
	case plan.Ref, plan.Num:
		return e
	}
	key := plan.ExprString(e)
	if let := x.known[key]; let != nil {
		return plan.Ref{To: let.To}
	}
	let := &plan.Let{To: &plan.Local{Name: x.h.l.fresh(nameOf(e)), Elem: elemOf(e)}, Val: e}
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

func elemOf(e plan.Expr) ir.Elem {
	switch e := e.(type) {
	case plan.Load:
		return e.Buf.Elem
	case plan.Ref:
		return e.To.Elem
	case plan.Call:
		if out := e.Op.Info().Out; out != 0 && e.Op != ir.Select {
			return out
		}
		if e.Op == ir.Select {
			return elemOf(e.Args[1])
		}
	}
	return ir.Real
}
