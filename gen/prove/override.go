package prove

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// overridden compares a knob's own function with what the law would have taken
// in its place, where the law derives that from another function of the knob:
// a slope that is written beside its loss.
func (p *prover) overridden() {
	for _, law := range p.tree.Kinds(notation.LawUnit) {
		for _, st := range law.Body {
			d, ok := st.(*notation.Define)
			if !ok || !d.Target.IsFunc {
				continue
			}
			f := p.blk.Funcs[d.Target.Name.Name.Text]
			if f == nil || f.Block == nil || f.Unit != p.unit || !p.derives(d) || len(f.Params) != len(d.Target.Params) {
				continue
			}
			p.override(d, f)
		}
	}
}

// derives reports whether a function of the law is made of functions of this
// knob.
func (p *prover) derives(d *notation.Define) bool {
	n, all := 0, true
	notation.Inspect(d.Value, func(x any) bool {
		if c, ok := x.(*notation.Call); ok {
			f := p.blk.Funcs[c.Fun.Text]
			n, all = n+1, all && f != nil && f.Unit == p.unit
		}
		return true
	})
	return n > 0 && all
}

func (p *prover) override(d *notation.Define, f *check.Function) {
	call := &notation.Call{Span: f.Def.Target.Span, Fun: f.Def.Target.Name.Name}
	rename := map[string]notation.Word{}
	for i, q := range f.Params {
		call.Args = append(call.Args, &notation.Ident{Span: q.Span, Name: q.Name})
		rename[d.Target.Params[i].Name.Text] = q.Name
	}
	c := &notation.Claim{Span: f.Def.Span, Keyword: notation.Word{Text: "claim"}, Left: call, Right: notation.Rename(d.Value, rename)}
	it := Item{Kind: InnerGradient, Name: ident.ASCII(f.Name), Text: notation.Print(c, notation.Unicode), Span: f.Def.Span}
	var ds diag.List
	q := irbuild.Claim(p.blk, c, &ds)
	p.ds.Append(ds)
	if q == nil {
		it.Evidence = failed("cannot be built")
		p.add(it)
		return
	}
	p.settle(it, func() Evidence {
		var quiet prover
		quiet.blk, quiet.opt, quiet.unit, quiet.tree = p.blk, p.opt, p.unit, p.tree
		ev := quiet.equality(Item{Kind: Claim, Text: it.Text}, c, q)
		if ev.Verdict == Failed {
			p.ds.Errorf(diag.InnerGradientDiffers, f.Def.Value.Where(), "%s is not the gradient that the law takes: %s", f.Name, ev.Note).
				See(d.Span, "the law takes %s", notation.Print(d.Value, notation.Unicode)).Hint("leave %s out, or write the derivative", f.Name)
		}
		return ev
	})
}
