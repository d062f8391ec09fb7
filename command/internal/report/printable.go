package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable turns bytes into text that is safe on a terminal: newlines stay,
// what is no printable UTF-8 becomes a middle dot.
func Printable(text []byte) string {
	var s strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n':
			s.WriteRune(r)
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			s.WriteRune('·')
		default:
			s.WriteRune(r)
		}
		text = text[n:]
	}
	return s.String()
}
