package emitcuda

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Operands of products are in bfloat16 where the constant bf16 of the text is 1. Then each is workspace, and
// a function copies its entries. Where it is 0 an operand is float, the address of its source is its
// own, and that function has no blocks.

// BFloat16 is the constant among the sizes of a kernel, and bfloat16Name what the text calls it.
const (
	BFloat16     = "bfloat16 operands" // no size of a page has this name
	bfloat16Name = "bf16"
)

// operandType is the type of operands in the text.
const operandType = "operand"

// isOperand reports whether a buffer is an operand.
func isOperand(b *plan.Buffer) bool { return b != nil && b.Role == plan.Operand }

// operands declares the constant if the kernel has operands.
func (e *emitter) operands() {
	if !slices.ContainsFunc(e.k.Work, isOperand) {
		return
	}
	n := e.defaults[BFloat16]
	e.defaults = maps.Clone(e.defaults)
	if e.defaults == nil {
		e.defaults = map[string]int{}
	}
	e.defaults[BFloat16], e.sizes[BFloat16], e.text.Defaults[BFloat16] = n, bfloat16Name, n
}

// narrow prints the copy of an operand.
func (e *emitter) narrow(n *plan.Narrow) {
	f := e.newFunction(gridThreads)
	f.narrows = true
	total := n.Buf.Len().Mul(shape.Sym(BFloat16))
	f.item(total, f.count(total))
	to, from := f.target(n.Buf), f.buffer(n.Buf.NarrowOf)
	f.Line("%s[item] = %s(%s[item]);", to, operandType, from)
	f.finish(nil, []string{from + " in bfloat16 into " + to + "."}, Factor{total, gridThreads})
}
