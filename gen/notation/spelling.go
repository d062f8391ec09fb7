package notation

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
)

// The two spellings of a name. A name has parts between underscores: letters and digits,
// then subscript digits, then ⁰ or °. In ASCII the subscript is a part of its own
// (`beta_1`), the ring is `_snap`, the zero is `^0` and the adjoint bar is `_bar`; the
// parser folds all four, so that both spellings are one name.

// A NamePart is a part of a name between underscores.
type NamePart struct {
	Body string // letters and ASCII digits
	Sub  string // the subscript in ASCII digits
	Mark string // "⁰", "°" or ""
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

// Macron is the combining mark of an adjoint.
const Macron = '\u0304'

// Barred maps letters to their form under a Macron, where Unicode has one.
var Barred = func() map[rune]rune {
	m := map[rune]rune{}
	pairs := []rune("AĀaāEĒeēIĪiīOŌoōUŪuūYȲyȳGḠgḡαᾱιῑυῡ")
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}()

// LetterFor turns `rho` into ρ and `rho1` into ρ1.
func LetterFor(body string) string {
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

// JoinName writes the parts of a name as its one text.
func JoinName(parts []NamePart) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(p.Body)
		b.WriteString(lower(p.Sub))
		b.WriteString(p.Mark)
	}
	return b.String()
}

// UnitName is the spelling of a unit's name. Units are named in words, so a
// Greek letter in one is its word: the rule Δ is the rule Delta, in both styles.
func UnitName(text string) string {
	parts := split(text)
	for i := range parts {
		parts[i].Body = wordFor(parts[i].Body)
	}
	return JoinName(parts)
}

func lower(digits string) string {
	return strings.Map(func(r rune) rune { return '₀' + r - '0' }, digits)
}

// split is the inverse of JoinName.
func split(text string) []NamePart {
	var parts []NamePart
	for s := range strings.SplitSeq(text, "_") {
		var p NamePart
		for _, m := range []string{"⁰", "°"} {
			if before, ok := strings.CutSuffix(s, m); ok {
				s, p.Mark = before, m
			}
		}
		p.Body = strings.TrimRight(s, "₀₁₂₃₄₅₆₇₈₉")
		p.Sub = strings.Map(func(r rune) rune { return r - '₀' + '0' }, s[len(p.Body):])
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
	parts[0].Body = addBar(parts[0].Body)
	return JoinName(parts)
}

func spellASCII(parts []NamePart, bar bool) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(wordFor(p.Body))
		if i == 0 && bar {
			b.WriteString("_bar")
		}
		if p.Sub != "" {
			b.WriteString("_" + p.Sub)
		}
		switch p.Mark {
		case "⁰":
			b.WriteString("^0")
		case "°":
			b.WriteString("_snap")
		}
	}
	return b.String()
}

// addBar puts a Macron over the last letter.
func addBar(body string) string {
	stem := strings.TrimRight(body, "0123456789")
	if stem == "" {
		return body
	}
	runes := []rune(stem)
	last := runes[len(runes)-1]
	if c, ok := Barred[last]; ok {
		return string(runes[:len(runes)-1]) + string(c) + body[len(stem):]
	}
	return stem + string(Macron) + body[len(stem):]
}
