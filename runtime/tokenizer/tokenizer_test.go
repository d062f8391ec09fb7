package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/runtime/stream"
)

func Example() {
	b, err := Build(Options{Vocab: 261, Split: GPT2, Specials: []string{"<|end|>"}}, []byte("the theory of the thermal theme"))
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := b.Encode(nil, []byte("the theme<|end|>"))
	d := NewDecoder(b, false)
	for _, id := range ids {
		piece, _ := d.Append(nil, id)
		fmt.Printf("%d %q\n", id, piece)
	}
	// Output:
	// 257 "the"
	// 258 " the"
	// 76 "m"
	// 68 "e"
	// 260 "<|end|>"
}

// random makes text from characters, bytes that are none, and white space.
func random(r *rand.Rand, n int) []byte {
	pieces := []string{"a", "th", "The", " ", "\n", "\t", "12", "'s", "é", "\u0301", "世", "😀", "\xff", "\xe2\x82", "\xf0\x9f", "\x80", ".", "<|endoftext|>"}
	var out []byte
	for range n {
		out = append(out, pieces[r.IntN(len(pieces))]...)
	}
	return out
}

// naive merges a piece by looking for the best pair again and again.
func naive(b *BPE, text []byte) []int32 {
	var ids []int32
	for _, x := range text {
		ids = append(ids, b.bytes[x])
	}
	for {
		best, at := result{1 << 30, 0}, -1
		for i := range len(ids) - 1 {
			if r, ok := b.merges[Merge{ids[i], ids[i+1]}]; ok && r.rank < best.rank {
				best, at = r, i
			}
		}
		if at < 0 {
			return ids
		}
		ids = slices.Replace(ids, at, at+2, best.id)
	}
}

// TestHeapLikeNaive compares long pieces with a plain search.
func TestHeapLikeNaive(t *testing.T) {
	b := load(t, "uncut")
	for seed := range uint64(40) {
		text := random(rand.New(rand.NewPCG(seed, 2)), 60)
		if got, want := b.EncodeOrdinary(nil, text), naive(b, text); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// TestRoundTrip decodes what was encoded, of any bytes, with every tokenizer.
func TestRoundTrip(t *testing.T) {
	plain, err := NewBytes("<|endoftext|>", "<|end")
	if err != nil {
		t.Fatal(err)
	}
	all := []Tokenizer{plain}
	for name := range families {
		all = append(all, load(t, name))
	}
	for seed := range uint64(100) {
		text := random(rand.New(rand.NewPCG(seed, 3)), 1+int(seed))
		for _, tk := range all {
			roundTrip(t, tk, text)
		}
	}
}

func roundTrip(t *testing.T, tk Tokenizer, text []byte) {
	t.Helper()
	if b, ok := tk.(*BPE); ok {
		if b.spec.PrefixSpace {
			return // spaces are put in front of pieces
		}
		text = b.normal(text)
	}
	want := text
	for _, ids := range [][]int32{tk.Encode(nil, text), tk.EncodeOrdinary(nil, text)} {
		got, err := Decode(tk, nil, ids)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q becomes %q by way of %v, %v", want, got, ids, err)
		}
		d := NewDecoder(tk, false)
		var whole []byte
		for _, id := range ids {
			piece, err := d.Append(nil, id)
			if err != nil || !utf8.Valid(piece) {
				t.Fatalf("%q: the decoder prints %q, %v", text, piece, err)
			}
			whole = append(whole, piece...)
		}
		if whole = d.Flush(whole); utf8.Valid(text) && !bytes.Equal(whole, want) {
			t.Fatalf("%q is printed as %q", want, whole)
		}
	}
}

// TestOrdinary wants no added token in text from outside.
func TestOrdinary(t *testing.T) {
	plain, err := NewBytes("<|endoftext|>")
	if err != nil {
		t.Fatal(err)
	}
	for _, tk := range []Tokenizer{plain, load(t, "cl100k")} {
		text := []byte("a<|endoftext|>")
		special := func(ids []int32) (n int) {
			for _, id := range ids {
				if _, s, err := tk.Token(id); err != nil {
					t.Fatal(err)
				} else if s {
					n++
				}
			}
			return n
		}
		if n := special(tk.Encode(nil, text)); n != 1 {
			t.Errorf("%T: Encode finds %d special tokens, want 1", tk, n)
		}
		if n := special(tk.EncodeOrdinary(nil, text)); n != 0 {
			t.Errorf("%T: EncodeOrdinary finds %d special tokens, want 0", tk, n)
		}
		for _, id := range []int32{-1, int32(tk.Vocab())} {
			var e *IDError
			if _, err := Decode(tk, nil, []int32{0, id}); !errors.As(err, &e) || e.ID != id {
				t.Errorf("%T: id %d decodes: %v", tk, id, err)
			}
		}
	}
	if ids := plain.Encode(nil, []byte("<|endoftext|>")); len(ids) != 1 {
		t.Errorf("a special token is %v", ids)
	}
	long, err := NewBytes("<|end", "<|endoftext|>", "<|")
	if err != nil {
		t.Fatal(err)
	}
	if ids := long.Encode(nil, []byte("<|endoftext|><|end<|")); !slices.Equal(ids, []int32{257, 256, 258}) {
		t.Errorf("of added tokens that begin alike %v are found, want the longest", ids)
	}
	if _, err := NewBytes("x", "x"); err == nil {
		t.Error("a special token twice is taken")
	}
	other, err := NewBytes("<|other|>")
	if err != nil || other.Digest() == plain.Digest() {
		t.Errorf("other special tokens have the same digest, %v", err)
	}
}

// TestDecoderWaits follows the bytes of a character one by one.
func TestDecoderWaits(t *testing.T) {
	plain, err := NewBytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		{"é😀", "|é||||😀|"},
		{"\xe2\x82a", "||\ufffda|"},
		{"\xe2\x82", "||\ufffd"},
		{"\xf0\x9f\x98", "|||\ufffd"},
		{"\xed\xa0\x80", "|\ufffd\ufffd|\ufffd|"}, // a surrogate
		{"\xc0\xaf\xff", "\ufffd|\ufffd|\ufffd|"},
		{"\xf0\xe2\x82\xac", "|\ufffd||€|"},
	} {
		d := NewDecoder(plain, false)
		var got []string
		for _, x := range []byte(c.in) {
			piece, err := d.Append(nil, int32(x))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(piece))
		}
		got = append(got, string(d.Flush(nil)))
		if again, err := d.Append(nil, 'x'); err != nil || string(again) != "x" {
			t.Errorf("after Flush x is printed as %q, %v", again, err)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q is printed as %q, want %q", c.in, s, c.want)
		}
		if s, _ := Text(plain, plain.Encode(nil, []byte(c.in)), false); s != strings.ReplaceAll(c.want, "|", "") {
			t.Errorf("Text of %q is %q", c.in, s)
		}
	}
}

// TestTokensOfText encodes documents apart and keeps their ends.
func TestTokensOfText(t *testing.T) {
	x, err := stream.NewText("two", stream.TextOptions{Separator: []byte("--")}, []byte("the one--the other<|endoftext|>"))
	if err != nil {
		t.Fatal(err)
	}
	b := load(t, "gpt2")
	s, err := Tokens(b, x)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int32, s.Len())
	if err := s.Read(ids, 0); err != nil {
		t.Fatal(err)
	}
	first := b.EncodeOrdinary(nil, []byte("the one"))
	if want := b.EncodeOrdinary(slices.Clone(first), []byte("the other<|endoftext|>")); !slices.Equal(ids, want) || s.DocumentEnd(0) != len(first) || s.Vocab() != b.Vocab() {
		t.Errorf("%v with an end at %d, want %v and %d", ids, s.DocumentEnd(0), want, len(first))
	}
	if n, err := Size(b, stream.Whole(s)); err != nil || n != x.Len() {
		t.Errorf("Size = %d, %v, want %d", n, err, x.Len())
	}
	if _, err := Size(b, stream.Whole(mustTokens(t, b.Vocab()))); err == nil {
		t.Error("Size of tokens that the tokenizer does not have")
	}
}

// mustTokens has an id that a vocabulary of that size has not.
func mustTokens(t *testing.T, vocab int) *stream.Tokens {
	t.Helper()
	s, err := stream.NewTokens("x", vocab+1, []int32{0, int32(vocab)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEncodeAtOnce encodes in several goroutines.
func TestEncodeAtOnce(t *testing.T) {
	b := load(t, "cl100k")
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			text := random(rand.New(rand.NewPCG(seed, 4)), 300)
			want := naiveText(b, text)
			for range 10 {
				if got := b.EncodeOrdinary(nil, text); !slices.Equal(got, want) {
					t.Errorf("seed %d: other ids when several encode", seed)
					return
				}
			}
		})
	}
	all.Wait()
}

func naiveText(b *BPE, text []byte) (ids []int32) {
	for len(text) > 0 {
		n := b.spec.Split.next(text)
		ids, text = append(ids, naive(b, text[:n])...), text[n:]
	}
	return ids
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	b := load(t, "o200k")
	text := []byte(strings.Repeat("The keeper's 1234 keys, 世界 😀. ", 20))
	dst := b.Encode(nil, text)
	p := &piece{} // the pool's may be collected
	dst = b.pieces(dst[:0], text, p)
	if n := testing.AllocsPerRun(20, func() { dst = b.pieces(dst[:0], text, p) }); n != 0 {
		t.Errorf("encoding allocates %v times", n)
	}
}

func FuzzRoundTrip(f *testing.F) {
	var all []Tokenizer
	for _, name := range []string{"gpt2", "uncut", "cl100k", "digits", "o200k", "normal"} {
		all = append(all, load(f, name))
	}
	for _, s := range []string{"", "It's 12345 o'clock\r\n\t é\u0301 世 😀 <|endoftext|>", "\xff\xe2\x82 \xf0\x9f"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, tk := range all {
			roundTrip(t, tk, text)
		}
	})
}
