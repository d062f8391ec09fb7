package check

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// What is done with members once it is known which of them exist: names of
// whole families are written out, and names that would be emitted alike are
// refused.

// ExpandClaim is a claim of no page, such as a derived one, with the members of families
// as the block names them.
func (b *Block) ExpandClaim(c *notation.Claim, ds *diag.List) *notation.Claim {
	return b.families.Claim(c, ds)
}

// wholeFamilies lets a family's name in a mark or a nograd mean all the members
// that there are.
func (in *instancer) wholeFamilies() {
	if in.b.families == nil {
		return
	}
	all := func(w notation.Word) (out []notation.Word) {
		for _, name := range in.b.families.Members(w.Text) {
			if in.b.Symbols[name] != nil {
				out = append(out, notation.Word{Span: w.Span, Text: name})
			}
		}
		if len(out) == 0 {
			return []notation.Word{w}
		}
		return out
	}
	for i, p := range in.b.Provides {
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
		in.b.Provides[i] = &q
	}
	var nograds []*notation.NoGrad
	for _, n := range in.b.NoGrads {
		for _, w := range all(n.Name) {
			c := *n
			c.Name = w
			nograds = append(nograds, &c)
		}
	}
	in.b.NoGrads = nograds
}

// collisions refuses a member whose name, once it is emitted, is that of
// something else. Names that nothing reads are gone before.
func (in *instancer) collisions() {
	by := map[string]*Symbol{}
	for _, s := range in.b.SymSeq {
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
			in.ds.Errorf(diag.ReservedName, s.Span, "%s and %s are both emitted as %s", s.Name, old.Name, ident.ASCII(s.Name)).
				See(old.Span, "the other one").Hint("rename one of them")
			break
		}
	}
}
