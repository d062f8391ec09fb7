package stream

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
)

// Tokens is a source of ids in memory. Its digest is the content digest, which a token
// file with these ids, documents and vocabulary has as well.
type Tokens struct {
	described
	ids []int32
}

// NewTokens makes a source of ids that it keeps and nobody may change. ends
// are the ends of the documents, ascending, the last one len(ids); none means
// one document. The error is a *SourceError of ErrTooShort, ErrVocab or
// ErrDocuments.
func NewTokens(name string, vocab int, ids []int32, ends ...int) (*Tokens, error) {
	if len(ids) < shortest {
		return nil, &SourceError{name, ErrTooShort, fmt.Sprintf("%d tokens", len(ids)), fmt.Sprintf("%d or more", shortest)}
	}
	for i, id := range ids {
		if id < 0 || int64(id) >= int64(vocab) {
			return nil, wrongID(name, i, int64(id), int64(vocab))
		}
	}
	if len(ends) == 0 {
		ends = []int{len(ids)}
	}
	if err := checkEnds(name, ends, len(ids)); err != nil {
		return nil, err
	}
	c := newContent(vocab, len(ids))
	c.ids(ids)
	return &Tokens{described{name, vocab, slices.Clone(ends), c.sum(ends)}, ids}, nil
}

// Read copies ids. There is no error.
func (t *Tokens) Read(dst []int32, at int) error {
	inside(len(dst), at, len(t.ids))
	copy(dst, t.ids[at:])
	return nil
}

func wrongID(name string, at int, id, vocab int64) error {
	return &SourceError{name, ErrVocab, fmt.Sprintf("id %d at token %d", id, at), fmt.Sprintf("0 to %d", vocab-1)}
}

// checkEnds wants ends that ascend and close at n.
func checkEnds(name string, ends []int, n int) error {
	last := 0
	for i, e := range ends {
		if e <= last {
			return &SourceError{name, ErrDocuments, fmt.Sprintf("document %d ends at %d", i, e), fmt.Sprintf("an end after %d", last)}
		}
		last = e
	}
	if last != n {
		return &SourceError{name, ErrDocuments, fmt.Sprintf("the last document ends at %d", last), fmt.Sprintf("the number of tokens, %d", n)}
	}
	return nil
}

// A content is the digest of tokens while it is taken: SHA-256 of a name, the
// vocabulary and the number of tokens as 64-bit words, every id as a 32-bit
// word, the number of documents and the end of each as 64-bit words, all
// little-endian.
type content struct {
	h   hash.Hash
	buf bytes.Buffer
}

const contentName = "hecate tokens 1\n"

func newContent(vocab, count int) *content {
	c := &content{h: sha256.New()}
	c.h.Write([]byte(contentName))
	c.word(uint64(vocab))
	c.word(uint64(count))
	return c
}

func (c *content) word(x uint64) {
	c.h.Write(binary.LittleEndian.AppendUint64(c.buf.AvailableBuffer(), x))
}

// ids adds a range of the tokens.
func (c *content) ids(ids []int32) {
	for piece := range slices.Chunk(ids, 4096) {
		c.buf.Reset()
		for _, id := range piece {
			c.buf.Write(binary.LittleEndian.AppendUint32(c.buf.AvailableBuffer(), uint32(id)))
		}
		c.h.Write(c.buf.Bytes())
	}
}

// sum adds the documents and closes the digest.
func (c *content) sum(ends []int) [4]uint64 {
	c.buf.Reset()
	c.word(uint64(len(ends)))
	for _, e := range ends {
		c.word(uint64(e))
	}
	return words([sha256.Size]byte(c.h.Sum(nil)))
}
