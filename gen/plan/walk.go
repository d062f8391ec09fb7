package plan

import "fmt"

// Walk calls f for every node, outside first.
func Walk(ns []Node, f func(Node)) {
	for _, n := range ns {
		f(n)
		switch n := n.(type) {
		case *Loop:
			Walk(n.Body, f)
		case *If:
			Walk(n.Body, f)
		case *Root:
			Walk(n.Body, f)
		case *Region:
			Walk(n.Body, f)
		}
	}
}

// Exprs calls f for the expressions of one node, not of those inside it, and
// puts what f returns in their place.
func Exprs(n Node, f func(Expr) Expr) {
	switch n := n.(type) {
	case *Let:
		n.Val = f(n.Val)
	case *Acc:
		n.Val = f(n.Val)
	case *Store:
		for i := range n.Vals {
			n.Vals[i] = f(n.Vals[i])
		}
	case *Root:
		n.Lo, n.Hi, n.Val = f(n.Lo), f(n.Hi), f(n.Val)
	}
}

// Rewrite rebuilds an expression, innermost first, with f.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	list := func(args []Expr) []Expr {
		out := make([]Expr, len(args))
		for i, a := range args {
			out[i] = Rewrite(a, f)
		}
		return out
	}
	switch x := e.(type) {
	case Prod:
		e = Prod{x.Coef, list(x.Args)}
	case Lin:
		e = Lin{x.Coef, list(x.Args), x.Const}
	case Fma:
		e = Fma{x.Neg, Rewrite(x.A, f), Rewrite(x.B, f), Rewrite(x.C, f)}
	case Call:
		e = Call{x.Op, list(x.Args)}
	case Load, Ref, Num, Pos:
	default:
		panic(fmt.Sprintf("plan: BUG: no rewriting of %T", e))
	}
	return f(e)
}

// Visit calls f for an expression and all inside it, innermost first.
func Visit(e Expr, f func(Expr)) {
	switch x := e.(type) {
	case Prod:
		visit(x.Args, f)
	case Lin:
		visit(x.Args, f)
	case Fma:
		Visit(x.A, f)
		Visit(x.B, f)
		Visit(x.C, f)
	case Call:
		visit(x.Args, f)
	case Load, Ref, Num, Pos:
	default:
		panic(fmt.Sprintf("plan: BUG: no visit of %T", e))
	}
	f(e)
}

func visit(es []Expr, f func(Expr)) {
	for _, e := range es {
		Visit(e, f)
	}
}

// Each calls f for the expressions of one node, not of those inside it, and for
// all inside them.
func Each(n Node, f func(Expr)) {
	Exprs(n, func(e Expr) Expr {
		Visit(e, f)
		return e
	})
}

// Loads calls f for what the expressions of one node load.
func Loads(n Node, f func(Access)) {
	Each(n, func(e Expr) {
		if l, ok := e.(Load); ok {
			f(l.Access)
		}
	})
}

// Refs calls f for every scalar that the expressions of one node mention.
func Refs(n Node, f func(*Local)) {
	Each(n, func(e Expr) {
		if r, ok := e.(Ref); ok {
			f(r.To)
		}
	})
}

// Writes are the buffers, views resolved, that nodes write.
func Writes(ns []Node) map[*Buffer]bool {
	out := map[*Buffer]bool{}
	Walk(ns, func(n Node) {
		switch n := n.(type) {
		case *Store:
			out[n.To.Buf.Base()] = true
		case *Zero:
			out[n.Buf.Base()] = true
		case *Gemm:
			out[n.C.At.Buf.Base()] = true
		case *Triangle:
			out[n.X.At.Buf.Base()] = true
		}
	})
	return out
}

// Accesses calls f for every access of one node, not of those inside it.
func Accesses(n Node, f func(Access)) {
	Loads(n, f)
	switch n := n.(type) {
	case *Store:
		f(n.To)
	case *Pick:
		f(n.From)
	case *Gemm:
		f(n.C.At)
		f(n.A.At)
		f(n.B.At)
	case *Triangle:
		f(n.X.At)
		f(n.A.At)
	}
}

// Indices calls f for every index that nodes mention: of accesses, bounds,
// conditions and positions.
func Indices(ns []Node, f func(Index)) {
	each := func(xs []Index) {
		for _, x := range xs {
			f(x)
		}
	}
	Walk(ns, func(n Node) {
		Accesses(n, func(a Access) { each(a.Index) })
		Each(n, func(e Expr) {
			if p, ok := e.(Pos); ok {
				f(p.Index)
			}
		})
		switch n := n.(type) {
		case *Loop:
			each(n.Lo)
			each(n.Hi)
		case *If:
			each(n.Cond)
		case *Pick:
			f(n.Plus)
		}
	})
}
