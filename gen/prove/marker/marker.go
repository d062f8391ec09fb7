// Package marker decides the properties of recurrences that pages provide and require, such as
// AffineInState: each is derived from the equations by an analysis of the recurrence, or
// tested.
package marker

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// Provided decides every property that a rule's pages provide, and lists those that hold and
// that no page claims.
func Provided(p *proof.Context, f *ir.Func, r *recurrence.Recurrence) {
	claimed := map[string]bool{}
	for _, pr := range p.Block.Provides {
		for _, m := range pr.Marks {
			if !pr.Needs {
				claimed[proveMarker(p, f, r, m)] = true
			}
		}
	}
	listUnclaimed(p, r, claimed)
}

// proveMarker decides one marker and returns its canonical text.
func proveMarker(p *proof.Context, f *ir.Func, r *recurrence.Recurrence, m *notation.Mark) string {
	text := proof.MarkText(m)
	it := proof.Item{Kind: proof.Marker, Name: proof.MarkID(m.Name.Text, text), Text: text, Span: m.Span}
	row := named(m.Name.Text)
	if row == nil {
		p.Fail(it, "no such marker")
		d := p.Diags.Errorf(diag.UnknownMarker, m.Name.Span, "%s is no property that the compiler knows", m.Name.Text)
		if n := ident.Nearest(m.Name.Text, Names()); n != "" {
			d.Hint("did you mean %s?", n)
		} else {
			d.Hint("known are %s", strings.Join(Names(), ", "))
		}
		return text
	}
	if row.derive == nil {
		p.Decide(it, func() proof.Evidence { return testCausality(p, f, m) })
		return row.name
	}
	states, bad := markStates(p, r, m)
	if bad != "" {
		p.Fail(it, bad)
		p.Diags.Errorf(diag.MarkerUnfounded, m.Span, "%s: %s", text, bad)
		return text
	}
	p.Decide(it, func() proof.Evidence {
		ev, b := row.derive(p, r, states)
		if ev.Verdict == proof.Failed {
			reportMarker(p, m, text, b)
		}
		return ev
	})
	return row.name + "(" + strings.Join(states, ", ") + ")"
}

// markStates are the states that a marker names, with their names in the program.
func markStates(p *proof.Context, r *recurrence.Recurrence, m *notation.Mark) ([]string, string) {
	if r == nil {
		return nil, "this block has no recurrence"
	}
	if len(m.Args) == 0 {
		return nil, "it must name its states"
	}
	var out []string
	for _, a := range m.Args {
		n := ident.ASCII(a.Text)
		if r.Carry[n] == nil && onKnobPage(p, m) {
			return statesMeant(p, r, m), ""
		}
		if r.Carry[n] == nil {
			return nil, a.Text + " is not a state of this rule"
		}
		out = append(out, n)
	}
	return out, ""
}

// onKnobPage reports whether a marker is on the page of a knob, which has its own name for the
// weights of any structure.
func onKnobPage(p *proof.Context, m *notation.Mark) bool {
	for _, u := range p.Tree.Order {
		if u.Kind != notation.BiasUnit && u.Kind != notation.RetentionUnit && u.Kind != notation.AlgorithmUnit {
			continue
		}
		if slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
			pr, ok := st.(*notation.Provides)
			return ok && slices.ContainsFunc(pr.Marks, func(o *notation.Mark) bool { return o.Span == m.Span })
		}) {
			return true
		}
	}
	return false
}

// reportMarker reports a property that does not hold.
func reportMarker(p *proof.Context, m *notation.Mark, text string, b recurrence.Obstacle) {
	why := b.Why
	if why == "" {
		why = "is not of this form"
	}
	d := p.Diags.Errorf(diag.MarkerUnfounded, m.Span, "%s does not follow from the equations", text)
	if b.Instr != nil && !b.Instr.Span.IsZero() {
		d.See(b.Instr.Span, "this %s", why)
	} else {
		d.Labelf("%s", why)
	}
	d.Hint("remove it from the list, or change the equation")
}
