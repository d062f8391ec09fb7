package claim

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/compose"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Claims of operations, compositions and models: about their inputs, their result, and
// the adjoints of these.

// An outputClaim serves an operation, a composition or a model: its names are those of the
// block, for the whole batch, and its adjoints those of the output.
type outputClaim struct {
	*names
	*compose.Names
	e    *expr.Builder
	bars map[string]*tensor.Tensor
}

func newOutputClaim(blk *check.Block, name string, ds *diag.List) (*expr.Builder, claimNamer) {
	e, p := compose.NewBuilder(blk, name, ds)
	n := &outputClaim{names: newNames(), Names: p, e: e}
	e.Names = n
	for _, s := range blk.SymSeq {
		if s.Kind == check.Input || s.Kind == check.Constant {
			n.Resolve(e, s, expr.Time{}, s.Span)
		}
	}
	n.equations()
	return e, n
}

// equations builds the equations of the block; what a part returns is a parameter.
func (n *outputClaim) equations() {
	for _, eq := range n.e.Block.Eqs {
		if x := compose.CallOf(n.e.Block, eq); x != nil {
			n.partResult(n.e, eq, x)
		} else {
			n.Names.Equation(n.e, eq)
		}
	}
}

// partResult is the result of a part: a parameter of the type of its argument, with an
// axis over the list where all parts of a list are called.
func (n *outputClaim) partResult(e *expr.Builder, eq *check.Equation, x *compose.Call) {
	if x.Arg == nil {
		return
	}
	t := e.Expr(x.Arg)
	if t == nil {
		return
	}
	if x.How == compose.Each {
		t = t.Clone()
		t.Axes = append([]*ir.Axis{e.Axis(e.Block.CountAxis(x.Part))}, t.Axes...)
	}
	v := e.Func.AddParam(ident.ASCII(eq.Name), ir.Input, ir.Real, append(tensor.AxesOf(e.BatchVars()), t.Axes...)...)
	n.frees[v.Name] = Free{Text: eq.Name}
	n.Names.Values[eq.Name] = e.FromValue(v, e.BatchVars(), t.Axes)
}

func (n *outputClaim) vars() []*tensor.LoopVar { return n.e.BatchVars() }

// Resolve finds the value of a name of the block; its parameters are free.
func (n *outputClaim) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	before := len(e.Func.Params)
	if n.Names.Values[sym.Name] == nil && sym.Kind == check.Outer { // per batch entry, and so is its adjoint
		n.Names.Values[sym.Name] = e.Param(sym, ir.Outer, e.BatchVars())
	}
	t := n.Names.Resolve(e, sym, when, span)
	for _, p := range e.Func.Params[before:] {
		n.frees[p.Name] = Free{Text: sym.Name, Sym: sym, Type: sym.Type}
	}
	return t
}

// Adjoint is an adjoint: of the output, which is a parameter, or of an input.
func (n *outputClaim) Adjoint(e *expr.Builder, x *notation.Ident, _ string) *tensor.Tensor {
	if n.bars == nil && !n.reverse(e) {
		return nil
	}
	if t := n.bars[x.Name.Text]; t != nil {
		return t
	}
	return n.refuseAdjoint(e, x, "an operation has the adjoints of its operands and of out")
}

// reverse derives the adjoints of the operation from that of its output.
func (n *outputClaim) reverse(e *expr.Builder) bool {
	out := e.Isolated(func() *tensor.Tensor { return n.differentiated(e) })
	if out == nil {
		return false
	}
	val := e.ValueOver(e.Copy(e.Materialize(out)), e.BatchVars())
	name, wrt := n.output(), realParams(e.Func)
	bar := e.Func.AddParam(ir.AdjointName(ident.ASCII(name)), ir.Adjoint, ir.Real, val.Axes...)
	n.frees[bar.Name] = Free{Text: name + "̄"}
	n.bars = map[string]*tensor.Tensor{name: e.FromValue(bar, e.BatchVars(), out.Axes)}
	n.bars[name].Row = out.Row
	adj := autodiff.Reverse(e.IR, map[*ir.Value]*ir.Value{val: bar}, wrt)
	for _, name := range slices.Sorted(maps.Keys(n.Names.Values)) {
		t := n.Names.Values[name]
		if t == nil || len(t.Factors) != 1 || !slices.Contains(wrt, t.Factors[0].Val) {
			continue
		}
		n.bars[name] = adjointOf(e, adj, t)
	}
	return true
}

// output is the name of the result of a unit; of a model, the last scalar that it
// computes.
func (n *outputClaim) output() string {
	if n.e.Block.Unit.Kind == notation.ModelUnit {
		for _, eq := range slices.Backward(n.e.Block.Eqs) {
			if t := n.Names.Values[eq.Name]; t != nil && len(t.Axes) == 0 {
				return eq.Name
			}
		}
	}
	return "out"
}

// differentiated is the output, or the value of relax in its place.
func (n *outputClaim) differentiated(e *expr.Builder) *tensor.Tensor {
	out := n.Names.Values[n.output()]
	if out == nil {
		e.Diags.Errorf(diag.UnknownName, e.Span, "this block has no output to differentiate")
		return nil
	}
	for _, c := range e.Block.Claims {
		if c.Keyword.Text == "relax" {
			e.Push(&expr.Scope{})
			if !e.With(c.With) {
				return nil
			}
			out = e.Expr(c.Right)
			e.Pop()
		}
	}
	return out
}
