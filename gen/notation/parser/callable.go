package parser

import (
	"github.com/nl-hecate/hecate/gen/notation"
)

// The names that a `(` makes a call, found before parsing: `name(` is a product for all
// others.

// declared collects the words of a block that a `(` makes a call: units,
// functions, parts (`memory : Rule`) and the functions of `each fit`. It looks
// at tokens only, because the parser must know them before it reads a product.
func declared(lines []*logical, known map[string]bool) {
	for _, l := range lines {
		toks := l.toks
		switch {
		case len(toks) == 0:
		case isHeader(toks):
			known[notation.UnitName(toks[1].text)] = true
			parts(toks, known)
		case toks[0].word("each"):
			slots(toks, known)
		case toks[0].word("option") || toks[0].word("when"):
			parts(toks, known)
		case isFunction(toks) && closesBeforeEquals(toks):
			known[toks[0].text] = true
		}
	}
}

// parts finds `name : Kind` and `name[axis] : Kind`.
func parts(toks []token, known map[string]bool) {
	for i := 0; i+2 < len(toks); i++ {
		if toks[i].kind != tName {
			continue
		}
		rest := toks[i+1:]
		if len(rest) > 3 && rest[0].is("[") && rest[2].is("]") {
			rest = rest[3:]
		}
		if len(rest) > 1 && rest[0].is(":") && rest[1].kind == tName {
			known[toks[i].text] = true
		}
	}
}

// slots finds F and V of `each (W : F(W; s) → V(s)) of …`.
func slots(toks []token, known map[string]bool) {
	for i := 1; i+1 < len(toks) && !toks[i].word("of"); i++ {
		if toks[i].kind == tName && (toks[i-1].is(":") || toks[i-1].is("→")) {
			known[toks[i].text] = true
		}
	}
}

// closesBeforeEquals reports whether `name(…)` or `name(…)[…]` is defined.
func closesBeforeEquals(toks []token) bool {
	depth := 0
	for i := 1; i < len(toks); i++ {
		switch t := toks[i]; {
		case t.is("(") || t.is("[") || t.is("{") || t.is("_{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			depth--
			if depth == 0 && !(i+1 < len(toks) && (toks[i+1].is("[") || toks[i+1].is("="))) {
				return false
			}
		case depth == 0:
			return t.is("=")
		}
	}
	return false
}
