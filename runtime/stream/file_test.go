package stream

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// tokens makes n ids below 300 in documents that end at ends and at n.
func tokens(t *testing.T, n int, ends ...int) *Tokens {
	t.Helper()
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i * 77 % 300)
	}
	x, err := NewTokens("test", 300, ids, append(ends, n)...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func mapped(t *testing.T, src Source) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if _, err := WriteTokens(path, src, [4]uint64{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	f, err := OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// same wants two sources with the same content.
func same(t *testing.T, a, b Source) {
	t.Helper()
	if a.Len() != b.Len() || a.Vocab() != b.Vocab() {
		t.Fatalf("%d tokens of %d, want %d of %d", a.Len(), a.Vocab(), b.Len(), b.Vocab())
	}
	x, y := make([]int32, a.Len()), make([]int32, a.Len())
	for at := range a.Len() {
		if err := errors.Join(a.Read(x[at:], at), b.Read(y[at:], at)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x[at:], y[at:]) || a.DocumentEnd(at) != b.DocumentEnd(at) {
			t.Fatalf("from token %d: %v to %d, want %v to %d", at, x[at:], a.DocumentEnd(at), y[at:], b.DocumentEnd(at))
		}
	}
}

// TestTokenFile writes sources of both widths and reads them back.
func TestTokenFile(t *testing.T) {
	wide, err := NewTokens("wide", 1<<20, []int32{0, 1 << 19, 1<<20 - 1, 7, 9}, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []Source{tokens(t, 41, 3, 17), tokens(t, 5000), wide, text(t, "abcdefghijklmnopqrst", "uvw")} {
		f := mapped(t, src)
		same(t, f, src)
		if f.Tokenizer() != [4]uint64{1, 2, 3, 4} || f.CheckTokenizer(f.Tokenizer()) != nil {
			t.Error("the tokenizer's digest is lost")
		}
		if err := f.CheckTokenizer([4]uint64{1, 2, 3, 5}); !errors.Is(err, ErrTokenizer) {
			t.Errorf("another tokenizer = %v", err)
		}
		if _, ok := src.(*Tokens); ok && f.Digest() != src.Digest() {
			t.Error("the digest in memory and on the disk differ")
		}
	}
	x := tokens(t, 41, 3, 17)
	for _, other := range []*Tokens{tokens(t, 41, 3, 18), tokens(t, 40, 3, 17), tokens(t, 41, 17)} {
		if other.Digest() == x.Digest() {
			t.Error("other content has the same digest")
		}
	}
}

// TestResumeOnFile saves on the source in memory and resumes on the file.
func TestResumeOnFile(t *testing.T) {
	x := tokens(t, 41, 3, 17)
	live := open(t, Whole(x), 2)
	p := advance(live, pulse.First(pulse.Build), 4)
	resumed := open(t, Whole(mapped(t, x)), 2)
	if err := resumed.Restore(live.Cursors(p), p); err != nil {
		t.Fatal(err)
	}
	if a, b := live.Next(50), resumed.Next(50); !slices.Equal(a.Inputs, b.Inputs) || !slices.Equal(a.Targets, b.Targets) {
		t.Error("the file goes on with other tokens")
	}
}

// TestTokenFileRefusals changes a small file at every bit, at every length, and
// in ways that keep its digests right.
func TestTokenFileRefusals(t *testing.T) {
	x := tokens(t, 11, 4)
	path := filepath.Join(t.TempDir(), "tokens")
	if _, err := WriteTokens(path, x, [4]uint64{}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, data []byte) *SourceError {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := OpenTokens(path)
		var s *SourceError
		if !errors.As(err, &s) || s.Have == "" || s.Want == "" || s.Have == s.Want {
			t.Fatalf("%s: %v, want a refusal naming both sides", what, err)
		}
		if f != nil {
			t.Fatalf("%s: a file beside the error", what)
		}
		return s
	}
	for bit := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		refused("a flipped bit", bad)
	}
	for n := range len(good) {
		if err := refused("a truncated file", good[:n]); n >= headerSize && err.What != ErrSize {
			t.Errorf("cut to %d bytes: %v, want ErrSize", n, err)
		}
	}
	if err := refused("a longer file", append(bytes.Clone(good), 0)); err.What != ErrSize {
		t.Errorf("a byte more: %v, want ErrSize", err)
	}
	var h header
	seal := func(h header) []byte { return append(h.encode(), good[headerSize:]...) }
	h = header{width: 2, count: 11, vocab: 300, documents: 2, content: x.digest}
	if !bytes.Equal(seal(h), good) {
		t.Fatal("the test does not know the header")
	}
	for _, c := range []struct {
		want  error
		spoil func(h *header)
	}{
		{ErrFormat, func(h *header) { h.width = 3 }},
		{ErrVocab, func(h *header) { h.vocab = 0 }},
		{ErrVocab, func(h *header) { h.vocab = math.MaxUint64 }},
		{ErrVocab, func(h *header) { h.vocab = 239 }}, // one of the ids,
		{ErrSize, func(h *header) { h.count = math.MaxUint64 }},
		{ErrSize, func(h *header) { h.documents = 1 << 61 }},
		{ErrSize, func(h *header) { h.count = 13 }},
		{ErrDocuments, func(h *header) { h.count = 12 }},
		{ErrFormat, func(h *header) { h.count = 10 }},
		{ErrTooShort, func(h *header) { h.count = 1 }},
		{ErrDigest, func(h *header) { h.content[2]++ }},
	} {
		bad := h
		c.spoil(&bad)
		if err := refused("a sealed header", seal(bad)); err.What != c.want {
			t.Errorf("%+v: %v, want %v", bad, err, c.want)
		}
	}
	if _, err := OpenTokens(t.TempDir()); !errors.Is(err, ErrNotAFile) {
		t.Errorf("a folder = %v", err)
	}
	if _, err := OpenTokens(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file = %v", err)
	}
}

// TestWriteKeepsTheOldFile breaks a write: the old file stays, nothing else does.
func TestWriteKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if _, err := WriteTokens(path, tokens(t, 9), [4]uint64{}); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	liar := tokens(t, 50)
	liar.vocabulary = 20
	if _, err := WriteTokens(path, liar, [4]uint64{}); !errors.Is(err, ErrVocab) {
		t.Errorf("a source with ids outside its vocabulary = %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
		t.Error("the old file is gone")
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("%d files are left, want 1", len(list))
	}
}

// TestShrinkingFile truncates a file under its map.
func TestShrinkingFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped")
	}
	f := mapped(t, tokens(t, 100000))
	s := open(t, Whole(f), 2)
	s.Next(10)
	if err := os.Truncate(f.name, headerSize); err != nil {
		t.Fatal(err)
	}
	p := pulse.First(pulse.Build).Next(10)
	before := s.Cursors(p)
	_, err := s.Read(40000)
	if !errors.Is(err, ErrShrunk) || !strings.Contains(err.Error(), "128 bytes") {
		t.Errorf("Read = %v, want ErrShrunk with both sizes", err)
	}
	if !slices.Equal(s.Cursors(p), before) {
		t.Error("the stream was moved by a chunk that it could not read")
	}
	f.Close()
	if _, err := s.Read(10); !errors.Is(err, ErrClosed) {
		t.Errorf("Read after Close = %v", err)
	}
}

// TestBadTokens lists what NewTokens refuses.
func TestBadTokens(t *testing.T) {
	for _, c := range []struct {
		want error
		ids  []int32
		ends []int
	}{
		{ErrTooShort, nil, nil},
		{ErrTooShort, []int32{1}, nil},
		{ErrVocab, []int32{1, 5}, nil},
		{ErrVocab, []int32{-1, 2}, nil},
		{ErrDocuments, []int32{1, 2, 3}, []int{2}},
		{ErrDocuments, []int32{1, 2, 3}, []int{2, 2, 3}},
		{ErrDocuments, []int32{1, 2, 3}, []int{0, 3}},
		{ErrDocuments, []int32{1, 2, 3}, []int{4}},
	} {
		if _, err := NewTokens("x", 5, c.ids, c.ends...); !errors.Is(err, c.want) {
			t.Errorf("%v %v: %v, want %v", c.ids, c.ends, err, c.want)
		}
	}
}

// TestTextOptions reads files with separators, raw and not.
func TestTextOptions(t *testing.T) {
	dir := t.TempDir()
	path := func(name, data string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := path("a", "one--two--"), path("b", "--three")
	x, err := OpenText(TextOptions{Separator: []byte("--")}, a, b)
	if err != nil || string(x.data) != "onetwothree" || !slices.Equal(x.ends, []int{3, 6, 11}) || x.name != a+" and 1 more" {
		t.Errorf("two files = %+v, %v", x, err)
	}
	y, err := OpenText(TextOptions{}, a)
	if err != nil || string(y.data) != "one--two--" || len(y.ends) != 1 {
		t.Errorf("one file = %+v, %v", y, err)
	}
	bad := path("bad", "Grüße\nan \xe2\x82 alle\n")
	_, err = OpenText(TextOptions{}, bad)
	var e *EncodingError
	if !errors.As(err, &e) || e.Offset != 11 || e.Line != 2 || e.Column != 4 || e.Byte != 0xe2 {
		t.Errorf("bytes that are not UTF-8 = %v", err)
	}
	if z, err := OpenText(TextOptions{Raw: true}, bad); err != nil || z.Len() != 19 {
		t.Errorf("raw bytes = %v", err)
	}
	for _, c := range []struct {
		want  error
		paths []string
	}{
		{ErrTooShort, nil},
		{ErrTooShort, []string{path("empty", "")}},
		{ErrTooShort, []string{path("one", "x")}},
		{ErrNotAFile, []string{a, dir}},
		{os.ErrNotExist, []string{a, filepath.Join(dir, "none")}},
	} {
		if _, err := OpenText(TextOptions{}, c.paths...); !errors.Is(err, c.want) {
			t.Errorf("OpenText(%v) = %v, want %v", c.paths, err, c.want)
		}
	}
	if _, err := Open(dir); !errors.Is(err, ErrNotAFile) {
		t.Errorf("Open of a folder = %v", err)
	}
}

// TestCountOfTokens holds the counts of ids to those of the same bytes.
func TestCountOfTokens(t *testing.T) {
	x := text(t, strings.Repeat("abracadabra, ", 30))
	ids := make([]int32, x.Len())
	if err := x.Read(ids, 0); err != nil {
		t.Fatal(err)
	}
	y, err := NewTokens("ids", Vocab, ids)
	if err != nil {
		t.Fatal(err)
	}
	of, err := Count(Split(x))
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Count(Split(y)); err != nil || of != same || !(of.Unigram > 2) || !(of.Bigram < of.Unigram) {
		t.Errorf("bytes %+v; ids %+v, %v", of, same, err)
	}
	if _, err := Count(Part{src: y}, Whole(y)); !errors.Is(err, ErrTooShort) {
		t.Errorf("an empty part = %v", err)
	}
	if _, err := Slice(y, 3, y.Len()+1); !errors.Is(err, ErrRange) {
		t.Errorf("a slice outside = %v", err)
	}
}

// FuzzCheck checks bytes as if they were a mapped file. What passes has to be
// what is written for the same tokens.
func FuzzCheck(f *testing.F) {
	body := func(src Source, h header) []byte {
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		if err := h.writeBody(w, src); err != nil {
			f.Fatal(err)
		}
		w.Flush()
		return append(h.encode(), out.Bytes()...)
	}
	for _, width := range []uint32{2, 4} {
		x, err := NewTokens("seed", 9, []int32{1, 2, 3, 4, 5}, 2, 5)
		if err != nil {
			f.Fatal(err)
		}
		good := body(x, header{width: width, count: 5, vocab: 9})
		f.Add(good, true)
		f.Add(good[:headerSize], false)
	}
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if len(data) < headerSize {
			return // open refuses these
		}
		if seal {
			sum := sha256.Sum256(data[:sealAt])
			copy(data[sealAt:headerSize], sum[:])
		}
		file := &File{described: described{name: "fuzz"}, data: data}
		if err := file.check(); err != nil {
			return
		}
		if again := body(file, header{width: file.width, count: file.count, vocab: file.vocab, tokenizer: file.tokenizer}); !bytes.Equal(again, data) {
			t.Errorf("what opens is written as %x, was %x", again, data)
		}
	})
}
