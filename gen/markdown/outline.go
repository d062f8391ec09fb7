package markdown

import (
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// The outline of a fence is found by what its lines begin with, whatever its
// tag: the same pseudo-language is written under bare fences, `text` and
// `rust`. There are four families. Braced declarations (`enum X {`, `fn f(`)
// run to their closing brace; listed ones (`ENUM: X`, `STATE: X`) own the
// deeper lines below them; headed ones (`RULE: …`, `BUG 1: …`) are one line,
// and the lines below may hold further declarations; VJP entries
// (`MATMUL: out = A @ B`) own their adjoint lines.

var (
	braced = regexp.MustCompile(`^(?:pub(?:\([a-z]+\))? )?(?:(enum|ENUM|struct|STRUCT|trait|TRAIT) +([A-Za-z_]\w*) *(?:[{;(<]|:(?:[^:]|$)|$)` +
		`|(fn) +([A-Za-z_]\w*) *[(<]|(type) +([A-Za-z_]\w*)(?:<[^=]*>)? *[=;]|(impl|IMPL)\b *(.*?) *\{)`)
	listed   = regexp.MustCompile(`^(ENUM|STRUCT|TRAIT|IMPL|STATE|OUTER_PARAMS|SUPPORTED_PARALLELIZATION|CONFIGURATION)(?: +([A-Za-z_]\w*))?:\s*(.*)$`)
	numbered = regexp.MustCompile(`^(RULE|LIFETIME|BUG|FINDING|AXIS|PROFILE|VIOLATION|LEVEL) +(\d+) *:\s*(.*)$`)
	wordOnly = regexp.MustCompile(`^\w+$`)
	headed   = regexp.MustCompile(`^(RULE|ALGORITHM|FUNCTION|COMPILE_TIME_CHECK|REQUIRES|SUPPORTED_BY|SMELL|WHY|TRACE)(?: +([\w-]+))? *:\s*(.*)$`)
)

var entryKinds = map[string]spec.EntryKind{
	"enum": spec.Enum, "struct": spec.Struct, "trait": spec.Trait, "impl": spec.Impl, "fn": spec.Func,
	"type": spec.Type, "rule": spec.Rule, "state": spec.State, "algorithm": spec.Algorithm, "function": spec.Func,
	"outer_params": spec.OuterParams, "supported_parallelization": spec.Parallelization,
	"configuration": spec.Configuration, "compile_time_check": spec.Check, "requires": spec.Requires,
	"supported_by": spec.SupportedBy, "smell": spec.Smell, "why": spec.Why, "trace": spec.Trace,
}

// An outliner goes down the lines of one block.
type outliner struct {
	block *spec.Block
	lines []line
	next  int
	out   []spec.Entry
}

// outline returns the declarations of a block; the notation of our own blocks
// is read elsewhere.
func outline(b *spec.Block) []spec.Entry {
	if b.IsHecate {
		return nil
	}
	o := &outliner{block: b, lines: blockLines(b)}
	for o.next < len(o.lines) {
		o.step()
	}
	return o.out
}

func (o *outliner) step() {
	l := o.lines[o.next]
	text := l.trimmed()
	if text == "" || o.vjp(l) {
		o.next++
		return
	}
	if m := braced.FindStringSubmatch(text); m != nil && o.opens(m) {
		o.braced(m)
		return
	}
	if m := listed.FindStringSubmatch(text); m != nil {
		o.listed(m)
		return
	}
	if m := numbered.FindStringSubmatch(text); m != nil {
		e := o.entry(spec.Numbered, m[1]+" "+m[2])
		if m[1] == "RULE" {
			e.Kind = spec.Rule
		}
		e.Text = m[3]
	} else if m := headed.FindStringSubmatch(text); m != nil {
		o.headed(m)
	}
	o.next++
}

// entry appends an entry whose span is the current line.
func (o *outliner) entry(kind spec.EntryKind, name string) *spec.Entry {
	l := o.lines[o.next]
	o.out = append(o.out, spec.Entry{Kind: kind, Name: name, Span: o.lineSpan(l), Section: o.block.Section})
	return &o.out[len(o.out)-1]
}

// lineSpan returns the span of a line without the blanks around it.
func (o *outliner) lineSpan(l line) source.Span {
	return source.Span{File: o.block.Span.File, Start: l.at(indent(l.text)), End: l.at(len(strings.TrimRight(l.text, " \t")))}
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// headed adds a one-line declaration; the signature of an algorithm or a
// function may run over several lines, until its brackets close.
func (o *outliner) headed(m []string) {
	e := o.entry(entryKinds[strings.ToLower(m[1])], m[2])
	e.Text = m[3]
	if m[1] != "ALGORITHM" && m[1] != "FUNCTION" {
		return
	}
	const longest = 40 // lines of a signature
	sig := m[3]
	for range longest {
		if depth(sig) <= 0 || o.next+1 >= len(o.lines) {
			break
		}
		o.next++
		l := o.lines[o.next]
		code, _ := splitComment(l.text)
		sig += " " + strings.TrimSpace(code)
		e.Span = e.Span.To(o.lineSpan(l))
	}
	if o.next+1 < len(o.lines) && strings.HasPrefix(o.lines[o.next+1].trimmed(), "->") {
		o.next++
		sig += " " + o.lines[o.next].trimmed()
		e.Span = e.Span.To(o.lineSpan(o.lines[o.next]))
	}
	e.Text = strings.Join(strings.Fields(sig), " ")
	name, _, _ := strings.Cut(e.Text, "(")
	e.Name = strings.TrimSpace(name)
}

// depth returns how many brackets of s are left open.
func depth(s string) int {
	return strings.Count(s, "(") - strings.Count(s, ")")
}

// listed adds a declaration whose members are the deeper lines below it.
func (o *outliner) listed(m []string) {
	head := o.lines[o.next]
	e := o.entry(entryKinds[strings.ToLower(m[1])], m[2])
	rest, note := splitComment(m[3])
	switch {
	case m[2] == "" && wordOnly.MatchString(rest):
		e.Name = rest
	default:
		e.Text = rest
	}
	if note != "" {
		e.Text = strings.TrimSpace(e.Text + " " + note)
	}
	o.next++
	first := -1
	var group []line // of one member
	flush := func() {
		o.listedMember(e, group)
		group = nil
	}
	for ; o.next < len(o.lines); o.next++ {
		l := o.lines[o.next]
		if l.blank() {
			continue
		}
		if indent(l.text) <= indent(head.text) && !(m[1] == "SUPPORTED_PARALLELIZATION" && strings.HasPrefix(l.trimmed(), "- ")) {
			break
		}
		if first < 0 {
			first = indent(l.text)
		}
		if indent(l.text) <= first {
			flush()
		}
		group = append(group, l)
	}
	flush()
}

// listedMember adds a member from its line and the deeper ones below it.
func (o *outliner) listedMember(e *spec.Entry, lines []line) {
	var m spec.Member
	var text []string
	for _, l := range lines {
		code, note := splitComment(strings.TrimPrefix(l.trimmed(), "- "))
		if code == "" {
			continue
		}
		text = append(text, code)
		if m.Note == "" {
			m.Note = note
		}
		m.Span = m.Span.To(o.lineSpan(l))
	}
	if text == nil {
		return
	}
	read := memberOf(strings.TrimRight(strings.Join(text, " "), ",;"))
	m.Name, m.Op, m.Text = read.Name, read.Op, read.Text
	if m.Op == "" && e.Kind == spec.Parallelization || m.Name == "" {
		m.Name, m.Text = strings.Join(text, " "), ""
	}
	e.Span = e.Span.To(m.Span)
	e.Members = append(e.Members, m)
}

// splitComment divides a line at its comment, `--` or `//`, which begins the
// line or follows a blank.
func splitComment(s string) (code, comment string) {
	for i := 0; i+1 < len(s); i++ {
		if (s[i:i+2] == "--" || s[i:i+2] == "//") && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t' || s[i-1] == ',' || s[i-1] == '}') {
			return strings.TrimSpace(s[:i]), strings.TrimSpace(strings.TrimLeft(s[i:], "-/"))
		}
	}
	return strings.TrimSpace(s), ""
}
