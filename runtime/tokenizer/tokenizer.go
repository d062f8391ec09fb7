// Package tokenizer turns text into token ids and back.
//
// There are two kinds of tokenizer. Bytes maps every byte to its own id. A BPE is a
// byte-level byte-pair encoding: text is cut into pieces by a Split, and in
// each piece pairs of neighbours become one token, in the order in which the
// merges are listed (Sennrich, Haddow, Birch 2016, arXiv:1508.07909; on bytes:
// Radford et al. 2019). It is read from and written to tokenizer.json of
// Hugging Face, or made from a text by Build.
//
// Both may have added tokens besides: strings that are found in the text
// before anything else and have one id each. Every text, UTF-8 or not, encodes
// to ids that decode to the same bytes, but for the space that a BPE with
// PrefixSpace puts in front, and to the normal form of the text by one with NFC.
package tokenizer

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/stream"
)

// A Tokenizer maps bytes to ids in [0, Vocab) and back. It may be used by
// several goroutines.
type Tokenizer interface {
	// Vocab is the number of ids, added tokens included.
	Vocab() int
	// Encode appends the ids of a text to dst. Added tokens are found in it.
	Encode(dst []int32, text []byte) []int32
	// EncodeOrdinary is Encode for text from outside: what looks like an added
	// token is text like any other.
	EncodeOrdinary(dst []int32, text []byte) []int32
	// Frame returns the special tokens before and after a document, not to be
	// changed. Encode does not add them.
	Frame() (before, after []int32)
	// Token returns the bytes of an id, not to be written, and whether it is an
	// added token that is special: a sign to the model and no text.
	Token(id int32) (token []byte, special bool, err error)
	// Digest is a SHA-256, as four little-endian words, of all that decides
	// which ids a text has.
	Digest() [4]uint64
}

// An IDError says that an id is not one of the vocabulary's.
type IDError struct {
	ID    int32
	Vocab int
}

func (e *IDError) Error() string {
	return fmt.Sprintf("tokenizer: id %d, the vocabulary has 0 to %d", e.ID, e.Vocab-1)
}

// Decode appends the bytes of ids to dst, those of special tokens too. The
// error is an *IDError, and then dst is as it was.
func Decode(t Tokenizer, dst []byte, ids []int32) ([]byte, error) {
	out := dst
	for _, id := range ids {
		token, _, err := t.Token(id)
		if err != nil {
			return dst, err
		}
		out = append(out, token...)
	}
	return out, nil
}

// Tokens encodes the documents of a text separately, each with its frame. The error is that of stream.NewTokens.
func Tokens(t Tokenizer, text *stream.Text) (*stream.Tokens, error) {
	data := stream.Whole(text).Bytes()
	var ids []int32
	var ends []int
	before, after := t.Frame()
	for at := 0; at < len(data); {
		end := text.DocumentEnd(at)
		ids = append(t.EncodeOrdinary(append(ids, before...), data[at:end]), after...)
		ends = append(ends, len(ids))
		at = end
	}
	return stream.NewTokens(text.Name(), t.Vocab(), ids, ends...)
}

// Size returns the number of bytes of a part whose tokens a tokenizer made; its
// special tokens are no text. A
// loss in bits per token, times the tokens of the part and by Size, is in bits
// per byte, which can be compared between tokenizers. The error is the
// source's or an *IDError.
func Size(t Tokenizer, p stream.Part) (bytes int, err error) {
	ids := make([]int32, 4096)
	for at, hi := p.Bounds(); at < hi; {
		piece := ids[:min(len(ids), hi-at)]
		if err := p.Source().Read(piece, at); err != nil {
			return 0, err
		}
		for _, id := range piece {
			token, special, err := t.Token(id)
			if err != nil {
				return 0, err
			}
			if !special {
				bytes += len(token)
			}
		}
		at += len(piece)
	}
	return bytes, nil
}

// Bytes is the tokenizer of single bytes: id b is byte b, and 256 on are the
// added tokens.
type Bytes struct {
	added  added
	digest [4]uint64
}

// NewBytes returns a Bytes with special tokens. The error says which of them
// is empty or twice.
func NewBytes(specials ...string) (*Bytes, error) {
	b := &Bytes{}
	seal := []byte("hecate bytes 1\n")
	for i, s := range specials {
		if err := b.added.add(Added{ID: int32(byteTokens + i), Content: s, Special: true}); err != nil {
			return nil, fmt.Errorf("tokenizer: special token %d: %w", i, err)
		}
		seal = binary.LittleEndian.AppendUint64(seal, uint64(len(s)))
		seal = append(seal, s...)
	}
	b.digest = words(seal)
	return b, nil
}

// byteTokens is the number of single bytes.
const byteTokens = 256

// Vocab returns 256 and the number of special tokens.
func (b *Bytes) Vocab() int { return byteTokens + len(b.added.list) }

// Digest is that of the special tokens.
func (b *Bytes) Digest() [4]uint64 { return b.digest }

// Encode appends the bytes of a text, and special tokens where they occur.
func (b *Bytes) Encode(dst []int32, text []byte) []int32 {
	return b.added.encode(dst, text, func(t []byte) []byte { return t }, b.EncodeOrdinary)
}

// Frame returns nothing: no byte says where a document begins.
func (b *Bytes) Frame() (before, after []int32) { return nil, nil }

// EncodeOrdinary appends the bytes of a text.
func (b *Bytes) EncodeOrdinary(dst []int32, text []byte) []int32 {
	for _, x := range text {
		dst = append(dst, int32(x))
	}
	return dst
}

// Token returns a byte, or the text of a special token.
func (b *Bytes) Token(id int32) (token []byte, special bool, err error) {
	switch {
	case id < 0 || int(id) >= b.Vocab():
		return nil, false, &IDError{id, b.Vocab()}
	case id < byteTokens:
		return everyByte[id : id+1 : id+1], false, nil
	}
	return []byte(b.added.list[id-byteTokens].Content), true, nil
}

// everyByte holds the token of each byte.
var everyByte = func() (all [byteTokens]byte) {
	for i := range all {
		all[i] = byte(i)
	}
	return all
}()

// words is a SHA-256 as four little-endian words.
func words(data []byte) (d [4]uint64) {
	sum := sha256.Sum256(data)
	for i := range d {
		d[i] = binary.LittleEndian.Uint64(sum[8*i:])
	}
	return d
}
