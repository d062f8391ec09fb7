package chunked

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
)

// The program of a rule in chunks.

// Program builds the program of a rule that a strategy computes: values that depend on no
// state for all tokens, then one scan over chunks and one over the remaining tokens.
func Program(e *expr.Builder, n *scan.Names) *ir.Func {
	before := e.Diags.Len()
	for _, eq := range e.Block.Eqs {
		if eq.Class != check.Recurrent {
			n.Equation(e, eq)
		}
	}
	if e.Diags.Len() > before && e.Diags.HasErrors() {
		return nil
	}
	buildSeriesOfRule(n, e)
	buildScans(n, e)
	if e.Diags.Len() > before && e.Diags.HasErrors() {
		return nil
	}
	e.NameWindowStates()
	program.ListAxes(e.Func)
	return e.Func
}

// buildSeriesOfRule prepares the scan over the tokens after the last whole chunk: the
// rule's own names denote the same axes, and its series are built beside those of the
// strategy.
func buildSeriesOfRule(n *scan.Names, e *expr.Builder) {
	whole, rule := e.Block, e.Block.Strategy.Rule
	for name, a := range rule.Axes {
		if b := whole.Axes[name]; b != nil {
			e.Axes[a] = e.Axis(b)
		}
	}
	e.Block = rule
	for _, eq := range rule.Eqs {
		if eq.Class != check.Recurrent && n.Values[eq.Name] == nil {
			n.Equation(e, eq)
		}
	}
	e.Block = whole
}

// buildScans builds the scans of a rule that a strategy computes.
func buildScans(n *scan.Names, e *expr.Builder) {
	c := newTiling(e)
	s := newChunk(n, e, c)
	if s.matchForms(); e.Diags.HasErrors() {
		return
	}
	for _, eq := range e.Block.Eqs {
		if eq.Class == check.Recurrent && eq.Name == "y" {
			s.value(eq, e.Block.Unit.Name.Span)
		}
	}
	if e.Diags.HasErrors() {
		return
	}
	if s.vals["y"] == nil {
		panic("irbuild: BUG: " + e.Block.ID + " has no answer in chunks, and nothing was said about it")
	}
	y := s.close()
	if e.Diags.HasErrors() {
		return
	}
	if c.remaining != nil {
		whole := e.Block
		e.Block = whole.Strategy.Rule
		t := scan.NewStepAfter(e, n, &scan.Remainder{Tokens: c.remaining, Slice: c.remainder, States: c.final})
		for _, eq := range e.Block.Eqs {
			if eq.Class == check.Recurrent {
				t.Equation(eq)
			}
		}
		if e.Diags.HasErrors() {
			return
		}
		y = c.concat(e, y, t.Close())
		e.Block = whole
	} else {
		y = c.concat(e, y, nil)
		for _, sym := range e.Block.SymSeq {
			if v := c.final[sym.Name]; v != nil {
				e.Func.Results = append(e.Func.Results, ir.Result{Name: n.States[sym.Name].Name, Val: v, State: true})
			}
		}
	}
	e.Func.Results = append([]ir.Result{{Name: "y", Val: y}}, e.Func.Results...)
}
