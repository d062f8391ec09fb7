package autodiff

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// Break multiplies a row of the table of derivatives by a factor, or removes
// it when the factor is zero, until restore is called. cmd/mutate and tests
// use it to see that a wrong row is noticed; nothing else may differentiate
// meanwhile. ok is false for a primitive without a row.
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
