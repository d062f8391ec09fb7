package numeric

import (
	"math"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// MostRoundings is how far two orders of the same operations may be apart, by how far
// one rounding of each moves the result.
const MostRoundings = 100

// RoundingError is how far the results of a program move where each of its instructions is
// off by one rounding.
func RoundingError(f *ir.Func, sizes map[string]int, params Tensors) map[string]float64 {
	const ulp, runs = 0x1p-52, 4
	rng := rand.New(rand.NewPCG(1, 2))
	plain, off := interp.Run(f, sizes, params), map[string]float64{}
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
				off[name] = math.Max(off[name], math.Abs(x-plain[name].Data[i]))
			}
		}
	}
	return off
}
