package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A condition on options compares an option with a value that it can have: a
// word that is misspelt would make the condition false for ever, and silently.
// And an option that counts something, such as the width of a window, has a
// whole number.

// choices looks at the conditions and the cases of a statement.
func (in *instancer) choices(st notation.Stmt) {
	switch s := st.(type) {
	case *notation.Declare:
		in.condition(s.When)
	case *notation.Dims:
		in.condition(s.When)
	case *notation.Claim:
		in.condition(s.When)
	}
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
	Suggest(d, w.Name.Text, words(t.Members))
}

// counts refuses an option that is the width of a window or a size, and no
// whole number.
func (in *instancer) counts(st notation.Stmt) {
	whole := func(e notation.Expr) {
		id, ok := e.(*notation.Ident)
		if !ok || in.b.Options[id.Name.Text] == nil {
			return
		}
		o := in.b.Options[id.Name.Text]
		x, known := Number(o.Value)
		if !known || x == math.Trunc(x) && !math.IsInf(x, 0) || slices.Contains(in.fractions, o) {
			return
		}
		in.fractions = append(in.fractions, o)
		in.ds.Errorf(diag.BadOption, o.Value.Where(), "%s counts something, and %s is no whole number", o.Name, notation.Print(o.Value, notation.Unicode)).
			See(id.Span, "what it counts")
	}
	notation.Inspect(st, func(n any) bool {
		switch n := n.(type) {
		case *notation.Type:
			for _, s := range n.Shape {
				whole(s)
			}
		case *notation.Call:
			if n.Fun.Text == "window" && len(n.Args) == 2 {
				whole(n.Args[1])
			}
		}
		return true
	})
}

func (in *instancer) noOption(w notation.Word) {
	var names []string
	for n := range in.b.Options {
		names = append(names, n)
	}
	d := in.ds.Errorf(diag.UnknownOption, w.Span, "there is no option %s", w.Text)
	Suggest(d, w.Text, names)
	in.whose(d, w.Text)
}
