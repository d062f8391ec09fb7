package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sort"
)

// A Joined source is a concatenation of other sources: several token files,
// or a text, another one, and the first again. The end of each is the end of a
// document. Its digest is a SHA-256 of the digests and lengths of all.
type Joined struct {
	described // its ends are those of the parts
	parts     []Source
}

// Join concatenates sources of one vocabulary. The error is a
// *SourceError of ErrVocab if vocabularies differ, and of ErrTooShort if there
// is none.
func Join(sources ...Source) (*Joined, error) {
	if len(sources) == 0 {
		return nil, &SourceError{"no source", ErrTooShort, "0 sources", "1 or more"}
	}
	j := &Joined{described: described{name: sources[0].Name(), vocabulary: sources[0].Vocab()}, parts: sources}
	if len(sources) > 1 {
		j.name = fmt.Sprintf("%s and %d more", j.name, len(sources)-1)
	}
	h, n := sha256.New(), 0
	h.Write([]byte("hecate joined 1\n"))
	for _, s := range sources {
		if s.Vocab() != sources[0].Vocab() {
			return nil, &SourceError{s.Name(), ErrVocab, fmt.Sprintf("%d ids", s.Vocab()), fmt.Sprintf("the %d of %s", sources[0].Vocab(), sources[0].Name())}
		}
		n += s.Len()
		j.ends = append(j.ends, n)
		d := s.Digest()
		for _, x := range append(d[:], uint64(s.Len())) {
			h.Write(binary.LittleEndian.AppendUint64(nil, x))
		}
	}
	j.digest = words([sha256.Size]byte(h.Sum(nil)))
	return j, nil
}

// part returns the source that has a token, and where it begins.
func (j *Joined) part(at int) (i, start int) {
	i = sort.SearchInts(j.ends, at+1)
	if i > 0 {
		start = j.ends[i-1]
	}
	return i, start
}

// DocumentEnd returns the end of the document of token at.
func (j *Joined) DocumentEnd(at int) int {
	i, start := j.part(at)
	return start + j.parts[i].DocumentEnd(at-start)
}

// Read fills dst from as many sources as it takes.
func (j *Joined) Read(dst []int32, at int) error { return fill(j, dst, at, Source.Read) }

// Scored fills dst with what the sources score; all of one that is no Scorer.
func (j *Joined) Scored(dst []bool, at int) error {
	return fill(j, dst, at, func(part Source, dst []bool, at int) error {
		if s, ok := part.(Scorer); ok {
			return s.Scored(dst, at)
		}
		for k := range dst {
			dst[k] = true
		}
		return nil
	})
}

// fill fills dst, from position at on, with what read makes of each source in turn.
func fill[E any](j *Joined, dst []E, at int, read func(part Source, dst []E, at int) error) error {
	inside(len(dst), at, j.Len())
	for len(dst) > 0 {
		i, start := j.part(at)
		n := min(len(dst), j.ends[i]-at)
		if err := read(j.parts[i], dst[:n], at-start); err != nil {
			return err
		}
		dst, at = dst[n:], at+n
	}
	return nil
}
