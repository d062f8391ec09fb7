package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A machine that is shared stalls for milliseconds at a time, and its clock
// moves from second to second. So the work of every variant is cut into slices
// that fit between two stalls. In each round the slices run in random order,
// each by all variants in a row, in random order too; and a variant's time is
// the sum over its slices of the median over the rounds. Ratios are of such
// sums. How far to trust one is shown by the quartiles of the same ratio taken
// in each round alone.

// A task is one slice of one variant.
type task struct {
	what    string // what is computed: variants of the same what are compared
	slice   int
	variant string
	run     func() (ns int64, err error)
}

// times are the measured nanoseconds of tasks, by round.
type times struct {
	tasks []task
	ns    [][]int64 // by task and round
}

// order draws the order of a round: the slices at random, and for each of them
// its variants at random.
func order(tasks []task, random *rand.Rand) (out []int) {
	type piece struct {
		what  string
		slice int
	}
	var pieces []piece
	at := map[piece][]int{}
	for _, i := range random.Perm(len(tasks)) {
		k := piece{tasks[i].what, tasks[i].slice}
		if at[k] == nil {
			pieces = append(pieces, k)
		}
		at[k] = append(at[k], i)
	}
	for _, k := range pieces {
		out = append(out, at[k]...)
	}
	return out
}

// measure runs all tasks in each round. One round before the first is not
// counted. done is told after each round.
func measure(tasks []task, rounds int, random *rand.Rand, done func(round int)) (*times, error) {
	t := &times{tasks: tasks, ns: make([][]int64, len(tasks))}
	for round := -1; round < rounds; round++ {
		for _, i := range order(tasks, random) {
			ns, err := tasks[i].run()
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				t.ns[i] = append(t.ns[i], ns)
			}
		}
		done(round + 1)
	}
	return t, nil
}

// slices lists the rows of t.ns that belong to a variant.
func (t *times) slices(what, variant string) (out [][]int64) {
	for i, k := range t.tasks {
		if k.what == what && k.variant == variant {
			out = append(out, t.ns[i])
		}
	}
	return out
}

// sum is a variant's time in nanoseconds.
func (t *times) sum(what, variant string) float64 { return total(t.slices(what, variant)) }

// longest is the longest median of a variant's slices.
func (t *times) longest(what, variant string) (ns float64) {
	for _, s := range t.slices(what, variant) {
		ns = max(ns, median(s))
	}
	return ns
}

// A ratio is how much longer one variant takes than another.
type ratio struct {
	of          float64 // of the sums of medians
	lo, mid, hi float64 // quartiles of the ratios of single rounds
}

// over compares the times of two variants of a thing.
func (t *times) over(what, variant, against string) ratio {
	return quotient(t.slices(what, variant), t.slices(what, against))
}

// quotient compares two lists of slices.
func quotient(a, b [][]int64) ratio {
	r := ratio{of: total(a) / total(b)}
	x, y := byRound(a), byRound(b)
	each := make([]float64, min(len(x), len(y)))
	for i := range each {
		each[i] = float64(x[i]) / float64(y[i])
	}
	r.lo, r.mid, r.hi = quantile(each, 0.25), quantile(each, 0.5), quantile(each, 0.75)
	return r
}

// total is the sum over slices of medians.
func total(s [][]int64) (ns float64) {
	for _, x := range s {
		ns += median(x)
	}
	return ns
}

// byRound adds the slices of each round.
func byRound(s [][]int64) []int64 {
	if len(s) == 0 {
		return nil
	}
	out := make([]int64, len(s[0]))
	for _, x := range s {
		for i, ns := range x {
			out[i] += ns
		}
	}
	return out
}

// median is the middle of the values, or the mean of the two in the middle.
func median(ns []int64) float64 {
	x := make([]float64, len(ns))
	for i, v := range ns {
		x[i] = float64(v)
	}
	return quantile(x, 0.5)
}

// quantile interpolates between the two values next to the given part of the
// sorted list; it is NaN for an empty one.
func quantile(x []float64, part float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	at := part * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// sliceTokens is how many of n tokens a slice of the recurrence has: about as
// much work as 256 tokens of width 64, whole segments, one at least.
func sliceTokens(n, d, segment int) int {
	tokens := 256 * 64 * 64 / (d * d) / segment * segment
	return min(n, max(tokens, segment))
}
