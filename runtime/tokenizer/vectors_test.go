package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// families are the tokenizer.json files of testdata, which validation/oracle/tokenization.py
// wrote with Hugging Face's library, and whose vectors each is held to.
var families = map[string]string{"gpt2": "gpt2", "gpt2_prefix": "gpt2_prefix", "gpt2_split": "gpt2",
	"uncut": "uncut", "cl100k": "cl100k", "digits": "digits", "o200k": "o200k", "normal": "normal"}

type vectors struct {
	Encode []struct {
		Text   string
		Pieces []int
		IDs    []int32
		Framed []int32 // with the special tokens around a text
	}
	Decode []struct {
		IDs         []int32
		Text, Plain string
	}
}

func load(t testing.TB, name string) *BPE {
	t.Helper()
	b, err := Open(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// hold compares a tokenizer with the vectors of a family.
func hold(t *testing.T, b *BPE, v vectors) {
	t.Helper()
	bad := 0
	for _, c := range v.Encode {
		if got := b.Encode(nil, []byte(c.Text)); !slices.Equal(got, c.IDs) {
			t.Errorf("Encode(%q) = %v, want %v", c.Text, got, c.IDs)
			bad++
		}
		before, after := b.Frame()
		if got := slices.Concat(before, b.Encode(nil, []byte(c.Text)), after); c.Framed != nil && !slices.Equal(got, c.Framed) {
			t.Errorf("%q framed = %v, want %v", c.Text, got, c.Framed)
			bad++
		}
		var pieces []int
		text := b.normal([]byte(c.Text))
		if b.spec.PrefixSpace && !strings.HasPrefix(c.Text, " ") && c.Text != "" {
			text = append([]byte{' '}, text...)
		}
		for len(text) > 0 {
			n := b.spec.Split.next(text)
			pieces, text = append(pieces, n), text[n:]
		}
		if !slices.Equal(pieces, c.Pieces) {
			t.Errorf("%q is cut into %v, want %v", c.Text, pieces, c.Pieces)
			bad++
		}
		if bad > 20 {
			t.Fatal("and more")
		}
	}
	for _, c := range v.Decode {
		for plain, want := range map[bool]string{false: c.Text, true: c.Plain} {
			if got, err := Text(b, c.IDs, plain); err != nil || got != want {
				t.Errorf("Text(%v, %v) = %q, %v, want %q", c.IDs, plain, got, err, want)
			}
		}
	}
}

// TestVectors compares every family with the library's ids, pieces and text,
// and once more after writing and reading it.
func TestVectors(t *testing.T) {
	for name, of := range families {
		t.Run(name, func(t *testing.T) {
			var v vectors
			readJSON(t, of+".vectors.json", &v)
			if len(v.Encode) < 300 || len(v.Decode) < 50 {
				t.Fatalf("%d and %d vectors", len(v.Encode), len(v.Decode))
			}
			b := load(t, name)
			hold(t, b, v)
			path := filepath.Join(t.TempDir(), "tokenizer.json")
			if err := b.Save(path); err != nil {
				t.Fatal(err)
			}
			again, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			hold(t, again, v)
			if again.Digest() != b.Digest() || string(again.JSON()) != string(b.JSON()) {
				t.Error("a file that was read again is written otherwise")
			}
		})
	}
}

// TestBuildLikeTheLibrary finds the merges of the library's own trainer.
func TestBuildLikeTheLibrary(t *testing.T) {
	var want struct{ Merges []string }
	readJSON(t, "merges.json", &want)
	text, err := os.ReadFile(filepath.Join("..", "..", "command", "text", "crossroads.txt"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Build(Options{Vocab: byteTokens + len(want.Merges), Split: GPT2}, text)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.mergeLines(); !slices.Equal(got, want.Merges) {
		for i, m := range got {
			if m != want.Merges[i] {
				t.Fatalf("merge %d of %d is %q, want %q", i, len(got), m, want.Merges[i])
			}
		}
	}
}
