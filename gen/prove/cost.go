package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// The cost of a program is a polynomial in its sizes: multiply-adds of its
// simplified form. a·b + c counts one, and so does a lone product and a lone
// sum; a copy, a change of sign and a comparison count nothing, functions such
// as exp are counted apart.
//
// An addition is free where it follows a product that nothing else reads: the
// two are one multiply-add. So ρM − (θe)kᵀ is two per entry, not three.

// A Count is the cost of a program.
type Count struct {
	Adds  shape.Poly            // multiply-adds
	Funcs map[string]shape.Poly // exp, log, … by name
}

func (c Count) String() string {
	out := c.Adds.String()
	var names []string
	for n := range c.Funcs {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		out += fmt.Sprintf(", %s·(%s)", n, c.Funcs[n])
	}
	return out
}

// CostOf counts one run of a program, a scan's body aside.
func CostOf(f *ir.Func) Count {
	c := Count{Funcs: map[string]shape.Poly{}}
	uses := f.Uses()
	for _, in := range f.Body {
		if in.Scan == nil {
			c.instr(in, uses)
		}
	}
	return c
}

func (c *Count) instr(in *ir.Instr, uses map[*ir.Value]int) {
	box := shape.Int(1)
	for _, a := range in.Loops {
		box = box.Mul(a.Size)
	}
	n := int64(0)
	switch in.Op {
	case ir.Prod:
		n = products(in)
		if len(in.Loops) > len(in.Out.Axes) {
			n = max(n, 1)
		}
	case ir.Lin:
		n = sums(in, uses)
	case ir.Softmax, ir.LogSumExp:
		c.Funcs["exp"] = c.Funcs["exp"].Add(box)
		n = 2
	case ir.SolveOp:
		c.search(in)
	case ir.TriSolve:
		// A row takes one for each row before it.
		t, _ := in.Triangle()
		c.Adds = c.Adds.Add(box.Sub(columnsOf(in, t)).Mul(shape.Ratio(1, 2)))
	case ir.Div, ir.Pow, ir.Exp, ir.Log, ir.Log1p, ir.Expm1, ir.Sqrt, ir.Tanh, ir.Sigmoid, ir.Softplus, ir.Sin, ir.Cos, ir.Erf:
		c.Funcs[in.Op.String()] = c.Funcs[in.Op.String()].Add(box)
	}
	c.Adds = c.Adds.Add(box.Mul(shape.Int(n)))
}

// columnsOf is the box of an instruction without one of its loops.
func columnsOf(in *ir.Instr, loop int) shape.Poly {
	n := shape.Int(1)
	for l, a := range in.Loops {
		if l != loop {
			n = n.Mul(a.Size)
		}
	}
	return n
}

// search counts a solve: a function at each of its points, and its equation
// once there, however often it is tried.
func (c *Count) search(in *ir.Instr) {
	points := shape.Int(1)
	for _, a := range in.Out.Axes {
		points = points.Mul(a.Size)
	}
	once := CostOf(in.Solve.Residual)
	once.Funcs[in.Op.String()] = once.Funcs[in.Op.String()].Add(shape.Int(1))
	c.Adds = c.Adds.Add(once.Adds.Mul(points))
	for f, n := range once.Funcs {
		c.Funcs[f] = c.Funcs[f].Add(n.Mul(points))
	}
}

// products is how many products a point of a Prod takes.
func products(in *ir.Instr) int64 {
	n := int64(len(in.Args))
	if c := in.Coef[0]; c != 1 && c != -1 {
		n++
	}
	return max(n-1, 0)
}

// sums is how many operations an entry of a Lin takes: its own products, and
// the additions that no product is left to be merged with.
func sums(in *ir.Instr, uses map[*ir.Value]int) int64 {
	own, merged := int64(0), int64(0)
	for i, a := range in.Args {
		d := a.Val.Def
		switch {
		case in.Coef[i] != 1 && in.Coef[i] != -1:
			own++
		case d != nil && d.Op == ir.Prod && uses[a.Val] == 1 && products(d) > 0 && len(d.Loops) == len(d.Out.Axes):
			merged++
		}
	}
	additions := int64(len(in.Args)) - 1
	if in.Coef[len(in.Args)] != 0 {
		additions++
	}
	return own + max(0, additions-own-merged)
}

// StepCost is the cost of one token of a rule: the body of its scan. ok is
// false for a rule without a state.
func StepCost(f *ir.Func) (Count, bool) {
	g, _ := f.Clone()
	simplify.Simplify(g)
	if r := recurrenceOf(g); r != nil {
		r.scan.SetResults(nil)
		return CostOf(r.scan.Body), true
	}
	return Count{}, false
}

// ruleCost compares the page's cost lines of a rule with the count.
func (p *prover) ruleCost(f *ir.Func) {
	for _, c := range own(p, p.blk.Costs) {
		count, ok := StepCost(f)
		if c.Name.Text != "write+read" || !ok {
			p.noCost(c, "the cost of a step is called write+read")
			continue
		}
		p.cost(c, count, f)
	}
}

// opCost compares the cost lines of an operation: what one lane takes.
func (p *prover) opCost(f *ir.Func) {
	for _, c := range own(p, p.blk.Costs) {
		if c.Name.Text != "forward" {
			p.noCost(c, "the cost of an operation is called forward")
			continue
		}
		g, _ := f.Clone()
		simplify.Simplify(g)
		count := CostOf(g)
		count.Adds = count.Adds.Replace(lanes, shape.Int(1))
		p.cost(c, count, f)
	}
}

// composeCost compares the cost lines of a composition or model: what its own
// equations take in one lane and one call. What the parts take stands on theirs.
func (p *prover) composeCost(prog *irbuild.Program) {
	for _, c := range own(p, p.blk.Costs) {
		if c.Name.Text != "forward" {
			p.noCost(c, "the cost of a "+p.blk.Unit.Kind.String()+" is called forward")
			continue
		}
		total := Count{Funcs: map[string]shape.Poly{}}
		var last *ir.Func
		for _, s := range prog.Stages {
			if s.Func == nil {
				continue
			}
			last, _ = s.Func.Clone()
			simplify.Simplify(last)
			total.add(CostOf(last))
		}
		total.Adds = total.Adds.Replace(lanes, shape.Int(1))
		p.cost(c, total, last)
	}
}

func (c *Count) add(d Count) {
	c.Adds = c.Adds.Add(d.Adds)
	for n, x := range d.Funcs {
		c.Funcs[n] = c.Funcs[n].Add(x)
	}
}

func (p *prover) noCost(c *notation.Cost, hint string) {
	p.add(Item{Kind: Cost, Name: c.Name.Text, Span: c.Span, Evidence: failed("nothing of this name")})
	p.ds.Errorf(diag.NotProvable, c.Name.Span, "nothing in %s is counted as %s", p.unit.Name.Text, c.Name.Text).Hint("%s", hint)
}

// cost holds a line to a count. Where another page's line does not hold, because
// the unit has other options, the count itself is listed.
func (p *prover) cost(c *notation.Cost, count Count, f *ir.Func) {
	said := p.line(c.Span, c.When, func() {
		it := Item{Kind: Cost, Name: c.Name.Text, Text: notation.Print(c, notation.Unicode), Span: c.Span}
		it.Evidence = p.costEvidence(c, count, f, "")
		p.add(it)
	})
	if !said {
		p.add(Item{Kind: Cost, Name: c.Name.Text + ".counted", Span: p.unit.Span, Text: "cost " + c.Name.Text + " = " + count.Adds.String(),
			Evidence: Evidence{Verdict: Proved, Note: "counted " + count.String()}})
	}
}

// costEvidence holds a line to a count; where is added to the message.
func (p *prover) costEvidence(c *notation.Cost, count Count, f *ir.Func, where string) Evidence {
	said, ok := p.sizes(c.Value)
	room, ok2 := p.sizes(c.Big)
	written := c.Value // O(p) alone has no value
	if written == nil || ok && !ok2 {
		written = c.Big
	}
	if !ok || !ok2 {
		p.ds.Errorf(diag.NotProvable, written.Where(), "this is no size").Hint("a cost is a sum of products of sizes")
		return failed("no size")
	}
	diff := count.Adds.Sub(said)
	if c.Big == nil && !diff.IsZero() || c.Big != nil && !diff.BoundedBy(room) {
		d := p.ds.Errorf(diag.CostDiffers, written.Where(), "%s takes %s operations%s", c.Name.Text, leading(count.Adds, room), where).Labelf("the page says %s", notation.Print(written, notation.Unicode))
		if e := p.dearest(f); e != nil {
			d.See(e.Span(), "most of them are made here")
		}
		d.Hint("one multiply-add counts once, and a + O(p) covers what p bounds")
		return failed("counted " + count.String())
	}
	return Evidence{Verdict: Proved, Note: "counted " + count.String()}
}

// sizes reads a polynomial of the page in the program's names.
func (p *prover) sizes(e notation.Expr) (shape.Poly, bool) {
	if e == nil {
		return shape.Poly{}, true
	}
	q, ok := p.blk.SizeOf(e, nil)
	return ascii(q), ok
}

// leading prints the part of a count that the rest term does not cover.
func leading(n, room shape.Poly) string {
	var parts []string
	for _, m := range n.Monomials() {
		mono := shape.Int(1)
		for _, s := range m.Syms {
			mono = mono.Mul(shape.Sym(s))
		}
		if !room.IsZero() && mono.BoundedBy(room) {
			continue
		}
		if m.Coef.IsInt() {
			mono = mono.Mul(shape.Int(m.Coef.Num().Int64()))
		}
		parts = append(parts, mono.String())
	}
	if len(parts) == 0 {
		return "only lower-order"
	}
	return strings.Join(parts, " + ")
}

// dearest is the equation with the largest share of a step, by the degree of
// its loops.
func (p *prover) dearest(f *ir.Func) *check.Equation {
	if f == nil {
		return nil
	}
	g, _ := f.Clone()
	simplify.Simplify(g)
	r := recurrenceOf(g)
	if r == nil {
		return nil
	}
	total := map[string]int{}
	best := ""
	for _, in := range r.scan.Body.Body {
		if in.Eq != "" {
			total[in.Eq] += 1 << (4 * min(len(in.Loops), 7))
			if best == "" || total[in.Eq] > total[best] {
				best = in.Eq
			}
		}
	}
	for _, e := range p.blk.Eqs {
		if e.ID == best {
			return e
		}
	}
	return nil
}
