package gradient

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// proveParameters decides for each learned parameter whether some result depends on it
// smoothly, or the page says why none does.
func proveParameters(p *proof.Context, f *ir.Func, pair *ir.Pair) {
	for _, v := range f.Params {
		if v.Role != ir.Outer {
			continue
		}
		it := proof.Item{Kind: proof.Parameter, Name: v.Name, Span: declaredAt(p, v.Name)}
		reason := noGrad(p, v.Name)
		switch {
		case v.NoGrad && reason == "":
			it.Evidence = proof.Evidence{Verdict: proof.Proved, Note: "a const"}
		case reason != "":
			it.Evidence = proof.Evidence{Verdict: proof.Declared, Note: "no gradient: " + reason}
		case slices.Contains(pair.Missing, v.Name):
			it.Evidence = proof.Failure("no result depends on it smoothly")
			p.Diags.Errorf(diag.NoGradient, it.Span, "%s never receives a gradient in %s", v.Name, p.Unit.Name.Text).
				See(p.Unit.Name.Span, "%s is defined here", p.Unit.Name.Text).
				Hint("use it, or write nograd %s \"reason\"", v.Name)
		default:
			it.Evidence = proof.Evidence{Verdict: proof.Proved}
		}
		p.Add(it)
	}
}

// declaredAt is the span of a parameter's declaration.
func declaredAt(p *proof.Context, name string) source.Span {
	if f, ok := irbuild.Frees(p.Block, &ir.Func{Params: []*ir.Value{{Name: name}}})[name]; ok && f.Sym != nil {
		return f.Sym.Span
	}
	return p.Unit.Span
}

// noGrad is the reason that the page gives for a parameter without a gradient.
func noGrad(p *proof.Context, name string) string {
	var find func(blk *check.Block, prefix string) string
	find = func(blk *check.Block, prefix string) string {
		for _, n := range blk.NoGrads {
			if prefix+ident.ASCII(n.Name.Text) == name && n.Reason != nil {
				return n.Reason.Value
			}
		}
		for _, s := range blk.Parts {
			if s.Block != nil {
				if r := find(s.Block, prefix+s.Name+"."); r != "" {
					return r
				}
			}
		}
		return ""
	}
	return find(p.Block, "")
}
