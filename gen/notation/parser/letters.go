package parser

import (
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen/notation"
)

// The letters of names: which runes are letters, which are variants of one letter, and which
// are refused because they look like another one.

// sameLetter maps variants of one letter to the letter.
var sameLetter = map[rune]rune{
	'µ': 'μ', '\u2126': 'Ω', '\u212A': 'K', '\u212B': 'Å', 'ϵ': 'ε', 'ϕ': 'φ', 'ϑ': 'θ', 'ϱ': 'ρ', 'ϖ': 'π', '∆': 'Δ',
}

const overline = '\u0305'

// lookalikes are letters that nobody can tell from a Latin one.
var lookalikes = func() map[rune]rune {
	m := map[rune]rune{}
	for _, l := range [][2]string{
		{"аеорсухіјѕԁԛԝһАВЕКМНОРСТУХІЈЅ", "aeopcyxijsdqwhABEKMHOPCTYXIJS"},
		{"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϳ", "ABEZHIKMNOPTYXoj"},
	} {
		to := []rune(l[1])
		for i, r := range []rune(l[0]) {
			m[r] = to[i]
		}
	}
	for i := range 26 {
		m['Ａ'+rune(i)], m['ａ'+rune(i)] = 'A'+rune(i), 'a'+rune(i)
	}
	return m
}()

// below maps a subscript to the sign that it lowers.
var below = func() map[rune]rune {
	m := map[rune]rune{}
	from, to := []rune("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ₋₊"), []rune("0123456789aehijklmnoprstuvxβγρφχ−+")
	for i, r := range from {
		m[r] = to[i]
	}
	return m
}()

// lowered returns the sign that a subscript lowers, 0 for other runes.
func lowered(r rune) rune {
	if r < 0x1D00 {
		return 0
	}
	return below[r]
}

// raised returns the sign that a superscript raises, 0 for other runes.
func raised(r rune) rune {
	if r < 0x80 {
		return 0
	}
	return above[r]
}

// above maps a superscript to the sign that it raises; ⁰ belongs to names.
var above = map[rune]rune{
	'¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5', '⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9', '⁻': '-', 'ⁿ': 'n',
}

// refused returns the letter that a letter not allowed in a name looks like; 0 if it is allowed.
func refused(r rune) rune {
	if l, ok := lookalikes[r]; ok {
		return l
	}
	if r >= 0x1D400 && r <= 0x1D7FF || r >= 0xF900 && r <= 0xFAFF || r >= 0xFB00 && r <= 0xFB4F || r == 'ª' {
		return unicode.ReplacementChar
	}
	return 0
}

// isLetter reports whether r can start a name, or is a letter to be refused.
func isLetter(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if signOf(r) != "" || r == 'º' {
		return false
	}
	return r == '∆' || unicode.IsLetter(r) && !unicode.Is(unicode.Lm, r)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// fold joins the parts of a name as written to its one text. ok is false
// if the order of the marks has no ASCII spelling.
func fold(parts []notation.NamePart) (text string, bars int, ok bool) {
	if p := parts[0]; len(parts) == 1 && p.Sub == "" {
		return notation.LetterFor(p.Body) + p.Mark, 0, true
	}
	out := make([]notation.NamePart, 0, len(parts))
	ok = true
	for i, p := range parts {
		p.Body = notation.LetterFor(p.Body)
		ok = ok && (p.Sub == "" || !allDigits(p.Body))
		if i == 0 {
			out = append(out, p)
			continue
		}
		last := &out[len(out)-1]
		plain := last.Sub == "" && last.Mark == "" && !allDigits(last.Body)
		switch {
		case p.Body == "bar":
			bars++
			if p.Sub+p.Mark != "" {
				ok = ok && plain
				last.Sub, last.Mark = p.Sub, p.Mark
			}
		case p.Body == "snap" && last.Mark == "":
			ok = ok && p.Sub+p.Mark == ""
			last.Mark = "°"
		case allDigits(p.Body) && p.Body != "0" && plain:
			last.Sub, last.Mark = p.Body, p.Mark
		default:
			out = append(out, p)
		}
	}
	return notation.JoinName(out), bars, ok
}

// unbarred maps letters under a macron to the letter.
var unbarred = func() map[rune]rune {
	m := map[rune]rune{}
	for letter, bar := range notation.Barred {
		m[bar] = letter
	}
	return m
}()
