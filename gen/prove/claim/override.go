package claim

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// Overrides compares a function of a knob that replaces one of the law with the law's own
// definition, where that is derived from another function of the knob: a written slope with
// the derivative of its loss.
func Overrides(p *proof.Context) {
	for _, law := range p.Tree.Kinds(notation.LawUnit) {
		for d := range notation.Functions(law.Body) {
			f := p.Block.Funcs[d.Target.Name.Name.Text]
			if f == nil || f.Block == nil || f.Unit != p.Unit || !derivedFromKnob(p, d) || len(f.Params) != len(d.Target.Params) {
				continue
			}
			testOverride(p, d, f)
		}
	}
}

// derivedFromKnob reports whether a function of the law calls functions of the knob only.
func derivedFromKnob(p *proof.Context, d *notation.Define) bool {
	n, all := 0, true
	for c := range notation.All[*notation.Call](d.Value) {
		f := p.Block.Funcs[c.Fun.Text]
		n, all = n+1, all && f != nil && f.Unit == p.Unit
	}
	return n > 0 && all
}

func testOverride(p *proof.Context, d *notation.Define, f *check.Function) {
	call := &notation.Call{Span: f.Def.Target.Span, Fun: f.Def.Target.Name.Name}
	rename := map[string]notation.Word{}
	for i, q := range f.Params {
		call.Args = append(call.Args, &notation.Ident{Span: q.Span, Name: q.Name})
		rename[d.Target.Params[i].Name.Text] = q.Name
	}
	c := &notation.Claim{Span: f.Def.Span, Keyword: notation.Word{Text: "claim"}, Left: call, Right: notation.Rename(d.Value, rename)}
	it := proof.Item{Kind: proof.InnerGradient, Name: ident.ASCII(f.Name), Text: notation.Print(c, notation.Unicode), Span: f.Def.Span}
	q := proof.Build(p, it, func(ds *diag.List) *irbuild.Equality { return irbuild.Claim(p.Block, c, ds) })
	if q == nil {
		return
	}
	p.Decide(it, func() proof.Evidence {
		quiet := proof.NewContext(p.Tree, p.Unit, p.Options) // its messages are replaced by one below
		quiet.Block = p.Block
		ev := testEquality(quiet, proof.Item{Kind: proof.Claim, Text: it.Text}, c, q)
		if ev.Verdict == proof.Failed {
			p.Diags.Errorf(diag.InnerGradientDiffers, f.Def.Value.Where(), "%s is not the gradient that the law uses: %s", f.Name, ev.Note).
				See(d.Span, "the law uses %s", notation.Print(d.Value, notation.Unicode)).Hint("leave %s out, or write the derivative", f.Name)
		}
		return ev
	})
}
