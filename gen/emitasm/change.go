package emitasm

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/plan"
)

// A change copies statements with other scalars and indices.
type change struct {
	locals map[*plan.Local]*plan.Local
	vars   map[*plan.Var]plan.Index
}

func (c change) local(l *plan.Local) *plan.Local {
	if n := c.locals[l]; n != nil {
		return n
	}
	return l
}

func (c change) index(x plan.Index) plan.Index {
	out := plan.Index{Const: x.Const}
	for _, t := range x.Terms {
		v, ok := c.vars[t.Var]
		if !ok {
			v = plan.At(t.Var)
		}
		out = out.Add(v, t.Coef)
	}
	return out
}

func (c change) access(a plan.Access) plan.Access {
	out := plan.Access{Buf: a.Buf}
	for _, x := range a.Index {
		out.Index = append(out.Index, c.index(x))
	}
	return out
}

func (c change) expr(e plan.Expr) plan.Expr {
	return plan.Rewrite(e, func(e plan.Expr) plan.Expr {
		switch e := e.(type) {
		case plan.Load:
			return plan.Load{Access: c.access(e.Access)}
		case plan.Ref:
			return plan.Ref{To: c.local(e.To)}
		}
		return e
	})
}

func (c change) nodes(ns []plan.Node) []plan.Node {
	out := make([]plan.Node, len(ns))
	for i, n := range ns {
		out[i] = c.node(n)
	}
	return out
}

func (c change) node(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Note:
		return n
	case *plan.Let:
		return &plan.Let{To: c.local(n.To), Val: c.expr(n.Val)}
	case *plan.Acc:
		return &plan.Acc{To: c.local(n.To), Max: n.Max, Set: n.Set, Val: c.expr(n.Val)}
	case *plan.Store:
		return &plan.Store{To: c.access(n.To), Add: n.Add, Vals: []plan.Expr{c.expr(n.Vals[0])}}
	case *plan.If:
		return &plan.If{Cond: n.Cond, Present: n.Present, Body: c.nodes(n.Body)}
	case *plan.Loop:
		out := *n
		out.Body = c.nodes(n.Body)
		return &out
	}
	panic(fmt.Sprintf("emitasm: BUG: no copy of %T", n))
}
