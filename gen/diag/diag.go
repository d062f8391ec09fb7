// Package diag holds what the compiler has to say about a page.
//
// A Diagnostic has a stable code, the smallest span that shows the mistake, a
// fact in lower case without a full stop, and where possible a second span and
// a hint that is an action. Stages return a List beside what they could build;
// nothing is written while a List has an error in it.
package diag

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
)

// Severity orders diagnostics; the zero value is invalid.
type Severity int

const (
	_ Severity = iota
	Error
	Warning
	Note
)

func (s Severity) String() string {
	return [...]string{"invalid", "error", "warning", "note"}[s]
}

// A Related span explains the first one.
type Related struct {
	Span source.Span
	Text string
}

// A Diagnostic is one thing that is wrong with a page.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Span     source.Span
	Text     string // the fact, in lower case, no full stop
	Label    string // text beside the carets, may be empty
	Related  []Related
	Stack    string // of a failure of the compiler: where it was
	Help     string // an action, may be empty
}

// A List collects diagnostics; the zero List is ready to use.
type List struct {
	all []Diagnostic
}

// Add appends a diagnostic.
func (l *List) Add(d Diagnostic) { l.all = append(l.all, d) }

// Errorf appends an error and returns it for more detail.
func (l *List) Errorf(code Code, span source.Span, format string, args ...any) *Diagnostic {
	return l.add(Error, code, span, format, args...)
}

// Warnf appends a warning and returns it for more detail.
func (l *List) Warnf(code Code, span source.Span, format string, args ...any) *Diagnostic {
	return l.add(Warning, code, span, format, args...)
}

func (l *List) add(s Severity, code Code, span source.Span, format string, args ...any) *Diagnostic {
	l.all = append(l.all, Diagnostic{Severity: s, Code: code, Span: span, Text: fmt.Sprintf(format, args...)})
	return &l.all[len(l.all)-1]
}

// Hint sets the help line of d and returns d. The pointer is valid until the
// next diagnostic is added.
func (d *Diagnostic) Hint(format string, args ...any) *Diagnostic {
	d.Help = fmt.Sprintf(format, args...)
	return d
}

// Labelf sets the text beside the carets of d and returns d.
func (d *Diagnostic) Labelf(format string, args ...any) *Diagnostic {
	d.Label = fmt.Sprintf(format, args...)
	return d
}

// See adds a related span to d and returns d.
func (d *Diagnostic) See(span source.Span, format string, args ...any) *Diagnostic {
	d.Related = append(d.Related, Related{span, fmt.Sprintf(format, args...)})
	return d
}

// Append adds all of m to l.
func (l *List) Append(m List) { l.all = append(l.all, m.all...) }

// Len returns the number of diagnostics.
func (l *List) Len() int { return len(l.all) }

// HasErrors reports whether any diagnostic is an error.
func (l *List) HasErrors() bool {
	return slices.ContainsFunc(l.all, func(d Diagnostic) bool { return d.Severity == Error })
}

// Has reports whether a diagnostic has the code.
func (l *List) Has(c Code) bool {
	return slices.ContainsFunc(l.all, func(d Diagnostic) bool { return d.Code == c })
}

// Sorted returns the diagnostics by file and position, duplicates (same code
// and span) removed. A line that was written out for each member of a family is
// wrong once: texts that differ in square brackets alone are the same.
func (l *List) Sorted() []Diagnostic {
	out := slices.Clone(l.all)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		if a.Span.Before(b.Span) {
			return -1
		}
		if b.Span.Before(a.Span) {
			return 1
		}
		return 0
	})
	return slices.CompactFunc(out, func(a, b Diagnostic) bool {
		return a.Code == b.Code && a.Span == b.Span && (a.Text == b.Text || withoutMembers(a.Text) == withoutMembers(b.Text))
	})
}

// withoutMembers cuts the text in square brackets.
func withoutMembers(text string) string {
	var b strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Error makes a List usable as an error value in tests and drivers.
func (l *List) Error() string { return Render(l.Sorted()) }
