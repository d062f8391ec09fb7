package notation

import (
	"fmt"
	"strings"
)

// The printer writes a tree in its canonical form, in either spelling. Parentheses are
// printed where the precedence of an operand is lower than that of its place.

// A Style is one of the two spellings; the zero value is Unicode.
type Style int

const (
	Unicode Style = iota
	ASCII
)

// Print writes a node in its canonical spelling: an expression, a statement
// and a header on one line each, a unit and a file on several.
func Print(n any, style Style) string {
	p := &printer{style: style}
	p.node(n)
	return p.String()
}

// PrintLine writes the line of a node alone: of a unit its header, of an each, if open, what
// comes before its body, and of any other statement all of it.
func PrintLine(n any, open bool, style Style) string {
	p := &printer{style: style}
	switch n := n.(type) {
	case *Unit:
		p.header(n)
	case *Each:
		if open {
			p.eachHead(n)
		} else {
			p.each(n)
		}
	case Stmt:
		p.stmt(n)
	}
	return p.String()
}

// A printer writes expressions. tight leaves out spaces: in subscripts,
// exponents, shapes and indices. bars says that bars are open at this depth.
type printer struct {
	strings.Builder
	style Style
	tight bool
	bars  bool
}

// asciiSigns are the spellings of the symbols that have another one.
var asciiSigns = map[string]string{
	"−": "-", "·": ".", "⊙": "(*)", "∘": "after", "∪": "union", "≠": "!=", "≤": "<=", "≥": ">=", "∈": "in", "≡": "==",
	"→": "->", "←": "<-", "∀": "forall", "…": "...", "×": "*", "Σ": "sum", "Π": "prod", "ℝ": "R", "𝕊": "S", "Δ": "Simplex",
	"∞": "inf", "½": "(1/2)", "ᵀ": "'", "∇": "grad",
}

// sign returns a symbol in the style.
func (p *printer) sign(s string) string {
	if a, ok := asciiSigns[s]; ok && p.style == ASCII {
		return a
	}
	return s
}

// node writes anything that has a form on a page.
func (p *printer) node(n any) {
	switch n := n.(type) {
	case *File:
		for i, u := range n.Units {
			if i > 0 {
				p.WriteString("\n\n")
			}
			p.node(u)
		}
	case *Unit:
		p.header(n)
		for _, s := range n.Body {
			p.WriteByte('\n')
			p.stmt(s)
		}
	case Stmt:
		p.stmt(n)
	case *Arm:
		p.caseArm(n)
	case *Binder:
		p.binder(n)
	case *Type:
		p.typeOf(n)
	case *Param:
		p.params([]*Param{n})
	case *Formula:
		p.formula(n)
	case *Apply:
		p.apply(n)
	case *Mark:
		p.mark(n)
	case *Target:
		p.target(n)
	case *Cite:
		p.cite(n)
	case Expr:
		p.expr(n, precCond)
	default:
		panic(fmt.Sprintf("notation: BUG: no form for %T", n))
	}
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Dims:
		p.dims(s)
	case *Declare:
		p.declare(s)
	case *Define:
		p.define(s)
	case *Claim:
		p.claim(s)
	case *Kink:
		p.when(s.When, "when ", " : ")
		p.equation("kink ", s.Left, s.Right)
		p.WriteString(" : ")
		p.WriteString(map[string]string{"C⁰": spell("C⁰", false, p.style), "C¹": p.choose("C¹", "C^1")}[s.Class.Text])
	case *Invariant:
		p.invariant(s)
	case *Provides:
		p.provides(s)
	case *Special:
		p.special(s)
	case *Trial:
		p.WriteString("trial ")
		p.formula(s.Formula)
	case *Erratum:
		fmt.Fprintf(p, "erratum %s#%s ", s.Cite.Paper, s.Cite.Eq)
		p.text(s.Text)
		p.WriteString(" by claim " + s.By.Text)
	case *Cost:
		p.cost(s)
	case *Iterate:
		p.iterate(s)
	case *NoGrad:
		p.WriteString("nograd ")
		p.word(s.Name)
		p.WriteByte(' ')
		p.text(s.Reason)
	case *Fit:
		p.fit(s)
	case *Each:
		p.each(s)
	case *Level:
		p.level(s)
	case *Guard:
		p.WriteString("guard ")
		p.expr(s.Cond, precCond)
		p.WriteString(" else ")
		p.word(s.Else)
	default:
		panic(fmt.Sprintf("notation: BUG: no statement %T", s))
	}
}

func (p *printer) choose(unicode, ascii string) string {
	if p.style == ASCII {
		return ascii
	}
	return unicode
}

func (p *printer) text(t *Text) {
	p.WriteString(`"` + strings.ReplaceAll(t.Value, `"`, `\"`) + `"`)
}

// joined writes `write+read`.
func (p *printer) joined(text string) {
	for i, w := range strings.Split(text, "+") {
		if i > 0 {
			p.WriteByte('+')
		}
		p.WriteString(spell(w, false, p.style))
	}
}

// when writes a condition between two words, if there is one.
func (p *printer) when(cond Expr, before, after string) {
	if cond == nil {
		return
	}
	p.WriteString(before)
	p.expr(cond, precCond)
	p.WriteString(after)
}

// commas writes n things with commas between them.
func (p *printer) commas(n int, write func(i int)) {
	for i := range n {
		if i > 0 {
			p.WriteString(", ")
		}
		write(i)
	}
}

// separated writes expressions with a sign between them.
func (p *printer) separated(es []Expr, sep string) {
	for i, e := range es {
		if i > 0 {
			p.WriteString(sep)
			if !p.tight || sep == ";" {
				p.WriteByte(' ')
			}
		}
		p.expr(e, precUnion)
	}
}

func (p *printer) brackets(open, close string, tight bool, items []Expr, sep string) {
	p.WriteString(open)
	p.inside(tight, func() { p.separated(items, sep) })
	p.WriteString(close)
}

func (p *printer) word(w Word) { p.WriteString(spell(w.Text, false, p.style)) }
