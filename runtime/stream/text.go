// Package stream gives a model its text: bytes as tokens, in chunks, from several places at once.
//
// A Text is split into a part to build on and the held-out last tenth. A
// Stream runs over one part in lanes: the part is cut into equal contiguous
// stretches, and every lane walks its own, so that the context a lane carries
// from chunk to chunk is that of the text. Chunks always have the asked-for
// length; at the end of its stretch a lane goes on at the start, and says so
// in an event. A Cursor says where a lane stands and what it has just read,
// and is refused where it does not fit.
package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
)

// Vocab is the number of tokens: every byte is one.
const Vocab = 256

// ErrTooShort says that a text has too few bytes for what is asked of it.
var ErrTooShort = errors.New("stream: text is too short")

// A Text is one or more documents and their digest.
type Text struct {
	name   string
	data   []byte
	ends   []int // where each document ends, ascending; the last is len(data)
	digest [4]uint64
}

// Open reads a file as one document.
func Open(path string) (*Text, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open text: %w", err)
	}
	return FromDocuments(path, data)
}

// FromDocuments joins documents to a text. No token is asked to predict the
// first of the next document. The error wraps ErrTooShort for a text of less
// than 20 bytes, whose tenth would be empty.
func FromDocuments(name string, documents ...[]byte) (*Text, error) {
	t := &Text{name: name}
	h := sha256.New()
	var size [8]byte
	for _, d := range documents {
		if len(d) == 0 {
			continue
		}
		binary.LittleEndian.PutUint64(size[:], uint64(len(d)))
		h.Write(size[:])
		h.Write(d)
		t.data = append(t.data, d...)
		t.ends = append(t.ends, len(t.data))
	}
	const least = 20
	if len(t.data) < least {
		return nil, fmt.Errorf("%w: %s has %d bytes, want %d or more", ErrTooShort, name, len(t.data), least)
	}
	sum := h.Sum(nil)
	for i := range t.digest {
		t.digest[i] = binary.LittleEndian.Uint64(sum[8*i:])
	}
	return t, nil
}

// Len returns the number of bytes.
func (t *Text) Len() int { return len(t.data) }

// Digest returns the SHA-256 of the documents with their lengths, as four
// little-endian words.
func (t *Text) Digest() [4]uint64 { return t.digest }

// A Part is a contiguous piece of a text.
type Part struct {
	text   *Text
	lo, hi int
}

// Split returns the first nine tenths of the text and the held-out rest: the
// cut is at byte ⌊9·n/10⌋.
func (t *Text) Split() (build, heldOut Part) {
	cut := len(t.data) / 10 * 9
	cut += len(t.data) % 10 * 9 / 10
	return Part{t, 0, cut}, Part{t, cut, len(t.data)}
}

// Bytes returns the bytes of the part, not to be written.
func (p Part) Bytes() []byte { return p.text.data[p.lo:p.hi:p.hi] }

// Len returns the number of bytes of the part.
func (p Part) Len() int { return p.hi - p.lo }

// endsAfter reports whether a document ends behind byte i.
func (t *Text) endsAfter(i int) bool {
	k := sort.SearchInts(t.ends, i+1)
	return k < len(t.ends) && t.ends[k] == i+1
}
