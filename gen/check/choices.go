package check

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A condition on options compares an option with a value that it can have: a
// word that is misspelt would make the condition false for ever, and silently.

// choices looks at the conditions and the cases of a statement.
func (in *instancer) choices(st notation.Stmt) {
	in.condition(whenOf(st))
	notation.Inspect(st, func(n any) bool {
		if c, ok := n.(*notation.Case); ok {
			for _, a := range c.Arms {
				if a.Cond != nil && (a.Rel == "=" || a.Rel == "≠") {
					in.among(c.On, a.Cond)
				}
			}
		}
		return true
	})
}

func (in *instancer) condition(e notation.Expr) {
	switch e := e.(type) {
	case *notation.And:
		in.condition(e.X)
		in.condition(e.Y)
	case *notation.Relation:
		if id, ok := e.X.(*notation.Ident); ok && in.b.Options[id.Name.Text] == nil {
			in.noOption(id.Name)
			return
		}
		if set, ok := e.Y.(*notation.Set); ok {
			for _, it := range set.Items {
				in.among(e.X, it)
			}
			return
		}
		in.among(e.X, e.Y)
	}
}

// among refuses a word that the option on the other side never is.
func (in *instancer) among(option, word notation.Expr) {
	id, ok := option.(*notation.Ident)
	w, isWord := word.(*notation.Ident)
	if !ok || !isWord || in.b.Options[id.Name.Text] == nil {
		return
	}
	t := in.b.Options[id.Name.Text].Decl.Type
	if t == nil || t.Kind != notation.SetType || member(t, w) {
		return
	}
	d := in.ds.Errorf(diag.BadOption, w.Where(), "%s is never %s", id.Name.Text, w.Name.Text).
		See(in.b.Options[id.Name.Text].Decl.Span, "the option is declared here")
	units.Suggest(d, w.Name.Text, words(t.Members))
}

func (in *instancer) noOption(w notation.Word) {
	var names []string
	for n := range in.b.Options {
		names = append(names, n)
	}
	d := in.ds.Errorf(diag.UnknownOption, w.Span, "there is no option %s", w.Text)
	units.Suggest(d, w.Text, names)
	in.whose(d, w.Text)
}
