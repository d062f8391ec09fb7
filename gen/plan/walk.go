package plan

import (
	"fmt"
	"slices"
)

// Walk calls f for every node, outside first.
func Walk(ns []Node, f func(Node)) {
	for _, n := range ns {
		f(n)
		switch n := n.(type) {
		case *Loop:
			Walk(n.Body, f)
		case *If:
			Walk(n.Body, f)
		case *FindRoot:
			Walk(n.Body, f)
		case *Region:
			Walk(n.Body, f)
		}
	}
}

// IsNote reports whether a node is a note.
func IsNote(n Node) bool {
	_, ok := n.(*Note)
	return ok
}

// WithoutNotes leaves out the notes among nodes.
func WithoutNotes(ns []Node) []Node { return slices.DeleteFunc(slices.Clone(ns), IsNote) }

// MapExprs calls f for the expressions of one node, not of those inside it, and
// puts what f returns in their place.
func MapExprs(n Node, f func(Expr) Expr) {
	switch n := n.(type) {
	case *Let:
		n.Val = f(n.Val)
	case *Accumulate:
		n.Val = f(n.Val)
	case *Store:
		for i := range n.Vals {
			n.Vals[i] = f(n.Vals[i])
		}
	case *FindRoot:
		n.Lo, n.Hi, n.Val = f(n.Lo), f(n.Hi), f(n.Val)
	}
}

// RewriteExpr rebuilds an expression, innermost first, with f.
func RewriteExpr(e Expr, f func(Expr) Expr) Expr {
	list := func(args []Expr) []Expr {
		out := make([]Expr, len(args))
		for i, a := range args {
			out[i] = RewriteExpr(a, f)
		}
		return out
	}
	switch x := e.(type) {
	case Prod:
		e = Prod{x.Coef, list(x.Args)}
	case Lin:
		e = Lin{x.Coef, list(x.Args), x.Const}
	case Fma:
		e = Fma{x.Neg, RewriteExpr(x.A, f), RewriteExpr(x.B, f), RewriteExpr(x.C, f)}
	case Call:
		e = Call{x.Op, list(x.Args)}
	case Load, Ref, Num, IndexExpr:
	default:
		panic(fmt.Sprintf("plan: BUG: no rewriting of %T", e))
	}
	return f(e)
}

// WalkExpr calls f for an expression and all inside it, innermost first.
func WalkExpr(e Expr, f func(Expr)) {
	switch x := e.(type) {
	case Prod:
		visit(x.Args, f)
	case Lin:
		visit(x.Args, f)
	case Fma:
		WalkExpr(x.A, f)
		WalkExpr(x.B, f)
		WalkExpr(x.C, f)
	case Call:
		visit(x.Args, f)
	case Load, Ref, Num, IndexExpr:
	default:
		panic(fmt.Sprintf("plan: BUG: no visit of %T", e))
	}
	f(e)
}

func visit(es []Expr, f func(Expr)) {
	for _, e := range es {
		WalkExpr(e, f)
	}
}

// EachExpr calls f for the expressions of one node, not of those inside it, and for
// all inside them.
func EachExpr(n Node, f func(Expr)) {
	MapExprs(n, func(e Expr) Expr {
		WalkExpr(e, f)
		return e
	})
}

// EachLoad calls f for what the expressions of one node load.
func EachLoad(n Node, f func(Access)) {
	EachExpr(n, func(e Expr) {
		if l, ok := e.(Load); ok {
			f(l.Access)
		}
	})
}

// EachRef calls f for every scalar that the expressions of one node mention.
func EachRef(n Node, f func(*Local)) {
	EachExpr(n, func(e Expr) {
		if r, ok := e.(Ref); ok {
			f(r.To)
		}
	})
}

// Written are the buffers, views resolved, that nodes write.
func Written(ns []Node) map[*Buffer]bool {
	out := map[*Buffer]bool{}
	Walk(ns, func(n Node) {
		switch n := n.(type) {
		case *Store:
			out[n.To.Buf.Base()] = true
		case *Zero:
			out[n.Buf.Base()] = true
		case *Gemm:
			out[n.C.At.Buf.Base()] = true
		case *TriSolve:
			out[n.X.At.Buf.Base()] = true
		}
	})
	return out
}

// EachAccess calls f for every access of one node, not of those inside it.
func EachAccess(n Node, f func(Access)) {
	EachLoad(n, f)
	switch n := n.(type) {
	case *Store:
		f(n.To)
	case *Gather:
		f(n.From)
	case *Gemm:
		f(n.C.At)
		f(n.A.At)
		f(n.B.At)
	case *TriSolve:
		f(n.X.At)
		f(n.A.At)
	}
}

// EachIndex calls f for every index that nodes mention: of accesses, bounds,
// conditions and positions.
func EachIndex(ns []Node, f func(Index)) {
	each := func(xs []Index) {
		for _, x := range xs {
			f(x)
		}
	}
	Walk(ns, func(n Node) {
		EachAccess(n, func(a Access) { each(a.Index) })
		EachExpr(n, func(e Expr) {
			if p, ok := e.(IndexExpr); ok {
				f(p.Index)
			}
		})
		switch n := n.(type) {
		case *Loop:
			each(n.Lo)
			each(n.Hi)
		case *If:
			each(n.Cond)
		case *Gather:
			f(n.Plus)
		}
	})
}
