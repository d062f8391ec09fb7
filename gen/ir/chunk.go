package ir

import "slices"

// ChunkAxes returns the axes along which a recurrence takes several tokens in
// one step: axes of its series that no state has and over which a step sums a
// product of two matrices from the series, as the write of many tokens does,
// Σ_c U[c, i] K[c, j]. A window has none: its step is that of one token, which
// looks back. A step with such an axis consists of matrix products, which a
// target should leave whole.
func (s *Scan) ChunkAxes() []*Axis {
	var out []*Axis
	held := func(a *Axis) bool {
		return slices.ContainsFunc(s.Carry, func(c ScanState) bool { return slices.Contains(c.Param.Axes, a) })
	}
	for _, t := range s.Tokens {
		if t.Window != nil {
			continue
		}
		series := s.Body.DependsOn(t.Param)
		for _, a := range t.Param.Axes {
			if !held(a) && !slices.Contains(out, a) && slices.ContainsFunc(s.Body.Body, func(in *Instr) bool { return in.Out != nil && series[in.Out] && in.multiplies(a) }) {
				out = append(out, a)
			}
		}
	}
	return out
}

// multiplies reports whether an instruction sums a product over an axis, one
// factor of which has rows of the output and another its columns.
func (in *Instr) multiplies(a *Axis) bool {
	if in.Op != Prod || len(in.Out.Axes) < 2 {
		return false
	}
	for _, l := range in.Reduced() {
		if in.Loops[l] != a {
			continue
		}
		for i, x := range in.Args {
			for _, y := range in.Args[:i] {
				if apart(x, y, l) && apart(y, x, l) {
					return true
				}
			}
		}
	}
	return false
}

// apart reports whether an argument has the summed loop and one that the other
// argument does not have.
func apart(x, y Arg, sum int) bool {
	a, b := LoopsOf(x.Sub), LoopsOf(y.Sub)
	for l := range a {
		if a[sum] && !b[l] {
			return true
		}
	}
	return false
}
