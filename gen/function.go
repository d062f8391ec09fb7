package gen

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/outline"
	"github.com/nl-hecate/hecate/gen/units"
)

// The front of a rule, its projections, convolutions and gates, is the same in many
// rules. What the equations of the front's page compute without a state of the rule is
// outlined: it becomes a function with kernels, vectors and a test of its own, and rules
// for which it is the same program share one package. Its path ends with the hash of
// all that its text depends on, so that a unit is still compiled from its closure alone.

// frontOf is the unit of the front that a rule has equations of, or nil.
func frontOf(blk *check.Block) *notation.Unit {
	for _, eq := range blk.AllEquations() {
		if eq.Unit != nil && eq.Unit.Kind == notation.FrontUnit {
			return eq.Unit
		}
	}
	return nil
}

// frontEquations are the equations of a front in the order of its page.
func frontEquations(blk *check.Block, front *notation.Unit) []*check.Equation {
	out := slices.DeleteFunc(slices.Clone(blk.AllEquations()), func(eq *check.Equation) bool { return eq.Unit != front })
	slices.SortStableFunc(out, func(a, b *check.Equation) int { return a.Span().Start - b.Span().Start })
	return out
}

// Outline divides a program of a rule into the function of its front and the rest; it
// returns nil where the rule has no front or its front computes nothing in this program.
func Outline(blk *check.Block, f *ir.Func) *outline.Cut {
	front := frontOf(blk)
	if front == nil || f == nil {
		return nil
	}
	rank := map[string]int{}
	for i, eq := range frontEquations(blk, front) {
		rank[eq.ID] = i + 1
	}
	return outline.Split(f, units.ID(front), outline.Choice{
		Rank:   func(eq string) int { return rank[eq] - 1 },
		Rename: func(eq string) string { return ofFront(blk, front, eq) },
	})
}

// ofFront is the id of a rule's equation as one of its front.
func ofFront(blk *check.Block, front *notation.Unit, eq string) string {
	return units.ID(front) + strings.TrimPrefix(eq, blk.ID)
}

// outline takes the functions of the front out of the programs of a rule. A unit that is
// emitted alone keeps all in its own kernels: its package is all that there is.
func (c *unitCompiler) outline() {
	if c.out.Kind != abi.RuleUnit || c.out.Alone() {
		return
	}
	for _, s := range c.programs {
		for _, p := range []*program{s.main, s.frozen} {
			if p == nil {
				continue
			}
			if cut := Outline(c.blk, p.fn); cut != nil {
				p.fn, p.front = cut.Rest, &program{name: "Forward", fn: cut.Function}
			}
		}
	}
}

// packages are the unit and the functions that it calls.
func (c *unitCompiler) packages() []*abi.Unit {
	return append([]*abi.Unit{c.out}, c.out.Functions()...)
}

// function is the function of a front as its callers see it.
func (c *unitCompiler) function(program *program) *abi.Unit {
	f, front := program.fn, frontOf(c.blk)
	id := units.ID(front)
	g := &unitCompiler{src: c.src, unit: c.unit, ds: c.ds, blk: c.blk, fns: []*ir.Func{f},
		out: &abi.Unit{Kind: abi.FunctionUnit, Name: front.Name.Text, ID: id, Page: c.src.Path(front.Span.File.Path), Home: c.out.Home}}
	g.header(front)
	p := c.lowered(program)
	if c.ds.HasErrors() {
		return nil
	}
	if p.Bwd != nil {
		p.Bwd.Name = "Backward"
	}
	g.out.Stages = []abi.Stage{{Name: "Forward", Pair: p}}
	for _, r := range f.Results {
		if !r.State {
			v := abi.Value{Name: r.Name, Elem: r.Val.Elem, Dims: dimsOf(r.Val)}
			if s := c.symbol(r.Name); s != nil {
				v.Domain = domain(s.Type)
			}
			g.out.Results = append(g.out.Results, v)
		}
	}
	for _, param := range f.Params {
		g.param(param)
	}
	g.sizes()
	g.frontEquations(front, f)
	g.out.Hash = functionHash(g.out, f)
	return g.out
}

// frontEquations lists the equations that the function computes.
func (c *unitCompiler) frontEquations(front *notation.Unit, f *ir.Func) {
	computed := map[string]bool{}
	for _, in := range f.Body {
		computed[in.Eq] = true
		for _, eq := range in.AlsoEqs {
			computed[eq] = true
		}
	}
	for _, eq := range frontEquations(c.blk, front) {
		if id := ofFront(c.blk, front, eq.ID); computed[id] {
			c.out.Equations = append(c.out.Equations, c.equation(eq, id))
		}
	}
}

// functionHash is the digest of all that the text of a function depends on.
func functionHash(u *abi.Unit, f *ir.Func) string {
	h := sha256.New()
	fmt.Fprintln(h, u.Name, u.ID, u.Page, u.Header, u.Equations, u.Sizes, f)
	for _, w := range u.Weights {
		fmt.Fprintln(h, w)
	}
	for _, s := range u.States {
		fmt.Fprintln(h, s)
	}
	for _, v := range slices.Concat(u.Inputs, u.Results) {
		fmt.Fprintln(h, v.Name, v.Elem, v.Dims, v.Lo, v.Hi, v.Extra, v.HasRange)
		if v.Domain != nil {
			fmt.Fprintln(h, *v.Domain)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
