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
	if e, ok := n.(Expr); ok {
		n = cond(e)
	}
	p.put(n)
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
		p.put(n)
	}
	return p.String()
}

// A printer writes nodes. tight leaves out spaces: in subscripts,
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

// put writes text, in which a sign gets the spelling of the style, names, and anything that has
// a form on a page; an expression stands where a union may.
func (p *printer) put(items ...any) {
	for _, n := range items {
		switch n := n.(type) {
		case string:
			p.WriteString(p.sign(n))
		case Word:
			p.WriteString(spell(n.Text, false, p.style))
		case operand:
			p.expr(n.Expr, n.least)
		case Expr:
			p.expr(n, precUnion)
		case Stmt:
			p.stmt(n)
		default:
			p.node(n)
		}
	}
}

// sign returns a sign, with the spaces around it, in the style.
func (p *printer) sign(text string) string {
	sign := strings.Trim(text, " ")
	if a, ok := asciiSigns[sign]; ok && p.style == ASCII {
		return strings.Replace(text, sign, a, 1)
	}
	return text
}

// node writes what is neither an expression nor a statement.
func (p *printer) node(n any) {
	switch n := n.(type) {
	case *File:
		for i, u := range n.Units {
			if i > 0 {
				p.WriteString("\n\n")
			}
			p.put(u)
		}
	case *Unit:
		p.header(n)
		for _, s := range n.Body {
			p.put("\n", s)
		}
	case *Arm:
		p.caseArm(n)
	case *Binder:
		p.binder(n)
	case *DimsItem:
		p.dimsItem(n)
	case *Type:
		p.typeOf(n)
	case *Formula:
		p.formula(n)
	case *Apply:
		p.apply(n)
	case *Mark:
		p.put(n.Name)
		if len(n.Args) > 0 {
			p.put("(")
			commas(p, n.Args)
			p.put(")")
		}
	case *Target:
		p.target(n)
	case *Cite:
		p.WriteString("@eq " + n.Paper + "#" + n.Eq)
		p.clause(" ", n.Differs)
		p.clause("  ", n.Next)
	case *Text:
		p.WriteString(`"` + strings.ReplaceAll(n.Value, `"`, `\"`) + `"`)
	default:
		panic(fmt.Sprintf("notation: BUG: no form for %T", n))
	}
}

// clause writes a part of a line, with the text before it, if there is one.
func (p *printer) clause(before string, n any) {
	if o, ok := n.(operand); ok && o.Expr == nil || isNil(n) {
		return
	}
	p.put(before)
	if w, ok := n.(*Word); ok {
		n = *w
	}
	p.put(n)
}

// commas writes things with commas between them.
func commas[T any](p *printer, items []T) {
	for i, n := range items {
		if i > 0 {
			p.put(", ")
		}
		p.put(n)
	}
}

// enclose writes things in brackets, where bars outside have no effect.
func (p *printer) enclose(tight bool, open, close string, items ...any) {
	p.put(open)
	p.inside(tight, func() { p.put(items...) })
	p.put(close)
}

// brackets writes expressions in brackets with a separator between them.
func (p *printer) brackets(open, close string, tight bool, items []Expr, separator string) {
	p.put(open)
	p.inside(tight, func() {
		for i, e := range items {
			if i > 0 {
				p.WriteString(separator)
				if !p.tight || separator == ";" {
					p.WriteByte(' ')
				}
			}
			p.put(e)
		}
	})
	p.put(close)
}
