package notation

// declare writes names that share their clauses as a run.
func (p *printer) declare(d *Declare) {
	p.family(d.Family)
	p.when(d.When, "when ", " : ")
	p.WriteString(d.Keyword.Text + " ")
	p.commas(len(d.Names), func(i int) {
		n := d.Names[i]
		p.word(n.Name)
		if n.Member != nil {
			p.WriteByte('[')
			p.word(*n.Member)
			p.WriteByte(']')
		}
		if i+1 == len(d.Names) || !n.SharesClauses(d.Names[i+1]) {
			p.clauses(n)
		}
	})
}

func (p *printer) clauses(n *DeclName) {
	p.typeTail(n.Type)
	if n.Init != nil {
		p.WriteString(" = ")
		p.expr(n.Init, precUnion)
	}
	if n.ByLevel != nil {
		p.WriteString(" = by level ")
		p.brackets("[", "]", false, n.ByLevel, ",")
	}
	if n.Dist != nil {
		p.WriteString(" ~ ")
		p.expr(n.Dist, precFactor)
	}
	if n.Seed != nil {
		p.WriteString(" seed ")
		p.expr(n.Seed, precFactor)
	}
	if n.Within != nil {
		p.WriteString(" within ")
		p.interval(n.Within)
	}
	if n.Of != nil {
		p.WriteString(" of ")
		p.word(*n.Of)
	}
	if n.At != nil {
		p.WriteString(" at ")
		p.word(*n.At)
	}
	for _, a := range n.Attrs {
		p.WriteString(" " + a.Text)
		if a.Text == "nograd" && n.Reason != nil {
			p.WriteByte(' ')
			p.text(n.Reason)
		}
	}
}

// family writes the prefix of a line.
func (p *printer) family(f *Family) {
	if f == nil {
		return
	}
	p.WriteString("family ")
	p.word(f.Letter)
	p.WriteString(" " + p.sign("∈") + " {")
	p.commas(len(f.Members), func(i int) { p.word(f.Members[i]) })
	p.WriteString("} : ")
}

func (p *printer) equation(head string, left, right Expr) {
	p.WriteString(head)
	p.expr(left, precUnion)
	p.WriteString(" = ")
	p.expr(right, precUnion)
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
