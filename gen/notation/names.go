package notation

import (
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen/ident"
)

// A name has parts between underscores: letters and digits, then subscript
// digits, then ⁰ or °. In ASCII the subscript is a part of its own (`beta_1`),
// the ring is `_snap`, the zero is `^0` and the adjoint bar is `_bar`; all four
// are folded here, so that both spellings are one name.

type part struct {
	body string // letters and ASCII digits
	sub  string // ASCII digits that stand below
	mark string // "⁰", "°" or ""
}

// greekWords are the ASCII spellings of letters, greekLetters the letters' words. Σ and Π
// are operators, and capitals that look like Latin letters are not names.
var greekWords, greekLetters = func() (words, letters map[string]string) {
	words, letters = map[string]string{}, map[string]string{}
	for l, w := range ident.Greek {
		if l != 'Σ' && l != 'Π' {
			words[w], letters[string(l)] = string(l), w
		}
	}
	return words, letters
}()

// sameLetter maps variants of one letter to the letter.
var sameLetter = map[rune]rune{
	'µ': 'μ', '\u2126': 'Ω', '\u212A': 'K', '\u212B': 'Å', 'ϵ': 'ε', 'ϕ': 'φ', 'ϑ': 'θ', 'ϱ': 'ρ', 'ϖ': 'π', '∆': 'Δ',
}

const (
	macron   = '\u0304'
	overline = '\u0305'
)

// barred pairs letters with their form under a macron.
var barred, unbarred = func() (to, from map[rune]rune) {
	to, from = map[rune]rune{}, map[rune]rune{}
	pairs := []rune("AĀaāEĒeēIĪiīOŌoōUŪuūYȲyȳGḠgḡαᾱιῑυῡ")
	for i := 0; i < len(pairs); i += 2 {
		to[pairs[i]], from[pairs[i+1]] = pairs[i+1], pairs[i]
	}
	return to, from
}()

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

// refused says what a letter that cannot stand in a name looks like; 0 if it may.
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

// letterFor turns `rho` into ρ and `rho1` into ρ1.
func letterFor(body string) string {
	word := strings.TrimRight(body, "0123456789")
	if l, ok := greekWords[word]; ok {
		return l + body[len(word):]
	}
	return body
}

// wordFor turns ρ into `rho` and ρ1 into `rho1`.
func wordFor(body string) string {
	letter := strings.TrimRight(body, "0123456789")
	if w, ok := greekLetters[letter]; ok {
		return w + body[len(letter):]
	}
	return body
}

// fold joins the parts of a name as written to its one text. ok is false
// where marks stand in an order that has no ASCII spelling.
func fold(parts []part) (text string, bars int, ok bool) {
	if p := parts[0]; len(parts) == 1 && p.sub == "" {
		return letterFor(p.body) + p.mark, 0, true
	}
	out := make([]part, 0, len(parts))
	ok = true
	for i, p := range parts {
		p.body = letterFor(p.body)
		ok = ok && (p.sub == "" || !allDigits(p.body))
		if i == 0 {
			out = append(out, p)
			continue
		}
		last := &out[len(out)-1]
		plain := last.sub == "" && last.mark == "" && !allDigits(last.body)
		switch {
		case p.body == "bar":
			bars++
			if p.sub+p.mark != "" {
				ok = ok && plain
				last.sub, last.mark = p.sub, p.mark
			}
		case p.body == "snap" && last.mark == "":
			ok = ok && p.sub+p.mark == ""
			last.mark = "°"
		case allDigits(p.body) && p.body != "0" && plain:
			last.sub, last.mark = p.body, p.mark
		default:
			out = append(out, p)
		}
	}
	return join(out), bars, ok
}

func join(parts []part) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(p.body)
		b.WriteString(lower(p.sub))
		b.WriteString(p.mark)
	}
	return b.String()
}

// UnitName is the spelling of a unit's name. Units are named in words, so a
// Greek letter in one is its word: the rule Δ is the rule Delta, in both styles.
func UnitName(text string) string {
	parts := split(text)
	for i := range parts {
		parts[i].body = wordFor(parts[i].body)
	}
	return join(parts)
}

func lower(digits string) string {
	return strings.Map(func(r rune) rune { return '₀' + r - '0' }, digits)
}

// split is the reverse of join.
func split(text string) []part {
	var parts []part
	for _, s := range strings.Split(text, "_") {
		var p part
		for _, m := range []string{"⁰", "°"} {
			if strings.HasSuffix(s, m) {
				s, p.mark = strings.TrimSuffix(s, m), m
			}
		}
		p.body = strings.TrimRight(s, "₀₁₂₃₄₅₆₇₈₉")
		p.sub = strings.Map(func(r rune) rune { return r - '₀' + '0' }, s[len(p.body):])
		parts = append(parts, p)
	}
	return parts
}

// spell writes a name in a style.
func spell(text string, bar bool, style Style) string {
	if name, member := CutMember(text); member != "" {
		return spell(name, bar, style) + "[" + spell(member, false, style) + "]"
	}
	if style == ASCII {
		return spellASCII(split(text), bar)
	}
	if !bar {
		return text
	}
	parts := split(text)
	parts[0].body = addBar(parts[0].body)
	return join(parts)
}

func spellASCII(parts []part, bar bool) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(wordFor(p.body))
		if i == 0 && bar {
			b.WriteString("_bar")
		}
		if p.sub != "" {
			b.WriteString("_" + p.sub)
		}
		switch p.mark {
		case "⁰":
			b.WriteString("^0")
		case "°":
			b.WriteString("_snap")
		}
	}
	return b.String()
}

// addBar puts a macron over the last letter.
func addBar(body string) string {
	stem := strings.TrimRight(body, "0123456789")
	if stem == "" {
		return body
	}
	runes := []rune(stem)
	last := runes[len(runes)-1]
	if c, ok := barred[last]; ok {
		return string(runes[:len(runes)-1]) + string(c) + body[len(stem):]
	}
	return stem + string(macron) + body[len(stem):]
}
