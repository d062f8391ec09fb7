package synthetic

// MQAR is multi-query associative recall: an episode shows Pairs of a key and a
// value, a Gap of filler, and then Queries: keys that were shown, each with its
// value after it, which is scored. Keys of an episode are different; values
// are uniform; no key is queried twice. Source: Arora et al. 2023, arXiv:2312.04927.
// There filler can look like a key and overwrite a pair; here keys, values and
// filler have ids of their own.
//
//	k₁ v₁ … k_P v_P   f … f   k_i v_i k_j v_j …
//
// Ids: keys, then values, then filler.
//
// Optimum: a value is known from its pair, so only the Noise is left,
// Noise.entropy(Values). Forgetful: without memory of the pairs all Values
// answers are equally likely, noise or not, so log₂ Values.
type MQAR struct {
	Keys, Values, Fillers int // ids of each
	Pairs, Queries, Gap   int
	Noise                 Noise
}

func (m MQAR) String() string { return write("mqar", m.fields()) }

func (m *MQAR) fields() []field {
	return []field{{"keys", &m.Keys}, {"values", &m.Values}, {"fillers", &m.Fillers}, {"pairs", &m.Pairs},
		{"queries", &m.Queries}, {"gap", &m.Gap}, {"noise", (*int)(&m.Noise)}}
}

// Check says which parameter cannot be.
func (m MQAR) Check() error {
	return check(bound{"pairs", m.Pairs, 1, most}, bound{"keys", m.Keys, m.Pairs, most}, bound{"values", m.Values, 2, most},
		bound{"queries", m.Queries, 1, m.Pairs}, bound{"gap", m.Gap, 0, most}, bound{"fillers", m.Fillers, min(m.Gap, 1), most},
		bound{"noise", int(m.Noise), 0, perMille})
}

// Vocab is the number of keys, values and fillers.
func (m MQAR) Vocab() int { return m.Keys + m.Values + m.Fillers }

// Length is two tokens for each pair and query, and the gap.
func (m MQAR) Length() int { return 2*m.Pairs + m.Gap + 2*m.Queries }

// Optimum is the entropy of the noise.
func (m MQAR) Optimum() float64 { return m.Noise.entropy(m.Values) }

// Forgetful is log₂ Values.
func (m MQAR) Forgetful() float64 { return log2(float64(m.Values)) }

func (m MQAR) documents() bool { return true }

func (m MQAR) fill(e *episode, r *rng) {
	space := e.space(m.Keys + m.Pairs)
	keys := r.distinct(space[:m.Keys], m.Pairs)
	asked := r.distinct(space[m.Keys:], m.Queries)
	for i, k := range keys {
		e.ids[2*i], e.ids[2*i+1] = k, r.id(m.Keys, m.Values)
	}
	at := 2 * m.Pairs
	for range m.Gap {
		e.ids[at] = r.id(m.Keys+m.Values, m.Fillers)
		at++
	}
	for _, i := range asked {
		e.ids[at] = e.ids[2*i]
		e.ids[at+1] = r.answer(e.ids[2*i+1], m.Keys, m.Values, m.Noise)
		e.scored[at+1] = true
		at += 2
	}
}

// Copy is selective copying: Items symbols are at random positions among Slots,
// the others blank; after a marker the symbols follow in their order, and are
// scored. Source: Gu and Dao 2023, arXiv:2312.00752, section 3.1.
//
//	_ a _ _ b a _   |   a b a
//
// Ids: symbols, then the blank, then the marker.
//
// Optimum: the symbols are known, so only the Noise is left,
// Noise.entropy(Symbols). Forgetful: log₂ Symbols.
type Copy struct {
	Symbols, Items, Slots int
	Noise                 Noise
}

func (c Copy) String() string { return write("copy", c.fields()) }

func (c *Copy) fields() []field {
	return []field{{"symbols", &c.Symbols}, {"items", &c.Items}, {"slots", &c.Slots}, {"noise", (*int)(&c.Noise)}}
}

// Check says which parameter cannot be.
func (c Copy) Check() error {
	return check(bound{"symbols", c.Symbols, 2, most}, bound{"items", c.Items, 1, most}, bound{"slots", c.Slots, c.Items, most},
		bound{"noise", int(c.Noise), 0, perMille})
}

// Vocab is the number of symbols and two.
func (c Copy) Vocab() int { return c.Symbols + 2 }

// Length is that of the slots, the marker and the copy.
func (c Copy) Length() int { return c.Slots + 1 + c.Items }

// Optimum is the entropy of the noise.
func (c Copy) Optimum() float64 { return c.Noise.entropy(c.Symbols) }

// Forgetful is log₂ Symbols.
func (c Copy) Forgetful() float64 { return log2(float64(c.Symbols)) }

func (c Copy) documents() bool { return true }

// fill draws the places one by one: of the n that are left the next is taken
// with the probability (items left)/n, which makes all sets of places equally
// likely (Fan, Muller, Rezucha 1962).
func (c Copy) fill(e *episode, r *rng) {
	out := c.Slots + 1
	for i := range c.Slots {
		e.ids[i] = int32(c.Symbols)
		if left := c.Length() - out; r.below(c.Slots-i) < left {
			e.ids[i] = r.id(0, c.Symbols)
			e.ids[out] = r.answer(e.ids[i], 0, c.Symbols, c.Noise)
			e.scored[out] = true
			out++
		}
	}
	e.ids[c.Slots] = int32(c.Symbols + 1)
}

// Needle is a pass key in filler: a marker and Digits symbols at a distance
// before the end, where another marker asks for them, and are scored there. The
// distance is that of a token and of the one that repeats it; episode i has
// Distances[i mod len(Distances)]. Lead tokens of filler are before the needle
// that is farthest away. Source: Mohtashami and Jaggi 2023, arXiv:2305.16300.
//
//	f f f   ! 4 1 7   f f f f f   ? 4 1 7        distance 9
//
// Ids: symbols, then filler, then the first marker, then the second.
//
// Optimum: the digits are known, so only the Noise is left,
// Noise.entropy(Symbols). Forgetful: log₂ Symbols.
type Needle struct {
	Symbols, Digits int
	Distances       []int
	Fillers, Lead   int
	Noise           Noise
}

func (n Needle) String() string { return write("needle", n.fields()) }

func (n *Needle) fields() []field {
	return []field{{"symbols", &n.Symbols}, {"digits", &n.Digits}, {"distances", &n.Distances},
		{"fillers", &n.Fillers}, {"lead", &n.Lead}, {"noise", (*int)(&n.Noise)}}
}

// Check says which parameter cannot be.
func (n Needle) Check() error {
	err := check(bound{"symbols", n.Symbols, 2, most}, bound{"digits", n.Digits, 1, most}, bound{"fillers", n.Fillers, 1, most},
		bound{"lead", n.Lead, 0, most}, bound{"number of distances", len(n.Distances), 1, most}, bound{"noise", int(n.Noise), 0, perMille})
	for _, d := range n.Distances {
		if err == nil {
			err = check(bound{"distance", d, n.Digits + 1, most})
		}
	}
	return err
}

// Vocab is the number of symbols and fillers, and two.
func (n Needle) Vocab() int { return n.Symbols + n.Fillers + 2 }

// Length is that of the lead, the longest distance, a marker and the digits.
func (n Needle) Length() int {
	far := 0
	for _, d := range n.Distances {
		far = max(far, d)
	}
	return n.Lead + far + 1 + n.Digits
}

// Distance returns that of an episode.
func (n Needle) Distance(episode int) int { return n.Distances[episode%len(n.Distances)] }

// Optimum is the entropy of the noise.
func (n Needle) Optimum() float64 { return n.Noise.entropy(n.Symbols) }

// Forgetful is log₂ Symbols.
func (n Needle) Forgetful() float64 { return log2(float64(n.Symbols)) }

func (n Needle) documents() bool { return true }

func (n Needle) fill(e *episode, r *rng) {
	for i := range e.ids {
		e.ids[i] = r.id(n.Symbols, n.Fillers)
	}
	ask := len(e.ids) - 1 - n.Digits
	show := ask - n.Distance(e.number)
	e.ids[show], e.ids[ask] = int32(n.Symbols+n.Fillers), int32(n.Symbols+n.Fillers+1)
	for i := 1; i <= n.Digits; i++ {
		e.ids[show+i] = r.id(0, n.Symbols)
		e.ids[ask+i] = r.answer(e.ids[show+i], 0, n.Symbols, n.Noise)
		e.scored[ask+i] = true
	}
}
