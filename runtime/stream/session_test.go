package stream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

func session(t *testing.T, p Part, batch int) *Stream {
	t.Helper()
	s, err := NewSession(p, batch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSessionEnds follows a session of two documents over three batch of 5, 5
// and 4 tokens in chunks of 3.
func TestSessionEnds(t *testing.T) {
	p, err := Slice(text(t, "abcdefg", "hijklmn", "opqrst"), 0, 14)
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, p, 3)
	first, err := s.Read(3)
	if err != nil || !slices.Equal(first.Valid, []int{3, 3, 3}) || s.Ended() {
		t.Fatalf("first chunk: valid %v, %v", first.Valid, err)
	}
	if want := []Event{{Slot: 1, At: 2, Kind: DocumentEnd}}; !slices.Equal(first.Events, want) {
		t.Errorf("first chunk: events %v, want %v", first.Events, want)
	}
	c, err := s.Read(3)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{2, 2, 1}; !slices.Equal(c.Valid, want) {
		t.Errorf("valid %v, want %v", c.Valid, want)
	}
	if want := []int32{'d', 'e', 0, 'i', 'j', 0, 'n', 0, 0}; !slices.Equal(c.Inputs, want) {
		t.Errorf("inputs %v, want %v", c.Inputs, want)
	}
	if want := []int32{'e', Ignore, Ignore, 'j', Ignore, Ignore, Ignore, Ignore, Ignore}; !slices.Equal(c.Targets, want) {
		t.Errorf("targets %v, want %v", c.Targets, want)
	}
	want := []Event{{Slot: 0, At: 2, Kind: SessionEnd}, {Slot: 1, At: 2, Kind: SessionEnd}, {Slot: 2, At: 1, Kind: SessionEnd}}
	if !slices.Equal(c.Events, want) {
		t.Errorf("events %v, want %v", c.Events, want)
	}
	if _, err := s.Read(3); !errors.Is(err, ErrEnd) || !s.Ended() || s.Position(2) != 14 {
		t.Errorf("after the end: %v, ended %v, slot 2 at %d", err, s.Ended(), s.Position(2))
	}
}

// A cut is a random run over a source: chunk lengths, and before which chunks
// the stream is thrown away and made again from its cursors.
func cut(t *testing.T, r *rand.Rand, start func() *Stream, tokens int) (served [][]int32) {
	s, p := start(), pulse.First(pulse.Stream)
	served = slices.Repeat([][]int32{nil}, s.Batch())
	for len(served[0]) < tokens && !s.Ended() {
		if r.IntN(3) == 0 {
			var saved []Cursor
			for _, c := range s.Cursors(p) {
				back, err := CursorFromWords(c.Words())
				if err != nil {
					t.Fatal(err)
				}
				saved = append(saved, back)
			}
			s = start()
			if err := s.Restore(saved, p); err != nil {
				t.Fatalf("resume before chunk %d: %v", p.Step(), err)
			}
		}
		n := 1 + r.IntN(9)
		c, err := s.Read(n)
		if err != nil {
			t.Fatal(err)
		}
		for l := range served {
			served[l] = append(served[l], c.Inputs[l*n:l*n+c.Valid[l]]...)
		}
		p = p.Next(n)
	}
	return served
}

// TestEveryTokenOnce cuts sessions and wrapping streams at random, resumes at
// random, and wants every token exactly once in each pass.
func TestEveryTokenOnce(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		var docs []string
		for range 1 + r.IntN(5) {
			docs = append(docs, string(make([]byte, r.IntN(30)))+"0123456789abcdefghijk")
		}
		x, batch := text(t, docs...), 1+r.IntN(4)
		for i := range x.data {
			x.data[i] = byte(r.Uint32())
		}
		all := make([]int32, x.Len())
		if err := x.Read(all, 0); err != nil {
			t.Fatal(err)
		}
		once := cut(t, r, func() *Stream { return session(t, Whole(x), batch) }, 1<<20)
		if got := slices.Concat(once...); !slices.Equal(got, all) {
			t.Fatalf("seed %d: a session of %d batch serves %v, want %v", seed, batch, got, all)
		}
		wrap := open(t, Whole(x), batch)
		for l, got := range cut(t, r, func() *Stream { return open(t, Whole(x), batch) }, 3*x.Len()) {
			stretch := all[wrap.slots[l].lo:wrap.slots[l].hi]
			want := slices.Repeat(stretch, 1+len(got)/len(stretch))[:len(got)]
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d slot %d of %d: the passes differ from the stretch", seed, l, batch)
			}
		}
	}
}

// TestSessionRefusals moves a cursor after an end.
func TestSessionRefusals(t *testing.T) {
	x := text(t, "abcdefghijklmnopqrstuvwxyz")
	s := session(t, Whole(x), 2)
	p := pulse.First(pulse.Stream)
	for !s.Ended() {
		if _, err := s.Read(10); err != nil {
			t.Fatal(err)
		}
		p = p.Next(10)
	}
	if err := session(t, Whole(x), 2).Restore(s.Cursors(p), p); err != nil {
		t.Errorf("resume of a session that is over: %v", err)
	}
	beyond := s.Cursors(p)
	beyond[1].Position++
	beyond[1].Served++
	if err := session(t, Whole(x), 2).Restore(beyond, p); !errors.Is(err, ErrPosition) {
		t.Errorf("a cursor after the end = %v, want ErrPosition", err)
	}
	if err := open(t, Whole(x), 2).Restore(s.Cursors(p), p); !errors.Is(err, ErrEnding) {
		t.Errorf("a session's cursor on a stream that wraps = %v, want ErrEnding", err)
	}
}

// TestMark compares the marks of 9 chunks of levels with periods 1, 2 and 8.
func TestMark(t *testing.T) {
	s := open(t, Whole(text(t, "abcdefghijklmnopqrstuvwxyz")), 2)
	p := pulse.First(pulse.Build, 1, 2, 8)
	for step := range 9 {
		c := s.Next(5)
		own := len(c.Events)
		c.Mark(p.Next(5)) // replaced below
		c.Mark(p)
		want := []Event{{AllSlots, 0, ChunkBoundary, 0}}
		if step%2 == 0 {
			want = append(want, Event{AllSlots, 0, ChunkBoundary, 1})
		}
		if step%8 == 0 {
			want = append(want, Event{AllSlots, 0, ChunkBoundary, 2}, Event{Slot: AllSlots, Kind: FrequencySync})
		}
		if got := c.Events[own:]; !slices.Equal(got, want) {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
		p = p.Next(5)
	}
}

func ExampleChunk_Mark() {
	x, _ := FromDocuments("example", []byte("the quick brown fox jumps"))
	s, _ := New(Whole(x), 1)
	p := pulse.First(pulse.Build, 1, 2)
	for range 3 {
		c := s.Next(8)
		c.Mark(p)
		fmt.Print("chunk ", c.ID, ":")
		for _, e := range c.Events {
			fmt.Print(" ", e.Kind, " ", e.Level)
		}
		fmt.Println()
		p = p.Next(8)
	}
	// Output:
	// chunk 0: chunk boundary 0 chunk boundary 1 frequency sync 0
	// chunk 1: chunk boundary 0
	// chunk 2: chunk boundary 0 chunk boundary 1 frequency sync 0
}

func TestReadDoesNotAllocate(t *testing.T) {
	p := pulse.First(pulse.Build, 1, 2, 4, 8, 16, 32, 64, 128)
	for _, src := range []Source{text(t, "abcdefghijklmnopqrstuvwxyz"), tokens(t, 40, 5, 9), mapped(t, tokens(t, 40, 5, 9)), halves{tokens(t, 40, 5, 9)}} {
		s := open(t, Whole(src), 2)
		read := func() {
			c, err := s.Read(100)
			if err != nil {
				t.Fatal(err)
			}
			c.Mark(p)
		}
		read()
		if n := testing.AllocsPerRun(20, read); n != 0 {
			t.Errorf("%T: Read allocates %v times", src, n)
		}
	}
}

// halves scores every second token.
type halves struct{ *Tokens }

func (h halves) Scored(dst []bool, at int) error {
	for i := range dst {
		dst[i] = (at+i)%2 == 0
	}
	return nil
}

// TestScored wants targets only where the source scores the next token.
func TestScored(t *testing.T) {
	h := halves{tokens(t, 30, 7, 20)}
	s := session(t, Whole(h), 1)
	for at := 0; !s.Ended(); {
		c, err := s.Read(4)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Valid[0] {
			want := Ignore
			if next := at + i + 1; next%2 == 0 && next < 30 && next != 7 && next != 20 {
				want = h.ids[next]
			}
			if c.Targets[i] != want {
				t.Errorf("target of token %d is %d, want %d", at+i, c.Targets[i], want)
			}
		}
		at += 4
	}
	b, err := Count(Whole(h), Whole(h))
	if err != nil || b.Scored != 15 {
		t.Errorf("Count scores %d tokens, %v, want 15", b.Scored, err)
	}
}
