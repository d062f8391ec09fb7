package zero

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/generated/compositions/rotarywindow"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// turnErrors are what the page of RotaryWindow says of each arithmetic: how far the angle between two tokens of a window may
// be from their distance times the frequency, in radians, where both are in one block of 65,536 positions and where they are not.
// A product of position and frequency, without digits, is off by 0.5 at the last of these positions.
var turnErrors = map[string]struct{ inBlock, across float64 }{"portable": {3e-4, 7e-4}, "fma": {2e-4, 2e-4}}

// TestTurnsOfLongStreams compares the turns that the kernel keeps for its backward with the
// distances of tokens, at positions up to those where float32 ends to count.
func TestTurnsOfLongStreams(t *testing.T) {
	for _, target := range slices.Compact([]cpu.Target{cpu.Portable, cpu.Best()}) {
		t.Run(target.String(), func(t *testing.T) {
			restore, err := cpu.Force(target)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			e := turnErrors[target.Arithmetic()]
			turns(t, e.inBlock, e.across)
		})
	}
}

func turns(t *testing.T, inBlock, across float64) {
	const f, tokens, window, block = 8, 512, 64, 1 << 16
	starts := []int32{0, 1000, block - tokens/2, 37*block - tokens/2, 141*block - tokens/2, 255*block - tokens/2, 12_345_678, 1<<24 - tokens}
	c := &rotarywindow.Out[float32]{H: 1, L: len(starts), T: tokens, F2: f, W: window, Pos: starts}
	d, l := 2*f, len(starts)
	floats := func(n int) []float32 { return tensor.Make[float32](n) }
	c.WQ, c.WK, c.WV, c.X = floats(d*d), floats(d*d), floats(d*d), floats(l*tokens*d)
	c.KTail, c.VTail, c.KTailOut, c.VTailOut = floats(l*(window-1)*d), floats(l*(window-1)*d), floats(l*(window-1)*d), floats(l*(window-1)*d)
	c.Out, c.Q, c.C, c.S = floats(l*tokens*d), floats(l*tokens*d), floats(l*tokens*f), floats(l*tokens*f)
	c.AStack, c.OutStack, c.A = floats(l*(tokens+window-1)*d), floats(l*(tokens+window-1)*d), floats(l*tokens*window)
	c.Work = floats(c.WorkLen())
	c.Run()
	for i, start := range starts {
		for j := range f {
			turn := func(t int) complex128 {
				at := (i*tokens+t)*f + j
				return complex(float64(c.C[at]), float64(c.S[at]))
			}
			frequency := float64(float32(math.Pow(10000, -float64(j)/f)))
			for to := range tokens {
				for from := max(0, to-window+1); from < to; from++ {
					angle := cmplx.Phase(turn(to) * cmplx.Conj(turn(from)) * cmplx.Rect(1, -float64(to-from)*frequency))
					most := inBlock
					if (int(start)+from)/block != (int(start)+to)/block {
						most = across
					}
					if !(math.Abs(angle) <= most) {
						t.Fatalf("positions %d and %d, pair %d: the angle is off by %v, allowed %v", int(start)+from, int(start)+to, j, angle, most)
					}
				}
			}
		}
	}
}
