package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// What can be wrong with a source; a *SourceError wraps one of them.
var (
	ErrTooShort  = errors.New("too short")
	ErrVocab     = errors.New("id outside the vocabulary")
	ErrDocuments = errors.New("documents are not in order")
	ErrFormat    = errors.New("not a token file of this version")
	ErrSize      = errors.New("size differs from the header")
	ErrDigest    = errors.New("digest differs from the content")
	ErrTokenizer = errors.New("tokenizer differs")
	ErrNotAFile  = errors.New("not a regular file")
	ErrShrunk    = errors.New("file became shorter while it was open")
	ErrClosed    = errors.New("file is closed")
	ErrRange     = errors.New("range outside the source")
)

// A SourceError says what is wrong with a source and names both sides.
type SourceError struct {
	Name string // of the source
	What error  // one of the above
	Have string // what is there
	Want string // what was expected, with a hint where there is one
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("stream: %s: %v: %s, want %s", e.Name, e.What, e.Have, e.Want)
}

func (e *SourceError) Unwrap() error { return e.What }

// A Source is a finite sequence of token ids in documents. Any of it can be
// read at any time and reads the same each time, so a position is all that a
// cursor has to remember. Sources may be read from several goroutines.
type Source interface {
	// Name says in a few words where the tokens come from.
	Name() string
	// Len is the number of tokens.
	Len() int
	// Vocab is the number of ids: every token is in [0, Vocab).
	Vocab() int
	// Read fills dst with the tokens at, at+1, …; both ends must be inside.
	// The error is that of the file or program that feeds the source; dst is then
	// undefined.
	Read(dst []int32, at int) error
	// DocumentEnd is the end of the document of token at: the position after its
	// last token, where the next document begins.
	DocumentEnd(at int) int
	// Digest is a SHA-256 as four little-endian words: of the content, or of
	// all that the content is computed from.
	Digest() [4]uint64
}

// described is what sources in memory and files have in common: all of a Source but
// Read.
type described struct {
	name       string
	vocabulary int
	ends       []int // of the documents, ascending; the last is the number of tokens
	digest     [4]uint64
}

// Name returns the path, or what the source was called.
func (d *described) Name() string { return d.name }

// Len returns the number of tokens.
func (d *described) Len() int { return d.ends[len(d.ends)-1] }

// Vocab returns the number of ids.
func (d *described) Vocab() int { return d.vocabulary }

// Digest returns the digest of the content, as four little-endian words.
func (d *described) Digest() [4]uint64 { return d.digest }

// DocumentEnd returns the end of the document of token at.
func (d *described) DocumentEnd(at int) int { return d.ends[sort.SearchInts(d.ends, at+1)] }

// A Scorer is a Source of which only some tokens are worth predicting.
type Scorer interface {
	// Scored fills dst with whether the tokens at, at+1, … are to be predicted.
	// Targets that are not become Ignore.
	Scored(dst []bool, at int) error
}

// A Seeded source is computed from a seed. Its words are saved in the cursor, so
// that a run resumed under another seed is told so.
type Seeded interface {
	RNG() [4]uint64
}

// Panic messages for misuse of sources by the caller.
const (
	noBytes  = "stream: the source of this part has no bytes"
	BadRange = "stream: a read is outside its source"
)

// inside panics with BadRange where a read of n tokens at a place leaves a
// source of size tokens.
func inside(n, at, size int) {
	if at < 0 || n > size-at {
		panic(BadRange)
	}
}

// A Part is a contiguous piece of a source. The zero Part is of no use.
type Part struct {
	src    Source
	lo, hi int
}

// Whole returns all of a source.
func Whole(src Source) Part { return Part{src, 0, src.Len()} }

// Slice returns the tokens [lo, hi) of a source. The error wraps ErrRange.
func Slice(src Source, lo, hi int) (Part, error) {
	if lo < 0 || hi > src.Len() || lo > hi {
		return Part{}, &SourceError{src.Name(), ErrRange, fmt.Sprintf("[%d, %d)", lo, hi), fmt.Sprintf("a range in [0, %d)", src.Len())}
	}
	return Part{src, lo, hi}, nil
}

// Split returns the first nine tenths of a source and the held-out rest: the
// cut is at token ⌊9·n/10⌋.
func Split(src Source) (build, heldOut Part) {
	n := src.Len()
	cut := n/10*9 + n%10*9/10
	return Part{src, 0, cut}, Part{src, cut, n}
}

// Source returns what the part is a piece of.
func (p Part) Source() Source { return p.src }

// Bounds returns the range [lo, hi) of the part in its source.
func (p Part) Bounds() (lo, hi int) { return p.lo, p.hi }

// Len returns the number of tokens of the part.
func (p Part) Len() int { return p.hi - p.lo }

// Bytes returns the bytes of a part of a Text, not to be written. It panics
// if the source is not a Text.
func (p Part) Bytes() []byte {
	t, ok := p.src.(*Text)
	if !ok {
		panic(noBytes)
	}
	return t.data[p.lo:p.hi:p.hi]
}

// unit is what a source counts, for messages.
func unit(src Source) string {
	if _, ok := src.(*Text); ok {
		return "bytes"
	}
	return "tokens"
}

// words turns a SHA-256 into four little-endian words.
func words(sum [sha256.Size]byte) (d [4]uint64) {
	for i := range d {
		d[i] = binary.LittleEndian.Uint64(sum[8*i:])
	}
	return d
}

func hex(d [4]uint64) string { return fmt.Sprintf("%016x%016x%016x%016x", d[0], d[1], d[2], d[3]) }
