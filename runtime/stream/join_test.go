package stream

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// TestJoin compares sources in sequence with one that has it all.
func TestJoin(t *testing.T) {
	a, b := tokens(t, 30, 7, 20), tokens(t, 12, 5)
	j, err := Join(a, mapped(t, b), a)
	if err != nil {
		t.Fatal(err)
	}
	all, err := NewTokens("all", 300, slices.Concat(a.ids, b.ids, a.ids), 7, 20, 30, 35, 42, 49, 62, 72)
	if err != nil {
		t.Fatal(err)
	}
	same(t, j, all)
	other, err := Join(b, a, a)
	if err != nil || other.Digest() == j.Digest() {
		t.Errorf("another order has the same digest, %v", err)
	}
	scored, some := make([]bool, 42), 0
	h, err := Join(halves{a}, b)
	if err != nil || h.Scored(scored, 0) != nil {
		t.Fatal(err)
	}
	for _, x := range scored {
		if x {
			some++
		}
	}
	if some != 15+12 {
		t.Errorf("%d tokens are scored, want 27", some)
	}
	if _, err := Join(a, text(t, "abcdefghijklmnopqrst")); !errors.Is(err, ErrVocab) {
		t.Errorf("two vocabularies = %v", err)
	}
	if _, err := Join(); !errors.Is(err, ErrTooShort) {
		t.Errorf("no source = %v", err)
	}
}

// TestChangedUnderTheCursor writes into a mapped file, within the last chunk
// and before it; and replaces the file.
func TestChangedUnderTheCursor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped")
	}
	f := mapped(t, tokens(t, 100))
	s := open(t, Whole(f), 1)
	p := advance(s, pulse.First(pulse.Build), 5)
	saved := s.Cursors(p)
	poke := func(token int) {
		file, err := os.OpenFile(f.name, os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteAt([]byte{9, 1}, int64(headerSize+2*token))
			file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	poke(s.Position(0) - 1)
	if err := s.Restore(saved, p); !errors.Is(err, ErrContent) {
		t.Errorf("a token of the last chunk was changed: %v, want ErrContent", err)
	}
	if _, err := OpenTokens(f.name); !errors.Is(err, ErrDigest) {
		t.Errorf("the file opens: %v, want ErrDigest", err)
	}
	if _, err := WriteTokens(f.name, tokens(t, 100, 60), [4]uint64{}); err != nil {
		t.Fatal(err)
	}
	again, err := OpenTokens(f.name)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := open(t, Whole(again), 1).Restore(saved, p); !errors.Is(err, ErrDataset) {
		t.Errorf("another file in its place: %v, want ErrDataset", err)
	}
}
