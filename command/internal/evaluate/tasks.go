package evaluate

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/synthetic"
)

// A Task is something to build on and points at which to measure.
type Task struct {
	Name  string
	About string // one sentence
	X, Y  string // the axes with their units
	At    []int
	Less  bool    // smaller values are better
	Guess float64 // the value of a model that guesses, NaN if that is unknown

	on      string // the name of its training set
	built   func(seed uint64) (stream.Source, error)
	measure func(ctx context.Context, m *module.Module[float32], seed uint64) ([]float64, error)
}

// probes are the episodes of a source that each point is measured with.
const probes = 32

const (
	pairKinds = "keys=64 values=32 fillers=1 gap=%d pairs=%d queries=%d"
	asked     = 16 // keys of an episode of pairs at most
	digits    = "symbols=16 digits=3 fillers=4 lead=4 distances=%d"
	copied    = "symbols=16 items=8 slots=%d"
	trained   = 512   // tokens of a document of the text that is built on
	longest   = 16384 // and of a context that is read
)

// tasks are all tasks.
func tasks(o Options) []Task {
	out := []Task{
		recall("mqar", "Keys and values are shown, and after a gap up to 16 of the keys are asked for. Built on 2 to 16 pairs and a shorter gap.",
			"pairs", []int{2, 4, 8, 16, 32, 64}, 1.0/32, func(n int) string { return pairs(2*window, n) },
			shortPairs...),
		byAge(),
		recall("needle", "Three digits are shown once, and asked for at a distance. Built at distances of 24, 48 and 96.",
			"tokens between", []int{16, 32, 64, 128, 256, 512, 1024}, 1.0/16, needle, needle(24), needle(48), needle(96)),
		recall("copy", "Eight symbols at random places are copied in their order. Built on 32 and 64 places.",
			"places", []int{16, 32, 64, 128, 256}, 1.0/16, places, places(32), places(64)),
	}
	if o.Text != nil {
		out = append(out, lengths(o.Text))
	}
	return out
}

// shortPairs are what mqar and position are built on. Few pairs are learned first, and many with them.
var shortPairs = []string{pairs(window, 2), pairs(window, 4), pairs(window, 8), pairs(window, 16)}

// pairs is a kind of source with pairs of a key and a value; places and needle are those of a copy and of digits at a distance.
func pairs(gap, n int) string { return fmt.Sprintf("mqar "+pairKinds, gap, n, min(n, asked)) }
func places(n int) string     { return fmt.Sprintf("copy "+copied, n) }
func needle(n int) string     { return fmt.Sprintf("needle "+digits, n) }

// mixture is episodes of several kinds that take turns.
func mixture(seed uint64, kinds ...string) (stream.Source, error) {
	const turns, each = 256, 16
	var parts []stream.Source
	for i := range turns {
		k, err := synthetic.Parse(kinds[i%len(kinds)])
		if err != nil {
			return nil, err
		}
		s, err := synthetic.New(k, seed+uint64(i)<<16, each)
		if err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	return stream.Join(parts...)
}

// recall is a task whose points are kinds of one number, the value the share of right answers.
func recall(name, about, x string, at []int, guess float64, kind func(n int) string, built ...string) Task {
	return Task{Name: name, About: about, X: x, Y: "right answers", At: at, Guess: guess, on: strings.Join(built, ", "),
		built: func(seed uint64) (stream.Source, error) { return mixture(seed, built...) },
		measure: func(ctx context.Context, m *module.Module[float32], seed uint64) ([]float64, error) {
			var out []float64
			for _, n := range at {
				part, err := episodes(kind(n), seed)
				if err != nil {
					return nil, err
				}
				var right mean
				if err := ask(ctx, m, part, probes, func(a answer) { right.add(share(a.right)) }); err != nil {
					return nil, err
				}
				out = append(out, right.value())
			}
			return out, nil
		}}
}

// byAge asks for half of many pairs: the value is the share of right answers by the tokens since the pair was shown.
func byAge() Task {
	const most = 2 * asked
	at := []int{48, 64, 80, 96, 112, 128}
	kind := pairs(2*window, most)
	return Task{Name: "position", About: fmt.Sprintf("Of %d pairs, how many are right by the tokens since the pair was shown? Built on the same as mqar.", most),
		X: "tokens since, up to", Y: "right answers", At: at, Guess: 1.0 / 32, on: strings.Join(shortPairs, ", "),
		built: func(seed uint64) (stream.Source, error) { return mixture(seed, shortPairs...) },
		measure: func(ctx context.Context, m *module.Module[float32], seed uint64) ([]float64, error) {
			part, err := episodes(kind, seed)
			if err != nil {
				return nil, err
			}
			lo, hi := part.Bounds()
			ids := make([]int32, hi-lo)
			if err := part.Source().Read(ids, lo); err != nil {
				return nil, err
			}
			n := len(ids) / probes
			right := make([]mean, len(at))
			err = ask(ctx, m, part, probes, func(a answer) {
				episode := ids[a.slot*n : (a.slot+1)*n]
				for shown := 0; shown < 2*most; shown += 2 {
					if episode[shown] == episode[a.at-1] {
						bucket(right, at, a.at-1-shown).add(share(a.right))
					}
				}
			})
			return values(right), err
		}}
}

// lengths is bits per token of a text by the position in a context much longer than any that was built on.
func lengths(text stream.Source) Task {
	at := []int{128, 256, 512, 1024, 2048, 4096, 8192, longest}
	built, heldOut := stream.Split(text)
	return Task{Name: "length", About: fmt.Sprintf("A text, built on in contexts of %d tokens and read in contexts of up to %d.", trained, longest),
		X: "position in the context, up to", Y: "bits per token", At: at, Less: true, Guess: math.NaN(), on: "text",
		built: func(uint64) (stream.Source, error) {
			_, hi := built.Bounds()
			return cut{text, hi, trained}, nil
		},
		measure: func(ctx context.Context, m *module.Module[float32], _ uint64) ([]float64, error) {
			lo, hi := heldOut.Bounds()
			ranges := max((hi-lo)/longest, 1)
			part, err := stream.Slice(text, lo, min(hi, lo+ranges*longest))
			if err != nil {
				return nil, err
			}
			bits := make([]mean, len(at))
			err = ask(ctx, m, part, ranges, func(a answer) { bucket(bits, at, a.at).add(a.nats / math.Ln2) })
			return values(bits), err
		}}
}

// cut is the first tokens of a source in documents of equal length.
type cut struct {
	stream.Source
	size, every int
}

func (c cut) Len() int               { return c.size }
func (c cut) DocumentEnd(at int) int { return min(c.size, at-at%c.every+c.every) }

// episodes are those that a point is measured with.
func episodes(kind string, seed uint64) (stream.Part, error) {
	k, err := synthetic.Parse(kind)
	if err != nil {
		return stream.Part{}, err
	}
	s, err := synthetic.New(k, seed, probes)
	if err != nil {
		return stream.Part{}, err
	}
	return s.Episodes(0, probes)
}

// bucket is the first whose bound is at least x, or the last.
func bucket(ms []mean, at []int, x int) *mean {
	for i, bound := range at {
		if x <= bound {
			return &ms[i]
		}
	}
	return &ms[len(ms)-1]
}

// A mean of values, NaN of none.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }
func (m mean) value() float64 { return m.sum / float64(m.n) }
func values(ms []mean) []float64 {
	out := make([]float64, len(ms))
	for i, m := range ms {
		out[i] = m.value()
	}
	return out
}

func share(right bool) float64 {
	if right {
		return 1
	}
	return 0
}
