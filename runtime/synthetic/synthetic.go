// Package synthetic makes token sources with a known optimal loss.
//
// A Source is a sequence of episodes of one length. Each is drawn from the
// kind, its parameters, the seed and its number alone, in integers, so any
// machine makes the same tokens, any position can be read at once, and a
// cursor has no state to save but the position. For every kind two losses are
// exact, in bits per scored token, expected over all seeds:
//
//   - Optimum: of the predictor that knows the kind and its parameters and
//     remembers everything since the episode began. None is better.
//   - Forgetful: of the best predictor without the memory that the kind tests; each
//     kind says which.
//
// So the loss of a model has a lower bound and a threshold, and the difference is the
// value of its memory. Tokens that say nothing about
// memory, such as filler, are not scored, and a stream masks them.
//
// The figures hold for whole episodes: a batch slot that begins or ends inside one
// lacks a piece of it. Episodes returns parts that begin and end with one.
package synthetic

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// A Kind is one of MQAR, Copy, Needle, Dyck and Piecewise.
type Kind interface {
	fmt.Stringer // the name of the kind and all parameters, as Parse reads them
	// Check says which parameter cannot be.
	Check() error
	// Vocab is the number of ids.
	Vocab() int
	// Length is the number of tokens of an episode.
	Length() int
	// Optimum and Forgetful are in bits per scored token.
	Optimum() float64
	Forgetful() float64

	documents() bool         // every episode is a document
	fill(e *episode, r *rng) // all ids, and what is scored, at the same places in each
}

// An episode is one range of a source while it is drawn.
type episode struct {
	number  int
	ids     []int32
	scored  []bool
	scratch []int32
	rng     rng
}

// space returns n numbers of workspace, all zero.
func (e *episode) space(n int) []int32 {
	if cap(e.scratch) < n {
		e.scratch = make([]int32, n)
	}
	s := e.scratch[:n]
	clear(s)
	return s
}

// A Source is a stream.Source, a stream.Scorer and stream.Seeded.
type Source struct {
	kind     Kind
	seed     uint64
	episodes int
	name     string
	base     uint64 // of the generators
	digest   [4]uint64

	lock   sync.Mutex
	recent [16]episode // the last that were drawn, by number; those of other slots too
}

// New returns a source of the given number of episodes. The error says which parameter
// cannot be.
func New(k Kind, seed uint64, episodes int) (*Source, error) {
	if err := k.Check(); err != nil {
		return nil, fmt.Errorf("synthetic: %v: %w", k, err)
	}
	err := check(bound{"tokens of an episode", k.Length(), 2, most}, bound{"episodes", episodes, 1, math.MaxInt / 2 / k.Length()})
	if err != nil {
		return nil, fmt.Errorf("synthetic: %v: %w", k, err)
	}
	s := &Source{kind: k, seed: seed, episodes: episodes, name: fmt.Sprintf("%v seed=%d", k, seed)}
	sum := sha256.Sum256(fmt.Appendf(nil, "hecate synthetic 1\n%s episodes=%d", s.name, episodes))
	for i := range s.digest {
		s.digest[i] = binary.LittleEndian.Uint64(sum[8*i:])
	}
	s.base = num.NewStream(k.String(), seed).Next()
	for i := range s.recent {
		s.recent[i].number = -1
	}
	return s, nil
}

// Kind returns what the source is made of.
func (s *Source) Kind() Kind { return s.kind }

// Episodes returns the episodes [lo, hi) as a part for a stream. The error is
// that of stream.Slice.
func (s *Source) Episodes(lo, hi int) (stream.Part, error) {
	n := s.kind.Length()
	return stream.Slice(s, lo*n, hi*n)
}

// Name returns the kind, its parameters and the seed.
func (s *Source) Name() string { return s.name }

// Len returns the number of tokens of all episodes.
func (s *Source) Len() int { return s.episodes * s.kind.Length() }

// Vocab returns the number of ids.
func (s *Source) Vocab() int { return s.kind.Vocab() }

// Digest returns a SHA-256 of the kind, the parameters, the seed and the number
// of episodes.
func (s *Source) Digest() [4]uint64 { return s.digest }

// RNG returns the seed, which is all the state that there is.
func (s *Source) RNG() [4]uint64 { return [4]uint64{s.seed} }

// DocumentEnd returns the end of the episode, or of the source for kinds that
// go on without a cut.
func (s *Source) DocumentEnd(at int) int {
	if !s.kind.documents() {
		return s.Len()
	}
	n := s.kind.Length()
	return at/n*n + n
}

// Read fills dst with tokens. There is no error.
func (s *Source) Read(dst []int32, at int) error {
	s.each(len(dst), at, func(e *episode, from, to, n int) { copy(dst[to:to+n], e.ids[from:]) })
	return nil
}

// Scored fills dst with which tokens are scored. There is no error.
func (s *Source) Scored(dst []bool, at int) error {
	s.each(len(dst), at, func(e *episode, from, to, n int) { copy(dst[to:to+n], e.scored[from:]) })
	return nil
}

// each calls f for the pieces of episodes that n tokens from at on consist of:
// n tokens from the episode's from on, to go to to.
func (s *Source) each(n, at int, f func(e *episode, from, to, n int)) {
	if at < 0 || n > s.Len()-at {
		panic(stream.BadRange)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	length := s.kind.Length()
	for to := 0; to < n; {
		e, from := s.draw((at+to)/length), (at+to)%length
		piece := min(n-to, length-from)
		f(e, from, to, piece)
		to += piece
	}
}

// draw returns an episode, from those that were drawn lately if it is there.
func (s *Source) draw(number int) *episode {
	e := &s.recent[number%len(s.recent)]
	if e.number == number {
		return e
	}
	if e.ids == nil {
		e.ids, e.scored = make([]int32, s.kind.Length()), make([]bool, s.kind.Length())
	}
	e.number = number
	e.rng = rng{mix(s.base + mix(uint64(number)+golden))}
	s.kind.fill(e, &e.rng)
	return e
}

// A rng is splitmix64 (Steele, Lea, Flood 2014).
type rng struct{ state uint64 }

const golden = 0x9E3779B97F4A7C15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (r *rng) next() uint64 {
	r.state += golden
	return mix(r.state)
}
