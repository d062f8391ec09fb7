package check

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Families after expansion: the names of whole families are replaced by their members, and
// members whose identifiers collide are refused.

// ExpandClaim is a claim of no page, such as a derived one, with the members of families
// as the block names them.
func (b *Block) ExpandClaim(c *notation.Claim, ds *diag.List) *notation.Claim {
	return b.families.Claim(c, ds)
}

// expandFamilyNames replaces the name of a family in a mark or a nograd by its members.
func (r *resolver) expandFamilyNames() {
	if r.b.families == nil {
		return
	}
	all := func(w notation.Word) (out []notation.Word) {
		for _, name := range r.b.families.Members(w.Text) {
			if r.b.Symbols[name] != nil {
				out = append(out, notation.Word{Span: w.Span, Text: name})
			}
		}
		if len(out) == 0 {
			return []notation.Word{w}
		}
		return out
	}
	for i, p := range r.b.Provides {
		q := *p
		q.Marks = nil
		for _, m := range p.Marks {
			c := *m
			c.Args = nil
			for _, a := range m.Args {
				c.Args = append(c.Args, all(a)...)
			}
			q.Marks = append(q.Marks, &c)
		}
		r.b.Provides[i] = &q
	}
	var nograds []*notation.NoGrad
	for _, n := range r.b.NoGrads {
		for _, w := range all(n.Name) {
			c := *n
			c.Name = w
			nograds = append(nograds, &c)
		}
	}
	r.b.NoGrads = nograds
}

// checkCollisions refuses a member whose identifier is that of another name. Names that
// nothing reads have been dropped before.
func (r *resolver) checkCollisions() {
	by := map[string]*Symbol{}
	for _, s := range r.b.SymSeq {
		for _, key := range []string{ident.ASCII(s.Name), "go " + strings.ToLower(strings.ReplaceAll(ident.ASCII(s.Name), "_", ""))} {
			old := by[key]
			if by[key] = s; old == nil || old == s {
				continue
			}
			_, new := notation.CutMember(s.Name)
			_, was := notation.CutMember(old.Name)
			if new == "" && was == "" {
				continue
			}
			r.ds.Errorf(diag.ReservedName, s.Span, "%s and %s are both emitted as %s", s.Name, old.Name, ident.ASCII(s.Name)).
				See(old.Span, "the other one").Hint("rename one of them")
			break
		}
	}
}
