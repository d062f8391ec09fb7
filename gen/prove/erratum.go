package prove

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// errata lists the corrections to papers with the claims that they rest on.
func (p *prover) errata() {
	for _, e := range own(p, p.blk.Errata) {
		it := Item{Kind: Erratum, Name: ident.ASCII(e.By.Text), Text: notation.Print(e, notation.Unicode), Span: e.Span}
		by := p.claimItem(e.By.Text)
		if by == nil {
			it.Evidence = failed("no such claim")
			p.ds.Errorf(diag.ErratumUnbacked, e.By.Span, "there is no claim %s on this page", e.By.Text).
				Hint("tag the claim that shows it: claim … {%s}", e.By.Text)
		} else {
			it.Evidence = Evidence{Verdict: by.Verdict, Note: "by " + by.ID}
		}
		p.add(it)
	}
}

// claimItem finds a settled claim by its name.
func (p *prover) claimItem(name string) *Item {
	for i, it := range p.rep.Items {
		if it.Kind == Claim && (it.Name == name || strings.ReplaceAll(it.Name, ":", ".") == name) {
			return &p.rep.Items[i]
		}
	}
	return p.familyItem(name)
}

// familyItem is the worst of the claims that a tagged line of a family makes.
func (p *prover) familyItem(name string) (worst *Item) {
	for _, st := range p.blk.Unit.Body {
		c, ok := st.(*notation.Claim)
		if !ok || c.Family == nil || c.Tag == nil || c.Tag.Text != name {
			continue
		}
		for i, it := range p.rep.Items {
			if it.Kind == Claim && it.Span == c.Span && (worst == nil || it.Verdict > worst.Verdict) {
				worst = &p.rep.Items[i]
			}
		}
	}
	return worst
}
