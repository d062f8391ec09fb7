package synthetic

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/nl-hecate/hecate/runtime/stream"
)

// A predictor says what every scored token of an episode costs, in bits, from
// the tokens before it and the parameters of the kind.
type predictor func(ids []int32, scored []bool) (bits float64)

// measure returns the mean bits per scored token over the episodes and its
// standard error; episodes are independent.
func measure(t *testing.T, s *Source, p predictor) (mean, se float64) {
	t.Helper()
	ids, scored := all(t, s)
	n := s.kind.Length()
	var bits []float64 // by episode
	for at := 0; at < len(ids); at += n {
		count := 0
		for _, x := range scored[at : at+n] {
			if x {
				count++
			}
		}
		bits = append(bits, p(ids[at:at+n], scored[at:at+n])/float64(count))
	}
	mean, deviation := stat.PopMeanStdDev(bits, nil)
	return mean, stat.StdErr(deviation, float64(s.episodes))
}

// deviations is how many standard errors a mean over episodes may be from its
// expectation; seeds are fixed, so it is or it is not.
const deviations = 4

// within compares a measured mean with a figure, and wants the comparison to be
// sharp beside a difference that matters.
func within(t *testing.T, what string, mean, se, want, matters float64) {
	t.Helper()
	tol := deviations*se + 1e-9
	if !(math.Abs(mean-want) <= tol) {
		t.Errorf("%s: %.5f bits, want %.5f within %.5f", what, mean, want, tol)
	}
	if !(tol < matters/10) {
		t.Errorf("%s: the tolerance %.5f says nothing about a difference of %.5f", what, tol, matters)
	}
}

// noisy is the cost of an answer for who knows the right one of n.
func noisy(answer, right int32, noise Noise, n int) float64 {
	p := float64(noise) / 1000 / float64(n)
	if answer == right {
		p += 1 - float64(noise)/1000
	}
	return -math.Log2(p)
}

// The optimal predictors, from the definitions of the kinds. They know nothing
// of how a source draws.

func (m MQAR) predict(ids []int32, scored []bool) (bits float64) {
	value := map[int32]int32{}
	for i := 1; i < len(ids); i++ {
		switch key := ids[i-1]; {
		case scored[i]:
			bits += noisy(ids[i], value[key], m.Noise, m.Values)
		case int(key) < m.Keys:
			value[key] = ids[i]
		}
	}
	return bits
}

func (c Copy) predict(ids []int32, scored []bool) (bits float64) {
	var list []int32
	for i, id := range ids {
		if scored[i] {
			bits += noisy(id, list[0], c.Noise, c.Symbols)
			list = list[1:]
		} else if int(id) < c.Symbols {
			list = append(list, id)
		}
	}
	return bits
}

func (n Needle) predict(ids []int32, scored []bool) (bits float64) {
	var key []int32
	for i, id := range ids {
		if scored[i] {
			bits += noisy(id, key[0], n.Noise, n.Symbols)
			key = key[1:]
		} else if int(id) < n.Symbols {
			key = append(key, id)
		}
	}
	return bits
}

// predict is the optimal predictor with types, and who counts the depth without.
func (d Dyck) predict(types bool) predictor {
	return func(ids []int32, scored []bool) (bits float64) {
		open, k := float64(d.Open)/1000, float64(d.Types)
		var stack []int32
		for i, id := range ids {
			p := 1.0
			opens := int(id) < d.Types
			switch {
			case len(stack) > 0 && len(stack) < d.Depth && opens:
				p = open / k
			case len(stack) > 0 && len(stack) < d.Depth:
				p = 1 - open
			case opens != (len(stack) == 0):
				p = 0
			case opens:
				p = 1 / k
			}
			if opens {
				stack = append(stack, id)
			} else {
				if stack[len(stack)-1] != id-int32(d.Types) {
					p = 0
				}
				if stack = stack[:len(stack)-1]; !types {
					p /= k
				}
			}
			if scored[i] {
				bits -= math.Log2(p)
			}
		}
		return bits
	}
}

// predict counts symbols, and forgets its counts at every switch and after
// every so many pairs.
func (p Piecewise) predict(horizon int, only func(context int) bool) predictor {
	return func(ids []int32, scored []bool) (bits float64) {
		counts, alpha := map[[2]int32]float64{}, float64(p.Alpha)/1000
		total := map[int32]float64{}
		for i := 0; i < len(ids); i += 2 {
			first := 0
			for _, s := range p.Scales {
				if pair := i / 2; pair%s.Segment == 0 || pair%horizon == 0 {
					for x := first; x < first+s.Contexts; x++ {
						total[int32(x)] = 0
						for y := range p.Symbols {
							counts[[2]int32{int32(x), int32(p.contexts() + y)}] = 0
						}
					}
				}
				first += s.Contexts
			}
			x, y := ids[i], ids[i+1]
			if only == nil || only(int(x)) {
				bits -= math.Log2((counts[[2]int32{x, y}] + alpha) / (total[x] + alpha*float64(p.Symbols)))
			}
			counts[[2]int32{x, y}]++
			total[x]++
		}
		return bits
	}
}

// TestOptimum measures the optimal predictor of every kind.
func TestOptimum(t *testing.T) {
	for i, k := range kinds {
		episodes := 8000
		var p predictor
		switch k := k.(type) {
		case MQAR:
			p = k.predict
		case Copy:
			p = k.predict
		case Needle:
			p = k.predict
		case Dyck:
			p = k.predict(true)
		case Piecewise:
			p, episodes = k.predict(k.longest(), nil), 1500
		}
		mean, se := measure(t, source(t, k, uint64(100+i), episodes), p)
		t.Logf("%v: %.4f ± %.4f bits, optimum %.4f, forgetful %.4f", k, mean, se, k.Optimum(), k.Forgetful())
		matters := k.Forgetful() - k.Optimum()
		if d, ok := k.(Dyck); ok && d.Types == 1 {
			matters = 1 // one type leaves nothing to forget
		}
		within(t, k.String(), mean, se, k.Optimum(), matters)
	}
}

// TestForgetful measures what is left without memory: by counts of the scored
// tokens, and for brackets by the depth.
func TestForgetful(t *testing.T) {
	for i, k := range kinds {
		s := source(t, k, uint64(200+i), 6000)
		if d, ok := k.(Dyck); ok {
			mean, se := measure(t, s, d.predict(false))
			within(t, k.String(), mean, se, k.Forgetful(), 1)
			continue
		}
		b, err := stream.Count(stream.Split(s))
		if err != nil {
			t.Fatal(err)
		}
		// A count of answers that are equally likely errs by about the number
		// of them over the number of scored tokens.
		const tol = 0.01
		if !(math.Abs(b.Unigram-k.Forgetful()) <= tol) {
			t.Errorf("%v: counts score %.4f bits, want %.4f", k, b.Unigram, k.Forgetful())
		}
	}
}

// TestWithin measures a predictor that forgets all tables at each fast switch,
// of all symbols and of the slow scale.
func TestWithin(t *testing.T) {
	k := Piecewise{Symbols: 4, Alpha: 50, Scales: []Scale{{4, 32}, {5, 256}}}
	s := source(t, k, 9, 1500)
	mean, se := measure(t, s, k.predict(32, nil))
	within(t, "within 32 pairs", mean, se, k.Within(32), k.Within(32)-k.Optimum())
	// Who carries the counts of a table to the next one does worse than who
	// forgets all.
	fast := func(x int) bool { return x < 4 }
	stale := k
	stale.Scales = []Scale{{4, 256}, {5, 256}}
	old, oldSE := measure(t, s, stale.predict(256, fast))
	if fresh := 4.0 / 9 * k.withinScale(0, 32); !(old > fresh+deviations*oldSE+0.1) {
		t.Errorf("counts from before a switch score %.4f bits, counts from after it %.4f", old, fresh)
	}
	slow := func(x int) bool { return x >= 4 }
	mean, se = measure(t, s, k.predict(256, slow))
	share := 5.0 / 9 // of the symbols
	within(t, "the slow scale", mean, se, share*k.withinScale(1, 256), share*(k.withinScale(1, 32)-k.withinScale(1, 256)))
	defer func() {
		if recover() != badHorizon {
			t.Error("a horizon that cuts a segment unevenly is taken")
		}
	}()
	k.Within(33)
}

// TestNeedleDistance finds every needle and its question.
func TestNeedleDistance(t *testing.T) {
	k := Needle{Symbols: 3, Digits: 2, Distances: []int{3, 8, 5}, Fillers: 4, Lead: 2}
	ids, _ := all(t, source(t, k, 1, 30))
	for e := range 30 {
		at := map[int32]int{}
		for i, id := range ids[e*k.Length() : (e+1)*k.Length()] {
			if int(id) >= k.Symbols+k.Fillers {
				at[id] = i
			}
		}
		show, ask := at[int32(k.Symbols+k.Fillers)], at[int32(k.Symbols+k.Fillers+1)]
		if want := k.Distances[e%3]; len(at) != 2 || ask-show != want || ask != k.Length()-3 {
			t.Errorf("episode %d: a needle at %d, the question at %d, want a distance of %d", e, show, ask, want)
		}
	}
}

// TestPiecewiseExactly goes through all sequences of a small source. A sequence
// of contexts and symbols has a probability and a cost; the mean cost is the
// figure.
func TestPiecewiseExactly(t *testing.T) {
	for _, k := range []Piecewise{
		{Symbols: 2, Alpha: 1000, Scales: []Scale{{1, 5}}},
		{Symbols: 3, Alpha: 500, Scales: []Scale{{2, 4}}},
		{Symbols: 2, Alpha: 1500, Scales: []Scale{{1, 2}, {1, 4}}},
		{Symbols: 2, Alpha: 1000, Scales: []Scale{{2, 3}}},
	} {
		alpha := float64(k.Alpha) / 1000
		var walk func(pair int, p float64, counts [4][3]float64) float64
		walk = func(pair int, p float64, counts [4][3]float64) (cost float64) {
			if pair == k.longest() {
				return 0
			}
			first := 0
			for _, s := range k.Scales {
				if pair%s.Segment == 0 {
					for x := first; x < first+s.Contexts; x++ {
						counts[x] = [3]float64{}
					}
				}
				first += s.Contexts
			}
			for x := range k.contexts() {
				n := counts[x][0] + counts[x][1] + counts[x][2]
				for y := range k.Symbols {
					q := (counts[x][y] + alpha) / (n + alpha*float64(k.Symbols))
					now := p * q / float64(k.contexts())
					next := counts
					next[x][y]++
					cost += now*-math.Log2(q) + walk(pair+1, now, next)
				}
			}
			return cost
		}
		want := walk(0, 1, [4][3]float64{}) / float64(k.longest())
		const tol = 1e-12 // sums of a few thousand terms in float64
		if got := k.Optimum(); !(math.Abs(got-want) <= tol) {
			t.Errorf("%v: %.15f bits, want %.15f", k, got, want)
		}
	}
}

// TestDyckExactly goes through all bracket sequences of a small source.
func TestDyckExactly(t *testing.T) {
	for _, k := range []Dyck{{2, 2, 7, 400}, {3, 3, 6, 650}, {2, 9, 6, 500}, {1, 1, 4, 500}, {2, 2, 7, 0}, {2, 2, 7, 1000}} {
		var walk func(token, depth int, p float64) (optimum, forgetful float64)
		walk = func(token, depth int, p float64) (optimum, forgetful float64) {
			if token == k.Tokens || p == 0 {
				return 0, 0
			}
			open := float64(k.Open) / 1000
			switch depth {
			case 0:
				open = 1
			case k.Depth:
				open = 0
			}
			add := func(q, cost, more float64, depth int) {
				if q == 0 {
					return
				}
				a, b := walk(token+1, depth, p*q)
				if token == 0 {
					cost, more = 0, 0
				}
				optimum, forgetful = optimum+p*q*cost+a, forgetful+p*q*more+b
			}
			types := math.Log2(float64(k.Types))
			add(open, -math.Log2(open)+types, -math.Log2(open)+types, depth+1)
			add(1-open, -math.Log2(1-open), -math.Log2(1-open)+types, depth-1)
			return optimum, forgetful
		}
		optimum, forgetful := walk(0, 0, 1)
		n := float64(k.Tokens - 1)
		const tol = 1e-12 // sums of a few hundred terms in float64
		if got := k.Optimum(); !(math.Abs(got-optimum/n) <= tol) {
			t.Errorf("%v: optimum %.15f bits, want %.15f", k, got, optimum/n)
		}
		if got := k.Forgetful(); !(math.Abs(got-forgetful/n) <= tol) {
			t.Errorf("%v: forgetful %.15f bits, want %.15f", k, got, forgetful/n)
		}
	}
}
