package pseudo

import (
	"strconv"
	"strings"
	"unicode"
)

// The lexer: words, numbers and signs.

// A token is a word, a number or a sign; column counts runes from 1.
type token struct {
	text   string
	word   bool
	num    bool
	value  float64
	column int
}

var signs = []string{"...", "1_{", "||", "..", "==", "!=", "<=", ">=", "+=", "⊗"}

// lex divides a line into tokens. It accepts every character; the parser
// refuses what it does not know.
func lex(line string) []token {
	var out []token
	runes := []rune(line)
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case unicode.IsSpace(r):
			i++
		case unicode.IsLetter(r) || r == '_':
			j := i
			for j < len(runes) && (unicode.IsLetter(runes[j]) || unicode.IsDigit(runes[j]) || runes[j] == '_') {
				j++
			}
			out = append(out, token{text: string(runes[i:j]), word: true, column: i + 1})
			i = j
		default:
			rest := string(runes[i:min(len(runes), i+40)])
			t := sign(rest)
			t.column = i + 1
			out = append(out, t)
			i += len([]rune(t.text))
		}
	}
	return out
}

// sign is a number or a sign at the start of s.
func sign(s string) token {
	if strings.HasPrefix(s, "1_{") {
		return token{text: "1_{"}
	}
	if n := numberAt(s); n > 0 {
		if x, err := strconv.ParseFloat(s[:n], 64); err == nil {
			return token{text: s[:n], num: true, value: x}
		}
	}
	for _, l := range signs {
		if strings.HasPrefix(s, l) {
			return token{text: l}
		}
	}
	for _, r := range s {
		return token{text: string(r)}
	}
	return token{}
}

// numberAt is the length of a number such as 12, 0.5 or 1e-8 at the start of a text; the
// dots of a range a..b do not belong to it.
func numberAt(s string) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	n := digits(0)
	if n == 0 {
		return 0
	}
	if n+1 < len(s) && s[n] == '.' && s[n+1] != '.' {
		n = digits(n + 1)
	}
	if n < len(s) && s[n] == 'e' {
		m := n + 1
		if m < len(s) && (s[m] == '-' || s[m] == '+') {
			m++
		}
		if digits(m) > m {
			n = digits(m)
		}
	}
	return n
}
