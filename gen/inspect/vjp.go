package inspect

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// Tables of adjoints, divided into entries. Package vjpcheck checks them.

// A VJPEntry is one entry of a page's VJP table, divided but not parsed:
//
//	MATMUL:  out = A @ B  (A: m×k, B: k×n, out: m×n)
//	  d_A = d_out @ B^T        -- (m×n) @ (n×k) = (m×k)
type VJPEntry struct {
	Name        string // MATMUL
	Gloss       string // the text in brackets after the name
	Section     string // heading of the section
	ForwardText string // out = A @ B; of a comment form, several lines
	ForwardSpan source.Span
	Shapes      string // A: m×k, B: k×n, out: m×n; or a word such as scalar
	Adjoints    []Adjoint
	Notes       []spec.Note // comment lines, "Let s = σ(x), y = x * s" among them
	CommentOnly bool        // the whole entry is in comment lines
	Span        source.Span
}

// An Adjoint is one line d_A = …; Span covers both sides and no comment.
type Adjoint struct {
	LHS  string // d_A, d_x[i]
	Op   string // "=" or "+="
	RHS  string
	Note string // the trailing comment
	Span source.Span
}

// VJPEntries returns the entries of the VJP tables of a page, in order.
func VJPEntries(p *spec.Page) []VJPEntry {
	var out []VJPEntry
	for _, e := range p.Outline {
		if e.Kind != spec.VJP {
			continue
		}
		v := VJPEntry{
			Name: e.Name, Gloss: e.Gloss, Section: e.Section, ForwardSpan: e.TextSpan,
			Notes: e.Notes, CommentOnly: e.Comment, Span: e.Span,
		}
		v.ForwardText, v.Shapes = splitShapes(e.Text)
		for _, m := range e.Members {
			v.Adjoints = append(v.Adjoints, Adjoint{LHS: m.Name, Op: m.Op, RHS: m.Text, Note: m.Note, Span: m.Span})
		}
		out = append(out, v)
	}
	return out
}

// splitShapes splits a forward at its last bracket, if that declares shapes: it is two
// spaces away, or one space away with a colon inside.
func splitShapes(s string) (forward, shapes string) {
	first, rest, _ := strings.Cut(s, "\n")
	first = strings.TrimSpace(first)
	open := lastBracket(first)
	if open <= 0 || first[open-1] != ' ' {
		return s, ""
	}
	inside := first[open+1 : len(first)-1]
	head := strings.TrimRight(first[:open], " ")
	if len(head) == open-1 && !strings.Contains(inside, ":") {
		return s, ""
	}
	if rest != "" {
		head += "\n" + rest
	}
	return head, inside
}

// lastBracket returns the position of the bracket that opens the last one of a string, or
// -1 if the string does not end in a bracket.
func lastBracket(s string) int {
	if !strings.HasSuffix(s, ")") {
		return -1
	}
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
