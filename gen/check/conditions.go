package check

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Conditions on options: `when conv > 0`, and the arms of a case. They are decided while a
// block is instantiated, so each compares an option with a number or a word. A word that
// the option cannot have would make the condition false for ever, and is refused.

// kept reports whether a line with this condition, or with none, belongs to the block.
func (r *resolver) kept(when notation.Expr) bool { return when == nil || r.holds(when) }

// holds decides a condition on options: `conv > 0`, `drive = decode`.
func (r *resolver) holds(e notation.Expr) bool {
	ok, known := r.b.Decide(e)
	if !known {
		r.ds.Errorf(diag.UnknownOption, e.Where(), "%s cannot be decided when the page is configured", notation.Print(e, notation.Unicode)).
			Hint("a when may only compare options with numbers or words")
	}
	return ok
}

// Decide evaluates a relation between options and constants.
func (b *Block) Decide(e notation.Expr) (holds, known bool) {
	switch e := e.(type) {
	case *notation.And:
		x, okx := b.Decide(e.X)
		y, oky := b.Decide(e.Y)
		return x && y, okx && oky
	case *notation.Relation:
		if set, ok := e.Y.(*notation.Set); ok && e.Op == "∈" && set.Lo == nil {
			return b.among(e.X, set)
		}
		return b.Compare(e.Op, b.optionValue(e.X), b.optionValue(e.Y))
	}
	return false, false
}

// among decides `option ∈ {a, b}`.
func (b *Block) among(x notation.Expr, set *notation.Set) (holds, known bool) {
	for _, it := range set.Items {
		is, ok := b.Compare("=", b.optionValue(x), b.optionValue(it))
		if !ok || is {
			return is, ok
		}
	}
	return false, true
}

// optionValue replaces an option by its value.
func (b *Block) optionValue(e notation.Expr) notation.Expr {
	if id, ok := e.(*notation.Ident); ok && b.Options[id.Name.Text] != nil {
		return b.Options[id.Name.Text].Value
	}
	return e
}

// Compare decides a relation between two constants: numbers, or words for
// equality.
func (b *Block) Compare(op string, x, y notation.Expr) (holds, known bool) {
	m, okm := notation.Constant(x)
	n, okn := notation.Constant(y)
	if !okm || !okn {
		same := notation.Equal(x, y)
		return same == (op == "=" || op == ""), op == "=" || op == "≠" || op == ""
	}
	switch op {
	case "=", "":
		return m == n, true
	case "≠":
		return m != n, true
	case "<":
		return m < n, true
	case "≤":
		return m <= n, true
	case ">":
		return m > n, true
	case "≥":
		return m >= n, true
	}
	return false, false
}

// ChosenArm returns the arm of a case that the options select, or nil when it
// cannot be decided here.
func (b *Block) ChosenArm(c *notation.Case) notation.Expr {
	x := b.optionValue(c.On)
	if id, ok := c.On.(*notation.Ident); ok && b.Options[id.Name.Text] == nil {
		return nil
	}
	for _, a := range c.Arms {
		if a.Cond == nil {
			return a.Value
		}
		if holds, known := b.Compare(a.Rel, x, a.Cond); known && holds {
			return a.Value
		}
	}
	return nil
}

// checkConditions checks the conditions and the cases of a statement.
func (r *resolver) checkConditions(st notation.Stmt) {
	r.checkCondition(notation.When(st))
	notation.Inspect(st, func(n any) bool {
		if c, ok := n.(*notation.Case); ok {
			for _, a := range c.Arms {
				if a.Cond != nil && (a.Rel == "=" || a.Rel == "≠") {
					r.checkMember(c.On, a.Cond)
				}
			}
		}
		return true
	})
}

func (r *resolver) checkCondition(e notation.Expr) {
	switch e := e.(type) {
	case *notation.And:
		r.checkCondition(e.X)
		r.checkCondition(e.Y)
	case *notation.Relation:
		if id, ok := e.X.(*notation.Ident); ok && r.b.Options[id.Name.Text] == nil {
			r.noOption(id.Name)
			return
		}
		if set, ok := e.Y.(*notation.Set); ok {
			for _, it := range set.Items {
				r.checkMember(e.X, it)
			}
			return
		}
		r.checkMember(e.X, e.Y)
	}
}

// checkMember refuses a word that is not a value of the option it is compared with.
func (r *resolver) checkMember(option, word notation.Expr) {
	id, ok := option.(*notation.Ident)
	w, isWord := word.(*notation.Ident)
	if !ok || !isWord || r.b.Options[id.Name.Text] == nil {
		return
	}
	t := r.b.Options[id.Name.Text].Decl.Type
	if t == nil || t.Kind != notation.SetType || isMember(t, w) {
		return
	}
	d := r.ds.Errorf(diag.BadOption, w.Where(), "%s is never %s", id.Name.Text, w.Name.Text).
		See(r.b.Options[id.Name.Text].Decl.Span, "the option is declared here")
	units.Suggest(d, w.Name.Text, words(t.Members))
}
