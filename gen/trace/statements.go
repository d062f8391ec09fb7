package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// statements collects the tags of lines, by page, and what pages declare
// instead of letting it be derived.
func (t *tracer) statements() {
	for _, u := range t.out.Units {
		for _, st := range u.unit.Body {
			switch s := st.(type) {
			case *notation.Claim:
				t.tag(u, s.Tag)
				if s.Keyword.Text == "adjoint" || s.Keyword.Text == "relax" {
					t.declare(u, s.Keyword.Text, s.Span, s.Reason)
				}
			case *notation.Invariant:
				t.tag(u, s.Tag)
			case *notation.Cost:
				t.tag(u, s.Tag)
			case *notation.Erratum:
				t.erratum(u, s)
			case *notation.NoGrad:
				t.declare(u, "nograd", s.Span, s.Reason)
			case *notation.Declare:
				for _, n := range s.Names {
					if slices.ContainsFunc(n.Attrs, func(w *notation.Word) bool { return w.Text == "nograd" }) {
						t.declare(u, "nograd", n.Span, n.Reason)
					}
				}
			}
		}
	}
}

func (t *tracer) tag(u *Unit, w *notation.Word) {
	if w != nil {
		t.out.Tags[u.Page] = with(t.out.Tags[u.Page], w.Text)
	}
}

func (t *tracer) declare(u *Unit, kind string, span notation.Span, reason *notation.Text) {
	line, _ := span.File.Pos(span.Start)
	d := Declared{Kind: kind, Unit: u.ID, Text: oneLine(span.Text()), Page: u.Page, Line: line}
	if reason != nil {
		d.Reason = reason.Value
		d.Text = oneLine(strings.Replace(d.Text, fmt.Sprintf("%q", reason.Value), "", 1))
	}
	t.out.Declared = append(t.out.Declared, d)
}

// erratum files a correction with the first claim that has its tag.
func (t *tracer) erratum(u *Unit, s *notation.Erratum) {
	line, _ := s.Span.File.Pos(s.Span.Start)
	e := Erratum{Unit: u.ID, Cite: s.Cite.Paper + "#" + s.Cite.Eq, Says: s.Text.Value, By: u.ID + ".claim." + s.By.Text, Page: u.Page, Line: line}
	if p := t.papers.ByKey(s.Cite.Paper); p != nil {
		e.Title = p.Title
	}
	for c := range notation.Of[*notation.Claim](u.unit.Body) {
		if c.Tag != nil && c.Tag.Text == s.By.Text {
			e.Claim = notation.Print(c, notation.Unicode)
			break
		}
	}
	t.out.Errata = append(t.out.Errata, e)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
