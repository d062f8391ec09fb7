// Package clike prints the parts of plans that look alike in Go, C and CUDA:
// identifiers and their scopes, sizes and affine indices, expressions, loop heads
// and lines. A target has a Language, the table of what is different there, and
// for each kernel a Printer, which knows the target's names of sizes, variables,
// scalars and entries.
package clike

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A Language is the table of what is different between languages.
type Language struct {
	Types    map[ir.Elem]string                     // of entries and scalars
	Unsigned string                                 // the conversion of an integer to unsigned
	Number   func(v float64) string                 // a constant
	Literal  func(v float64) string                 // a constant beside an operand
	Function func(op ir.Op) string                  // the function that computes a primitive, or ""
	Round    func(product string) string            // what rounds a product; nil where * does
	ToReal   func(from ir.Elem, text string) string // a conversion; nil where it is as in C

	MinMax    bool   // min and max are built in
	Address64 string // the conversion to the type of an address, where Wide says so
}

// A Printer prints the text of one kernel.
type Printer struct {
	*Language
	Size    func(name string) string
	Var     func(*plan.Var) string
	Local   func(*plan.Local) string
	Entry   func(plan.Access) string               // an entry that exists
	Special func(plan.Expr) (text string, ok bool) // printed by the target itself; may be nil
	Wide    func(*plan.Buffer) bool                // the buffer needs addresses of 64 bits; may be nil
}

// Statements leaves out the notes that no statement follows: the value that they
// describe is a view or is computed elsewhere.
func Statements(ns []plan.Node) []plan.Node {
	var out []plan.Node
	for i, n := range ns {
		if plan.IsNote(n) && (i+1 == len(ns) || plan.IsNote(ns[i+1])) {
			continue
		}
		out = append(out, n)
	}
	return out
}

// NoteText is the comment that a note becomes.
func NoteText(n *plan.Note) string {
	return strings.TrimSpace(strings.Join(n.Eqs, ", ") + " " + n.Text)
}

// Lines is text in blocks of braces.
type Lines struct {
	strings.Builder
	Indent int
}

// Line prints one line, or with "" an empty one.
func (l *Lines) Line(format string, args ...any) {
	if format != "" {
		l.WriteString(strings.Repeat("  ", l.Indent))
		fmt.Fprintf(l, format, args...)
	}
	l.WriteByte('\n')
}

// Block prints a head, an indented body and a closing brace. Identifiers taken
// inside are free after it.
func (l *Lines) Block(s *Scope, head string, body func()) {
	l.Line("%s {", head)
	mark := s.Mark()
	l.Indent++
	body()
	l.Indent--
	s.Release(mark)
	l.Line("}")
}
