package compose

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Calls of parts. An equation that calls a part contains nothing else: it calls one
// part, every part of a list with the same value, or the parts of a list as a chain.
// A call ends a stage, and its argument is a result of the stage before it.

// A callSite is a place where a part is called: once to write, once frozen.
type callSite struct {
	part   string
	frozen bool
}

// A Call is an equation that calls a part.
type Call struct {
	How    How
	Part   string
	frozen bool
	Arg    notation.Expr
	at     notation.Span
}

// recognise recognises the call of a part: a = attention(X), h = frozen memory(X),
// m[l∈K] = memory[l](X), and iterate y from X for l∈K : y ← memory[l](y), or
// y ← y + memory[l](y).
func (c *composer) recognise(eq *check.Equation) *Call {
	switch {
	case eq.Iter != nil && eq.Iter.Index != nil:
		return c.chain(eq.Iter)
	case eq.Def == nil:
		return nil
	}
	p := &Call{How: One, at: eq.Def.Value.Where()}
	value := eq.Def.Value
	if f, ok := value.(*notation.Frozen); ok {
		p.frozen, value = true, f.X
	}
	x, ok := value.(*notation.Call)
	if !ok {
		return nil
	}
	s := c.blk.Symbols[x.Fun.Text]
	if s == nil || s.Kind != check.Part || len(x.Args) != 1 {
		return nil
	}
	p.Part, p.Arg = x.Fun.Text, x.Args[0]
	index := eq.Def.Target.Index
	if c.blk.CountAxis(p.Part) == nil {
		if len(index) > 0 || len(x.At) > 0 {
			c.ds.Errorf(diag.BadIndex, x.Fun.Span, "%s is one part and has no index", p.Part)
			c.n.failed[eq.Name] = true
		}
		return p
	}
	p.How = Each
	if len(index) != 1 || !c.counts(index[0], p.Part) || len(x.At) != 1 || !isName(x.At[0], index[0].Name.Text) {
		c.ds.Errorf(diag.BadIndex, x.Where(), "%s is a list of parts", p.Part).
			Hint("write %s[l∈%s] = %s[l](X)", eq.Name, c.blk.CountAxis(p.Part).Name, p.Part)
		c.n.failed[eq.Name] = true
	}
	return p
}

// counts reports whether an index runs over the axis that counts a list.
func (c *composer) counts(b *notation.Binder, list string) bool {
	id, ok := b.Range.(*notation.Ident)
	return ok && b.Cond == nil && c.blk.CountedList(id.Name.Text) == list
}

func isName(x notation.Expr, name string) bool {
	id, ok := x.(*notation.Ident)
	return ok && id.Name.Text == name && id.Time == nil
}

// chain recognises an iteration through the parts of a list, each beside its own input or not.
func (c *composer) chain(it *notation.Iterate) *Call {
	p := &Call{How: Chain, Arg: it.From, at: it.Span}
	step := it.Step
	if sum, ok := step.(*notation.Binary); ok && sum.Op == "+" && isName(sum.X, it.Name.Text) {
		p.How, step = ResidualChain, sum.Y
	}
	x, ok := step.(*notation.Call)
	if ok {
		p.Part = x.Fun.Text
	}
	if a := c.blk.CountAxis(p.Part); !ok || a == nil || len(x.At) != 1 || !isName(x.At[0], it.Index.Text) ||
		len(x.Args) != 1 || !isName(x.Args[0], it.Name.Text) || !isName(it.Count, a.Name) || len(it.With) > 0 || it.Orient {
		c.ds.Errorf(diag.NotSupported, it.Step.Where(), "an iteration with an index goes through the parts of a list, and does nothing else").
			Hint("write iterate y from X for l∈K : y ← part[l](y), or y ← y + part[l](y), with part[K] : Rule in the header")
		c.n.failed[it.Name.Text] = true
		return &Call{}
	}
	return p
}

func (c *composer) call(eq *check.Equation, x *Call) {
	if c.n.failed[eq.Name] || x.Part == "" {
		return
	}
	c.e.Eq, c.e.Span = eq.ID, eq.Span()
	here := callSite{x.Part, x.frozen}
	if old, ok := c.called[here]; ok {
		c.ds.Errorf(diag.NotSupported, x.at, "the part %s is called twice", x.Part).See(old, "called here first").
			Hint("a call writes the part's memory; declare another part of the same kind, or read this one with frozen %s(…)", x.Part)
		c.n.failed[eq.Name] = true
		return
	}
	c.called[here] = x.at
	t := c.e.Expr(x.Arg)
	if t == nil {
		c.n.failed[eq.Name] = true
		return
	}
	name := ir.PartInputName(x.Part, x.frozen)
	if id, ok := x.Arg.(*notation.Ident); ok {
		name = id.Name.Text
	} else {
		t = c.e.Materialize(t)
		c.e.Named(t.Factors[0].Val, name)
		c.n.Values[name] = t
	}
	c.endStage()
	st := Stage{Eq: eq.ID, Part: x.Part, How: x.How, Frozen: x.frozen, Arg: ident.ASCII(name), Out: ident.ASCII(eq.Name), Axes: append(tensor.AxesOf(c.e.BatchVars()), t.Axes...)}
	axes := t.Axes
	if x.How == Each {
		axes = append([]*ir.Axis{c.e.Axis(c.blk.CountAxis(x.Part))}, axes...)
	}
	st.OutAxes = append(tensor.AxesOf(c.e.BatchVars()), axes...)
	t = &tensor.Tensor{Axes: axes, Factors: []tensor.Factor{{Val: &ir.Value{Axes: st.OutAxes}}}} // its type: the value is the part's
	c.add(st)
	c.made[eq.Name] = t
	if l := c.blk.LevelsOf(x.Part); l != nil && l.Gate != "" && !x.frozen {
		c.add(Stage{Part: x.Part, How: Opens, Gate: ident.ASCII(l.Gate)})
	}
	c.beginStage()
}
