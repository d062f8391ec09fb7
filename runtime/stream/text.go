package stream

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"unicode/utf8"
)

// Vocab is the number of tokens of a Text: every byte is one.
const Vocab = 256

// A Text is a source of bytes: one or more documents. Its digest is the SHA-256 of the
// documents with their lengths.
type Text struct {
	described
	data []byte
}

// TextOptions say how bytes become documents. The zero value takes valid
// UTF-8, a document a file.
type TextOptions struct {
	Raw       bool   // take any bytes, not only UTF-8
	Separator []byte // separates the documents of one file and is left out; none if empty
}

// An EncodingError says where a text is not UTF-8.
type EncodingError struct {
	Name         string
	Offset       int // in bytes, from 0
	Line, Column int // from 1; a column is a character
	Byte         byte
}

func (e *EncodingError) Error() string {
	return fmt.Sprintf("stream: %s:%d:%d: byte 0x%02x at offset %d is not UTF-8; open it as raw bytes if it is meant to be anything else than text",
		e.Name, e.Line, e.Column, e.Byte, e.Offset)
}

// Open reads a file as one document of any bytes. The error is the file
// system's or wraps ErrTooShort, for a text of less than 20 bytes.
func Open(path string) (*Text, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return FromDocuments(path, data)
}

// FromDocuments joins documents of any bytes to a text. No token has to
// predict the first of the next document. The error wraps ErrTooShort for a
// text of less than 20 bytes, of which a held-out tenth would be a byte.
func FromDocuments(name string, documents ...[]byte) (*Text, error) {
	const least = 20
	return join(name, documents, least)
}

// OpenText reads files as a text, in the order given. The error is the file
// system's, an *EncodingError, or a *SourceError of ErrNotAFile, or of
// ErrTooShort for less than two bytes.
func OpenText(opt TextOptions, paths ...string) (*Text, error) {
	name := "no file"
	var documents [][]byte
	for i, path := range paths {
		data, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if documents, err = opt.documents(path, documents, data); err != nil {
			return nil, err
		}
		if name = paths[0]; i > 0 {
			name = fmt.Sprintf("%s and %d more", paths[0], i)
		}
	}
	return join(name, documents, shortest)
}

// NewText is OpenText for what is in memory: every piece is treated as a file.
func NewText(name string, opt TextOptions, pieces ...[]byte) (*Text, error) {
	var documents [][]byte
	for _, p := range pieces {
		var err error
		if documents, err = opt.documents(name, documents, p); err != nil {
			return nil, err
		}
	}
	return join(name, documents, shortest)
}

// shortest is the least length of a source: something to read and something
// to predict.
const shortest = 2

// documents appends the documents of one file.
func (opt TextOptions) documents(name string, documents [][]byte, data []byte) ([][]byte, error) {
	if !opt.Raw {
		if err := checkUTF8(name, data); err != nil {
			return nil, err
		}
	}
	if len(opt.Separator) == 0 {
		return append(documents, data), nil
	}
	return append(documents, bytes.Split(data, opt.Separator)...), nil
}

// checkUTF8 returns an *EncodingError for the first byte that is not UTF-8.
func checkUTF8(name string, data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	line, column := 1, 1
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		switch {
		case r == utf8.RuneError && n <= 1:
			return &EncodingError{name, at, line, column, data[at]}
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		at += n
	}
	panic("stream: BUG: bytes that are not UTF-8 decode as UTF-8")
}

// readFile reads a regular file.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open text: %w", err)
	}
	if info.IsDir() {
		return nil, &SourceError{path, ErrNotAFile, "a folder", "a file; name the files that are in it"}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open text: %w", err)
	}
	return data, nil
}

// join makes the text; empty documents are none.
func join(name string, documents [][]byte, least int) (*Text, error) {
	t := &Text{described: described{name: name, vocabulary: Vocab}}
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
	if len(t.data) < least {
		return nil, &SourceError{name, ErrTooShort, fmt.Sprintf("%d bytes", len(t.data)), fmt.Sprintf("%d or more", least)}
	}
	t.digest = words([sha256.Size]byte(h.Sum(nil)))
	return t, nil
}

// Read fills dst with the bytes from at on. There is no error.
func (t *Text) Read(dst []int32, at int) error {
	inside(len(dst), at, len(t.data))
	for i, b := range t.data[at : at+len(dst)] {
		dst[i] = int32(b)
	}
	return nil
}
