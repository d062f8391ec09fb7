package protocol

import (
	"fmt"
	"slices"
	"testing"
)

// TestCausality changes the tokens from each one on: the logits of all tokens before
// keep their bits, and those of the token itself do not. Contexts are old ones, for
// where a memory is empty a look into the future shows nothing.
func TestCausality(t *testing.T) {
	t.Parallel()
	for _, x := range scenarios() {
		s := newSubject[float64](t, x, small(x), 4)
		s.grow(old)
		want := s.forward().outs["logits"]
		for _, from := range cutsToTry(s.steps) {
			ids := slices.Clone(s.ids)
			for i := range s.ids {
				if i%s.steps >= from {
					s.ids[i] = (s.ids[i] + 1) % int32(s.model.Vocabulary())
				}
			}
			got := s.forward().outs["logits"]
			s.ids = ids
			what := fmt.Sprintf("%v: logits before token %d, which was changed", x, from)
			bits(t, what, s.cut(got, 0, from), s.cut(want, 0, from))
			if slices.Equal(s.cut(got, from, from+1), s.cut(want, from, from+1)) {
				t.Errorf("%v: token %d does not see itself", x, from)
			}
		}
	}
}

// cutsToTry are the tokens from which on something is changed: the second, the last,
// and one between, on either side of a chunk's end where there is one.
func cutsToTry(steps int) []int {
	out := []int{1, steps / 2, steps - 3, steps - 1}
	slices.Sort(out)
	return slices.Compact(slices.DeleteFunc(out, func(i int) bool { return i < 1 }))
}

// cut are the entries of some tokens of all sequences.
func (s *subject[F]) cut(x []F, from, to int) []F { return tokensOf(x, s.batch, s.steps, from, to) }

func tokensOf[E any](x []E, batch, steps, from, to int) []E {
	n := len(x) / (batch * steps)
	var out []E
	for l := range batch {
		out = append(out, x[(l*steps+from)*n:(l*steps+to)*n]...)
	}
	return out
}
