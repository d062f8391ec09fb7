package parser

import (
	"maps"
	"slices"
	"strings"

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
			p.errorf(diag.Unexpected, t, "family stands behind when").Hint("write family … : when … :")
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

// looksDefined reports whether an = outside brackets follows on this line, or
// a bracket is open that may hide it.
func (p *parser) looksDefined() bool {
	depth := 0
	for i := 0; ; i++ {
		t := p.peek(i)
		switch {
		case t.kind == tEnd:
			return depth > 0
		case t.kind == tWord && depth == 0:
			return false
		case t.is("(") || t.is("[") || t.is("{") || t.is("_{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			depth--
		case depth == 0 && t.is("="):
			return true
		}
	}
}

func (p *parser) readDefine() notation.Stmt {
	start := p.next()
	d := p.define()
	d.Read, d.Span = true, p.since(start)
	return d
}

func (p *parser) matchDefine() notation.Stmt {
	start := p.next()
	d := p.define()
	d.Match, d.Span = true, p.since(start)
	return d
}

// define reads `target = value` and its trailers.
func (p *parser) define() *notation.Define {
	start := p.cur()
	d := &notation.Define{Target: p.target()}
	p.want("=")
	d.Value = p.union()
	if p.cur().is("∈") && p.peek(1).name("log") {
		p.i += 2
		d.InLog = true
	}
	tr := p.trailers(false)
	d.With, d.Label, d.Cite = tr.with, tr.tag, tr.cite
	d.Span = p.since(start)
	return d
}

// target reads `k_t`, `out[t∈T]` or `f(A ∈ …; k)[i∈r]`.
func (p *parser) target() *notation.Target {
	start := p.cur()
	if start.kind != tName || notation.SubscriptWords[start.text] != "" {
		w := p.name("the name to define")
		return &notation.Target{Span: w.Span, Name: &notation.Ident{Span: w.Span, Name: w}}
	}
	p.next()
	t := &notation.Target{Name: p.ident(start)}
	if p.cur().is("(") {
		t.IsFunc = true
		t.Params = p.params()
	}
	if p.cur().is("[") {
		closing := p.open()
		t.Index = p.binders()
		closing("]")
	}
	t.Span = p.since(start)
	return t
}

// trailers are what may stand behind the value of a statement.
type trailers struct {
	with   []*notation.Define
	reason *notation.Text
	tag    *notation.Word
	cite   *notation.Cite
}

// trailers reads them in any order, each once; a reason only where one belongs.
func (p *parser) trailers(reason bool) (tr trailers) {
	for {
		t := p.cur()
		switch {
		case t.word("with") && tr.with == nil:
			p.next()
			tr.with = p.locals()
		case t.is("{") && tr.tag == nil && p.atTag():
			tr.tag = p.tag()
		case t.is("@eq") && tr.cite == nil:
			tr.cite = p.cite()
		case t.kind == tString && reason && tr.reason == nil:
			tr.reason = p.text()
		default:
			return tr
		}
	}
}

// locals reads `a = 1, b = 2` after with.
func (p *parser) locals() []*notation.Define {
	var ds []*notation.Define
	for {
		start := p.cur()
		d := p.localDefine()
		d.Span = p.since(start)
		ds = append(ds, d)
		if !p.got(",") {
			return ds
		}
	}
}

// localDefine reads `a = 1`, or `solve ζ ∈ [lo, hi] : equation`.
func (p *parser) localDefine() *notation.Define {
	if p.gotWord("solve") {
		return p.unknown()
	}
	d := &notation.Define{Target: p.target()}
	if p.cur().is(":=") {
		p.errorf(diag.Unexpected, p.cur(), ":= overrides an option of a page").Labelf("expected =").Hint("write with name = value for a local definition")
	}
	p.want("=")
	d.Value = p.union()
	return d
}

// tag reads `{inv:unit}` as it is written; atTag has looked ahead.
func (p *parser) tag() *notation.Word {
	open := p.next()
	for !p.cur().is("}") && p.cur().kind != tEnd {
		p.next()
	}
	text := strings.TrimSpace(p.in.Text[open.end:p.cur().pos])
	p.want("}")
	return &notation.Word{Span: p.since(open), Text: text}
}

// cite reads what stands behind @eq.
func (p *parser) cite() *notation.Cite {
	start := p.next()
	c := p.citation()
	c.Span = p.since(start)
	return c
}

// citation reads paper#eq.
func (p *parser) citation() *notation.Cite {
	t := p.cur()
	if t.kind != tCite {
		p.expected("a citation such as paper#13")
		return &notation.Cite{Span: p.span(t)}
	}
	p.next()
	paper, eq, _ := strings.Cut(t.text, "#")
	return &notation.Cite{Span: p.span(t), Paper: paper, Eq: eq}
}

// claim reads claim, eval, adjoint and relax.
func (p *parser) claim() notation.Stmt {
	start := p.next()
	c := &notation.Claim{Keyword: notation.Word{Span: p.span(start), Text: start.text}}
	if p.got("≡") {
		c.Right = p.union()
	} else {
		c.Left = p.union()
		p.want("=")
		c.Right = p.union()
	}
	tr := p.trailers(true)
	c.With, c.Reason, c.Tag, c.Cite = tr.with, tr.reason, tr.tag, tr.cite
	c.Span = p.since(start)
	return c
}

// kink reads `kink |ℓ.r[i]| = δ : C¹`.
func (p *parser) kink() notation.Stmt {
	start := p.next()
	k := &notation.Kink{Left: p.union()}
	p.want("=")
	k.Right = p.union()
	p.want(":")
	t := p.next()
	switch up := p.cur(); {
	case t.name("C⁰"):
		k.Class = notation.Word{Span: p.span(t), Text: "C⁰"}
	case t.name("C") && up.kind == tSup && up.text == "1":
		p.next()
		k.Class = notation.Word{Span: p.since(t), Text: "C¹"}
	case t.name("C") && up.is("^") && p.peek(1).kind == tNumber && p.peek(1).text == "1":
		p.i += 2
		k.Class = notation.Word{Span: p.since(t), Text: "C¹"}
	default:
		p.errorf(diag.Unexpected, t, "a kink is of class C⁰ or C¹, found %s", p.describe(t))
	}
	k.Span = p.since(start)
	return k
}

// invariant reads `invariant ∀ i∈m : ‖S_t[i]‖ = 1 {tag}`.
func (p *parser) invariant() notation.Stmt {
	start := p.next()
	v := &notation.Invariant{}
	if p.got("∀") {
		v.Binders = p.binders()
		p.want(":")
	}
	v.Cond = p.conditions(true)
	if p.atTag() && p.cur().is("{") {
		v.Tag = p.tag()
	}
	v.Span = p.since(start)
	return v
}

// provides reads `provides A, B(M)` and `requires A(M) "reason"`.
func (p *parser) provides() notation.Stmt {
	start := p.next()
	s := &notation.Provides{Needs: start.text == "requires"}
	for {
		s.Marks = append(s.Marks, p.mark())
		if !p.got(",") {
			break
		}
	}
	if s.Needs {
		s.Reason = p.text()
	}
	s.Span = p.since(start)
	return s
}

func (p *parser) mark() *notation.Mark {
	start := p.cur()
	m := &notation.Mark{Name: p.name("a marker")}
	if p.cur().is("(") {
		closing := p.open()
		m.Args = append(m.Args, p.memberName("a name"))
		for p.got(",") {
			m.Args = append(m.Args, p.memberName("a name"))
		}
		closing(")")
	}
	m.Span = p.since(start)
	return m
}

// special reads `special A with drive := decode = B + C with η := 0`.
func (p *parser) special() notation.Stmt {
	start := p.next()
	s := &notation.Special{Left: p.formula()}
	s.LWith = p.overrides()
	p.want("=")
	s.Right = p.formula()
	s.With = p.overrides()
	s.Span = p.since(start)
	return s
}

// trial reads `trial Composition(Rule, Attention)`.
func (p *parser) trial() notation.Stmt {
	start := p.next()
	s := &notation.Trial{Formula: p.formula()}
	s.Span = p.since(start)
	return s
}

// erratum reads `erratum paper#11 "text" by claim write.gradient`.
func (p *parser) erratum() notation.Stmt {
	start := p.next()
	e := &notation.Erratum{Cite: p.citation()}
	e.Text = p.text()
	p.wantWord("by")
	p.wantWord("claim")
	e.By = p.claimName()
	e.Span = p.since(start)
	return e
}

// claimName reads what a tag may hold, `adj:q`, as it is written: a tag's text
// has one spelling in both styles.
func (p *parser) claimName() notation.Word {
	start := p.cur()
	if start.kind != tName && start.kind != tWord || start.bar {
		p.expected("the name of a claim")
		return notation.Word{Span: p.span(start)}
	}
	p.next()
	for t := p.cur(); !t.space && (t.kind == tName && !t.bar || t.kind == tWord || t.kind == tNumber || t.is(":") || t.is(".") || t.is("−") || t.is("_")); t = p.cur() {
		p.next()
	}
	s := p.since(start)
	return notation.Word{Span: s, Text: s.Text()}
}

// noGrad reads `nograd x "reason"`.
func (p *parser) noGrad() notation.Stmt {
	start := p.next()
	n := &notation.NoGrad{Name: p.memberName("a name")}
	n.Reason = p.text()
	n.Span = p.since(start)
	return n
}
