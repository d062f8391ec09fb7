package check

import "github.com/nl-hecate/hecate/gen/notation"

// rewrite copies an expression; f may replace a node before its parts are
// copied by returning something else than nil.
func rewrite(e notation.Expr, f func(notation.Expr) notation.Expr) notation.Expr {
	if e == nil {
		return nil
	}
	if r := f(e); r != nil {
		return r
	}
	in := func(x notation.Expr) notation.Expr { return rewrite(x, f) }
	all := func(xs []notation.Expr) []notation.Expr {
		out := make([]notation.Expr, len(xs))
		for i, x := range xs {
			out[i] = in(x)
		}
		return out
	}
	switch e := e.(type) {
	case *notation.Field:
		return &notation.Field{Span: e.Span, X: in(e.X), Name: e.Name}
	case *notation.Index:
		return &notation.Index{Span: e.Span, X: in(e.X), At: all(e.At)}
	case *notation.Tuple:
		return &notation.Tuple{Span: e.Span, Items: all(e.Items)}
	case *notation.Call:
		return &notation.Call{Span: e.Span, Fun: e.Fun, At: all(e.At), Args: all(e.Args), Semi: e.Semi}
	case *notation.Grad:
		return &notation.Grad{Span: e.Span, Wrt: e.Wrt, Call: in(e.Call).(*notation.Call)}
	case *notation.Unary:
		return &notation.Unary{Span: e.Span, X: in(e.X)}
	case *notation.Binary:
		return &notation.Binary{Span: e.Span, Op: e.Op, X: in(e.X), Y: in(e.Y)}
	case *notation.Juxt:
		return &notation.Juxt{Span: e.Span, Items: all(e.Items)}
	case *notation.Power:
		return &notation.Power{Span: e.Span, X: in(e.X), Exp: in(e.Exp)}
	case *notation.Transpose:
		return &notation.Transpose{Span: e.Span, X: in(e.X)}
	case *notation.Norm:
		return &notation.Norm{Span: e.Span, X: in(e.X)}
	case *notation.Abs:
		return &notation.Abs{Span: e.Span, X: in(e.X)}
	case *notation.Inner:
		return &notation.Inner{Span: e.Span, X: in(e.X), Y: in(e.Y)}
	case *notation.Reduce:
		return &notation.Reduce{Span: e.Span, Op: e.Op, Binders: binders(e.Binders, in), Body: in(e.Body), Empty: in(e.Empty)}
	case *notation.Stack:
		return &notation.Stack{Span: e.Span, Items: all(e.Items)}
	case *notation.List:
		return &notation.List{Span: e.Span, Items: all(e.Items)}
	case *notation.Piecewise:
		return &notation.Piecewise{Span: e.Span, Arms: arms(e.Arms, in)}
	case *notation.Case:
		return &notation.Case{Span: e.Span, On: in(e.On), Arms: arms(e.Arms, in)}
	case *notation.Relation:
		return &notation.Relation{Span: e.Span, Op: e.Op, X: in(e.X), Y: in(e.Y)}
	case *notation.And:
		return &notation.And{Span: e.Span, X: in(e.X), Y: in(e.Y)}
	case *notation.Solve:
		s := *e
		s.Left, s.Right, s.Tol = in(e.Left), in(e.Right), in(e.Tol)
		if e.Domain != nil {
			d := *e.Domain
			d.Lo, d.Hi = in(d.Lo), in(d.Hi)
			s.Domain = &d
		}
		return &s
	}
	return e
}

// binders copies what indices run over, and their conditions.
func binders(bs []*notation.Binder, in func(notation.Expr) notation.Expr) []*notation.Binder {
	var out []*notation.Binder
	for _, b := range bs {
		c := *b
		c.Range, c.Cond, c.Tuple = in(b.Range), in(b.Cond), binders(b.Tuple, in)
		out = append(out, &c)
	}
	return out
}

func arms(as []*notation.Arm, in func(notation.Expr) notation.Expr) []*notation.Arm {
	out := make([]*notation.Arm, len(as))
	for i, a := range as {
		out[i] = &notation.Arm{Span: a.Span, Rel: a.Rel, Cond: in(a.Cond), Value: in(a.Value)}
	}
	return out
}

// Rename returns a copy of an expression with names replaced.
func Rename(e notation.Expr, names map[string]notation.Word) notation.Expr {
	return rewrite(e, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Ident:
			if w, ok := names[n.Name.Text]; ok {
				id := *n
				id.Name = w
				return &id
			}
		case *notation.Grad:
			g := *n // what it names is a formal parameter of its function
			g.Call = Rename(n.Call, names).(*notation.Call)
			return &g
		}
		return nil
	})
}
