package plan

import (
	"fmt"
	"iter"
	"slices"
)

// Body is the place of the statements inside a node, or nil where a node has none.
func Body(n Node) *[]Node {
	switch n := n.(type) {
	case *Loop:
		return &n.Body
	case *If:
		return &n.Body
	case *FindRoot:
		return &n.Body
	case *Region:
		return &n.Body
	}
	return nil
}

// All are nodes and those inside them, outside first.
func All(ns []Node) iter.Seq[Node] {
	return func(yield func(Node) bool) { all(ns, yield) }
}

func all(ns []Node, yield func(Node) bool) bool {
	for _, n := range ns {
		if !yield(n) {
			return false
		}
		if body := Body(n); body != nil && !all(*body, yield) {
			return false
		}
	}
	return true
}

// Walk calls f for every node, outside first.
func Walk(ns []Node, f func(Node)) {
	for n := range All(ns) {
		f(n)
	}
}

// Accesses are the accesses of nodes and of those inside them.
func Accesses(ns []Node) iter.Seq[Access] {
	return func(yield func(Access) bool) {
		for n := range All(ns) {
			var of []Access
			EachAccess(n, func(a Access) { of = append(of, a) })
			if slices.ContainsFunc(of, func(a Access) bool { return !yield(a) }) {
				return
			}
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

// Args are the expressions directly inside an expression.
func Args(e Expr) []Expr {
	switch e := e.(type) {
	case Prod:
		return e.Args
	case Lin:
		return e.Args
	case Fma:
		return []Expr{e.A, e.B, e.C}
	case Call:
		return e.Args
	case Load, Ref, Num, IndexExpr:
		return nil
	}
	panic(fmt.Sprintf("plan: BUG: no arguments of %T", e))
}

// WithArgs is an expression with others inside it.
func WithArgs(e Expr, args []Expr) Expr {
	switch e := e.(type) {
	case Prod:
		return Prod{e.Coef, args}
	case Lin:
		return Lin{e.Coef, args, e.Const}
	case Fma:
		return Fma{e.Neg, args[0], args[1], args[2]}
	case Call:
		return Call{e.Op, args}
	}
	return e
}

// RewriteExpr rebuilds an expression, innermost first, with f.
func RewriteExpr(e Expr, f func(Expr) Expr) Expr {
	args := slices.Clone(Args(e))
	for i, a := range args {
		args[i] = RewriteExpr(a, f)
	}
	return f(WithArgs(e, args))
}

// WalkExpr calls f for an expression and all inside it, innermost first.
func WalkExpr(e Expr, f func(Expr)) {
	for _, a := range Args(e) {
		WalkExpr(a, f)
	}
	f(e)
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
		case *Narrow:
			out[n.Buf] = true
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
