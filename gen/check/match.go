package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A strategy may say which form a rule must have instead of reading the rule's
// own names:
//
//	input a ∈ ℝ^{d_k}, v ∈ ℝ^{d_v}, k ∈ ℝ^{d_k}
//	match M_t = M_{t−1} diag(a_t) + v_t k_tᵀ
//
// The inputs of such a strategy are coefficients. They are found in the rule's
// equation of M, multiplied out; the builder of programs does that, because
// gradients are derived there. Here the names are resolved: each input becomes
// an equation that reads what the rule's equation reads, M means the rule's one
// state whatever the rule calls it, and a name of the strategy that the rule
// has too is renamed, so that the rule's own stays what it is.

// matchOf is the form of a strategy in which an input occurs, or nil.
func matchOf(st *notation.Unit, input string) *notation.Define {
	for _, s := range st.Body {
		if d, ok := s.(*notation.Define); ok && d.Match && readsAt(d.Value, input) {
			return d
		}
	}
	return nil
}

// readsAt reports whether an expression reads a name at t.
func readsAt(x notation.Expr, name string) bool {
	found := false
	notation.Inspect(x, func(n any) bool {
		id, ok := n.(*notation.Ident)
		found = found || ok && id.Name.Text == name+"_"+tokenTime
		return true
	})
	return found
}

func matches(st *notation.Unit) bool {
	return slices.ContainsFunc(st.Body, func(s notation.Stmt) bool { d, ok := s.(*notation.Define); return ok && d.Match })
}

// fitted is a strategy with its names as they mean something beside those of the
// pages of a rule. Of a strategy without a match that is the strategy.
func fitted(st *notation.Unit, rule *Block, pages []source) *notation.Unit {
	if !matches(st) {
		return st
	}
	taken := map[string]bool{}
	for _, s := range pages {
		for _, name := range ownNames(s.body) {
			taken[name] = true
		}
		for _, n := range sizeNames(s.body) {
			taken[n.Text] = true
		}
	}
	var states []string
	for _, s := range rule.SymSeq {
		if s.Kind == State && !s.PerChunk() {
			states = append(states, s.Name)
		}
	}
	names, targets, own := map[string]string{}, map[string]bool{"y": true}, ownNames(st.Body)
	for _, s := range st.Body {
		d, ok := s.(*notation.Define)
		if !ok || !d.Match {
			continue
		}
		name := base(d.Target.Name.Name.Text)
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
	r := renamer{names: names, indices: map[string]string{tokenTime: tokenTime, "0": "0"}}
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

// sizeNames are the axes and options of a page.
func sizeNames(body []notation.Stmt) (out []notation.Word) {
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

// ownNames are the names that a page declares or defines, without sizes.
func ownNames(body []notation.Stmt) []string {
	var out []string
	for _, s := range body {
		switch s := s.(type) {
		case *notation.Declare:
			if s.Keyword.Text != "option" {
				for _, n := range s.Names {
					out = append(out, n.Name.Text)
				}
			}
		case *notation.Define:
			if !s.Match && !s.Read {
				out = append(out, base(s.Target.Name.Name.Text))
			}
		case *notation.Iterate:
			out = append(out, base(s.Name.Text))
		}
	}
	return out
}

// A renamer copies lines of a strategy with names replaced, at whatever moment they are
// read, and indices, with the moments that they are.
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
			c := *n
			c.Binders, c.Body, c.Empty = r.binders(n.Binders), r.expr(n.Body), r.expr(n.Empty)
			return &c
		}
		return nil
	})
}

func (r renamer) binders(bs []*notation.Binder) []*notation.Binder {
	out := notation.RewriteBinders(bs, r.expr)
	for _, b := range out {
		if to := r.indices[b.Name.Text]; to != "" {
			b.Name.Text = to
		}
		b.Tuple = r.binders(b.Tuple)
	}
	return out
}

func (r renamer) define(d *notation.Define) *notation.Define {
	c, t := *d, *d.Target
	t.Name, t.Index = r.expr(d.Target.Name).(*notation.Ident), r.binders(d.Target.Index)
	c.Target, c.Value, c.With = &t, r.expr(d.Value), nil
	for _, w := range d.With {
		c.With = append(c.With, r.define(w))
	}
	return &c
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
		c := *s
		c.Left, c.Right, c.With = r.expr(s.Left), r.expr(s.Right), nil
		for _, w := range s.With {
			c.With = append(c.With, r.define(w))
		}
		return &c
	}
	return st
}

// matched refuses a rule that lacks a state whose equation its strategy matches.
func (in *instancer) matched(at notation.Span) bool {
	rule := in.b.Strategy.Rule
	for _, st := range in.b.Strategy.Unit.Body {
		d, ok := st.(*notation.Define)
		if !ok || !d.Match {
			continue
		}
		name := base(d.Target.Name.Name.Text)
		if s := rule.Symbols[name]; rule.Equation(name) == nil || name != "y" && s.Kind != State {
			in.ds.Errorf(diag.StrategyDiffers, at, "%s has no state %s, whose equation is matched", rule.Unit.Name.Text, name).
				See(d.Span, "matched here").Hint("%s", stateHint(rule))
			return false
		}
	}
	return true
}

// match refuses what no match can say.
func (in *instancer) match(u *notation.Unit, d *notation.Define) {
	if u.Kind != notation.StrategyUnit {
		in.ds.Errorf(diag.NotHere, d.Span, "only a strategy matches the equations of a rule").Hint("take match away: an equation of the page's own needs no word before it")
		return
	}
	if len(d.With) > 0 || len(d.Target.Index) > 0 || d.Target.IsFunc || d.InLog || d.Family != nil || !strings.HasSuffix(d.Target.Name.Name.Text, "_"+tokenTime) {
		in.ds.Errorf(diag.NotSupported, d.Span, "a match is one equation of a state or of y at %s, without indices and local definitions", tokenTime).
			Hint("write match M_t = …")
	}
}

// stateHint names the states of a rule.
func stateHint(rule *Block) string {
	var names []string
	for _, s := range rule.SymSeq {
		if s.Kind == State {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return "it has no state"
	}
	return "its states are " + strings.Join(names, ", ") + "; where there is one, that is matched"
}

// coefficients declares the inputs of a strategy.
func (in *instancer) coefficients(u *notation.Unit, s *notation.Declare) {
	for _, n := range s.Names {
		d := matchOf(u, n.Name.Text)
		if d == nil {
			in.ds.Errorf(diag.MissingEquation, n.Span, "no match of %s reads %s_%s", u.Name.Text, n.Name.Text, tokenTime).
				Hint("an input of a strategy is found by a match: match M_t = …")
			continue
		}
		in.symbol(&Symbol{Name: n.Name.Text, Kind: Defined, Decl: n, Type: n.Type, Span: n.Name.Span, Unit: u})
		in.defs = append(in.defs, &Equation{Name: n.Name.Text, ID: in.b.ID + "." + ident.ASCII(n.Name.Text), Def: d, Matched: true, Timed: true, Unit: u})
	}
}

// found lists what a coefficient is found in: all that the rule's equation reads.
func (o *orderer) found(e *Equation) []read {
	if o.b.Strategy == nil {
		return nil // a strategy without a rule
	}
	if eq := o.b.Strategy.Rule.Equation(base(e.Def.Target.Name.Name.Text)); eq != nil {
		return o.reads(eq)
	}
	return nil
}
