package protocol

import (
	"math"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
)

// A rule that writes values under keys and asks with queries answers with a product of
// three of what it is given, times what it learned. One such rule after another takes
// the third power each time: a chain of four begins at 1e-8 and ends below 1e-260. Its
// gradients are no zeros, and float64 has no numbers for them: the gradient of a gate's
// weights is that of its bias, 1e-245, times keys and values, 1e-79.
//
// Such a scenario is read again with tables some times as large, which the chain takes
// to a high power. What is a zero stays one. After a norm the same chain begins at 1 and
// ends above 1e6, where a gate is zero to the last bit and lets nothing through; that
// one is read with smaller tables.

// faint is where the product of three numbers may be none any more.
const faint = 1e-100

// gains are what tables are multiplied with, larger ones first. One step of them changes
// the answer of a chain of four by 1e13, so one leaves neither zeros nor NaN.
var gains = func() (of []float64) {
	for i := 1.; i <= 32; i++ {
		of = append(of, math.Exp2(i/16))
	}
	for i := 1.; i <= 16; i++ {
		of = append(of, math.Exp2(-i/16))
	}
	return of
}()

// louder multiplies all tables of parameters.
func (s *subject[F]) louder(gain float64) {
	s.write(func(_ int, p context.Param, data []F) {
		for j := range data {
			if !p.Fixed && len(data) > 1 {
				data[j] *= F(gain)
			}
		}
	})
}

// lives reports whether there is a number in x beside zeros, and no NaN and no ∞.
func lives[F num.Float](x []F) bool {
	p := peak(x)
	return p > 0 && p <= math.MaxFloat64
}

// faint reports whether a call gave a gradient or left a state whose product with
// two others may be lost.
func (r result[F]) faint() bool {
	for _, named := range []map[string][]F{r.grads, r.memory} {
		for _, x := range named {
			if p := peak(x); p > 0 && p <= faint {
				return true
			}
		}
	}
	return false
}
