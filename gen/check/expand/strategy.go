package expand

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// A strategy that matches the equations of a rule has names of its own, and is read beside
// the pages of the rule. Its one matched state means the state of the rule, whatever the
// rule calls it; any other name that the rule has too is renamed, and so are indices that
// would capture a name of the rule (alpha conversion).

// Strategy returns a strategy with its names changed so that they differ from those of
// the pages of a rule with these states. A strategy without a match does not change.
func Strategy(st *notation.Unit, states []string, pages []Source) *notation.Unit {
	if !matches(st) {
		return st
	}
	taken := map[string]bool{}
	for _, s := range pages {
		for _, name := range definedNames(s.Body) {
			taken[name] = true
		}
		for _, n := range SizeNames(s.Body) {
			taken[n.Text] = true
		}
	}
	names, targets, own := map[string]string{}, map[string]bool{"y": true}, definedNames(st.Body)
	for d := range notation.Of[*notation.Define](st.Body) {
		if !d.Match {
			continue
		}
		name := notation.Base(d.Target.Name.Name.Text)
		if targets[name] = true; len(states) == 1 && name != "y" {
			names[name] = states[0]
		}
	}
	for _, name := range own {
		if targets[name] || !taken[name] || len(states) > 1 && slices.Contains(states, name) && !declares(st, name) {
			continue // the last is a state that the strategy computes too
		}
		names[name] = unused(name+"_found", taken, own)
	}
	r := renamer{names: names, indices: map[string]string{notation.TokenTime: notation.TokenTime, "0": "0"}}
	for _, s := range st.Body {
		notation.Inspect(s, func(n any) bool {
			if b, ok := n.(*notation.Binder); ok && b.Name.Text != "" {
				r.indices[b.Name.Text] = b.Name.Text
				for name := range taken {
					if name == b.Name.Text || strings.HasSuffix(name, "_"+b.Name.Text) {
						r.indices[b.Name.Text] = unused(b.Name.Text+"2", taken, own)
					}
				}
			}
			return true
		})
	}
	u := *st
	u.Body = nil
	for _, s := range st.Body {
		u.Body = append(u.Body, r.statement(s))
	}
	return &u
}

// unused is a name that neither a rule nor its strategy has.
func unused(name string, taken map[string]bool, own []string) string {
	for taken[name] || slices.Contains(own, name) {
		name += "2"
	}
	return name
}

// declares reports whether a page declares a name.
func declares(u *notation.Unit, name string) bool {
	return slices.ContainsFunc(u.Body, func(s notation.Stmt) bool {
		d, ok := s.(*notation.Declare)
		return ok && slices.ContainsFunc(d.Names, func(n *notation.DeclName) bool { return n.Name.Text == name })
	})
}

// SizeNames are the axes and options of a page.
func SizeNames(body []notation.Stmt) (out []notation.Word) {
	for _, s := range body {
		switch s := s.(type) {
		case *notation.Declare:
			if s.Keyword.Text == "option" {
				for _, n := range s.Names {
					out = append(out, n.Name)
				}
			}
		case *notation.Dims:
			for _, it := range s.Items {
				out = append(out, it.Name)
			}
		}
	}
	return out
}

// definedNames are the names that a page declares or defines, without sizes.
func definedNames(body []notation.Stmt) []string {
	var out []string
	for _, st := range body {
		switch s := st.(type) {
		case *notation.Define:
			if s.Match || s.Read {
				continue
			}
		case *notation.Declare:
			if s.Keyword.Text == "option" {
				continue
			}
		case *notation.Dims, *notation.Fit:
			continue
		}
		out = append(out, definedBy(st)...)
	}
	return out
}

// A renamer copies lines of a strategy with other names, at all times, and other indices,
// also where an index is a time.
type renamer struct {
	names   map[string]string
	indices map[string]string // t and 0 among them
}

func (r renamer) text(s string) string {
	name, mark := strings.CutSuffix(s, "°")
	if to := r.names[name]; to != "" && mark {
		return to + "°"
	} else if to != "" {
		return to
	}
	if to := r.indices[s]; to != "" {
		return to
	}
	i := strings.LastIndexByte(s, '_')
	if i < 0 || r.indices[s[i+1:]] == "" {
		return s
	}
	if to := r.names[s[:i]]; to != "" {
		return to + "_" + r.indices[s[i+1:]]
	}
	return s[:i+1] + r.indices[s[i+1:]]
}

func (r renamer) expr(x notation.Expr) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Ident:
			c := *n
			c.Name.Text, c.Time = r.text(n.Name.Text), r.expr(n.Time)
			return &c
		case *notation.Reduce:
			c := notation.Copy(n, r.expr)
			c.Binders = r.binders(n.Binders)
			return c
		}
		return nil
	})
}

func (r renamer) binders(bs []*notation.Binder) []*notation.Binder {
	out := notation.CopyAll(bs, r.expr)
	for _, b := range out {
		if to := r.indices[b.Name.Text]; to != "" {
			b.Name.Text = to
		}
		b.Tuple = r.binders(b.Tuple)
	}
	return out
}

func (r renamer) define(d *notation.Define) *notation.Define {
	c := notation.Copy(d, r.expr)
	c.Target.Name, c.Target.Index = r.expr(d.Target.Name).(*notation.Ident), r.binders(d.Target.Index)
	for i, w := range d.With {
		c.With[i] = r.define(w)
	}
	return c
}

func (r renamer) statement(st notation.Stmt) notation.Stmt {
	switch s := st.(type) {
	case *notation.Define:
		return r.define(s)
	case *notation.Declare:
		c := *s
		c.Names = nil
		for _, n := range s.Names {
			m := *n
			m.Name.Text, m.Init = r.text(n.Name.Text), r.expr(n.Init)
			c.Names = append(c.Names, &m)
		}
		return &c
	case *notation.Claim:
		c := notation.Copy(s, r.expr)
		for i, w := range s.With {
			c.With[i] = r.define(w)
		}
		return c
	}
	return st
}

func matches(st *notation.Unit) bool {
	return slices.ContainsFunc(st.Body, func(s notation.Stmt) bool { d, ok := s.(*notation.Define); return ok && d.Match })
}
