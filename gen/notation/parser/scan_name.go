package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A nameScan is a name half read.
type nameScan struct {
	*scanner
	start, at int
	parts     []notation.NamePart
	bars      int
}

func (n *nameScan) peek() (rune, int) { return utf8.DecodeRuneInString(n.text[n.at:n.line.end]) }

func (n *nameScan) last() *notation.NamePart { return &n.parts[len(n.parts)-1] }

// scanName reads a name and what small letters below say about its time.
func (s *scanner) scanName(i int) int {
	n := &nameScan{scanner: s, start: i, at: i, parts: []notation.NamePart{{}}}
	lowerAt, time := 0, 0 // where a run of small letters and a time in it begin
	for n.at < s.line.end && time == 0 {
		r, w := n.peek()
		if lowered(r) != 0 {
			lowerAt = n.at
			time = n.subscript()
		} else if !n.take(r, w) {
			break
		}
	}
	n.finish()
	if time > 0 {
		s.emitTime(lowerAt, time, n.at)
	}
	return n.at
}

// take adds the rune to the name; false says that the name ended before it.
func (n *nameScan) take(r rune, w int) bool {
	p := n.last()
	closed := p.Sub != "" || p.Mark != ""
	switch {
	case r == notation.Macron || r == overline:
		n.bars++
	case r == '⁰' && p.Mark == "":
		p.Mark = "⁰"
	case (r == '°' || r == 'º') && p.Mark == "":
		p.Mark = "°"
	case r == '^' && p.Mark == "" && n.zeroAbove():
		p.Mark, w = "⁰", 2
	case r == '_':
		return n.underscore()
	case closed:
		return false
	case isDigit(r):
		p.Body += string(r)
	case isLetter(r):
		n.letter(r, w)
	case unicode.Is(unicode.Mn, r):
		n.errorf(diag.CombiningMark, n.at, n.at+w, "combining mark %U in a name", r).
			Hint("the only accent of a letter is the bar (adjoint); write a word, as in x_hat")
	default:
		return false
	}
	n.at += w
	return true
}

func (n *nameScan) letter(r rune, w int) {
	if r < 0x80 {
		n.last().Body += string(r)
		return
	}
	if l, ok := sameLetter[r]; ok {
		r = l
	}
	if b, ok := unbarred[r]; ok {
		n.bars++
		r = b
	}
	switch l := refused(r); l {
	case 0:
	case unicode.ReplacementChar:
		n.errorf(diag.LookAlike, n.at, n.at+w, "%q (%U) is a dressed-up letter", r, r).Hint("write the plain letter")
	default:
		n.errorf(diag.LookAlike, n.at, n.at+w, "%q (%U) looks like the Latin letter %c", r, r, l).Hint("write the Latin letter %c", l)
	}
	n.last().Body += string(r)
}

// zeroAbove reports whether `^0` is next with nothing after it.
func (n *nameScan) zeroAbove() bool {
	rest := n.text[n.at:n.line.end]
	if !strings.HasPrefix(rest, "^0") {
		return false
	}
	r, w := utf8.DecodeRuneInString(rest[2:])
	after, _ := utf8.DecodeRuneInString(rest[2+w:])
	return !(isDigit(r) || isLetter(r) || r == '.' && isDigit(after))
}

// underscore opens the next part, unless the name ends before it.
func (n *nameScan) underscore() bool {
	next, _ := utf8.DecodeRuneInString(n.text[n.at+1 : n.line.end])
	own := len(n.parts) == 1 && n.bars == 0 && n.parts[0].Sub+n.parts[0].Mark == "" && notation.SubscriptWords[n.parts[0].Body] != ""
	if own || !isLetter(next) && !isDigit(next) {
		return false
	}
	n.parts = append(n.parts, notation.NamePart{})
	n.at++
	return true
}

// subscript reads a run of small letters below. Digits join the part, letters
// make a part of their own, and a run with a sign is a time, whose first byte is returned.
func (n *nameScan) subscript() (time int) {
	start, letters := n.at, 0
	run := ""
	for n.at < n.line.end {
		r, w := n.peek()
		if lowered(r) == 0 {
			break
		}
		if letters == 0 && !isDigit(lowered(r)) {
			letters = n.at
		}
		run += string(lowered(r))
		n.at += w
	}
	body := strings.TrimLeft(run, "0123456789")
	first, _ := utf8.DecodeRuneInString(body)
	sign := strings.ContainsAny(run, "−+")
	if sign && !isLetter(first) {
		return start
	}
	n.lowerDigits(run[:len(run)-len(body)], start)
	switch {
	case sign:
		return letters
	case body != "":
		n.parts = append(n.parts, notation.NamePart{Body: body})
	}
	return 0
}

func (n *nameScan) lowerDigits(digits string, start int) {
	p := n.last()
	switch {
	case digits == "":
	case digits == "0" || p.Sub != "":
		n.parts = append(n.parts, notation.NamePart{Body: digits})
	case p.Mark != "":
		n.errorf(diag.RunTogether, start, n.at, "a subscript follows %s", p.Mark).Hint("write the digits first, as in x₁%s", p.Mark)
	default:
		p.Sub = digits
	}
}

// finish emits the name, as a word or a sign where it is one.
func (n *nameScan) finish() {
	s := n.scanner
	written := n.text[n.start:n.at]
	text, bars, ok := fold(n.parts)
	bars += n.bars
	next, _ := n.peek()
	switch {
	case bars > 1:
		s.errorf(diag.CombiningMark, n.start, n.at, "%s carries two bars", written).Hint("keep one bar: it marks the adjoint")
	case !ok:
		s.errorf(diag.RunTogether, n.start, n.at, "%s has its marks in no order that can be spelled", written).
			Hint("a part of a name is letters, then subscript digits, then ⁰ or °")
	case isLetter(next) || isDigit(next) && n.last().Sub+n.last().Mark != "":
		s.errorf(diag.RunTogether, n.start, n.at, "another word follows %s without a space", written).Hint("write a space between factors")
	}
	plain := bars == 0
	switch {
	case plain && notation.SymbolWords[text] != "":
		s.emit(tOp, notation.SymbolWords[text], n.start, n.at)
	case plain && text == "inf":
		s.emit(tNumber, "∞", n.start, n.at)
	case plain && notation.IsKeyword(text):
		s.emit(tWord, text, n.start, n.at)
	case plain && next == '_' && len(notation.SubscriptWords[text]) > 0 && notation.SubscriptWords[text] != text:
		s.emit(tOp, notation.SubscriptWords[text], n.start, n.at)
	default:
		s.emit(tName, text, n.start, n.at)
		n.line.toks[len(n.line.toks)-1].bar = !plain
	}
	if s.bad {
		n.line.toks[len(n.line.toks)-1].kind = tBad
	}
}

// emitTime emits a lowered run such as ₜ₋₁, which begins at a byte, as the tokens of `_{t−1}`.
func (s *scanner) emitTime(pos, at, end int) {
	s.emit(tOp, "_{", pos, pos)
	word, wordAt := "", at
	flush := func(to int) {
		switch {
		case word == "":
		case allDigits(word):
			s.emit(tNumber, word, wordAt, to)
		default:
			s.emit(tName, notation.LetterFor(word), wordAt, to)
		}
		word = ""
	}
	for at < end {
		raw, w := utf8.DecodeRuneInString(s.text[at:])
		if r := lowered(raw); r == '−' || r == '+' {
			flush(at)
			s.emit(tOp, string(r), at, at+w)
			wordAt = at + w
		} else {
			word += string(r)
		}
		at += w
	}
	flush(end)
	s.emit(tOp, "}", end, end)
}
