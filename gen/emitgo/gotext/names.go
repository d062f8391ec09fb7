package gotext

import (
	"fmt"
	"go/token"
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen/clike"
)

// Identifier spells a name of a program as an identifier of Go: a letter after a
// separator or a spelled symbol becomes a capital.
func Identifier(name string, exported bool) string {
	var b strings.Builder
	upper := exported
	for _, p := range clike.Pieces(name) {
		if upper || p.Apart {
			b.WriteString(strings.ToUpper(p.Text[:1]) + p.Text[1:])
		} else {
			b.WriteString(p.Text)
		}
		upper = p.Greek
	}
	return b.String()
}

// reserved are the names that no variable of a kernel may take.
var reserved = map[string]bool{
	"F": true, "num": true, "math": true, "max": true, "min": true, "clear": true, "len": true, "cap": true,
	"int": true, "uint": true, "bool": true, "float32": true, "float64": true, "true": true, "false": true,
	"nil": true, "any": true, "append": true, "copy": true, "make": true, "new": true, "panic": true, "iota": true,
	"kern": true, "error": true, "string": true, "byte": true, "rune": true,
	"complex": true, "real": true, "imag": true, "close": true, "delete": true, "print": true, "println": true,
	"recover": true, "work": true, "rows": true, "flags": true, "rowFlags": true, "counts": true, "c": true,
}

// A Scope holds the identifiers that are in use at a point of the text.
type Scope struct{ *clike.Scope }

// NewScope is a scope without names.
func NewScope() *Scope {
	return &Scope{clike.NewScope(func(id string) bool { return reserved[id] || token.IsKeyword(id) })}
}

// Name returns an identifier for a name that is free, and takes it.
func (s *Scope) Name(name string, exported bool) string {
	return s.Take(s.Free(Identifier(name, exported), func(base string, n int) string {
		if unicode.IsDigit(rune(base[len(base)-1])) {
			return clike.Numbered(base, n)
		}
		return fmt.Sprintf("%s%d", base, n)
	}))
}

// LowerFirst is a name with a small first letter.
func LowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
