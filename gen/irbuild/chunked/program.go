package chunked

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
	"github.com/nl-hecate/hecate/gen/shape"
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

// Strip mining of time: the T tokens of a call are cut into ⌊T/C⌋ whole chunks of C
// tokens, which one scan takes chunk by chunk, and T mod C remaining tokens, which
// the scan of the rule takes token by token. A call of fewer tokens than a chunk is
// all remainder, so a stream of single tokens runs the rule itself.

// A tiling divides the tokens of one call into chunks.
type tiling struct {
	size      int      // C
	chunks    *ir.Axis // the whole chunks
	token     *ir.Axis // the tokens of one
	remaining *ir.Axis // the tokens after them; nil when there are none, with C = 1
	final     map[string]*ir.Value
}

func newTiling(e *expr.Builder) *tiling {
	s := e.Block.Strategy
	c := &tiling{size: s.Length(), token: e.Axis(e.Block.AxisOf(s.Size.Name)), final: map[string]*ir.Value{}}
	n := shape.Floor("T", int64(c.size))
	c.chunks = e.Func.NewSizedAxis("chunks", n)
	if c.size > 1 {
		c.remaining = e.Func.NewSizedAxis("rest", e.Token.Axis.Size.Sub(n.Mul(shape.Int(int64(c.size)))))
	}
	return c
}

// intoChunks is a series by chunks: [batch, chunk, token, …] of [batch, token, …].
func (c *tiling) intoChunks(e *expr.Builder, v *ir.Value) *ir.Value {
	return c.slice(e, v, []*ir.Axis{c.chunks, c.token}, ir.Sub{Terms: []ir.Term{{Loop: 1, Coef: c.size}, {Loop: 2, Coef: 1}}})
}

// remainder is the part of a series after the last whole chunk.
func (c *tiling) remainder(e *expr.Builder, v *ir.Value) *ir.Value {
	return c.slice(e, v, []*ir.Axis{c.remaining}, ir.Sub{Terms: []ir.Term{{Loop: 1, Coef: 1}}, Const: c.chunks.Size.Mul(shape.Int(int64(c.size)))})
}

// slice copies a series with other axes in the place of its tokens; at is the token that
// an entry reads.
func (c *tiling) slice(e *expr.Builder, v *ir.Value, time []*ir.Axis, at ir.Sub) *ir.Value {
	axes := append([]*ir.Axis{v.Axes[0]}, time...)
	sub := []ir.Sub{ir.L(0), at}
	for _, a := range v.Axes[2:] {
		sub = append(sub, ir.L(len(axes)))
		axes = append(axes, a)
	}
	out := e.Build().Prod(axes, axes, ir.Ls(len(axes)), 1, ir.At(v, sub...))
	out.Elem = v.Elem
	return out
}

// concat concatenates y of the chunks, [batch, chunk, token, …], and y of the tokens after
// them to a series of the call.
func (c *tiling) concat(e *expr.Builder, whole, rest *ir.Value) *ir.Value {
	time := e.Token.Axis
	if c.remaining != nil {
		time = e.SizedAxis(c.chunks.Size.Mul(shape.Int(int64(c.size))))
	}
	axes := append([]*ir.Axis{whole.Axes[0], time}, whole.Axes[3:]...)
	y := e.Build().Reshape(whole, axes...)
	if c.remaining == nil {
		return y
	}
	axes = append([]*ir.Axis{whole.Axes[0], e.Token.Axis}, whole.Axes[3:]...)
	return e.IR.Stack(axes, 1, y, rest)
}
