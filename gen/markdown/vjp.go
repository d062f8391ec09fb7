package markdown

import (
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

var (
	vjpHead = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)(?:\s*\(([^()]*)\))?:\s*(.*)$`)
	forward = regexp.MustCompile(`^out\s*(?:\[[^=]*\]\s*)?=`)
	adjoint = regexp.MustCompile(`^(d_[\pL][\pL\pN_]*(?:\[[^\]]*\])?)\s*(\+?=)\s*(\S.*)$`)
	spaced  = regexp.MustCompile(`\s{2,}\(([^()]*)\)$`)
)

// vjp reads an entry of a VJP table at the current line, if there is one, and
// leaves next on its last line. Two forms occur: the forward on the first
// line and adjoint lines below, and all of it in comment lines, where
// `Forward:` and `VJP:` say which is which.
func (o *outliner) vjp(l line) bool {
	m := vjpHead.FindStringSubmatch(l.trimmed())
	if m == nil {
		return false
	}
	comment := false
	if !forward.MatchString(m[3]) {
		if m[3] != "" || !o.commentBody() {
			return false
		}
		comment = true
	}
	e := o.entry(spec.VJP, m[1])
	e.Gloss, e.Text, e.Comment = m[2], m[3], comment
	e.TextSpan = within(l, m[3], e.Span)
	v := vjpReader{outliner: o, entry: e}
	for o.next+1 < len(o.lines) {
		body := o.lines[o.next+1]
		if !body.blank() && indent(body.text) <= indent(l.text) {
			break
		}
		o.next++
		if !body.blank() {
			v.line(body)
			e.Span = e.Span.To(o.lineSpan(body))
		}
	}
	v.flush()
	if comment {
		e.Text = strings.Join(v.forwards, "\n")
	}
	return true
}

// commentBody reports whether the next line is the comment `Forward: …`.
func (o *outliner) commentBody() bool {
	if o.next+1 >= len(o.lines) {
		return false
	}
	text, ok := uncomment(o.lines[o.next+1].trimmed())
	return ok && strings.HasPrefix(text, "Forward:")
}

// uncomment removes the marks of a comment line.
func uncomment(s string) (string, bool) {
	for _, mark := range []string{"--", "//"} {
		if after, ok := strings.CutPrefix(s, mark); ok {
			return strings.TrimSpace(after), true
		}
	}
	return s, false
}

type vjpReader struct {
	*outliner
	entry    *spec.Entry
	forward  bool     // the lines belong to the forward of a comment form
	forwards []string // its lines
	more     []string // lines that continue the last adjoint
}

// flush ends the last adjoint line.
func (v *vjpReader) flush() {
	if n := len(v.entry.Members); n > 0 && v.more != nil {
		v.entry.Members[n-1].Text += " " + strings.Join(v.more, " ")
	}
	v.more = nil
}

func (v *vjpReader) line(l line) {
	text, comment := uncomment(l.trimmed())
	span := v.lineSpan(l)
	if v.entry.Comment && comment {
		if after, ok := strings.CutPrefix(text, "Forward:"); ok {
			v.forward = true
			text = strings.TrimSpace(after)
			v.forwards = append(v.forwards, text)
			v.entry.TextSpan = within(l, text, span)
			return
		}
		if after, ok := strings.CutPrefix(text, "VJP:"); ok {
			v.forward = false
			text = strings.TrimSpace(after)
		}
		if v.forward {
			v.forwards = append(v.forwards, text)
			v.entry.TextSpan = v.entry.TextSpan.To(span)
			return
		}
		text, comment = uncomment(text)
		comment = comment || !adjoint.MatchString(text)
	}
	if m := adjoint.FindStringSubmatch(text); m != nil && !comment {
		rhs, note := splitComment(m[3])
		if p := spaced.FindStringSubmatch(rhs); p != nil && note == "" {
			rhs, note = strings.TrimSuffix(rhs, p[0]), p[1]
		}
		v.flush()
		head, _, _ := strings.Cut(text, rhs)
		v.entry.Members = append(v.entry.Members, spec.Member{Name: m[1], Op: m[2], Text: rhs, Note: note, Span: within(l, head+rhs, span)})
		return
	}
	if n := len(v.entry.Members); !comment && n > 0 {
		last := &v.entry.Members[n-1]
		v.more = append(v.more, text)
		last.Span = last.Span.To(span)
		return
	}
	if text != "" {
		v.entry.Notes = append(v.entry.Notes, spec.Note{Text: text, Span: span})
	}
}

// within returns the span of text on the line, or of the whole line.
func within(l line, text string, whole source.Span) source.Span {
	i := strings.Index(l.text, text)
	if i < 0 {
		return whole
	}
	return source.Span{File: whole.File, Start: l.at(i), End: l.at(i + len(text))}
}
