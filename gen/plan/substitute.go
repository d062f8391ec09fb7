package plan

import "fmt"

// A Copier copies statements with other names: each function returns what
// replaces a scalar, a variable that a gather sets, an index or a buffer.
type Copier struct {
	Local func(*Local) *Local
	Var   func(*Var) *Var
	Index func(Index) Index
	Buf   func(*Buffer) *Buffer
}

func (c Copier) indices(xs []Index) []Index {
	out := make([]Index, len(xs))
	for i, x := range xs {
		out[i] = c.Index(x)
	}
	return out
}

// Access copies an access.
func (c Copier) Access(a Access) Access { return Access{Buf: c.Buf(a.Buf), Index: c.indices(a.Index)} }

// Expr copies an expression.
func (c Copier) Expr(e Expr) Expr {
	return RewriteExpr(e, func(e Expr) Expr {
		switch e := e.(type) {
		case Load:
			return Load{Access: c.Access(e.Access)}
		case Ref:
			return Ref{To: c.Local(e.To)}
		case IndexExpr:
			return IndexExpr{Index: c.Index(e.Index)}
		}
		return e
	})
}

// Nodes copies statements. It panics at one that targets have a form of their
// own for.
func (c Copier) Nodes(ns []Node) []Node {
	out := make([]Node, len(ns))
	for i, n := range ns {
		out[i] = c.Node(n)
	}
	return out
}

// Node copies one statement and its body.
func (c Copier) Node(n Node) Node {
	switch n := n.(type) {
	case *Note:
		return n
	case *Let:
		return &Let{To: c.Local(n.To), Val: c.Expr(n.Val)}
	case *Accumulate:
		return &Accumulate{To: c.Local(n.To), Max: n.Max, Set: n.Set, Val: c.Expr(n.Val)}
	case *Store:
		out := &Store{To: c.Access(n.To), Add: n.Add}
		for _, v := range n.Vals {
			out.Vals = append(out.Vals, c.Expr(v))
		}
		return out
	case *Gather:
		return &Gather{To: c.Var(n.To), From: c.Access(n.From), Plus: c.Index(n.Plus)}
	case *Narrow:
		return &Narrow{Buf: c.Buf(n.Buf)}
	case *Zero:
		return &Zero{Buf: c.Buf(n.Buf)}
	case *If:
		return &If{Cond: c.indices(n.Cond), Present: n.Present, Body: c.Nodes(n.Body)}
	case *Loop:
		out := *n
		out.Lo, out.Hi, out.Body = c.indices(n.Lo), c.indices(n.Hi), c.Nodes(n.Body)
		return &out
	case *FindRoot:
		out := *n
		out.To, out.X, out.Lo, out.Hi = c.Local(n.To), c.Local(n.X), c.Expr(n.Lo), c.Expr(n.Hi)
		out.Body, out.Val = c.Nodes(n.Body), c.Expr(n.Val)
		return &out
	}
	panic(fmt.Sprintf("plan: BUG: no copy of %T", n))
}

// Substitute is the Copier that replaces some scalars by others, and some
// variables by indices.
func Substitute(locals map[*Local]*Local, vars map[*Var]Index) Copier {
	return Copier{
		Local: func(l *Local) *Local {
			if n := locals[l]; n != nil {
				return n
			}
			return l
		},
		Var: func(v *Var) *Var { return v },
		Index: func(x Index) Index {
			out := Index{Const: x.Const}
			for _, t := range x.Terms {
				v, ok := vars[t.Var]
				if !ok {
					v = At(t.Var)
				}
				out = out.Add(v, t.Coef)
			}
			return out
		},
		Buf: func(b *Buffer) *Buffer { return b },
	}
}
