package interp

import "github.com/nl-hecate/hecate/gen/ir"

// stack copies each argument to its place along the stacked axis: an
// argument's own box, moved by the constant of its subscript there.
func (e *Env) stack(in *ir.Instr, out *Tensor) {
	for _, a := range in.Args {
		src := e.vals[a.Val]
		mul, base := 1, 0
		stride := make([]int, len(src.Shape))
		outStride := make([]int, len(out.Shape))
		for i := len(out.Shape) - 1; i >= 0; i-- {
			outStride[i] = mul
			mul *= out.Shape[i]
		}
		for i, s := range a.Sub {
			loop := s.Terms[0].Loop
			stride[i] = outStride[loop]
			base -= e.size(s.Const) * outStride[loop]
		}
		n := 0
		each(src.Shape, nil, func(idx []int) {
			o := base
			for i, x := range idx {
				o += x * stride[i]
			}
			out.Data[o] = src.Data[n]
			n++
		})
	}
}
