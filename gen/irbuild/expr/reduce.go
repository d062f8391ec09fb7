package expr

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Reductions: Σ, mean, softmax, logsumexp, max and min.

// reduce builds Σ, mean, softmax, logsumexp, max and min over bound indices.
func (e *Builder) reduce(x *notation.Reduce) *tensor.Tensor {
	e.Push(&Scope{})
	defer e.Pop()
	vars, unions, conds, ok := e.Binders(x.Binders)
	if !ok {
		return nil
	}
	if len(unions) > 0 {
		return e.overUnion(x, vars, unions[0])
	}
	body := e.Value(x.Body)
	if body == nil {
		return nil
	}
	switch x.Op {
	case "Σ":
		return e.SumOver(e.Mask(body, conds), vars)
	case "mean":
		return e.mean(x, body, vars, conds)
	case "softmax", "logsumexp", "max":
		if len(conds) > 0 {
			e.Errorf(diag.NotSupported, x, "a condition on data cannot occur in %s", x.Op).Hint("compare indices, or choose inside the parentheses")
			return nil
		}
		return e.normalise(x, body, vars)
	case "min":
		if t := e.normalise(x, body.Scale(-1), vars); t != nil {
			return t.Scale(-1)
		}
		return nil
	}
	e.Errorf(diag.NotSupported, x, "%s cannot be computed here", x.Op).Hint("only Σ, mean, softmax, logsumexp, max and min")
	return nil
}

// mean is the sum divided by the number of entries that count. The mean of no entries is
// the value that the page declares for it.
func (e *Builder) mean(x *notation.Reduce, body *tensor.Tensor, vars []*tensor.LoopVar, conds []*tensor.Tensor) *tensor.Tensor {
	sum := e.SumOver(e.Mask(body, conds), vars)
	count := e.SumOver(e.Mask(tensor.Number(1), conds), vars)
	if x.Empty == nil {
		return e.Entrywise(ir.Div, sum, count)
	}
	empty := e.Value(x.Empty)
	if empty == nil || !e.Same(x, x.Body, x.Empty, sum, empty) {
		return nil
	}
	none := e.Entrywise(ir.Equal, count, tensor.Number(0))
	return e.Select(none, empty, e.Entrywise(ir.Div, sum, e.Select(none, tensor.Number(1), count)))
}

// normalise builds softmax, logsumexp and max. A softmax over an index that it
// binds itself is a vector over that index; over one that the left-hand side
// binds it is the entry at that index.
func (e *Builder) normalise(x *notation.Reduce, body *tensor.Tensor, vars []*tensor.LoopVar) *tensor.Tensor {
	op := map[string]ir.Op{"softmax": ir.Softmax, "logsumexp": ir.LogSumExp, "max": ir.Max, "min": ir.Max}[x.Op]
	if len(body.Axes) > 0 {
		e.Errorf(diag.NotScalar, x.Body, "%s needs a number, and %s is %s", x.Op, Text(x.Body), e.Type(body))
		return nil
	}
	body = e.Materialize(body)
	out := e.Emit(tensor.Instr{Op: op, Args: body.Operands(), Over: vars})
	if op != ir.Softmax || x.Binders[0].Range == nil {
		return out
	}
	return e.Tabulate(out, vars)
}
