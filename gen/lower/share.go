package lower

import (
	"github.com/nl-hecate/hecate/gen/plan"
)

// share computes once what the statements of one body compute several times:
// entries that are loaded more than once, and scalars that are set alike.
func (h *hoister) share(nodes []plan.Node) []plan.Node {
	count := map[string]int{}
	for _, n := range nodes {
		plan.EachExpr(n, func(e plan.Expr) {
			if _, ok := e.(plan.Load); ok {
				count[plan.ExprString(e)]++
			}
		})
	}
	var out []plan.Node
	known := scalars{}
	for _, n := range nodes {
		if let, ok := n.(*plan.Let); ok && !h.gathered[let.To] && !trivial(let.Val) {
			key := plan.ExprString(let.Val)
			if same := known[key]; same != nil {
				let.Val = plan.Ref{To: same.To}
			} else {
				_, load := let.Val.(plan.Load)
				if !load {
					plan.MapExprs(n, h.loads(count, known, &out))
				}
				known[key] = let
			}
			out = append(out, n)
			continue
		}
		plan.MapExprs(n, h.loads(count, known, &out))
		out = append(out, n)
		known.forget(n)
	}
	return out
}

func trivial(e plan.Expr) bool {
	switch e.(type) {
	case plan.Ref, plan.Num:
		return true
	}
	return false
}

// loads replaces loads that are done more than once by a scalar.
func (h *hoister) loads(count map[string]int, known scalars, out *[]plan.Node) func(plan.Expr) plan.Expr {
	return func(e plan.Expr) plan.Expr {
		return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
			key := ""
			if _, ok := e.(plan.Load); ok {
				key = plan.ExprString(e)
			}
			if count[key] < 2 {
				return e
			}
			if known[key] == nil {
				known[key] = &plan.Let{To: &plan.Local{Name: h.l.fresh(nameOf(e)), Elem: elemOf(e)}, Val: e}
				*out = append(*out, known[key])
			}
			return plan.Ref{To: known[key].To}
		})
	}
}

// clean removes scalars that only rename another, scalars that nothing reads,
// and writes those that are read once where they are read, if nothing between
// changes what they are computed from.
func clean(body []plan.Node) []plan.Node {
	gathered := gathers(body)
	rename(body, gathered)
	for {
		uses := countRefs(body)
		changed := false
		body = cleanBody(body, uses, gathered, &changed)
		if !changed {
			return body
		}
	}
}

// rename makes readers of a copy read the original.
func rename(body []plan.Node, gathered map[*plan.Local]bool) {
	same := map[*plan.Local]*plan.Local{}
	plan.Walk(body, func(n plan.Node) {
		if let, ok := n.(*plan.Let); ok && !gathered[let.To] {
			if r, ok := let.Val.(plan.Ref); ok && !gathered[r.To] {
				to := r.To
				if same[to] != nil {
					to = same[to]
				}
				same[let.To] = to
			}
		}
	})
	plan.Walk(body, func(n plan.Node) {
		plan.MapExprs(n, func(e plan.Expr) plan.Expr {
			return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
				if r, ok := e.(plan.Ref); ok && same[r.To] != nil {
					return plan.Ref{To: same[r.To]}
				}
				return e
			})
		})
	})
}

func countRefs(body []plan.Node) map[*plan.Local]int {
	uses := map[*plan.Local]int{}
	plan.Walk(body, func(n plan.Node) {
		plan.EachRef(n, func(l *plan.Local) { uses[l]++ })
	})
	return uses
}

func cleanBody(body []plan.Node, uses map[*plan.Local]int, gathered map[*plan.Local]bool, changed *bool) []plan.Node {
	var out []plan.Node
	for i, n := range body {
		switch n := n.(type) {
		case *plan.Loop:
			n.Body = cleanBody(n.Body, uses, gathered, changed)
		case *plan.If:
			n.Body = cleanBody(n.Body, uses, gathered, changed)
			if len(n.Body) == 0 {
				continue
			}
		case *plan.FindRoot:
			n.Body = cleanBody(n.Body, uses, gathered, changed)
		case *plan.Accumulate:
			if uses[n.To] == 0 {
				*changed = true
				continue
			}
		case *plan.Let:
			if uses[n.To] == 0 || uses[n.To] == 1 && !gathered[n.To] && foldInto(body[i+1:], n, gathered) {
				*changed = true
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// foldInto writes a scalar that is read once where it is read, when that is in
// the same straight stretch; it reports whether it did.
func foldInto(rest []plan.Node, let *plan.Let, gathered map[*plan.Local]bool) bool {
	known := scalars{"": let}
	for _, n := range rest {
		switch n.(type) {
		case *plan.Let, *plan.Accumulate, *plan.Store:
		default:
			return false
		}
		done := false
		plan.MapExprs(n, func(e plan.Expr) plan.Expr {
			return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
				if r, ok := e.(plan.Ref); ok && r.To == let.To {
					done = true
					return let.Val
				}
				return e
			})
		})
		if done {
			return true
		}
		if known.forget(n); len(known) == 0 {
			return false
		}
	}
	return false
}

// longest is the number of operations that one statement may have.
const longest = 10

// divide makes scalars of the parts of long expressions, for the reader.
func (h *hoister) divide(body []plan.Node) []plan.Node {
	var out []plan.Node
	for _, n := range body {
		switch n := n.(type) {
		case *plan.Loop:
			n.Body = h.divide(n.Body)
		case *plan.If:
			n.Body = h.divide(n.Body)
		case *plan.FindRoot:
			n.Body = h.divide(n.Body)
		}
		plan.MapExprs(n, func(e plan.Expr) plan.Expr { return h.shorten(e, &out) })
		out = append(out, n)
	}
	return out
}

// shorten takes the largest parts out of an expression until it is short.
func (h *hoister) shorten(e plan.Expr, out *[]plan.Node) plan.Expr {
	args := arguments(e)
	if operations(e) <= longest || len(args) == 0 {
		return e
	}
	list := make([]plan.Expr, len(args))
	total := 0
	for i, a := range args {
		list[i] = h.shorten(a, out)
		total += operations(list[i])
	}
	for i, a := range list {
		if n := operations(a); total > longest && n > 1 && n*len(list) >= total {
			let := &plan.Let{To: &plan.Local{Name: h.l.fresh("w"), Elem: elemOf(a)}, Val: a}
			*out = append(*out, let)
			list[i] = plan.Ref{To: let.To}
			total -= n
		}
	}
	return withArguments(e, list)
}

func arguments(e plan.Expr) []plan.Expr {
	switch e := e.(type) {
	case plan.Prod:
		return e.Args
	case plan.Lin:
		return e.Args
	case plan.Call:
		return e.Args
	}
	return nil
}

func withArguments(e plan.Expr, args []plan.Expr) plan.Expr {
	switch e := e.(type) {
	case plan.Prod:
		return plan.Prod{Coef: e.Coef, Args: args}
	case plan.Lin:
		return plan.Lin{Coef: e.Coef, Args: args, Const: e.Const}
	case plan.Call:
		return plan.Call{Op: e.Op, Args: args}
	}
	return e
}

// operations counts the operations of an expression.
func operations(e plan.Expr) int {
	n := 0
	plan.WalkExpr(e, func(e plan.Expr) {
		if a := len(arguments(e)); a > 0 {
			n += max(1, a-1)
		}
	})
	return n
}
