package notation

import (
	"fmt"
	"strings"
)

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

func (p *printer) equation(head string, left, right Expr) {
	p.WriteString(head)
	p.expr(left, precUnion)
	p.WriteString(" = ")
	p.expr(right, precUnion)
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

func (p *printer) dims(s *Dims) {
	p.when(s.When, "when ", " : ")
	p.WriteString("dims ")
	p.commas(len(s.Items), func(i int) {
		d := s.Items[i]
		p.word(d.Name)
		if d.Size != nil {
			p.WriteString(" = ")
			p.expr(d.Size, precSum)
		}
		for k, f := range d.Factors {
			p.WriteString([]string{" = ", " " + p.sign("×") + " "}[min(k, 1)])
			p.word(f)
		}
	})
}

func (p *printer) define(s *Define) {
	p.family(s.Family)
	if s.Read {
		p.WriteString("read ")
	}
	if s.Match {
		p.WriteString("match ")
	}
	p.defined(s)
	if s.InLog {
		p.WriteString(" in log")
	}
	p.with(s.With)
	p.tag(s.Label)
	p.citeTail(s.Cite)
}

// defined writes a name and what it is: a value, or the equation that it solves.
func (p *printer) defined(d *Define) {
	if s, ok := d.Value.(*Solve); ok {
		p.WriteString("solve ")
		p.target(d.Target)
		p.solve(s)
		return
	}
	p.target(d.Target)
	p.WriteString(" = ")
	p.expr(d.Value, precUnion)
}

func (p *printer) target(t *Target) {
	p.ident(t.Name)
	if t.IsFunc {
		p.params(t.Params)
	}
	if len(t.Index) > 0 {
		p.WriteByte('[')
		p.inside(true, func() { p.binders(t.Index) })
		p.WriteByte(']')
	}
}

func (p *printer) with(ds []*Define) {
	if len(ds) == 0 {
		return
	}
	p.WriteString(" with ")
	p.commas(len(ds), func(i int) { p.defined(ds[i]) })
}

func (p *printer) tag(t *Word) {
	if t != nil {
		p.WriteString("  {" + t.Text + "}")
	}
}

func (p *printer) cite(c *Cite) { p.WriteString("@eq " + c.Paper + "#" + c.Eq) }

func (p *printer) citeTail(c *Cite) {
	if c != nil {
		p.WriteString("  ")
		p.cite(c)
	}
}

func (p *printer) claim(s *Claim) {
	p.family(s.Family)
	p.when(s.When, "when ", " : ")
	p.WriteString(s.Keyword.Text + " ")
	if s.Left == nil {
		p.WriteString(p.sign("≡") + " ")
		p.expr(s.Right, precUnion)
	} else {
		p.equation("", s.Left, s.Right)
	}
	p.with(s.With)
	if s.Reason != nil {
		p.WriteByte(' ')
		p.text(s.Reason)
	}
	p.tag(s.Tag)
	p.citeTail(s.Cite)
}

func (p *printer) invariant(s *Invariant) {
	p.when(s.When, "when ", " : ")
	p.WriteString("invariant ")
	if len(s.Binders) > 0 {
		p.WriteString(p.sign("∀") + " ")
		p.inside(true, func() { p.binders(s.Binders) })
		p.WriteString(" : ")
	}
	p.expr(s.Cond, precCond)
	p.tag(s.Tag)
}

func (p *printer) provides(s *Provides) {
	p.when(s.When, "when ", " : ")
	p.WriteString(map[bool]string{false: "provides ", true: "requires "}[s.Needs])
	p.commas(len(s.Marks), func(i int) { p.mark(s.Marks[i]) })
	if s.Reason != nil {
		p.WriteByte(' ')
		p.text(s.Reason)
	}
}

func (p *printer) mark(m *Mark) {
	p.word(m.Name)
	if len(m.Args) == 0 {
		return
	}
	p.WriteByte('(')
	p.commas(len(m.Args), func(k int) { p.word(m.Args[k]) })
	p.WriteByte(')')
}

func (p *printer) special(s *Special) {
	p.WriteString("special ")
	p.formula(s.Left)
	p.overrides(s.LWith)
	p.WriteString(" = ")
	p.formula(s.Right)
	p.overrides(s.With)
}

func (p *printer) cost(s *Cost) {
	p.when(s.When, "when ", " : ")
	p.WriteString("cost ")
	p.joined(s.Name.Text)
	p.WriteString(" = ")
	if s.Value != nil {
		p.expr(s.Value, precSum)
	}
	if s.Big != nil {
		if s.Value != nil {
			p.WriteString(" + ")
		}
		p.WriteString("O(")
		p.expr(s.Big, precUnion)
		p.WriteByte(')')
	}
	p.tag(s.Tag)
}

// solve writes the range, the equation and the tolerance of an unknown.
func (p *printer) solve(s *Solve) {
	if s.Domain != nil {
		p.WriteString(" " + p.sign("∈") + " ")
		p.searched(s.Domain)
	}
	p.equation(" : ", s.Left, s.Right)
	if s.Tol != nil {
		p.WriteString(" tol ")
		p.expr(s.Tol, precFactor)
	}
}

// searched writes the range of an unknown. Its ends are often expressions, so
// they have spaces, which those of other ranges have not.
func (p *printer) searched(t *Type) {
	if t.Kind != RangeType || t.LoOpen || t.HiOpen || t.Lo == nil || t.Hi == nil || len(t.Shape) > 0 || t.AnyShape {
		p.interval(t)
		return
	}
	p.brackets("[", "]", false, []Expr{t.Lo, t.Hi}, ",")
}

func (p *printer) iterate(s *Iterate) {
	p.WriteString("iterate ")
	p.word(s.Name)
	p.WriteString(" from ")
	p.expr(s.From, precUnion)
	p.WriteString(" for ")
	if s.Index != nil {
		p.word(*s.Index)
		p.WriteString(p.spacedIn())
	}
	p.expr(s.Count, precSum)
	p.WriteString(" : ")
	p.word(s.Name)
	p.WriteString(" " + p.sign("←") + " ")
	p.expr(s.Step, precUnion)
	p.with(s.With)
	if s.Orient {
		p.WriteString(" orient rows " + p.sign("≤") + " cols")
	}
}

func (p *printer) fit(s *Fit) {
	p.WriteString("fit ")
	p.commas(len(s.Weights), func(i int) { p.word(s.Weights[i]) })
	p.WriteString(" : ")
	p.expr(s.Predict, precUnion)
	p.WriteString(" " + p.sign("→") + " ")
	p.expr(s.Target, precUnion)
	p.with(s.With)
}

// each writes a body of one statement on the line of its head.
func (p *printer) each(s *Each) {
	p.eachHead(s)
	if len(s.Body) == 1 {
		p.WriteByte(' ')
		p.stmt(s.Body[0])
		return
	}
	for _, b := range s.Body {
		p.WriteString("\n  ")
		p.stmt(b)
	}
}

func (p *printer) eachHead(s *Each) {
	p.WriteString("each ")
	if s.Fit {
		p.WriteString("fit ")
	}
	if s.Predict != nil {
		p.WriteByte('(')
		p.word(s.Name)
		p.WriteString(" : ")
		p.expr(s.Predict, precFactor)
		p.WriteString(" " + p.sign("→") + " ")
		p.expr(s.Target, precFactor)
		p.WriteByte(')')
	} else {
		p.word(s.Name)
	}
	p.WriteString(" of ")
	p.apply(s.Of)
	p.WriteString(" :")
}

func (p *printer) level(s *Level) {
	p.WriteString("level ")
	p.binder(s.Binder)
	p.WriteString(" : ")
	p.expr(s.Rule, precUnion)
	if s.Period != nil {
		p.WriteString(", period ")
		p.expr(s.Period, precUnion)
	}
	p.when(s.When, " when ", "")
}
