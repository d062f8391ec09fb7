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
//
// A short slice runs once before it is measured, so that neither another variant's
// data in the caches nor a core that was asleep is measured with it.
//
// What takes long for a slice, plain loops at great widths, is measured in every
// fourth round only; it would take nearly all of the time.

const (
	shortSlice = 5_000_000 // nanoseconds
	longSlice  = 8_000_000
	longRounds = 4
	skipped    = -1 // instead of a time
)

// A task is one slice of one variant.
type task struct {
	what    string // what is computed: variants of the same what are compared
	slice   int
	variant string
	run     func() (ns int64, err error)
}

// warmed is a task of what is to run a number of times unmeasured before it is
// measured: once if it was short the last time.
func warmed(run func(warm int) (int64, error)) func() (int64, error) {
	last := int64(longSlice)
	return func() (ns int64, err error) {
		warm := 0
		if last < shortSlice {
			warm = 1
		}
		last, err = run(warm)
		return last, err
	}
}

// clocked is the task of a call on this thread.
func clocked(r runner) func() (int64, error) {
	return warmed(func(warm int) (int64, error) {
		for range warm {
			r.Run()
		}
		start := now()
		r.Run()
		return now() - start, nil
	})
}

// times are the measured nanoseconds of tasks, by round, or skipped.
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
	first := make([]int64, len(tasks))
	for round := -1; round < rounds; round++ {
		for _, i := range order(tasks, random) {
			if round >= 0 && round%longRounds != 0 && first[i] > longSlice {
				t.ns[i] = append(t.ns[i], skipped)
				continue
			}
			ns, err := tasks[i].run()
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				t.ns[i] = append(t.ns[i], ns)
			} else {
				first[i] = ns
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

// variants lists the variants of one thing, in the order of the tasks.
func (t *times) variants(what string) (out []string) {
	for _, k := range t.tasks {
		if k.what == what && !slices.Contains(out, k.variant) {
			out = append(out, k.variant)
		}
	}
	return out
}

// sum is a variant's time in nanoseconds, zero if it was not measured.
func (t *times) sum(what, variant string) float64 { return total(t.slices(what, variant)) }

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
	var each []float64
	for i := range min(len(x), len(y)) {
		if x[i] != skipped && y[i] != skipped {
			each = append(each, float64(x[i])/float64(y[i]))
		}
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

// byRound adds the slices of each round; a round without one of them is skipped.
func byRound(s [][]int64) []int64 {
	if len(s) == 0 {
		return nil
	}
	out := make([]int64, len(s[0]))
	for _, x := range s {
		for i, ns := range x {
			if ns == skipped || out[i] == skipped {
				out[i] = skipped
			} else {
				out[i] += ns
			}
		}
	}
	return out
}

// median is the middle of the values that were not skipped, or the mean of the two
// in the middle.
func median(ns []int64) float64 {
	var x []float64
	for _, v := range ns {
		if v != skipped {
			x = append(x, float64(v))
		}
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

// sliceTokens is how many of n tokens a slice of the recurrence has: so many that
// fast code takes about a millisecond or less, whole segments, one at least.
func sliceTokens(n, d, segment int) int {
	tokens := 1024 * 64 * 64 / (d * d) / segment * segment
	return min(n, max(tokens, segment))
}
