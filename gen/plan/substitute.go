package plan

import "fmt"

// A Substitution copies statements with other scalars and indices.
type Substitution struct {
	Locals map[*Local]*Local
	Vars   map[*Var]Index
}

func (c Substitution) local(l *Local) *Local {
	if n := c.Locals[l]; n != nil {
		return n
	}
	return l
}

func (c Substitution) index(x Index) Index {
	out := Index{Const: x.Const}
	for _, t := range x.Terms {
		v, ok := c.Vars[t.Var]
		if !ok {
			v = At(t.Var)
		}
		out = out.Add(v, t.Coef)
	}
	return out
}

// Access copies an access.
func (c Substitution) Access(a Access) Access {
	out := Access{Buf: a.Buf}
	for _, x := range a.Index {
		out.Index = append(out.Index, c.index(x))
	}
	return out
}

// Expr copies an expression.
func (c Substitution) Expr(e Expr) Expr {
	return RewriteExpr(e, func(e Expr) Expr {
		switch e := e.(type) {
		case Load:
			return Load{Access: c.Access(e.Access)}
		case Ref:
			return Ref{To: c.local(e.To)}
		case IndexExpr:
			return IndexExpr{Index: c.index(e.Index)}
		}
		return e
	})
}

// Nodes copies statements. It panics at one that cannot be in a region.
func (c Substitution) Nodes(ns []Node) []Node {
	out := make([]Node, len(ns))
	for i, n := range ns {
		out[i] = c.Node(n)
	}
	return out
}

// Node copies one statement and its body.
func (c Substitution) Node(n Node) Node {
	switch n := n.(type) {
	case *Note:
		return n
	case *Let:
		return &Let{To: c.local(n.To), Val: c.Expr(n.Val)}
	case *Accumulate:
		return &Accumulate{To: c.local(n.To), Max: n.Max, Set: n.Set, Val: c.Expr(n.Val)}
	case *Store:
		out := &Store{To: c.Access(n.To), Add: n.Add}
		for _, v := range n.Vals {
			out.Vals = append(out.Vals, c.Expr(v))
		}
		return out
	case *Gather:
		return &Gather{To: n.To, From: c.Access(n.From), Plus: c.index(n.Plus)}
	case *If:
		out := &If{Present: n.Present, Body: c.Nodes(n.Body)}
		for _, x := range n.Cond {
			out.Cond = append(out.Cond, c.index(x))
		}
		return out
	case *Loop:
		out := *n
		out.Body = c.Nodes(n.Body)
		return &out
	}
	panic(fmt.Sprintf("plan: BUG: no copy of %T", n))
}
