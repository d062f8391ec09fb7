package numeric

import (
	"math"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// MostRoundings is the factor of RoundingError within which two orders of the same
// operations agree.
const MostRoundings = 100

// RoundingError estimates the rounding error of each result of a program by random
// perturbation (as in stochastic arithmetic): the largest change of the result where every
// instruction's output is off by up to one unit in the last place.
func RoundingError(f *ir.Func, sizes map[string]int, params Tensors) map[string]float64 {
	const ulp, runs = 0x1p-52, 4
	rng := rand.New(rand.NewPCG(1, 2))
	exact, change := interp.Run(f, sizes, params), map[string]float64{}
	for range runs {
		p := interp.Compile(f)
		p.ObserveInstr = func(in *ir.Instr, out *interp.Tensor) {
			if in.Out == nil || in.Out.Elem != ir.Real || in.Op == ir.Const {
				return
			}
			for i := range out.Data {
				out.Data[i] *= 1 + ulp*(2*rng.Float64()-1)
			}
		}
		for name, t := range p.Run(sizes, params) {
			for i, x := range t.Data {
				change[name] = math.Max(change[name], math.Abs(x-exact[name].Data[i]))
			}
		}
	}
	return change
}
