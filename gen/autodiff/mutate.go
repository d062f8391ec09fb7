package autodiff

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// Break replaces the row of an op in the table of local derivatives by a
// multiple of itself, or by nothing when the factor is zero, until restore is
// called. It is for cmd/mutate, which measures whether a wrong row is noticed;
// nothing may be differentiated meanwhile by anyone else. ok is false for an
// op without a row.
func Break(op ir.Op, factor float64) (restore func(), ok bool) {
	row, ok := vjp[op]
	if !ok {
		return nil, false
	}
	vjp[op] = func(l *local, k int) *ir.Value {
		v := row(l, k)
		if v == nil || factor == 0 {
			return nil
		}
		return l.r.b.Lin(v.Axes, 0, []float64{factor}, ir.All(v))
	}
	return func() { vjp[op] = row }, true
}
