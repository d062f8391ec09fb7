package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// In a chunk a name may be defined by itself at earlier tokens, if it is linear in them:
// g_t = ρ_t g_{t−1}, or U_t = … − Σ_{i∈C, i<t} a_t[i] U_i. Such an equation is a triangular
// system over all tokens of the chunk. This file splits its text: the terms that read the
// name, each with the factors beside it, and the rest.

// A Recurrence is an equation of a chunk that reads itself.
type Recurrence struct {
	Rest   []SignedTerm // terms without the name
	Lagged []SignedTerm // the factors of the name one token before
	Sums   []SignedTerm // reductions Σ over earlier tokens, with 1 for the name
}

// A SignedTerm is a term of a sum.
type SignedTerm struct {
	Minus bool
	Expr  notation.Expr
	Whole notation.Expr // of a lagged term: the term with the name
}

// SplitRecurrence splits an equation that reads its own name at earlier tokens. It returns
// nil for any other equation, and for one that it refuses.
func (b *Block) SplitRecurrence(eq *Equation, ds *diag.List) *Recurrence {
	if eq.Def == nil || !b.mentions(eq.Def.Value, eq.Name) && !slices.ContainsFunc(eq.Def.With, func(w *notation.Define) bool { return b.mentions(w.Value, eq.Name) }) {
		return nil
	}
	c := &recurrenceSplitter{b: b, eq: eq, ds: ds, out: &Recurrence{}}
	if w := slices.IndexFunc(eq.Def.With, func(w *notation.Define) bool { return b.mentions(w.Value, eq.Name) }); w >= 0 {
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
	return eq.Def != nil && b.mentions(eq.Def.Value, eq.Name)
}

type recurrenceSplitter struct {
	b      *Block
	eq     *Equation
	ds     *diag.List
	out    *Recurrence
	failed bool
}

func (c *recurrenceSplitter) refuse(x notation.Expr, format string, args ...any) {
	if !c.failed {
		c.ds.Errorf(diag.NotSupported, x.Where(), format, args...).See(c.eq.Span(), "the equation of %s", c.eq.Name).
			See(c.b.Unit.Name.Span, "%s computes it in chunks", c.b.Name).
			Hint("in each term of its own equation a name may be one factor of a product, at t−1 or under Σ over earlier tokens, and no argument of a function or of ∇")
	}
	c.failed = true
}

// terms splits a sum.
func (c *recurrenceSplitter) terms(x notation.Expr, minus bool) {
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
		if x.Op == "Σ" && c.b.mentions(x.Body, c.eq.Name) {
			c.sum(x, minus)
			return
		}
	case *notation.Call:
		if y := c.inline(x); y != nil {
			c.terms(y, minus)
			return
		}
	}
	if !c.b.mentions(x, c.eq.Name) {
		c.out.Rest = append(c.out.Rest, SignedTerm{Minus: minus, Expr: x})
		return
	}
	if y, time := c.without(x); y != nil {
		if !notation.IsPrevious(time, notation.TokenTime) {
			c.refuse(x, "%s is read here at a time that is not the token before", c.eq.Name)
			return
		}
		c.out.Lagged = append(c.out.Lagged, SignedTerm{Minus: minus, Expr: y, Whole: x})
	}
}

// inline is the body of a called function of one line whose argument reads the name, or nil.
func (c *recurrenceSplitter) inline(x *notation.Call) notation.Expr {
	f := c.b.Funcs[x.Fun.Text]
	if f == nil || !c.b.mentions(x, c.eq.Name) || len(f.Def.With) > 0 || len(f.Def.Target.Index) > 0 || len(f.Params) != len(x.Args) {
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

// sum adds a reduction over earlier tokens without the name.
func (c *recurrenceSplitter) sum(x *notation.Reduce, minus bool) {
	y, time := c.without(x.Body)
	if y == nil {
		return
	}
	id, ok := time.(*notation.Ident)
	if !ok || len(x.Binders) != 1 || x.Binders[0].Name.Text != id.Name.Text {
		c.refuse(x, "%s is read here at a time that this sum does not run over", c.eq.Name)
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

// without is a product with 1 for the one factor that is the name, and the time of that
// factor.
func (c *recurrenceSplitter) without(x notation.Expr) (y, time notation.Expr) {
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

// factor returns x if it is the name of the equation, alone or at the indices of the
// left-hand side, and nil otherwise.
func (c *recurrenceSplitter) factor(x notation.Expr) *notation.Ident {
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
func isProduct(x notation.Expr, c *recurrenceSplitter) bool {
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
