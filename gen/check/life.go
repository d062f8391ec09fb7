package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Lifetimes other than "until the next token". An anchor is what a state was
// where its context began, a snap what it was where the call began; a state per
// chunk begins anew with every call; a const with a start is drawn once and
// never moves. What a declaration says beside its name is either read by some
// later stage or refused here: a clause that is accepted and forgotten would
// make a page say what its code does not do.

// ungraded notes a nograd behind a declaration as the statement that it is.
func (in *instancer) ungraded(s *notation.Declare, n *notation.DeclName) {
	if a := attribute(n, "nograd"); a != nil && s.Keyword.Text == "outer" {
		in.b.NoGrads = append(in.b.NoGrads, &notation.NoGrad{Span: a.Span, Name: n.Name, Reason: n.Reason})
	}
}

// lifetimes finds the state of each anchor and snap, once all names are known,
// and the parameter of each nograd.
func (in *instancer) lifetimes() {
	for _, s := range in.b.SymSeq {
		if (s.Kind == Anchor || s.Kind == Snap) && s.Decl != nil {
			in.held(s)
		}
	}
	for _, n := range in.b.NoGrads {
		if s := in.b.Symbols[n.Name.Text]; s == nil || s.Kind != Outer {
			in.ds.Errorf(diag.NotSupported, n.Name.Span, "%s is no learned parameter, so it has no gradient to leave out", n.Name.Text).
				Hint("write stop(x) in an equation to leave out the gradient of a value")
		}
	}
}

// held finds the state of an anchor or a snap.
func (in *instancer) held(s *Symbol) {
	of, at := snapped(s.Name), s.Span
	if s.Decl.Of != nil {
		of, at = s.Decl.Of.Text, s.Decl.Of.Span
	}
	m := in.b.Symbols[of]
	switch {
	case s.Decl.Of == nil && (s.Kind == Anchor || of == s.Name): // said already
	case slices.Contains(units.Knobs, in.b.Unit.Kind): // a knob by itself: the rules that use it have the state
	case in.b.Time != notation.TokenTime && in.b.Unit.Kind != notation.ComposeUnit:
		in.ds.Errorf(diag.NotHere, s.Span, "%s cannot stand in %s", units.Article(s.Kind.String()), units.KindName(in.b.Unit.Kind)).Hint("only rules have states that live from token to token")
	case m == nil:
		d := in.ds.Errorf(diag.UnknownName, at, "there is no state %s", of)
		if n := ident.Nearest(of, in.states()); n != "" {
			d.Hint("did you mean %s?", n)
		}
	case m.Kind != State:
		in.ds.Errorf(diag.NotSupported, at, "%s is no state", of).See(m.Span, "declared here").Hint("%s is of a state", units.Article(s.Kind.String()))
	default:
		s.Of, s.Type = of, m.Type
	}
}

// snapped is the state of a snap by its name: M of M°, M[k] of M°[k].
func snapped(name string) string {
	base, member := notation.CutMember(name)
	base = strings.TrimSuffix(base, "°")
	if member == "" {
		return base
	}
	return notation.MemberText(base, member)
}

func (in *instancer) states() []string {
	var out []string
	for _, s := range in.b.SymSeq {
		if s.Kind == State {
			out = append(out, s.Name)
		}
	}
	return out
}

// PerChunk reports whether a state begins anew with every call.
func (s *Symbol) PerChunk() bool {
	return s.Kind == State && s.Decl != nil && attribute(s.Decl, "per chunk") != nil
}

// Drawn reports whether a constant is the block's own, with a start, rather
// than one that the caller gives.
func (s *Symbol) Drawn() bool {
	return s.Kind == Constant && s.Decl != nil && (s.Decl.Init != nil || s.Decl.Dist != nil)
}

// NoGrad is the line that takes the gradient from a learned parameter, or nil.
func (b *Block) NoGrad(name string) *notation.NoGrad {
	for _, n := range b.NoGrads {
		if n.Name.Text == name {
			return n
		}
	}
	return nil
}

// AnchorOf is the anchor of a state, or nil where nothing reads one. M_0 is an
// anchor too.
func (b *Block) AnchorOf(state string) *Symbol {
	for _, s := range b.SymSeq {
		if s.Kind == Anchor && s.Of == state {
			return s
		}
	}
	return nil
}

// NonzeroStart reports whether a state, or the one whose anchor s is, begins with something
// else than zeros: a number, or what is learned.
func (b *Block) NonzeroStart(s *Symbol) bool {
	if s != nil && s.Kind == Anchor {
		s = b.Symbols[s.Of]
	}
	if s == nil || s.Decl == nil || s.Decl.Init == nil {
		return false
	}
	n, ok := notation.Constant(s.Decl.Init)
	return !ok || n != 0
}
