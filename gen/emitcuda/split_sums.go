package emitcuda

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Sums over batches and tokens into few entries, such as the gradient of a bias,
// would leave a thread for each entry and a long loop in it. They are cut into
// chunks: the points of the open loops, in order, go in equal parts to as many
// threads for each entry, each of which adds to a copy of the buffer of its own,
// and a later launch adds the copies, in order.

// splitCount is the number of parts.
const splitCount = 64

// splitLoops lists the loops of a nest that are cut, and the buffers of which each
// chunk has a copy. spread are the loops that own.
func (e *emitter) splitLoops(x *dependence.Nest, spread []*plan.Loop) (cut []*plan.Loop, shared []*plan.Buffer) {
	if x.HasGemm || x.Node == nil || len(x.Totals) > 0 {
		return nil, nil
	}
	for _, l := range dependence.Chain(x.Node) {
		b := dependence.BoxOf(l)
		if slices.Contains(spread, l) || !b.Known || l.Down || e.constant(b.Extent()) || !x.ScalarsIndependent(l) {
			continue
		}
		if e.sumsOver(x, l) {
			cut = append(cut, l)
		}
	}
	for _, b := range e.inOrder(x.Writes) {
		if slices.ContainsFunc(cut, func(l *plan.Loop) bool { return !x.Owns(l.Var, b) }) {
			if owned(x, b, spread) == nil {
				return nil, nil
			}
			shared = append(shared, b)
		}
	}
	return cut, shared
}

// sumsOver reports whether a loop owns what the nest writes but for sums into
// buffers that do not grow with the loop.
func (e *emitter) sumsOver(x *dependence.Nest, l *plan.Loop) bool {
	for b := range x.Writes {
		if x.Owns(l.Var, b) {
			continue
		}
		grows := slices.ContainsFunc(b.Len().Symbols(), func(s string) bool { return slices.Contains(dependence.BoxOf(l).Extent().Symbols(), s) })
		if !x.Sums[b] || grows {
			return false
		}
	}
	return true
}

// inSplits prints a nest of which some loops are cut.
func (e *emitter) inSplits(p *part, x *dependence.Nest, spread, cut []*plan.Loop, shared []*plan.Buffer) {
	count := func(*plan.Buffer) shape.Poly { return shape.Int(splitCount) }
	copies := e.copiesOf(shared, count)
	f := e.newFunction(gridThreads)
	chunk := &plan.Loop{Var: &plan.Var{Name: "chunk"}, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(shape.Int(splitCount))}}
	total := items(spread).Mul(shape.Int(splitCount))
	all := append([]*plan.Loop{chunk}, spread...)
	f.item(total, f.points(all))
	f.each(all, "item")
	number := f.vars[chunk.Var]
	for _, b := range shared {
		f.ownCopy(b, copies[b], number)
		f.clearOwn(x, b, spread)
	}
	f.scalarsOf(p.nodes)
	f.Line("const i64 points = %s, length = (points + %d) / %d;", f.points(cut), splitCount-1, splitCount)
	f.Line("#pragma unroll 1")
	f.block(fmt.Sprintf("for (i64 at = %s * length; at < points && at < (%s + 1) * length; ++at)", number, number), func() {
		f.each(cut, "at")
		f.nodes(p.nodes)
	})
	words := fmt.Sprintf("%d threads for each %s: the points %s go to them in equal parts, each of which adds to a copy.", splitCount, tuple(spread), tuple(cut))
	f.finish(p.eqs, []string{words}, Factor{total, gridThreads})
	e.addCopies(p, shared, copies, count)
}
