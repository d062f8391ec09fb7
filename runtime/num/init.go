package num

import "math"

// goldenRatio64 is 2^64/φ, the increment of splitmix64.
const goldenRatio64 = 0x9E3779B97F4A7C15

// A Stream draws the initial values of one parameter. Its state depends on the
// name and the seed alone, so adding or reordering parameters changes no other
// parameter's values. Source: splitmix64 (Steele, Lea, Flood 2014).
type Stream struct{ state uint64 }

// NewStream returns the stream of parameter name under a seed:
// state = FNV-1a64(name) XOR seed·0x9E3779B97F4A7C15.
func NewStream(name string, seed uint64) *Stream {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return &Stream{state: h ^ seed*goldenRatio64}
}

// Next returns the next 64 bits.
func (s *Stream) Next() uint64 {
	s.state += goldenRatio64
	z := s.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Unit returns a float64 in [0, 1), a multiple of 2^-53.
func (s *Stream) Unit() float64 { return float64(float64(s.Next()>>11) * 0x1p-53) }

// Uniform returns lo + (hi − lo)·u, computed in float64; u in [0, 1).
func (s *Stream) Uniform(lo, hi float64) float64 { return lo + float64((hi-lo)*s.Unit()) }

// Normal returns a normal deviate by Box and Muller's cosine branch. It draws
// twice and keeps nothing, so the n-th value costs 2n draws and no state.
func (s *Stream) Normal(mean, sd float64) float64 {
	u := 1 - s.Unit() // (0, 1]: the logarithm is finite
	v := s.Unit()
	r := math.Sqrt(float64(-2 * log64(u)))
	return mean + float64(sd*float64(r*cos(float64(2*math.Pi*v))))
}

// FillUniform sets every element of dst to a uniform deviate in [lo, hi),
// drawn in order and rounded once to F.
func FillUniform[F Float](dst []F, s *Stream, lo, hi float64) {
	for i := range dst {
		dst[i] = F(s.Uniform(lo, hi))
	}
}

// FillNormal sets every element of dst to a normal deviate, drawn in order and
// rounded once to F.
func FillNormal[F Float](dst []F, s *Stream, mean, sd float64) {
	for i := range dst {
		dst[i] = F(s.Normal(mean, sd))
	}
}
