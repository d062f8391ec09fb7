// Package events writes event files for TensorBoard.
//
// A file is a sequence of records (TFRecord): the length as eight bytes,
// little-endian, its masked CRC-32C, the bytes and their masked CRC-32C. The bytes are
// a protocol buffer Event, written here field by field, since only four fields are
// needed. The first event holds the version "brain.Event:2". A resumed run writes a
// file of its own whose SessionLog gives its first step; without it TensorBoard would
// draw the old and the new steps over each other.
package events

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"
)

// A Scalar is a number with a name; a slash in it makes a group.
type Scalar struct {
	Tag   string
	Value float64
}

// A Writer writes one file. It serves one goroutine.
type Writer struct {
	path string
	file *os.File
	buf  *bufio.Writer
	msg  []byte // reused
}

// version is the text of the first event.
const version = "brain.Event:2"

// Create makes a file of its own in a folder, and the folder if need be. step is
// its first step, above 1 for a resumed run.
func Create(dir string, step int, now time.Time) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	for n := 0; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d", now.Unix(), host, os.Getpid(), n))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		w := &Writer{path: path, file: f, buf: bufio.NewWriter(f)}
		err = w.event(now, 0, func(b []byte) []byte { return text(b, 3, version) })
		if err == nil {
			err = w.start(now, step)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return w, w.Flush()
	}
}

// start writes the start of a session: a SessionLog with status START, 1.
func (w *Writer) start(now time.Time, step int) error {
	return w.event(now, step, func(b []byte) []byte { return bytes(b, 7, number(nil, 1, 1)) })
}

// Path is the path of the file.
func (w *Writer) Path() string { return w.path }

// Scalars writes numbers of a step.
func (w *Writer) Scalars(now time.Time, step int, list ...Scalar) error {
	return w.event(now, step, func(b []byte) []byte {
		var summary []byte
		for _, s := range list {
			v := text(nil, 1, s.Tag)
			v = binary.AppendUvarint(v, 2<<3|5)
			v = binary.LittleEndian.AppendUint32(v, math.Float32bits(float32(s.Value)))
			summary = bytes(summary, 1, v)
		}
		return bytes(b, 5, summary)
	})
}

// event writes an Event with its time, its step and what fill adds.
func (w *Writer) event(now time.Time, step int, fill func([]byte) []byte) error {
	b := binary.AppendUvarint(w.msg[:0], 1<<3|1)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(now.UnixNano())/1e9))
	if step != 0 {
		b = number(b, 2, uint64(step))
	}
	w.msg = fill(b)
	return w.record(w.msg)
}

// record writes one record.
func (w *Writer) record(data []byte) error {
	var head [12]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(data)))
	binary.LittleEndian.PutUint32(head[8:], masked(head[:8]))
	var tail [4]byte
	binary.LittleEndian.PutUint32(tail[:], masked(data))
	for _, part := range [][]byte{head[:], data, tail[:]} {
		if _, err := w.buf.Write(part); err != nil {
			return fmt.Errorf("%s: %w", w.path, err)
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is the masked CRC-32C of TFRecord: rotated and offset.
func masked(b []byte) uint32 {
	const delta = 0xa282ead8
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + delta
}

// number, bytes and text append a field of a protocol buffer.
func number(b []byte, field, x uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, field<<3), x)
}

func bytes(b []byte, field uint64, x []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3|2), uint64(len(x)))
	return append(b, x...)
}

func text(b []byte, field uint64, s string) []byte { return bytes(b, field, []byte(s)) }

// Flush writes the buffer to the file.
func (w *Writer) Flush() error { return w.buf.Flush() }

// Close ends the file.
func (w *Writer) Close() error { return errors.Join(w.buf.Flush(), w.file.Close()) }
