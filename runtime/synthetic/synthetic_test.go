package synthetic

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// kinds has two of each kind, with noise and without.
var kinds = []Kind{
	MQAR{Keys: 12, Values: 9, Pairs: 6, Queries: 6},
	MQAR{Keys: 40, Values: 16, Fillers: 5, Pairs: 8, Queries: 5, Gap: 11, Noise: 150},
	Copy{Symbols: 7, Items: 5, Slots: 20},
	Copy{Symbols: 4, Items: 6, Slots: 6, Noise: 80},
	Needle{Symbols: 10, Digits: 4, Distances: []int{9, 60, 5}, Fillers: 20, Lead: 7},
	Needle{Symbols: 5, Digits: 2, Distances: []int{30}, Fillers: 3, Noise: 200},
	Dyck{Types: 4, Depth: 5, Tokens: 60, Open: 450},
	Dyck{Types: 1, Depth: 1, Tokens: 9, Open: 500},
	Piecewise{Symbols: 5, Alpha: 300, Scales: []Scale{{6, 64}}},
	Piecewise{Symbols: 4, Alpha: 50, Scales: []Scale{{4, 32}, {5, 256}}},
}

func ExampleTwoTimescales() {
	k := TwoTimescales()
	fmt.Printf("remembers nothing %.2f, for 64 pairs %.2f, everything %.2f bits\n", k.Forgetful(), k.Within(64), k.Optimum())
	// Output: remembers nothing 4.00, for 64 pairs 2.14, everything 1.68 bits
}

func source(t testing.TB, k Kind, seed uint64, episodes int) *Source {
	t.Helper()
	s, err := New(k, seed, episodes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// all reads a source in one go.
func all(t testing.TB, s *Source) (ids []int32, scored []bool) {
	t.Helper()
	ids, scored = make([]int32, s.Len()), make([]bool, s.Len())
	if err := s.Read(ids, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Scored(scored, 0); err != nil {
		t.Fatal(err)
	}
	return ids, scored
}

// TestRandomAccess reads every source backwards in pieces of many lengths, and
// wants other tokens under another seed.
func TestRandomAccess(t *testing.T) {
	for _, k := range kinds {
		s := source(t, k, 1, 40)
		ids, scored := all(t, s)
		again := source(t, k, 1, 40)
		for at, n := s.Len(), 1; at > 0; n = n*3%101 + 1 {
			at -= min(n, at)
			n := min(n, s.Len()-at)
			x, y := make([]int32, n), make([]bool, n)
			if again.Read(x, at) != nil || again.Scored(y, at) != nil || !slices.Equal(x, ids[at:at+n]) || !slices.Equal(y, scored[at:at+n]) {
				t.Fatalf("%v: tokens [%d, %d) depend on how they are read", k, at, at+n)
			}
		}
		for i, id := range ids {
			if id < 0 || int(id) >= s.Vocab() {
				t.Fatalf("%v: id %d at %d, vocabulary of %d", k, id, i, s.Vocab())
			}
		}
		other := source(t, k, 2, 40)
		x, _ := all(t, other)
		if k.Vocab() > 2 && slices.Equal(x, ids) || other.Digest() == s.Digest() || other.RNG() == s.RNG() {
			t.Errorf("%v: another seed is the same source", k)
		}
	}
}

// TestKindsDiffer wants a digest of its own for every kind and length.
func TestKindsDiffer(t *testing.T) {
	seen := map[[4]uint64]bool{}
	for _, k := range kinds {
		seen[source(t, k, 1, 3).Digest()] = true
		seen[source(t, k, 1, 4).Digest()] = true
	}
	if len(seen) != 2*len(kinds) {
		t.Errorf("%d digests of %d sources", len(seen), 2*len(kinds))
	}
}

// TestStreamed resumes a stream over each source, and wants targets exactly
// where the source scores.
func TestStreamed(t *testing.T) {
	for _, k := range kinds {
		s := source(t, k, 5, 12)
		ids, scored := all(t, s)
		part, err := s.Episodes(0, 12)
		if err != nil {
			t.Fatal(err)
		}
		live, err := stream.NewSession(part, 2)
		if err != nil {
			t.Fatal(err)
		}
		p := pulse.First(pulse.Build)
		for !live.Ended() {
			next, err := stream.NewSession(part, 2)
			if err != nil {
				t.Fatal(err)
			}
			if err := next.Restore(live.Cursors(p), p); err != nil {
				t.Fatal(err)
			}
			live = next
			at := []int{live.Position(0), live.Position(1)}
			c, err := live.Read(17)
			if err != nil {
				t.Fatal(err)
			}
			for l := range at {
				for i := range c.Valid[l] {
					x := at[l] + i
					want := stream.Ignore
					if x+1 < s.Len() && scored[x+1] && x+1 != s.DocumentEnd(x) && x+1 != s.Len()/2 {
						want = ids[x+1]
					}
					if got := c.Targets[l*17+i]; got != want || c.Inputs[l*17+i] != ids[x] {
						t.Fatalf("%v: token %d: %d→%d, want %d→%d", k, x, c.Inputs[l*17+i], got, ids[x], want)
					}
				}
			}
			p = p.Next(17)
		}
	}
}

// TestReadAtOnce reads a source in several goroutines.
func TestReadAtOnce(t *testing.T) {
	for _, k := range kinds {
		s := source(t, k, 3, 64)
		want, _ := all(t, source(t, k, 3, 64))
		var group sync.WaitGroup
		for i := range 6 {
			group.Go(func() {
				got := make([]int32, 29)
				for at := i; at+len(got) <= s.Len(); at += 31 * (i + 1) {
					if s.Read(got, at) != nil || !slices.Equal(got, want[at:at+len(got)]) {
						t.Errorf("%v: other tokens when several read", k)
						return
					}
				}
			})
		}
		group.Wait()
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	for _, k := range kinds {
		s := source(t, k, 1, 2000)
		part, err := s.Episodes(0, 2000)
		if err != nil {
			t.Fatal(err)
		}
		x, err := stream.New(part, 3)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 { // until every place for an episode was used
			x.Next(2 * k.Length())
		}
		if n := testing.AllocsPerRun(10, func() { x.Next(2 * k.Length()) }); n != 0 {
			t.Errorf("%v: reading allocates %v times", k, n)
		}
	}
}

// TestParse reads what every kind prints, and names what is wrong in others.
func TestParse(t *testing.T) {
	for _, k := range kinds {
		back, err := Parse(k.String())
		if err != nil || !reflect.DeepEqual(back, k) {
			t.Errorf("Parse(%q) = %#v, %v", k.String(), back, err)
		}
	}
	back, err := Parse("piecewise scales=4x64,4x2048 alpha=50  symbols=16")
	if err != nil || !reflect.DeepEqual(back, TwoTimescales()) {
		t.Errorf("Parse = %#v, %v", back, err)
	}
	for text, want := range map[string]string{
		"":                   "copy symbols=8 items=4 slots=16 noise=0",
		"copy":               "copy symbols=8 items=4 slots=16 noise=0",
		"mqar":               "mqar keys=16 values=16 fillers=4 pairs=4 queries=4 gap=8 noise=0",
		"needle":             "needle symbols=8 digits=2 distances=8,32 fillers=8 lead=8 noise=0",
		"dyck":               "dyck types=4 depth=8 tokens=64 open=500",
		"piecewise":          TwoTimescales().String(),
		"needle distances=5": "needle symbols=8 digits=2 distances=5 fillers=8 lead=8 noise=0",
	} {
		if k, err := Parse(text); err != nil || k.String() != want {
			t.Errorf("Parse(%q) = %v, %v, want %q", text, k, err, want)
		}
	}
	for text, want := range map[string]string{
		"markov":                        `no kind "markov"; there are mqar, copy, needle, dyck, piecewise`,
		"dyck depth=3 width=2":          `no parameter "width"; there are types, depth, tokens, open`,
		"dyck depth=3 depth=2":          `depth is there twice`,
		"dyck depth=x":                  `depth is "x", want an integer`,
		"dyck depth":                    `depth is "", want an integer`,
		"dyck types=0":                  `types is 0, want 1`,
		"needle distances=5,,6":         `distances is "5,,6", want integers`,
		"piecewise scales=4x64,5":       `scales is "4x64,5", want scales as`,
		"piecewise symbols=2 scales=4x": `want scales as`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want %q", text, err, want)
		}
	}
}

// TestBadParameters wants the parameter and both sides named.
func TestBadParameters(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		want string
	}{
		{MQAR{Keys: 3, Values: 4, Pairs: 4, Queries: 1}, "keys is 3, want 4"},
		{MQAR{Keys: 4, Values: 4, Pairs: 4, Queries: 5}, "queries is 5, want 1 to 4"},
		{MQAR{Keys: 4, Values: 4, Pairs: 4, Queries: 4, Gap: 2}, "fillers is 0, want 1"},
		{MQAR{Keys: 4, Values: 4, Pairs: 4, Queries: 4, Noise: 1001}, "noise is 1001, want 0 to 1000"},
		{Copy{Symbols: 4, Items: 5, Slots: 4}, "slots is 4, want 5"},
		{Copy{Symbols: 1, Items: 5, Slots: 5}, "symbols is 1, want 2"},
		{Needle{Symbols: 2, Digits: 3, Fillers: 1}, "number of distances is 0, want 1"},
		{Needle{Symbols: 2, Digits: 3, Fillers: 1, Distances: []int{9, 3}}, "distance is 3, want 4"},
		{Dyck{Types: 1, Depth: 0, Tokens: 9}, "depth is 0, want 1"},
		{Dyck{Types: 1, Depth: 1, Tokens: 1}, "tokens is 1, want 2"},
		{Piecewise{Symbols: 2, Alpha: 1}, "number of scales is 0, want 1"},
		{Piecewise{Symbols: 2, Alpha: 0, Scales: []Scale{{1, 1}}}, "alpha is 0, want 1"},
		{Piecewise{Symbols: 2, Alpha: 1, Scales: []Scale{{1, 4}, {1, 6}}}, "segment of scale 0 is 4, want a divisor of the longest, 6"},
	} {
		if _, err := New(c.kind, 1, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%v) = %v, want %q", c.kind, err, c.want)
		}
	}
	if _, err := New(kinds[0], 1, 0); err == nil {
		t.Error("New takes 0 episodes")
	}
	if _, err := New(kinds[0], 1, math.MaxInt); err == nil {
		t.Error("New takes episodes that have no position")
	}
}
