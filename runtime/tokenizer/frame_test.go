package tokenizer

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/stream"
)

// TestFrame puts special tokens around every document, and counts their text in
// no size.
func TestFrame(t *testing.T) {
	b := load(t, "normal")
	before, after := b.Frame()
	if len(before) != 1 || len(after) != 1 {
		t.Fatalf("%v and %v stand around a document, want a token each", before, after)
	}
	first, second := []byte("the first document"), []byte("and the second one")
	text, err := stream.FromDocuments("two", first, second)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := Tokens(b, text)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int32, tokens.Len())
	if err := tokens.Read(got, 0); err != nil {
		t.Fatal(err)
	}
	one, two := b.EncodeOrdinary(nil, first), b.EncodeOrdinary(nil, second)
	if want := slices.Concat(before, one, after, before, two, after); !slices.Equal(got, want) {
		t.Errorf("the documents are %v, want %v", got, want)
	}
	if end := tokens.DocumentEnd(0); end != len(one)+2 {
		t.Errorf("the first document ends at %d, want %d", end, len(one)+2)
	}
	if n, err := Size(b, stream.Whole(tokens)); err != nil || n != len(first)+len(second) {
		t.Errorf("%d bytes, %v, want %d", n, err, len(first)+len(second))
	}
}
