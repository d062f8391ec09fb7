package prove

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// requirements settles what the knobs of a formula require of one another.
func (p *prover) requirements() {
	for _, pr := range p.blk.Provides {
		for _, m := range pr.Marks {
			if pr.Needs {
				p.requirement(pr, m)
			}
		}
	}
}

func (p *prover) requirement(pr *notation.Provides, m *notation.Mark) {
	text := markText(m)
	it := Item{Kind: Requires, Name: markID(m.Name.Text, text), Text: text, Span: pr.Span}
	row := markerNamed(m.Name.Text)
	if row == nil || row.derive == nil || p.rec == nil {
		it.Evidence = failed("no such marker")
		p.add(it)
		p.ds.Errorf(diag.UnknownMarker, m.Name.Span, "%s cannot be required here", text).Hint("known are %s", strings.Join(MarkerNames(), ", "))
		return
	}
	states := p.meant(m)
	ev, _ := row.derive(p, p.rec, states)
	if ev.Verdict == Failed {
		reason := ""
		if pr.Reason != nil {
			reason = ": " + pr.Reason.Value
		}
		p.ds.Errorf(diag.MarkerUnfounded, pr.Span, "%s is required, but %s does not have it%s", text, p.unit.Name.Text, reason).
			See(p.unit.Name.Span, "in this formula").Hint("choose a structure and a retention that fit together")
	} else {
		ev.Note = fmt.Sprintf("of %s", strings.Join(states, ", "))
	}
	it.Evidence = ev
	p.add(it)
}

// meant are the states that a requirement speaks of: by name, or, when a knob
// speaks of its own parameter, every weight of the structure.
func (p *prover) meant(m *notation.Mark) []string {
	var out []string
	for _, a := range m.Args {
		if n := ident.ASCII(a.Text); p.rec.carry[n] != nil {
			out = append(out, n)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range p.blk.SymSeq {
		if n := ident.ASCII(s.Name); p.rec.carry[n] != nil && s.Kind == check.State && s.Unit != nil && s.Unit.Kind == notation.StructUnit {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return p.rec.names()
	}
	return out
}
