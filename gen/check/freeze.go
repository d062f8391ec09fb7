package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A strategy may have the line read W_{t−1} = W°: whatever a rule reads of its
// states before the token, gradients above all, it reads as it was where the
// chunk began. What a state passes on to itself is not meant: in a state's own
// equation, outside of ∇, the state before the token stays what it is, and so
// does all that is read after its write. A rule needs nothing of its own for this.
// Where the strategy has no equations either, the rule goes on token by token
// with a copy of what it began the chunk with; else the strategy computes the
// chunk at once, and may use all that the rule has made of the frozen reads.

// frozenRead is the line of a strategy that freezes what is read before the
// token, or nil.
func frozenRead(st *notation.Unit, ds *diag.List) *notation.Define {
	for _, s := range st.Body {
		d, ok := s.(*notation.Define)
		if !ok || !d.Read {
			continue
		}
		value, isName := d.Value.(*notation.Ident)
		if !previous(d.Target.Name.Time) || !isName || value.Name.Text != d.Target.Name.Name.Text+"°" || value.Time != nil {
			ds.Errorf(diag.NotSupported, d.Span, "a strategy cannot say this about a read").Hint("write read W_{t−1} = W°")
			continue
		}
		return d
	}
	return nil
}

// freeze rewrites the rule's equations for a strategy that freezes reads.
func (in *instancer) freeze() {
	s := in.b.Strategy
	if s == nil {
		return
	}
	if d := frozenRead(s.Unit, in.ds); d == nil {
		return
	}
	s.Frozen = !slices.ContainsFunc(s.Unit.Body, func(st notation.Stmt) bool { d, ok := st.(*notation.Define); return ok && !d.Read && !d.Match })
	states := map[string]bool{}
	for _, src := range in.srcs {
		for _, st := range src.body {
			if d, ok := st.(*notation.Declare); ok && declared[d.Keyword.Text] == State {
				for _, n := range d.Names {
					states[n.Name.Text] = true
				}
			}
		}
	}
	f := &freezer{states: states, read: map[string]bool{}}
	for i := range in.srcs {
		src := &in.srcs[i]
		if src.unit == s.Unit {
			src.body = slices.DeleteFunc(slices.Clone(src.body), func(st notation.Stmt) bool { d, ok := st.(*notation.Define); return ok && d.Read })
			continue
		}
		src.body = slices.Clone(src.body)
		for k, st := range src.body {
			src.body[k] = f.statement(st)
		}
	}
	s.snaps = f.read
}

type freezer struct {
	states map[string]bool
	read   map[string]bool // states that are read where the chunk began
}

func (f *freezer) statement(st notation.Stmt) notation.Stmt {
	switch s := st.(type) {
	case *notation.Define:
		own, _ := strings.CutSuffix(s.Target.Name.Name.Text, "_"+tokenTime)
		d := *s
		d.Value = f.expr(s.Value, own)
		d.With = nil
		for _, w := range s.With {
			v := *w
			v.Value = f.expr(w.Value, own)
			d.With = append(d.With, &v)
		}
		return &d
	case *notation.Iterate:
		own, _ := strings.CutSuffix(s.Name.Text, "_"+tokenTime)
		it := *s
		it.From, it.Step = f.expr(s.From, own), f.expr(s.Step, own)
		it.With = nil
		for _, w := range s.With {
			v := *w
			v.Value = f.expr(w.Value, own)
			it.With = append(it.With, &v)
		}
		return &it
	}
	return st
}

// expr is an expression with the states before the token frozen, but for the
// one that the equation is of.
func (f *freezer) expr(x notation.Expr, own string) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Grad:
			g := *n
			g.Call = f.expr(n.Call, "").(*notation.Call)
			return &g
		case *notation.Ident:
			name := n.Name.Text
			if !f.states[name] || name == own || !previous(n.Time) {
				return nil
			}
			f.read[name] = true
			id := *n
			id.Time = nil
			id.Name.Text = name + "°"
			return &id
		}
		return nil
	})
}

// snaps declares the states where the chunk began that frozen reads need.
func (in *instancer) snaps() {
	if in.b.Strategy == nil {
		return
	}
	for _, s := range slices.Clone(in.b.SymSeq) {
		if name := s.Name + "°"; in.b.Strategy.snaps[s.Name] && in.b.Symbols[name] == nil {
			in.symbol(&Symbol{Name: name, Kind: Snap, Of: s.Name, Type: s.Type, Span: s.Span, Unit: s.Unit})
		}
	}
}

// Approximate reports whether a strategy freezes reads, so that it is not the
// rule but for chunks of one token.
func (s *Strategy) Approximate() bool { return len(s.snaps) > 0 }
