package prove

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// errata lists the corrections to papers, each with the verdict of the claim that shows it.
func errata(p *proof.Context) {
	for _, e := range proof.OwnStatements(p, p.Block.Errata) {
		it := proof.Item{Kind: proof.Erratum, Name: ident.ASCII(e.By.Text), Text: notation.Print(e, notation.Unicode), Span: e.Span}
		by := claimItem(p, e.By.Text)
		if by == nil {
			it.Evidence = proof.Failure("no such claim")
			p.Diags.Errorf(diag.ErratumUnbacked, e.By.Span, "there is no claim %s on this page", e.By.Text).
				Hint("tag the claim that shows it: claim … {%s}", e.By.Text)
		} else {
			it.Evidence = proof.Evidence{Verdict: by.Verdict, Note: "by " + by.ID}
		}
		p.Add(it)
	}
}

// claimItem finds the item of a claim by its name.
func claimItem(p *proof.Context, name string) *proof.Item {
	for i, it := range p.Report.Items {
		if it.Kind == proof.Claim && (it.Name == name || strings.ReplaceAll(it.Name, ":", ".") == name) {
			return &p.Report.Items[i]
		}
	}
	return familyItem(p, name)
}

// familyItem is the worst item of a tagged line that states a family of claims.
func familyItem(p *proof.Context, name string) (worst *proof.Item) {
	for c := range notation.Of[*notation.Claim](p.Block.Unit.Body) {
		if c.Family == nil || c.Tag == nil || c.Tag.Text != name {
			continue
		}
		for i, it := range p.Report.Items {
			if it.Kind == proof.Claim && it.Span == c.Span && (worst == nil || it.Verdict > worst.Verdict) {
				worst = &p.Report.Items[i]
			}
		}
	}
	return worst
}
