package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Inside a chunk a name may be defined by itself at earlier tokens, if it is
// linear in what it reads there: g_t = ρ_t g_{t−1}, or
// U_t = … − Σ_{i∈C, i<t} a_t[i] U_i. Such an equation is a triangular system of
// all tokens of the chunk. What is found here is its text: the terms that read
// the name, each with the factors beside it, and the rest.

// A Recurrence is an equation of a chunk that reads itself.
type Recurrence struct {
	Rest   []SignedTerm // terms without the name
	Lagged []SignedTerm // what stands beside the name one token before
	Sums   []SignedTerm // reductions Σ over earlier tokens, with 1 in the place of the name
}

// A SignedTerm is a term of a sum.
type SignedTerm struct {
	Minus bool
	Expr  notation.Expr
	Whole notation.Expr // of a step: the term with the name in it
}

// SplitRecurrence takes apart an equation that reads its own name at earlier tokens; nil
// stands for one that does not, and for one that was refused.
func (b *Block) SplitRecurrence(eq *Equation, ds *diag.List) *Recurrence {
	if eq.Def == nil || !b.readsItself(eq, eq.Def.Value) && !slices.ContainsFunc(eq.Def.With, func(w *notation.Define) bool { return b.readsItself(eq, w.Value) }) {
		return nil
	}
	c := &recurrent{b: b, eq: eq, ds: ds, out: &Recurrence{}}
	if w := slices.IndexFunc(eq.Def.With, func(w *notation.Define) bool { return b.readsItself(eq, w.Value) }); w >= 0 {
		c.refuse(eq.Def.With[w].Value, "%s reads itself in a local definition", eq.Name)
	}
	c.terms(eq.Def.Value, false)
	if c.failed {
		return nil
	}
	return c.out
}

// IsRecurrent reports whether an equation of a chunk reads its own name.
func (b *Block) IsRecurrent(eq *Equation) bool {
	return eq.Def != nil && b.readsItself(eq, eq.Def.Value)
}

// readsItself reports whether an expression mentions the name of an equation.
func (b *Block) readsItself(eq *Equation, x notation.Expr) bool {
	found := false
	notation.Inspect(x, func(n any) bool {
		if id, ok := n.(*notation.Ident); ok {
			name, _ := b.Split(id.Name.Text)
			found = found || name == eq.Name
		}
		return true
	})
	return found
}

type recurrent struct {
	b      *Block
	eq     *Equation
	ds     *diag.List
	out    *Recurrence
	failed bool
}

func (c *recurrent) refuse(x notation.Expr, format string, args ...any) {
	if !c.failed {
		c.ds.Errorf(diag.NotSupported, x.Where(), format, args...).See(c.eq.Span(), "the equation of %s", c.eq.Name).
			See(c.b.Unit.Name.Span, "%s computes it in chunks", c.b.Name).
			Hint("in each term of its own equation a name may be one factor of a product, at t−1 or under Σ over earlier tokens, and no argument of a function or of ∇")
	}
	c.failed = true
}

// terms divides a sum.
func (c *recurrent) terms(x notation.Expr, minus bool) {
	switch x := x.(type) {
	case *notation.Binary:
		if x.Op == "+" || x.Op == "−" {
			c.terms(x.X, minus)
			c.terms(x.Y, minus != (x.Op == "−"))
			return
		}
	case *notation.Unary:
		c.terms(x.X, !minus)
		return
	case *notation.Reduce:
		if x.Op == "Σ" && c.b.readsItself(c.eq, x.Body) {
			c.sum(x, minus)
			return
		}
	case *notation.Call:
		if y := c.inline(x); y != nil {
			c.terms(y, minus)
			return
		}
	}
	if !c.b.readsItself(c.eq, x) {
		c.out.Rest = append(c.out.Rest, SignedTerm{Minus: minus, Expr: x})
		return
	}
	if y, time := c.without(x); y != nil {
		if !notation.IsPrevious(time) {
			c.refuse(x, "%s is read here at a moment that is not the token before", c.eq.Name)
			return
		}
		c.out.Lagged = append(c.out.Lagged, SignedTerm{Minus: minus, Expr: y, Whole: x})
	}
}

// inline writes out the call of a function of one line that reads the name.
func (c *recurrent) inline(x *notation.Call) notation.Expr {
	f := c.b.Funcs[x.Fun.Text]
	if f == nil || !c.b.readsItself(c.eq, x) || len(f.Def.With) > 0 || len(f.Def.Target.Index) > 0 || len(f.Params) != len(x.Args) {
		return nil
	}
	args := map[string]notation.Expr{}
	for i, p := range f.Params {
		args[p.Name.Text] = x.Args[i]
	}
	return notation.Rewrite(f.Def.Value, func(n notation.Expr) notation.Expr {
		if id, ok := n.(*notation.Ident); ok {
			return args[id.Name.Text]
		}
		return nil
	})
}

// sum takes the name out of a sum over earlier tokens.
func (c *recurrent) sum(x *notation.Reduce, minus bool) {
	y, time := c.without(x.Body)
	if y == nil {
		return
	}
	id, ok := time.(*notation.Ident)
	if !ok || len(x.Binders) != 1 || x.Binders[0].Name.Text != id.Name.Text {
		c.refuse(x, "%s is read here at a moment that this sum does not run over", c.eq.Name)
		return
	}
	if !earlier(x.Binders[0].Cond, id.Name.Text) {
		c.refuse(x, "%s is read here at tokens that are not all earlier ones", c.eq.Name)
		return
	}
	r := *x
	r.Body = y
	c.out.Sums = append(c.out.Sums, SignedTerm{Minus: minus, Expr: &r})
}

// without is a product with 1 in the place of the one factor that is the name,
// and the moment of that factor.
func (c *recurrent) without(x notation.Expr) (y, time notation.Expr) {
	n := 0
	y = notation.Rewrite(x, func(f notation.Expr) notation.Expr {
		id := c.factor(f)
		if id == nil {
			return nil
		}
		n++
		time = id.Time
		if _, suffix := c.b.Split(id.Name.Text); suffix != "" {
			time = &notation.Ident{Span: id.Span, Name: notation.Word{Span: id.Span, Text: suffix}}
		}
		return &notation.Number{Span: f.Where(), Value: 1}
	})
	if n != 1 || !isProduct(x, c) {
		c.refuse(x, "%s stands in this term in another way than once as a factor", c.eq.Name)
		return nil, nil
	}
	return y, time
}

// factor is the name of the equation where x is that name, read whole or at the
// indices of its left-hand side.
func (c *recurrent) factor(x notation.Expr) *notation.Ident {
	if ix, ok := x.(*notation.Index); ok {
		for k, a := range ix.At {
			id, ok := a.(*notation.Ident)
			if !ok || k >= len(c.eq.Def.Target.Index) || c.eq.Def.Target.Index[k].Name.Text != id.Name.Text {
				return nil
			}
		}
		if len(ix.At) != len(c.eq.Def.Target.Index) {
			return nil
		}
		x = ix.X
	} else if len(c.eq.Def.Target.Index) > 0 {
		return nil
	}
	id, ok := x.(*notation.Ident)
	if !ok {
		return nil
	}
	if name, _ := c.b.Split(id.Name.Text); name != c.eq.Name {
		return nil
	}
	return id
}

// isProduct reports whether the name is a factor of x and not inside of one.
func isProduct(x notation.Expr, c *recurrent) bool {
	switch x := x.(type) {
	case *notation.Juxt:
		return slices.ContainsFunc(x.Items, func(y notation.Expr) bool { return isProduct(y, c) })
	case *notation.Binary:
		return (x.Op == "·" || x.Op == "⊙") && (isProduct(x.X, c) || isProduct(x.Y, c)) || x.Op == "/" && isProduct(x.X, c)
	case *notation.Unary:
		return isProduct(x.X, c)
	}
	return c.factor(x) != nil
}

// earlier reports whether a condition on an index is i < t.
func earlier(cond notation.Expr, index string) bool {
	r, ok := cond.(*notation.Relation)
	if !ok || r.Op != "<" {
		return false
	}
	i, isIndex := r.X.(*notation.Ident)
	t, isTime := r.Y.(*notation.Ident)
	return isIndex && isTime && i.Name.Text == index && t.Name.Text == notation.TokenTime
}
