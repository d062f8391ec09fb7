package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Place is a position in a file or on the command line.
type Place struct {
	File      string // or the flag, such as --set
	Line, Col int    // from 1, in characters; no line on the command line, and a column only within a string
	Width     int    // characters to point at
	Text      string // the line, or the string
}

// A Problem is one error of a configuration.
type Problem struct {
	Place
	Message string
	Hint    string // an action, may be empty
}

// Problems are all errors, in the order of their places.
type Problems []Problem

func (p Problems) Error() string {
	var words []string
	for _, x := range p {
		words = append(words, x.String())
	}
	return strings.Join(words, "\n")
}

// String is the place and the message, and under them the line with carets.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
	} else if p.File != "" && p.Col > 0 {
		fmt.Fprintf(&b, "%s:%d: %s", p.File, p.Col, p.Message)
	} else if p.File != "" {
		fmt.Fprintf(&b, "%s: %s", p.File, p.Message)
	} else {
		b.WriteString(p.Message)
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "; %s", p.Hint)
	}
	if p.Text != "" {
		const tab = "    "
		runes := []rune(p.Text)
		at := min(p.Col-1, len(runes))
		pad := utf8.RuneCountInString(strings.ReplaceAll(string(runes[:at]), "\t", tab))
		line := "     "
		if p.Line > 0 {
			line = fmt.Sprintf("%5d", p.Line)
		}
		fmt.Fprintf(&b, "\n%s | %s\n      | %s%s", line, strings.ReplaceAll(p.Text, "\t", tab), strings.Repeat(" ", pad), strings.Repeat("^", max(p.Width, 1)))
	}
	return b.String()
}

// sorted puts problems into the order of their places: files first, then the
// command line in the order given.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return p
}
