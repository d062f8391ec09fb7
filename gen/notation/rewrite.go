package notation

// Rewrite copies an expression; f may replace a node before its parts are
// copied by returning something else than nil.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	if r := f(e); r != nil {
		return r
	}
	in := func(x Expr) Expr { return Rewrite(x, f) }
	all := func(xs []Expr) []Expr {
		out := make([]Expr, len(xs))
		for i, x := range xs {
			out[i] = in(x)
		}
		return out
	}
	switch e := e.(type) {
	case *Field:
		return &Field{Span: e.Span, X: in(e.X), Name: e.Name}
	case *Index:
		return &Index{Span: e.Span, X: in(e.X), At: all(e.At)}
	case *Tuple:
		return &Tuple{Span: e.Span, Items: all(e.Items)}
	case *Call:
		return &Call{Span: e.Span, Fun: e.Fun, At: all(e.At), Args: all(e.Args), Semi: e.Semi}
	case *Grad:
		return &Grad{Span: e.Span, Wrt: e.Wrt, Call: in(e.Call).(*Call)}
	case *Unary:
		return &Unary{Span: e.Span, X: in(e.X)}
	case *Binary:
		return &Binary{Span: e.Span, Op: e.Op, X: in(e.X), Y: in(e.Y)}
	case *Juxt:
		return &Juxt{Span: e.Span, Items: all(e.Items)}
	case *Power:
		return &Power{Span: e.Span, X: in(e.X), Exp: in(e.Exp)}
	case *Transpose:
		return &Transpose{Span: e.Span, X: in(e.X)}
	case *Norm:
		return &Norm{Span: e.Span, X: in(e.X)}
	case *Abs:
		return &Abs{Span: e.Span, X: in(e.X)}
	case *Inner:
		return &Inner{Span: e.Span, X: in(e.X), Y: in(e.Y)}
	case *Reduce:
		return &Reduce{Span: e.Span, Op: e.Op, Binders: RewriteBinders(e.Binders, in), Body: in(e.Body), Empty: in(e.Empty)}
	case *Stack:
		return &Stack{Span: e.Span, Items: all(e.Items)}
	case *List:
		return &List{Span: e.Span, Items: all(e.Items)}
	case *Piecewise:
		return &Piecewise{Span: e.Span, Arms: arms(e.Arms, in)}
	case *Case:
		return &Case{Span: e.Span, On: in(e.On), Arms: arms(e.Arms, in)}
	case *Relation:
		return &Relation{Span: e.Span, Op: e.Op, X: in(e.X), Y: in(e.Y)}
	case *And:
		return &And{Span: e.Span, X: in(e.X), Y: in(e.Y)}
	case *Solve:
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

// RewriteBinders copies what indices run over, and their conditions.
func RewriteBinders(bs []*Binder, in func(Expr) Expr) []*Binder {
	var out []*Binder
	for _, b := range bs {
		c := *b
		c.Range, c.Cond, c.Tuple = in(b.Range), in(b.Cond), RewriteBinders(b.Tuple, in)
		out = append(out, &c)
	}
	return out
}

// RewriteValues copies definitions with their values replaced.
func RewriteValues(ds []*Define, f func(Expr) Expr) []*Define {
	var out []*Define
	for _, d := range ds {
		c := *d
		c.Value = f(d.Value)
		out = append(out, &c)
	}
	return out
}

func arms(as []*Arm, in func(Expr) Expr) []*Arm {
	out := make([]*Arm, len(as))
	for i, a := range as {
		out[i] = &Arm{Span: a.Span, Rel: a.Rel, Cond: in(a.Cond), Value: in(a.Value)}
	}
	return out
}

// Rename returns a copy of an expression with names replaced.
func Rename(e Expr, names map[string]Word) Expr {
	return Rewrite(e, func(n Expr) Expr {
		switch n := n.(type) {
		case *Ident:
			if w, ok := names[n.Name.Text]; ok {
				id := *n
				id.Name = w
				return &id
			}
		case *Grad:
			g := *n // what it names is a formal parameter of its function
			g.Call = Rename(n.Call, names).(*Call)
			return &g
		}
		return nil
	})
}
