package marker

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// Required decides the properties that the knobs of a formula require of one another.
func Required(p *proof.Context, r *recurrence.Recurrence) {
	for _, pr := range p.Block.Provides {
		for _, m := range pr.Marks {
			if pr.Needs {
				proveRequirement(p, r, pr, m)
			}
		}
	}
}

func proveRequirement(p *proof.Context, r *recurrence.Recurrence, pr *notation.Provides, m *notation.Mark) {
	text := proof.MarkText(m)
	it := proof.Item{Kind: proof.Requires, Name: proof.MarkID(m.Name.Text, text), Text: text, Span: pr.Span}
	row := named(m.Name.Text)
	if row == nil || row.derive == nil || r == nil {
		p.Fail(it, "no such marker")
		p.Diags.Errorf(diag.UnknownMarker, m.Name.Span, "%s cannot be required here", text).Hint("known are %s", strings.Join(Names(), ", "))
		return
	}
	states := statesMeant(p, r, m)
	ev, _ := row.derive(p, r, states)
	if ev.Verdict == proof.Failed {
		reason := ""
		if pr.Reason != nil {
			reason = ": " + pr.Reason.Value
		}
		p.Diags.Errorf(diag.MarkerUnfounded, pr.Span, "%s is required, but %s does not have it%s", text, p.Unit.Name.Text, reason).
			See(p.Unit.Name.Span, "in this formula").Hint("choose a structure and a retention that fit together")
	} else {
		ev.Note = fmt.Sprintf("of %s", strings.Join(states, ", "))
	}
	it.Evidence = ev
	p.Add(it)
}

// statesMeant are the states of a requirement: those that it names, or, where a knob names its
// own parameter, all weights of the structure.
func statesMeant(p *proof.Context, r *recurrence.Recurrence, m *notation.Mark) []string {
	var out []string
	for _, a := range m.Args {
		if n := ident.ASCII(a.Text); r.Carry[n] != nil {
			out = append(out, n)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range p.Block.SymSeq {
		if n := ident.ASCII(s.Name); r.Carry[n] != nil && s.Kind == check.State && s.Unit != nil && s.Unit.Kind == notation.StructUnit {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return r.States()
	}
	return out
}
