package stream

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/nl-hecate/hecate/runtime/internal/atomicfile"
)

// WriteTokens writes the tokens and documents of a source to path as a token file,
// atomically (package atomicfile). tokenizer is the digest of the tokenizer that made
// the ids, zero for none. It returns the content digest. The error is the file
// system's, the source's, or ErrVocab for a source that breaks its promise.
func WriteTokens(path string, src Source, tokenizer [4]uint64) (digest [4]uint64, err error) {
	h := header{width: 4, count: uint64(src.Len()), vocab: uint64(src.Vocab()), tokenizer: tokenizer}
	if h.vocab <= 1<<16 {
		h.width = 2
	}
	err = atomicfile.Write(path, func(f *os.File) error {
		// The content digest is written before the content.
		if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		if err := h.writeBody(w, src); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := f.WriteAt(h.encode(), 0)
		return err
	})
	if err != nil {
		return digest, fmt.Errorf("write tokens: %w", err)
	}
	return h.content, nil
}

// writeBody writes everything after the header and fills in the header's counts.
func (h *header) writeBody(w *bufio.Writer, src Source) error {
	c := newContent(int(h.vocab), int(h.count))
	buf := make([]int32, 4096)
	for at := 0; at < src.Len(); at += len(buf) {
		piece := buf[:min(len(buf), src.Len()-at)]
		if err := src.Read(piece, at); err != nil {
			return err
		}
		c.ids(piece)
		for i, id := range piece {
			if id < 0 || uint64(id) >= h.vocab {
				return wrongID(src.Name(), at+i, int64(id), int64(h.vocab))
			}
			b := w.AvailableBuffer()
			if h.width == 2 {
				b = binary.LittleEndian.AppendUint16(b, uint16(id))
			} else {
				b = binary.LittleEndian.AppendUint32(b, uint32(id))
			}
			w.Write(b) // Flush returns the first error
		}
	}
	n := h.count * uint64(h.width)
	w.Write(make([]byte, pad8(n)-n))
	var ends []int
	for at := 0; at < src.Len(); {
		at = src.DocumentEnd(at)
		ends = append(ends, at)
		w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), uint64(at)))
	}
	h.documents, h.content = uint64(len(ends)), c.sum(ends)
	return nil
}
