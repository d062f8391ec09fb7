package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// A class is a set of the properties of characters that the splits ask for.
type class uint8

const (
	letter  class = 1 << iota
	number        // \p{N}
	space         // \s
	newline       // \r and \n
	upper         // \p{Lu} \p{Lt} \p{Lm} \p{Lo} \p{M}
	lower         // \p{Ll} \p{Lm} \p{Lo} \p{M}
	slash
)

var ascii = func() (table [utf8.RuneSelf]class) {
	for r := range table {
		table[r] = lookUp(rune(r))
	}
	return table
}()

func lookUp(r rune) (c class) {
	switch {
	case unicode.IsLetter(r):
		c = letter
		if !unicode.Is(unicode.Ll, r) {
			c |= upper
		}
		if !unicode.In(r, unicode.Lu, unicode.Lt) {
			c |= lower
		}
	case unicode.IsMark(r):
		c = upper | lower
	case unicode.IsNumber(r):
		c = number
	case unicode.IsSpace(r):
		c = space
		if r == '\r' || r == '\n' {
			c |= newline
		}
	case r == '/':
		c = slash
	}
	return c
}

// at returns the class and the length of the character at a place, 0 and 0
// after the end.
func at(text []byte, i int) (class, int) {
	if i >= len(text) {
		return 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, n := utf8.DecodeRune(text[i:])
	return lookUp(r), n
}

// run returns where characters that have one of the classes want, and none of
// not, end.
func run(text []byte, i int, want, not class) int {
	for {
		c, n := at(text, i)
		if n == 0 || want != 0 && c&want == 0 || c&not != 0 {
			return i
		}
		i += n
	}
}
