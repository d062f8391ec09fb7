package parser

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/internal/spelling"
)

// statement reads one statement of a unit's body; nil after an error.
func (p *parser) statement() notation.Stmt {
	var when notation.Expr
	start := p.cur()
	family := p.family()
	if p.gotWord("when") {
		when = p.conditions(true)
		p.want(":")
		if t := p.cur(); t.word("family") {
			p.errorf(diag.Unexpected, t, "family is after when").Hint("write family … : when … :")
		}
	}
	s := p.unconditional()
	p.finish("the end of the statement")
	if p.failed || !p.ofFamily(family, start, s) {
		return nil
	}
	cond, span := notation.Condition(s)
	if cond != nil {
		*cond, *span = when, p.in.span(start.pos, p.end.end)
	}
	if req, ok := s.(*notation.Provides); when != nil && (cond == nil || ok && req.Needs) {
		p.errorf(diag.NoStatement, start, "when stands before a declaration, dims or before what is stated of the unit").
			Hint("write a choice of values with case … { … }")
		return nil
	}
	return s
}

// unconditional reads a statement without its `when`.
func (p *parser) unconditional() notation.Stmt {
	t := p.cur()
	if t.kind == tName {
		if near := misspelt(t.text); near != "" && p.peek(1).kind == tName && p.peek(1).space {
			p.errorf(diag.NoStatement, t, "this line starts no statement").Hint("did you mean %s?", near)
			return nil
		}
		if p.peek(1).is("(") || p.looksDefined() {
			return p.define()
		}
		p.errorf(diag.NoStatement, t, "this line starts no statement").
			Hint("a line is a definition `name = …` or starts with a word such as state, claim or cost")
		return nil
	}
	if t.kind != tWord {
		p.errorf(diag.NoStatement, t, "%s starts no statement", p.describe(t)).
			Hint("a line is a definition `name = …` or starts with a word such as state, claim or cost")
		return nil
	}
	if read := form(t.text); read != nil {
		return read(p)
	}
	switch t.text {
	case "claim", "eval", "adjoint", "relax":
		return p.claim()
	}
	for _, w := range notation.DeclareWords {
		if t.text == w {
			return p.declare()
		}
	}
	p.errorf(diag.NoStatement, t, "the word %s starts no statement", t.text)
	return nil
}

// misspelt is the word that opens a unit or a statement and from which one letter of a
// name differs, or "".
func misspelt(name string) string {
	words := append(slices.Sorted(maps.Keys(notation.UnitKinds)), slices.Concat(notation.DeclareWords, notation.StatementWords)...)
	for _, w := range words {
		if len(name) > 2 && spelling.Distance(w, name) == 1 {
			return w
		}
	}
	return ""
}

// form returns the reader of a keyword with a form of its own, nil for others.
func form(word string) func(*parser) notation.Stmt {
	switch word {
	case "dims":
		return (*parser).dims
	case "kink":
		return (*parser).kink
	case "invariant":
		return (*parser).invariant
	case "provides", "requires":
		return (*parser).provides
	case "special":
		return (*parser).special
	case "trial":
		return (*parser).trial
	case "erratum":
		return (*parser).erratum
	case "cost":
		return (*parser).cost
	case "solve":
		return (*parser).solve
	case "iterate":
		return (*parser).iterate
	case "nograd":
		return (*parser).noGrad
	case "fit":
		return (*parser).fit
	case "read":
		return (*parser).readDefine
	case "match":
		return (*parser).matchDefine
	case "each":
		return (*parser).each
	case "level":
		return (*parser).level
	case "guard":
		return (*parser).guard
	}
	return nil
}
