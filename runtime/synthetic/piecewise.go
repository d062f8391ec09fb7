package synthetic

import "fmt"

// A Scale is a number of contexts whose tables change together, after every
// Segment pairs.
type Scale struct{ Contexts, Segment int }

// Piecewise is a source that is stationary for a while and then another one: a
// Markov chain of order one whose tables are drawn again at every switch. Its
// tokens are pairs, a context, which is any of all contexts of all Scales with
// equal probability, and a symbol from the table of that context, which is
// scored. Table rows are drawn from the symmetric Dirichlet distribution with
// concentration α = Alpha/1000; small α make rows of few symbols. With one
// Scale it is a source that switches. With two, some tables last and some do
// not: a memory that forgets fast enough for the one forgets what is good for
// the other, so one with two frequencies can do better than one with one. An
// episode is the longest segment; it is no document, and nothing in the stream
// marks a switch, but switches come at known places.
//
// Ids: contexts, those of the first scale first, then symbols.
//
// No row is ever drawn. With c of n symbols of a row so far being y, the next
// one is y with the probability
//
//	q = (c + α)/(n + A·α),   A the number of symbols,
//
// which has the same distribution as first drawing the row (Pólya's urn, by
// the exchangeability of the Dirichlet-multinomial), and is done in integers.
// It is also the prediction of the optimal predictor, which counts since the switch.
//
// Optimum: the bits of the symbol that comes as number n of its row are
//
//	B(n) = −Σ_y E[q log₂ q] = −A Σ_{c ≤ n} b(c; n) q log₂ q,
//
// where the count c of one symbol is beta-binomial,
// b(c; n) = C(n, c)·B(c + α, n − c + (A−1)α)/B(α, (A−1)α), and all symbols are
// alike. Contexts are drawn independently of symbols, so with t pairs since the
// switch and C contexts in all, n is binomial with t and 1/C. Hence a scale of
// segments of S pairs has
//
//	(1/S) Σ_{t < S} Σ_n Bin(n; t, 1/C) B(n),
//
// and the figure is the mean over scales, weighed by their contexts.
//
// Forgetful: without a count every symbol is equally likely, log₂ A. Within is
// between the two: the best predictor that forgets everything after a fixed number of
// pairs, by the same formula with shorter segments.
type Piecewise struct {
	Symbols int
	Alpha   int // of 1000
	Scales  []Scale
}

// TwoTimescales is a Piecewise on which two frequencies can be told from one:
// half of the tables last 32 times as long as the others.
func TwoTimescales() Piecewise {
	return Piecewise{Symbols: 16, Alpha: 50, Scales: []Scale{{Contexts: 4, Segment: 64}, {Contexts: 4, Segment: 2048}}}
}

func (p Piecewise) String() string { return write("piecewise", p.fields()) }

func (p *Piecewise) fields() []field {
	return []field{{"symbols", &p.Symbols}, {"alpha", &p.Alpha}, {"scales", &p.Scales}}
}

// mostVisits bounds the work of Optimum, which is quadratic in them.
const mostVisits = 1 << 14

// Check says which parameter cannot be.
func (p Piecewise) Check() error {
	err := check(bound{"symbols", p.Symbols, 2, 1 << 16}, bound{"alpha", p.Alpha, 1, 1 << 20}, bound{"number of scales", len(p.Scales), 1, 64})
	for i, s := range p.Scales {
		if err == nil {
			err = check(bound{fmt.Sprintf("contexts of scale %d", i), s.Contexts, 1, 1 << 16},
				bound{fmt.Sprintf("segment of scale %d", i), s.Segment, 1, mostVisits * p.contexts()})
		}
	}
	if err != nil {
		return err
	}
	for i, s := range p.Scales {
		if p.longest()%s.Segment != 0 {
			return fmt.Errorf("segment of scale %d is %d, want a divisor of the longest, %d", i, s.Segment, p.longest())
		}
	}
	return check(bound{"symbols times contexts", p.Symbols * p.contexts(), 1, most})
}

func (p Piecewise) contexts() (n int) {
	for _, s := range p.Scales {
		n += s.Contexts
	}
	return n
}

func (p Piecewise) longest() (n int) {
	for _, s := range p.Scales {
		n = max(n, s.Segment)
	}
	return n
}

// Vocab is the number of contexts and symbols.
func (p Piecewise) Vocab() int { return p.contexts() + p.Symbols }

// Length is twice the longest segment.
func (p Piecewise) Length() int { return 2 * p.longest() }

// Optimum is the cost of the predictor that counts since the last switch of each scale.
func (p Piecewise) Optimum() float64 { return p.Within(p.longest()) }

// Forgetful is log₂ Symbols.
func (p Piecewise) Forgetful() float64 { return log2(float64(p.Symbols)) }

// Within is the cost of the best predictor that forgets everything after the given
// number of pairs, and knows when a scale switches. It panics
// unless pairs divides every segment that is longer.
func (p Piecewise) Within(pairs int) float64 {
	sum := 0.0
	for i, s := range p.Scales {
		sum += float64(float64(s.Contexts) * p.withinScale(i, pairs))
	}
	return sum / float64(p.contexts())
}

// badHorizon is the panic message for a horizon that cuts segments unevenly.
const badHorizon = "synthetic: a horizon has at least one pair and divides every longer segment"

// withinScale is Within for the symbols of one scale.
func (p Piecewise) withinScale(i, pairs int) float64 {
	segment := min(p.Scales[i].Segment, pairs)
	if segment < 1 || p.Scales[i].Segment%segment != 0 {
		panic(badHorizon)
	}
	weights := visits(segment, p.contexts())
	sum := 0.0
	for n, w := range weights {
		if w > 0 {
			sum += float64(w * p.draw(n))
		}
	}
	return sum
}

// visits returns how likely it is that a symbol of a segment is number n of its
// row: the mean of binomials of t = 0 … segment−1 trials. Tails of less than
// 1e-18 are left out, which a figure in float64 does not see.
func visits(segment, contexts int) []float64 {
	hit := 1 / float64(contexts)
	now, sum := make([]float64, segment+1), make([]float64, segment)
	now[0] = 1
	lo, hi := 0, 0 // of what is not left out
	for t := range segment {
		for n := lo; n <= hi; n++ {
			sum[n] += now[n] / float64(segment)
		}
		if t+1 == segment {
			break
		}
		hi++
		for n := hi; n >= lo; n-- {
			before := 0.0
			if n > lo {
				before = now[n-1]
			}
			now[n] = float64(now[n]*(1-hit)) + float64(before*hit)
		}
		const tail = 1e-18
		for lo < hi && now[lo] < tail {
			now[lo] = 0
			lo++
		}
		for hi > lo && now[hi] < tail {
			now[hi] = 0
			hi--
		}
	}
	return sum
}

// draw is B(n). b(0; n) is a product, and b(c+1; n)/b(c; n) a quotient.
func (p Piecewise) draw(n int) float64 {
	alpha := float64(p.Alpha) / perMille
	others, all := float64(alpha*float64(p.Symbols-1)), float64(alpha*float64(p.Symbols))
	b := 1.0
	for i := range n {
		b *= (others + float64(i)) / (all + float64(i))
	}
	sum := 0.0
	for c := range n {
		sum += float64(b * surprise((float64(c)+alpha)/(float64(n)+all)))
		left := float64(n - c)
		b *= left / float64(c+1) * ((float64(c) + alpha) / (left - 1 + others))
	}
	sum += float64(b * surprise((float64(n)+alpha)/(float64(n)+all)))
	return float64(p.Symbols) * sum
}

func (p Piecewise) documents() bool { return false }

func (p Piecewise) fill(e *episode, r *rng) {
	contexts, row := p.contexts(), p.Symbols+1
	counts := e.space(contexts * row) // of the symbols of a context, then of all
	for pair := range p.longest() {
		first := 0
		for _, s := range p.Scales {
			if pair%s.Segment == 0 {
				clear(counts[first*row : (first+s.Contexts)*row])
			}
			first += s.Contexts
		}
		x := r.below(contexts)
		y := r.urn(counts[x*row:(x+1)*row], p.Alpha)
		e.ids[2*pair], e.ids[2*pair+1] = int32(x), int32(contexts+y)
		e.scored[2*pair+1] = true
	}
}

// urn draws a symbol with the weight 1000·count + alpha and counts it.
func (r *rng) urn(counts []int32, alpha int) int {
	last := len(counts) - 1 // holds the sum
	u := r.below(perMille*int(counts[last]) + last*alpha)
	y := 0
	for u >= perMille*int(counts[y])+alpha {
		u -= perMille*int(counts[y]) + alpha
		y++
	}
	counts[y]++
	counts[last]++
	return y
}
