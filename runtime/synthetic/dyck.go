package synthetic

// Dyck is nested brackets of several Types, no deeper than Depth. An episode
// begins with an empty stack and stops after Tokens tokens. At
// depth 0 a bracket opens; at Depth the last one closes; between, one opens
// with the probability p = Open/1000, and else the last one closes. Types
// are uniform. All tokens but the first are scored. Source: the
// bounded hierarchical languages of Hewitt et al. 2020, arXiv:2010.07515,
// without their end of a string.
//
// Ids: 0 to Types−1 open, Types to 2·Types−1 close.
//
// Optimum: the predictor that tracks the stack; only the random choices remain. With
// h the binary entropy, the bits of a token after depth d are
//
//	d = 0            log₂ Types
//	0 < d < Depth    h(p) + p·log₂ Types
//	d = Depth        0
//
// Forgetful: the predictor that counts the depth and forgets the types has the same
// cost except for the type of a closing bracket, for which all types are equally
// likely: types are drawn independently of depths.
//
//	0 < d < Depth    h(p) + log₂ Types
//	d = Depth        log₂ Types
//
// The depth is a walk, and its distribution at every token follows from that
// at the one before, so both figures are means of these bits over that
// distribution and over the scored tokens.
type Dyck struct {
	Types, Depth, Tokens int
	Open                 int // of 1000
}

func (d Dyck) String() string { return write("dyck", d.fields()) }

func (d *Dyck) fields() []field {
	return []field{{"types", &d.Types}, {"depth", &d.Depth}, {"tokens", &d.Tokens}, {"open", &d.Open}}
}

// Check says which parameter cannot be.
func (d Dyck) Check() error {
	return check(bound{"types", d.Types, 1, most}, bound{"depth", d.Depth, 1, 1 << 10}, bound{"tokens", d.Tokens, 2, 1 << 20},
		bound{"open", d.Open, 0, perMille})
}

// Vocab is twice the number of types.
func (d Dyck) Vocab() int { return 2 * d.Types }

// Length is Tokens.
func (d Dyck) Length() int { return d.Tokens }

// Optimum is the cost of the predictor that tracks the stack.
func (d Dyck) Optimum() float64 {
	p, types := d.p(), log2(float64(d.Types))
	return d.mean(types, d.choice()+float64(p*types), 0)
}

// Forgetful is the cost of the predictor that knows only the depth.
func (d Dyck) Forgetful() float64 {
	types := log2(float64(d.Types))
	return d.mean(types, d.choice()+types, types)
}

func (d Dyck) p() float64 { return float64(d.Open) / perMille }

// choice is the entropy of opening or closing.
func (d Dyck) choice() float64 { return surprise(d.p()) + surprise(1-d.p()) }

// mean follows the distribution of the depth and weighs the bits of a token
// after depth 0, a depth between and the greatest depth.
func (d Dyck) mean(zero, between, full float64) float64 {
	deepest := min(d.Depth, d.Tokens)
	at, next := make([]float64, deepest+2), make([]float64, deepest+2)
	at[1] = 1 // after the first token
	sum := 0.0
	for range d.Tokens - 1 {
		clear(next)
		for depth, q := range at[:deepest+1] {
			switch depth {
			case 0:
				sum += float64(q * zero)
				next[1] += q
			case d.Depth:
				sum += float64(q * full)
				next[depth-1] += q
			default:
				sum += float64(q * between)
				next[depth+1] += float64(q * d.p())
				next[depth-1] += float64(q * (1 - d.p()))
			}
		}
		at, next = next, at
	}
	return sum / float64(d.Tokens-1)
}

func (d Dyck) documents() bool { return true }

func (d Dyck) fill(e *episode, r *rng) {
	stack := e.space(min(d.Depth, d.Tokens))
	depth := 0
	for i := range e.ids {
		e.scored[i] = i > 0
		if depth == 0 || depth < d.Depth && r.below(perMille) < d.Open {
			stack[depth] = r.id(0, d.Types)
			e.ids[i] = stack[depth]
			depth++
		} else {
			depth--
			e.ids[i] = stack[depth] + int32(d.Types)
		}
	}
}
