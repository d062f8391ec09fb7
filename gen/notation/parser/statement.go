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
		if next := p.peek(1); next.kind == tName && next.space {
			if near := misspelt(t.text); near != "" {
				p.errorf(diag.NoStatement, t, "this line starts no statement").Hint("did you mean %s?", near)
				return nil
			}
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
	if read := forms[t.text]; read != nil {
		return read(p)
	}
	if slices.Contains(notation.DeclareWords, t.text) {
		return p.declare()
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

// forms are the readers of the statements that are no declarations, by their first word.
var forms map[string]func(*parser) notation.Stmt

func init() { // not where it is declared: a body of an each is read by forms again
	forms = map[string]func(*parser) notation.Stmt{
		"dims": (*parser).dims, "kink": (*parser).kink, "invariant": (*parser).invariant, "provides": (*parser).provides,
		"requires": (*parser).provides, "special": (*parser).special, "trial": (*parser).trial, "erratum": (*parser).erratum,
		"cost": (*parser).cost, "solve": (*parser).solve, "iterate": (*parser).iterate, "nograd": (*parser).noGrad,
		"fit": (*parser).fit, "read": (*parser).markedDefine, "match": (*parser).markedDefine, "each": (*parser).each,
		"level": (*parser).level, "guard": (*parser).guard, "claim": (*parser).claim, "eval": (*parser).claim,
		"adjoint": (*parser).claim, "relax": (*parser).claim,
	}
}
