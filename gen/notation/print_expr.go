package notation

import (
	"fmt"
	"strings"
)

// Precedences, from loose to tight; see expr.go.
const (
	precCond = iota
	precRelation
	precUnion
	precSum
	precTerm
	precProduct
	precRow
	precFactor
)

func prec(e Expr) int {
	switch e := e.(type) {
	case *And:
		return precCond
	case *Relation:
		return precRelation
	case *Binary:
		switch e.Op {
		case "∪":
			return precUnion
		case "+", "−":
			return precSum
		}
		return precProduct
	case *Unary:
		return precTerm
	case *Juxt:
		return precRow
	case *Reduce:
		if IsOpen(e) {
			return precRow
		}
		if e.Empty != nil {
			return precUnion
		}
	}
	return precFactor
}

// An operand is an expression in a place that needs a least precedence.
type operand struct {
	Expr
	least int
}

func cond(e Expr) operand   { return operand{e, precCond} }
func sum(e Expr) operand    { return operand{e, precSum} }
func factor(e Expr) operand { return operand{e, precFactor} }

// open reports whether the last factor of e is a Σ or Π, which would take what
// follows into its reach.
func open(e Expr) bool {
	switch e := e.(type) {
	case *Reduce:
		return IsOpen(e)
	case *Juxt:
		return open(e.Items[len(e.Items)-1])
	case *Binary:
		return prec(e) == precProduct && open(e.Y)
	}
	return false
}

// expr writes e, in parentheses if it binds looser than least.
func (p *printer) expr(e Expr, least int) {
	if prec(e) < least || p.bars && barNode(e) {
		p.paren(e)
		return
	}
	p.bare(e)
}

func (p *printer) paren(e Expr) {
	p.put("(")
	p.inside(false, func() { p.bare(e) })
	p.put(")")
}

// inside writes the text in brackets, where bars outside have no effect.
func (p *printer) inside(tight bool, write func()) {
	was, bars := p.tight, p.bars
	p.tight, p.bars = was || tight, false
	write()
	p.tight, p.bars = was, bars
}

func barNode(e Expr) bool {
	switch e.(type) {
	case *Abs, *Norm:
		return true
	}
	return false
}

// startsWithBar reports whether the first sign of the factor e is a bar.
func startsWithBar(e Expr) bool {
	switch e := e.(type) {
	case *Abs, *Norm:
		return true
	case *Power:
		return startsWithBar(e.X)
	case *Transpose:
		return startsWithBar(e.X)
	case *Index:
		return startsWithBar(e.X)
	}
	return false
}

// bare writes e without parentheses of its own.
func (p *printer) bare(e Expr) {
	switch e := e.(type) {
	case *And:
		p.and(e)
	case *Relation:
		p.put(e.X)
		p.relationTail(e)
	case *Binary:
		p.binary(e)
	case *Unary:
		p.put("−")
		least := precProduct
		if b, ok := e.X.(*Binary); ok && b.Op != "/" {
			least = precRow // −(a · b): the minus is outside, and looks it
		}
		p.expr(e.X, least)
	case *Juxt:
		p.row(e)
	default:
		p.factor(e)
	}
}

// and writes a chain `a ≤ b < c` as one, if it was read as one.
func (p *printer) and(e *And) {
	if p.chain(e) {
		return
	}
	p.put(cond(e.X), " and ", operand{e.Y, precRelation})
}

func (p *printer) chain(e *And) bool {
	r, ok := e.Y.(*Relation)
	if !ok || lastOfChain(e.X) == nil || lastOfChain(e.X) != r.X {
		return false
	}
	p.bare(e.X)
	p.relationTail(r)
	return true
}

// lastOfChain returns the right end of a relation or a chain of them.
func lastOfChain(e Expr) Expr {
	switch e := e.(type) {
	case *Relation:
		return e.Y
	case *And:
		if r, ok := e.Y.(*Relation); ok && lastOfChain(e.X) == r.X {
			return r.Y
		}
	}
	return nil
}

func (p *printer) relationTail(e *Relation) {
	op := " " + e.Op + " "
	if p.tight && (p.style == Unicode || e.Op != "∈" && e.Op != "<") {
		op = e.Op
	}
	p.put(op, e.Y)
}

func (p *printer) binary(e *Binary) {
	own := prec(e)
	left, right := own, own+1
	if own == precProduct {
		if x, ok := e.X.(*Binary); !ok || x.Op != e.Op || e.Op == "/" || e.Op == "mod" {
			left = precRow // (a / b) / c keeps its parentheses for the reader
		}
		if e.Op == "/" {
			right = precFactor
		}
		if open(e.X) {
			left = precFactor + 1
		}
	}
	p.operand(e.X, left)
	if p.close(e) {
		p.put(e.Op)
	} else {
		p.put(" " + e.Op + " ")
	}
	p.operand(e.Y, right)
}

// operand is expr, with a least precedence above all to force parentheses.
func (p *printer) operand(e Expr, least int) {
	if least > precFactor {
		p.paren(e)
		return
	}
	p.expr(e, least)
}

// close reports whether the operator is printed without spaces.
func (p *printer) close(e *Binary) bool {
	switch e.Op {
	case "+", "−":
		return p.tight
	case "/":
		return p.tight || isNumber(e.X) || isName(e.X) && (isName(e.Y) || isNumber(e.Y))
	case "·":
		return p.style == Unicode && (p.tight || countProduct(e))
	}
	return false
}

// countProduct reports whether e is a product of sizes such as 4·d_k·d_v.
func countProduct(e *Binary) bool {
	if !isName(e.Y) && !isNumber(e.Y) {
		return false
	}
	x, ok := e.X.(*Binary)
	return isNumber(e.X) || ok && x.Op == "·" && countProduct(x)
}

func isNumber(e Expr) bool { _, ok := e.(*Number); return ok }

func isName(e Expr) bool { _, ok := e.(*Ident); return ok }

// row writes factors side by side; bars are not printed next to bars, and a set
// would read as a tag.
func (p *printer) row(e *Juxt) {
	for i, x := range e.Items {
		if i > 0 {
			p.WriteByte(' ')
		}
		last := i == len(e.Items)-1
		_, set := x.(*Set)
		r, ok := x.(*Reduce)
		switch {
		case set && i > 0, i > 0 && startsWithBar(x) && startsWithBar(e.Items[i-1]):
			p.paren(x)
		case last && ok && IsOpen(r):
			p.bare(x)
		default:
			p.expr(x, precFactor)
		}
	}
}

// factor writes what binds tightest.
func (p *printer) factor(e Expr) {
	switch e := e.(type) {
	case *Number:
		p.put(e.Text)
	case *Ident:
		p.ident(e)
	case *Call:
		p.call(e)
	case *Reduce:
		p.reduce(e)
	case *Norm:
		p.norm(e.X, "‖", "norm")
	case *Abs:
		p.norm(e.X, "|", "abs")
	case *Inner:
		p.brackets(p.choose("⟨", "inner("), p.choose("⟩", ")"), false, []Expr{e.X, e.Y}, ",")
	case *Grad:
		p.grad(e)
	case *Frozen:
		p.put("frozen ", e.X)
	case *Stack:
		p.brackets("[", "]", false, e.Items, ";")
	case *List:
		p.brackets("[", "]", false, e.Items, ",")
	case *Tuple:
		p.brackets("(", ")", true, e.Items, ",")
	case *Set:
		p.set(e)
	case *Piecewise:
		p.piecewise(e)
	case *Case:
		p.caseOf(e)
	case *Solve:
		p.solve(e)
	default:
		p.postfix(e)
	}
}

func (p *printer) ident(e *Ident) {
	name, member := CutMember(e.Name.Text)
	p.WriteString(spell(name, e.Bar, p.style))
	if e.Time != nil {
		p.enclose(true, "_{", "}", e.Time)
	}
	if member != "" {
		p.WriteString("[" + spell(member, false, p.style) + "]")
	}
}

// postfix writes what hangs on another expression.
func (p *printer) postfix(e Expr) {
	switch e := e.(type) {
	case *Field:
		p.base(e.X, isName(e.X) || isReached(e.X))
		p.put(".", e.Name)
	case *Index:
		if id, ok := e.X.(*Ident); ok && p.memberAt(id, e.At) {
			return
		}
		p.base(e.X, !isNumber(e.X) && !isBraces(e.X))
		p.brackets("[", "]", true, e.At, ",")
	case *Transpose:
		p.base(e.X, !isBraces(e.X))
		p.put("ᵀ")
	case *Power:
		p.power(e)
	default:
		panic(fmt.Sprintf("notation: BUG: no expression %T", e))
	}
}

// isReached reports whether a part of e can be named without parentheses.
func isReached(e Expr) bool {
	switch e.(type) {
	case *Field, *Index, *Call:
		return true
	}
	return false
}

func isBraces(e Expr) bool {
	switch e.(type) {
	case *Piecewise, *Case, *Set, *Frozen:
		return true
	}
	return false
}

// base writes the expression that a postfix hangs on.
func (p *printer) base(e Expr, plain bool) {
	if !plain {
		p.paren(e)
		return
	}
	p.expr(e, precFactor)
}

func (p *printer) power(e *Power) {
	_, twice := e.X.(*Power)
	p.base(e.X, !twice && !isBraces(e.X))
	n, num := e.Exp.(*Number)
	id, name := e.Exp.(*Ident)
	switch {
	case num && n.Text == "2" && p.style == Unicode:
		p.WriteString("²")
	case num && n.Text == "3" && p.style == Unicode:
		p.WriteString("³")
	case num && strings.Trim(n.Text, "0123456789") == "" && n.Text[0] != '0':
		p.WriteString("^" + n.Text)
	case name && id.Time == nil && !id.Bar && !strings.ContainsAny(id.Name.Text, "_⁰°"):
		p.WriteByte('^')
		p.ident(id)
	default:
		p.enclose(true, "^{", "}", e.Exp)
	}
}

// IsOpen reports whether a reduction has no parentheses that end it.
func IsOpen(r *Reduce) bool { return r.Op == "Σ" || r.Op == "Π" }
