package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Lifetimes other than "until the next token". An anchor is the value of a state at the
// start of its context, a snap its value at the start of the call; a state per chunk begins
// again with every call; a const with a start is drawn once and never changes.

// noGradClause adds the clause nograd of a declaration as a statement.
func (r *resolver) noGradClause(s *notation.Declare, n *notation.DeclName) {
	if a := attribute(n, "nograd"); a != nil && s.Keyword.Text == "outer" {
		r.b.NoGrads = append(r.b.NoGrads, &notation.NoGrad{Span: a.Span, Name: n.Name, Reason: n.Reason})
	}
}

// bindLifetimes finds the state of each anchor and snap, once all names are known,
// and the parameter of each nograd.
func (r *resolver) bindLifetimes() {
	for _, s := range r.b.SymSeq {
		if (s.Kind == Anchor || s.Kind == Snap) && s.Decl != nil {
			r.bindState(s)
		}
	}
	for _, n := range r.b.NoGrads {
		if s := r.b.Symbols[n.Name.Text]; s == nil || s.Kind != Outer {
			r.ds.Errorf(diag.NotSupported, n.Name.Span, "%s is not a learned parameter, so it has no gradient to stop", n.Name.Text).
				Hint("write stop(x) in an equation to leave out the gradient of a value")
		}
	}
}

// bindState finds the state of an anchor or a snap.
func (r *resolver) bindState(s *Symbol) {
	of, at := snapBase(s.Name), s.Span
	if s.Decl.Of != nil {
		of, at = s.Decl.Of.Text, s.Decl.Of.Span
	}
	m := r.b.Symbols[of]
	switch {
	case s.Decl.Of == nil && (s.Kind == Anchor || of == s.Name): // already reported
	case slices.Contains(units.Knobs, r.b.Unit.Kind): // a knob alone: the rules that use it have the state
	case r.b.Time != notation.TokenTime && r.b.Unit.Kind != notation.ComposeUnit:
		r.ds.Errorf(diag.NotHere, s.Span, "%s is not allowed in %s", units.Article(s.Kind.String()), units.KindName(r.b.Unit.Kind)).Hint("only rules have states that live from token to token")
	case m == nil:
		d := r.ds.Errorf(diag.UnknownName, at, "there is no state %s", of)
		if n := ident.Nearest(of, r.states()); n != "" {
			d.Hint("did you mean %s?", n)
		}
	case m.Kind != State:
		r.ds.Errorf(diag.NotSupported, at, "%s is not a state", of).See(m.Span, "declared here").Hint("%s is of a state", units.Article(s.Kind.String()))
	default:
		s.Of, s.Type = of, m.Type
	}
}

// snapBase is the name of the state of a snap: M of M°, M[k] of M°[k].
func snapBase(name string) string {
	base, member := notation.CutMember(name)
	base = strings.TrimSuffix(base, "°")
	if member == "" {
		return base
	}
	return notation.MemberText(base, member)
}

func (r *resolver) states() []string {
	var out []string
	for _, s := range r.b.SymSeq {
		if s.Kind == State {
			out = append(out, s.Name)
		}
	}
	return out
}
