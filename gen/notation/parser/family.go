package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A family is one line for several members:
//
//	family s ∈ {k, v, q} : M_t[s] = ρ_t M_{t−1}[s] + v_t k_tᵀ
//
// The parser checks that the line is of one of the three kinds that have members, and that it
// declares or defines a member and not one name many times. Package check/expand copies the
// line for its members. A member `M[k]` is one word of the tree like any other name.

// family reads `family s ∈ {k, v} :`; nil if none is next.
func (p *parser) family() *notation.Family {
	start := p.cur()
	if !p.gotWord("family") {
		return nil
	}
	f := &notation.Family{Letter: p.name("the letter of the family")}
	p.want("∈")
	if !p.cur().is("{") {
		p.expected("{ and the members")
		return f
	}
	closing := p.open()
	f.Members = sequence(p, ",", func() notation.Word { return p.name("the name of a member") })
	closing("}")
	p.want(":")
	f.Span = p.since(start)
	return f
}

// ofFamily gives a statement its family, or says why it can have none. A
// declaration without a family has no members.
func (p *parser) ofFamily(f *notation.Family, start token, s notation.Stmt) bool {
	switch s := s.(type) {
	case *notation.Declare:
		s.Family = f
		return p.declaresMembers(f, s)
	case *notation.Define:
		if f == nil {
			return true
		}
		s.Family = f
		s.Span = p.in.span(start.pos, p.end.end)
		return p.definesMember(f, s)
	case *notation.Claim:
		if f == nil || s.Keyword.Text == "claim" {
			s.Family = f
			return true
		}
	}
	if f == nil {
		return true
	}
	p.errorf(diag.NoStatement, start, "family stands before a declaration, an equation or a claim").
		Hint("write the line once for each member, or without one")
	return false
}

func (p *parser) declaresMembers(f *notation.Family, s *notation.Declare) bool {
	for _, n := range s.Names {
		switch {
		case f == nil && n.Member != nil:
			p.errorAt(diag.Unexpected, n.Member.Span, "%s is declared as a member, but the line has no family", n.Name.Text).
				Hint("write family %s ∈ {…} : %s %s[%s] …", n.Member.Text, s.Keyword.Text, n.Name.Text, n.Member.Text)
		case f != nil && n.Member == nil:
			p.errorAt(diag.Unexpected, n.Name.Span, "%s would be declared once for each member", n.Name.Text).
				Hint("write %s[%s]", n.Name.Text, f.Letter.Text).See(f.Letter.Span, "the letter of the family")
		case f != nil && n.Member.Text != f.Letter.Text:
			p.errorAt(diag.Unexpected, n.Member.Span, "%s is not the letter of the family", n.Member.Text).
				Hint("write %s[%s]", n.Name.Text, f.Letter.Text).See(f.Letter.Span, "the letter of the family")
		default:
			continue
		}
		return false
	}
	return true
}

func (p *parser) definesMember(f *notation.Family, s *notation.Define) bool {
	t := s.Target
	switch {
	case t.IsFunc:
		p.errorAt(diag.Unexpected, t.Span, "a function has no members").Hint("define it once, and call it with a member")
	case len(t.Index) == 0 || !t.Index[0].IsBare() || t.Index[0].Name.Text != f.Letter.Text:
		p.errorAt(diag.Unexpected, t.Span, "%s would be defined once for each member", notation.Print(t.Name, notation.Unicode)).
			Hint("write %s[%s]", notation.Print(t.Name, notation.Unicode), f.Letter.Text).See(f.Letter.Span, "the letter of the family")
	default:
		return true
	}
	return false
}

// memberName reads a name, or a member of a family, `M[k]`.
func (p *parser) memberName(what string) notation.Word {
	t := p.cur()
	w := p.name(what)
	if b := p.cur(); b.is("[") && !b.space {
		m := p.enclosed("the name of a member", "]")
		w = notation.Word{Span: p.since(t), Text: notation.MemberText(w.Text, m.Text)}
	}
	return w
}
