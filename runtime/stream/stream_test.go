package stream

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/validation/opticks"
)

func text(t *testing.T, docs ...string) *Text {
	t.Helper()
	var raw [][]byte
	for _, d := range docs {
		raw = append(raw, []byte(d))
	}
	x, err := FromDocuments("test", raw...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func open(t *testing.T, p Part, batch int) *Stream {
	t.Helper()
	s, err := New(p, batch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ExampleStream() {
	x, _ := FromDocuments("example", []byte("the quick brown fox jumps"))
	build, _ := Split(x)
	s, _ := New(build, 2)
	c := s.Next(4)
	for l := range c.Batch {
		fmt.Print("slot ", l, ":")
		for t := range c.Tokens {
			fmt.Printf(" %q→%q", c.Inputs[l*c.Tokens+t], c.Targets[l*c.Tokens+t])
		}
		fmt.Println()
	}
	// Output:
	// slot 0: 't'→'h' 'h'→'e' 'e'→' ' ' '→'q'
	// slot 1: 'r'→'o' 'o'→'w' 'w'→'n' 'n'→' '
}

// TestSlotsReadTheirRanges follows every slot through three rounds and
// checks each token, target and event.
func TestSlotsReadTheirRanges(t *testing.T) {
	x := text(t, "abcdefghij", "klmnopqrstu", "vwxyz")
	const batch, tokens = 3, 7
	s := open(t, Whole(x), batch)
	lo := []int{0, 9, 18}
	size := []int{9, 9, 8}
	at := slices.Clone(lo)
	for id := range uint64(12) {
		c := s.Next(tokens)
		if c.ID != id || len(c.Inputs) != batch*tokens {
			t.Fatalf("chunk %d has id %d, %d inputs", id, c.ID, len(c.Inputs))
		}
		var events []Event
		for l := range batch {
			for k := range tokens {
				in, want := c.Inputs[l*tokens+k], int32(x.data[at[l]])
				wantTarget := int32(Ignore)
				switch {
				case at[l]+1 == lo[l]+size[l]:
					at[l] = lo[l]
					events = append(events, Event{Slot: l, At: k + 1, Kind: Wrap})
				case at[l] == 9 || at[l] == 20:
					at[l]++
					events = append(events, Event{Slot: l, At: k + 1, Kind: DocumentEnd})
				default:
					at[l]++
					wantTarget = int32(x.data[at[l]])
				}
				if got := c.Targets[l*tokens+k]; in != want || got != wantTarget {
					t.Fatalf("chunk %d slot %d token %d: %d→%d, want %d→%d", id, l, k, in, got, want, wantTarget)
				}
			}
			if got := s.Left(l); got != lo[l]+size[l]-at[l] {
				t.Errorf("Left(%d) = %d", l, got)
			}
		}
		if !slices.Equal(c.Events, events) {
			t.Fatalf("chunk %d: events %v, want %v", id, c.Events, events)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, n := range []int{20, 29, 567198} {
		x := &Text{described: described{ends: []int{n}}, data: make([]byte, n)}
		b, h := Split(x)
		if b.hi != n*9/10 || h.lo != b.hi || h.hi != n || b.lo != 0 {
			t.Errorf("Split of %d bytes: [%d, %d) and [%d, %d)", n, b.lo, b.hi, h.lo, h.hi)
		}
	}
}

func TestTooShort(t *testing.T) {
	if _, err := FromDocuments("x", []byte("short")); !errors.Is(err, ErrTooShort) {
		t.Errorf("a text of 5 bytes = %v", err)
	}
	if _, err := New(Whole(text(t, "abcdefghijklmnopqrstuvwxyz")), 14); !errors.Is(err, ErrTooShort) {
		t.Errorf("a batch of 14 over 26 bytes = %v", err)
	}
	if _, err := Open("no such file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file = %v", err)
	}
	path := filepath.Join(t.TempDir(), "t")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 40), 0o644); err != nil {
		t.Fatal(err)
	}
	if x, err := Open(path); err != nil || x.Len() != 40 {
		t.Errorf("Open = %v", err)
	}
}

// advance reads n chunks of changing length and keeps the pulse beside it.
func advance(s *Stream, p pulse.Pulse, n int) pulse.Pulse {
	for i := range n {
		s.Next(3 + i%4)
		p = p.Next(3 + i%4)
	}
	return p
}

// TestResume stops after every number of chunks, goes through words, and
// compares what follows.
func TestResume(t *testing.T) {
	x := text(t, "abcdefghij", "klmnopqrstuvwxyz")
	for n := range 12 {
		live := open(t, Whole(x), 2)
		p := advance(live, pulse.First(pulse.Build), n)
		var saved []Cursor
		for _, c := range live.Cursors(p) {
			back, err := CursorFromWords(c.Words())
			if err != nil || back != c {
				t.Fatalf("words of %v = %v, %v", c, back, err)
			}
			saved = append(saved, back)
		}
		resumed := open(t, Whole(x), 2)
		if err := resumed.Restore(saved, p); err != nil {
			t.Fatalf("after %d chunks: %v", n, err)
		}
		for range 9 {
			a, b := live.Next(20), resumed.Next(20)
			if a.ID != b.ID || !slices.Equal(a.Inputs, b.Inputs) || !slices.Equal(a.Targets, b.Targets) || !slices.Equal(a.Events, b.Events) {
				t.Fatalf("after %d chunks the resumed stream reads %v, want %v", n, b, a)
			}
		}
	}
}

// TestRefusals breaks one thing at a time; the stream must stay where it was.
func TestRefusals(t *testing.T) {
	x := text(t, "abcdefghijklmnopqrstuvwxyz")
	s := open(t, Whole(x), 2)
	p := advance(s, pulse.First(pulse.Build), 5)
	for _, c := range []struct {
		want  error
		spoil func(c []Cursor) []Cursor
	}{
		{ErrSlots, func(c []Cursor) []Cursor { return c[:1] }},
		{ErrSlots, func(c []Cursor) []Cursor { c[0], c[1] = c[1], c[0]; return c }},
		{ErrEnding, func(c []Cursor) []Cursor { c[1].Session = true; return c }},
		{ErrLength, func(c []Cursor) []Cursor { c[1].Total++; return c }},
		{ErrRNG, func(c []Cursor) []Cursor { c[1].RNG[3]++; return c }},
		{ErrDataset, func(c []Cursor) []Cursor { c[1].DatasetDigest[2]++; return c }},
		{ErrPart, func(c []Cursor) []Cursor { c[1].Hi--; return c }},
		{ErrPosition, func(c []Cursor) []Cursor { c[1].Position = c[1].Hi; return c }},
		{ErrPosition, func(c []Cursor) []Cursor { c[1].Position = 0; return c }},
		{ErrPosition, func(c []Cursor) []Cursor { c[1].Position++; return c }},
		{ErrPosition, func(c []Cursor) []Cursor { c[1].Served++; return c }},
		{ErrChunk, func(c []Cursor) []Cursor { c[1].Chunk++; return c }},
		{ErrChunk, func(c []Cursor) []Cursor { c[0].Chunk, c[1].Chunk = 0, 0; return c }},
		{ErrPulse, func(c []Cursor) []Cursor { c[1].PulseID++; return c }},
		{ErrContent, func(c []Cursor) []Cursor { c[1].ContentHash++; return c }},
		{ErrContent, func(c []Cursor) []Cursor { c[1].LastLen--; return c }},
		{ErrContent, func(c []Cursor) []Cursor { c[1].LastLen, c[1].ContentHash = 0, emptyHash; return c }},
		{ErrContent, func(c []Cursor) []Cursor { c[1].LastLen = math.MaxUint64; return c }},
		{ErrContent, func(c []Cursor) []Cursor { c[1].Position++; c[1].Served++; return c }},
	} {
		fresh := open(t, Whole(x), 2)
		err := fresh.Restore(c.spoil(s.Cursors(p)), p)
		var m *Mismatch
		if !errors.Is(err, c.want) || !errors.As(err, &m) || m.Saved == "" || m.Live == "" || m.Saved == m.Live {
			t.Errorf("Restore = %v, want %v naming both sides", err, c.want)
		}
		if fresh.slots[0].at != 0 || fresh.next != 0 {
			t.Errorf("%v: the stream was moved by a refused cursor", c.want)
		}
	}
	other := text(t, "abcdefghijklmnopqrstuvwxyZ")
	if err := open(t, Whole(other), 2).Restore(s.Cursors(p), p); !errors.Is(err, ErrDataset) {
		t.Errorf("cursor on another text = %v, want ErrDataset", err)
	}
	flags, tail := s.Cursors(p)[0].Words(), s.Cursors(p)[0].Words()
	flags[3], tail[CursorWords-1] = 2, 1
	for _, w := range [][]uint64{nil, {1}, append([]uint64{9}, make([]uint64, CursorWords-1)...), flags, tail} {
		if _, err := CursorFromWords(w); !errors.Is(err, ErrVersion) {
			t.Errorf("CursorFromWords(%v) = %v, want ErrVersion", w, err)
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	s := open(t, Whole(text(t, "abcdefghijklmnopqrstuvwxyz")), 2)
	s.Next(100)
	if n := testing.AllocsPerRun(20, func() { s.Next(100) }); n != 0 {
		t.Errorf("Next allocates %v times", n)
	}
}

// TestCountsOfOpticks reproduces the figures that the build is compared with.
func TestCountsOfOpticks(t *testing.T) {
	x, err := Open(opticks.Path())
	if err != nil {
		t.Skip(err)
	}
	b, err := Count(Split(x))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("unigram %.4f, bigram %.4f bits/byte", b.Unigram, b.Bigram)
	if math.Abs(b.Unigram-4.51) > 0.005 || math.Abs(b.Bigram-3.54) > 0.005 {
		t.Errorf("unigram %.4f, bigram %.4f, want 4.51 and 3.54", b.Unigram, b.Bigram)
	}
}
