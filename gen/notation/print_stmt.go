package notation

import (
	"fmt"
	"strings"
)

// stmt writes a statement on one line, except for the body of an each.
func (p *printer) stmt(s Stmt) {
	if f := FamilyOf(s); f != nil {
		p.put("family ", f.Letter, " ∈ ", "{")
		commas(p, f.Members)
		p.put("} : ")
	}
	if c := When(s); c != nil {
		p.put("when ", cond(c), " : ")
	}
	switch s := s.(type) {
	case *Dims:
		p.put("dims ")
		commas(p, s.Items)
	case *Declare:
		p.declare(s)
	case *Define:
		p.define(s)
	case *Claim:
		p.claim(s)
	case *Kink:
		p.put("kink ", s.Left, " = ", s.Right, " : ")
		p.WriteString(map[string]string{"C⁰": spell("C⁰", false, p.style), "C¹": p.choose("C¹", "C^1")}[s.Class.Text])
	case *Invariant:
		p.put("invariant ")
		if len(s.Binders) > 0 {
			p.put("∀", " ")
			p.inside(true, func() { commas(p, s.Binders) })
			p.put(" : ")
		}
		p.put(cond(s.Cond))
		p.tag(s.Tag)
	case *Provides:
		p.put(map[bool]string{false: "provides ", true: "requires "}[s.Needs])
		commas(p, s.Marks)
		p.clause(" ", s.Reason)
	case *Special:
		p.put("special ", s.Left)
		p.overrides(s.LWith)
		p.put(" = ", s.Right)
		p.overrides(s.With)
	case *Trial:
		p.put("trial ", s.Formula)
	case *Erratum:
		p.WriteString("erratum " + s.Cite.Paper + "#" + s.Cite.Eq)
		p.put(" ", s.Text)
		p.WriteString(" by claim " + s.By.Text)
	case *Cost:
		p.cost(s)
	case *Iterate:
		p.iterate(s)
	case *NoGrad:
		p.put("nograd ", s.Name, " ", s.Reason)
	case *Fit:
		p.put("fit ")
		commas(p, s.Weights)
		p.put(" : ", s.Predict, " → ", s.Target)
		p.with(s.With)
	case *Each:
		p.each(s)
	case *Level:
		p.put("level ", s.Binder, " : ", s.Rule)
		p.clause(", period ", s.Period)
		p.clause(" when ", cond(s.When))
	case *Guard:
		p.put("guard ", cond(s.Cond), " else ", s.Else)
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

// declare writes names that share their clauses as a run.
func (p *printer) declare(d *Declare) {
	p.put(d.Keyword.Text + " ")
	for i, n := range d.Names {
		if i > 0 {
			p.put(", ")
		}
		p.put(n.Name)
		if n.Member != nil {
			p.put("[", *n.Member, "]")
		}
		if i+1 == len(d.Names) || !n.SharesClauses(d.Names[i+1]) {
			p.clauses(n)
		}
	}
}

func (p *printer) clauses(n *DeclName) {
	p.typeTail(n.Type)
	p.clause(" = ", n.Init)
	if n.ByLevel != nil {
		p.brackets(" = by level [", "]", false, n.ByLevel, ",")
	}
	p.clause(" ~ ", factor(n.Dist))
	p.clause(" seed ", factor(n.Seed))
	if n.Within != nil {
		p.put(" within ")
		p.interval(n.Within)
	}
	p.clause(" of ", n.Of)
	p.clause(" at ", n.At)
	for _, a := range n.Attrs {
		p.put(" " + a.Text)
		if a.Text == "nograd" {
			p.clause(" ", n.Reason)
		}
	}
}

func (p *printer) dimsItem(d *DimsItem) {
	p.put(d.Name)
	p.clause(" = ", sum(d.Size))
	for k, f := range d.Factors {
		p.put([]string{" = ", " × "}[min(k, 1)], f)
	}
}

func (p *printer) define(s *Define) {
	if s.Read {
		p.put("read ")
	}
	if s.Match {
		p.put("match ")
	}
	if x, ok := s.Value.(*Solve); ok { // the equation that the name solves, in the place of a value
		p.put("solve ", s.Target, x)
	} else {
		p.put(s.Target, " = ", s.Value)
	}
	if s.InLog {
		p.put(" in log")
	}
	p.with(s.With)
	p.tag(s.Label)
	p.clause("  ", s.Cite)
}

func (p *printer) target(t *Target) {
	p.ident(t.Name)
	if t.IsFunc {
		p.params(t.Params)
	}
	if len(t.Index) > 0 {
		p.put("[")
		p.inside(true, func() { commas(p, t.Index) })
		p.put("]")
	}
}

func (p *printer) with(ds []*Define) {
	if len(ds) > 0 {
		p.put(" with ")
		commas(p, ds)
	}
}

func (p *printer) tag(t *Word) {
	if t != nil {
		p.WriteString("  {" + t.Text + "}")
	}
}

func (p *printer) claim(s *Claim) {
	p.put(s.Keyword.Text + " ")
	if s.Left == nil {
		p.put("≡", " ", s.Right)
	} else {
		p.put(s.Left, " = ", s.Right)
	}
	p.with(s.With)
	p.clause(" ", s.Reason)
	p.tag(s.Tag)
	p.clause("  ", s.Cite)
}

func (p *printer) cost(s *Cost) {
	p.put("cost ")
	for i, w := range strings.Split(s.Name.Text, "+") { // write+read
		if i > 0 {
			p.put("+")
		}
		p.WriteString(spell(w, false, p.style))
	}
	p.put(" = ")
	p.clause("", sum(s.Value))
	if s.Value != nil && s.Big != nil {
		p.put(" + ")
	}
	if s.Big != nil {
		p.put("O(", s.Big, ")")
	}
	p.tag(s.Tag)
}

// solve writes the range, the equation and the tolerance of an unknown.
func (p *printer) solve(s *Solve) {
	if s.Domain != nil {
		p.put(" ∈ ")
		p.searched(s.Domain)
	}
	p.put(" : ", s.Left, " = ", s.Right)
	p.clause(" tol ", factor(s.Tol))
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
	p.put("iterate ", s.Name, " from ", s.From, " for ")
	if s.Index != nil {
		p.put(*s.Index, p.choose("∈", " in "))
	}
	p.put(sum(s.Count), " : ", s.Name, " ← ", s.Step)
	p.with(s.With)
	if s.Orient {
		p.put(" orient rows", " ≤ ", "cols")
	}
}

// each writes a body of one statement on the line of its head.
func (p *printer) each(s *Each) {
	p.eachHead(s)
	if len(s.Body) == 1 {
		p.put(" ", s.Body[0])
		return
	}
	for _, b := range s.Body {
		p.put("\n  ", b)
	}
}

func (p *printer) eachHead(s *Each) {
	p.put("each ")
	if s.Fit {
		p.put("fit ")
	}
	if s.Predict != nil {
		p.put("(", s.Name, " : ", factor(s.Predict), " → ", factor(s.Target), ")")
	} else {
		p.put(s.Name)
	}
	p.put(" of ", s.Of, " :")
}
