package expand

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A strategy may have the line read W_{t−1} = W°: where an equation of the rule reads a
// state before the token, in gradients above all, it reads the value at the start of the
// chunk. The read of a state in its own equation, outside of ∇, does not change, and
// neither does a read after the write.

// stateWords are the keywords that declare a state.
var stateWords = []string{"state", "weight", "slot"}

// Freeze rewrites the equations of a rule for a strategy that freezes reads, and removes
// the line that says so. It returns the states that are read at the start of the chunk,
// nil for a strategy without that line.
func Freeze(srcs []Source, strategy *notation.Unit, ds *diag.List) map[string]bool {
	if frozenRead(strategy, ds) == nil {
		return nil
	}
	f := &freezer{states: map[string]bool{}, read: map[string]bool{}}
	for _, src := range srcs {
		for d := range notation.Of[*notation.Declare](src.Body) {
			if slices.Contains(stateWords, d.Keyword.Text) {
				for _, n := range d.Names {
					f.states[n.Name.Text] = true
				}
			}
		}
	}
	for i := range srcs {
		src := &srcs[i]
		src.Body = slices.Clone(src.Body)
		if src.Unit == strategy {
			src.Body = slices.DeleteFunc(src.Body, func(st notation.Stmt) bool { d, ok := st.(*notation.Define); return ok && d.Read })
			continue
		}
		for k, st := range src.Body {
			src.Body[k] = f.statement(st)
		}
	}
	return f.read
}

// frozenRead is the line of a strategy that freezes reads before the token, or nil.
func frozenRead(st *notation.Unit, ds *diag.List) *notation.Define {
	for d := range notation.Of[*notation.Define](st.Body) {
		if !d.Read {
			continue
		}
		value, isName := d.Value.(*notation.Ident)
		if !notation.IsPrevious(d.Target.Name.Time, notation.TokenTime) || !isName || value.Name.Text != d.Target.Name.Name.Text+"°" || value.Time != nil {
			ds.Errorf(diag.NotSupported, d.Span, "a strategy cannot say this about a read").Hint("write read W_{t−1} = W°")
			continue
		}
		return d
	}
	return nil
}

type freezer struct {
	states map[string]bool
	read   map[string]bool // states that are read where the chunk began
}

func (f *freezer) statement(st notation.Stmt) notation.Stmt {
	switch s := st.(type) {
	case *notation.Define:
		return notation.Copy(s, f.except(s.Target.Name.Name))
	case *notation.Iterate:
		return notation.Copy(s, f.except(s.Name))
	}
	return st
}

// except is expr for the equation of a name.
func (f *freezer) except(own notation.Word) func(notation.Expr) notation.Expr {
	return func(x notation.Expr) notation.Expr { return f.expr(x, notation.Base(own.Text)) }
}

// expr freezes the states before the token in an expression, except the state own that the
// equation defines.
func (f *freezer) expr(x notation.Expr, own string) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Grad:
			return notation.Copy(n, func(x notation.Expr) notation.Expr { return f.expr(x, "") })
		case *notation.Ident:
			name := n.Name.Text
			if !f.states[name] || name == own || !notation.IsPrevious(n.Time, notation.TokenTime) {
				return nil
			}
			f.read[name] = true
			id := n.Named(notation.Word{Span: n.Name.Span, Text: name + "°"})
			id.Time = nil
			return id
		}
		return nil
	})
}
