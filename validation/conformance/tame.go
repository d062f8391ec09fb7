package conformance

import "math"

// Numbers between −1 and 1 in every place, gate biases among them, are rates far
// above those that anything starts from. A memory that is not linear can run
// away at such rates within a few tokens, and a difference of two losses of a
// million has no digits left that could hold a gradient to anything. A case of
// differences therefore takes the first draw whose results stay below a bound,
// and if none of a few does, the smallest.
const (
	tameBound = 100 // of every output and of every state after the call
	tameDraws = 16
)

// tameDraw returns what make draws under the first seed whose size stays below
// the bound, and otherwise under the seed with the smallest.
func tameDraw[X any](seed uint64, make func(seed uint64) X, size func(X) float64) X {
	var best X
	least := math.Inf(1)
	for i := range uint64(tameDraws) {
		x := make(seed + 1000*i)
		s := size(x)
		if i == 0 || s < least {
			best, least = x, s
		}
		if s <= tameBound {
			break
		}
	}
	return best
}

// largest is the largest magnitude of named arrays; NaN counts as infinite.
func largest(named ...map[string][]float64) float64 {
	most := 0.0
	for _, m := range named {
		for _, x := range m {
			for _, v := range x {
				if !(math.Abs(v) <= most) {
					most = math.Abs(v)
				}
				if v != v {
					return math.Inf(1)
				}
			}
		}
	}
	return most
}
