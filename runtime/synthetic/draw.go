package synthetic

import (
	"fmt"
	"math/bits"

	"github.com/nl-hecate/hecate/runtime/num"
)

// below returns a number from 0 to n−1. Each has the probability 1/n to within
// 2^-64.
func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// id returns a number from lo to lo+n−1.
func (r *rng) id(lo, n int) int32 { return int32(lo + r.below(n)) }

// distinct moves k different numbers below len(list) to its front, in random
// order.
func (r *rng) distinct(list []int32, k int) []int32 {
	for i := range list {
		list[i] = int32(i)
	}
	for i := range k {
		j := i + r.below(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
	return list[:k]
}

// A Noise is how many of 1000 answers are drawn again from all possible ones,
// the right one included. It keeps a task from being trivial once it is solved.
type Noise int

const perMille = 1000

// answer is the right one, or now and then any of n.
func (r *rng) answer(right int32, lo, n int, noise Noise) int32 {
	if noise > 0 && r.below(perMille) < int(noise) {
		return r.id(lo, n)
	}
	return right
}

// entropy is the entropy of an answer among n, given the right one: with ε of the noise
// that one has the probability 1 − ε + ε/n and every other ε/n.
func (noise Noise) entropy(n int) float64 {
	e := float64(noise) / perMille
	each := e / float64(n)
	return surprise(1-e+each) + float64(float64(n-1)*surprise(each))
}

// surprise is −p·log₂ p, 0 for p = 0.
func surprise(p float64) float64 {
	if p == 0 {
		return 0
	}
	return -float64(p * log2(p))
}

func log2(p float64) float64 {
	const ln2 = 0.6931471805599453
	return num.Log(p) / ln2
}

// A bound is the range of one parameter.
type bound struct {
	name        string
	got, lo, hi int
}

// most keeps ids in 24 bits and episodes in memory.
const most = 1 << 24

func check(bounds ...bound) error {
	for _, b := range bounds {
		if b.got < b.lo || b.got > b.hi {
			return fmt.Errorf("%s is %d, want %d to %d", b.name, b.got, b.lo, b.hi)
		}
	}
	return nil
}
