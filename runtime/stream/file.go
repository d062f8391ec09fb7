package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"unsafe"
)

// A File is an open token file, mapped into memory where the system can do
// that.
//
// If somebody truncates it, pages of the map go away, and touching one is a
// fault, which the runtime turns into a panic on request. Read asks for that
// and returns the fault as ErrShrunk, so the process lives and the stream
// is unchanged. Bytes that are overwritten in place are read as they
// are now; a cursor notices it if they are of its last chunk, and opening the
// file again does in any case. Where files are not mapped they are in memory
// and neither happens.
type File struct {
	described
	header
	data []byte // of the whole file; nil once it is closed
	ids  []byte // of data
}

// OpenTokens opens a token file and reads it once from end to end. The error
// is the file system's or a *SourceError: ErrNotAFile, ErrFormat, ErrSize for
// a file that is longer or shorter than its header says, ErrVocab,
// ErrDocuments, ErrTooShort, ErrDigest, ErrShrunk. Close unmaps the file.
func OpenTokens(path string) (*File, error) {
	f := &File{described: described{name: path}}
	if err := f.open(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) open() error {
	info, err := os.Stat(f.name) // opening a pipe would wait
	if err != nil {
		return fmt.Errorf("open tokens: %w", err)
	}
	if !info.Mode().IsRegular() {
		return &SourceError{f.name, ErrNotAFile, "a " + kind(info.Mode()), "a token file"}
	}
	file, err := os.Open(f.name)
	if err != nil {
		return fmt.Errorf("open tokens: %w", err)
	}
	defer file.Close() // a map outlives its descriptor
	switch info, err = file.Stat(); {
	case err != nil:
		return fmt.Errorf("open tokens: %w", err)
	case info.Size() < headerSize:
		return &SourceError{f.name, ErrFormat, fmt.Sprintf("%d bytes", info.Size()), fmt.Sprintf("a header of %d", headerSize)}
	case info.Size() > math.MaxInt:
		return &SourceError{f.name, ErrSize, fmt.Sprintf("%d bytes", info.Size()), "what this machine can address"}
	}
	if f.data, err = mapFile(file, int(info.Size())); err != nil {
		return fmt.Errorf("open tokens: %s: %w", f.name, err)
	}
	return f.guard(f.check)
}

func kind(m os.FileMode) string {
	if m.IsDir() {
		return "folder"
	}
	return "device or pipe"
}

// guard runs what touches the map; a page that is not there any more is
// ErrShrunk.
func (f *File) guard(touch func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = f.fault(r)
		}
	}()
	return touch()
}

// fault turns a fault in the map into an error; any other panic goes on.
func (f *File) fault(r any) error {
	at, ok := r.(interface{ Addr() uintptr })
	base := uintptr(unsafe.Pointer(unsafe.SliceData(f.data)))
	if !ok || at.Addr()-base >= uintptr(len(f.data)) {
		panic(r)
	}
	now := "unknown size"
	if info, err := os.Stat(f.name); err == nil {
		now = fmt.Sprintf("%d bytes", info.Size())
	}
	return &SourceError{f.name, ErrShrunk, now, fmt.Sprintf("the %d bytes that it had; do not write to a file that is read, replace it by a rename", len(f.data))}
}

// check holds the whole file to its header.
func (f *File) check() error {
	if err := f.checkHeader(); err != nil {
		return err
	}
	end := headerSize + int(f.count)*int(f.width)
	table := headerSize + int(pad8(f.count*uint64(f.width)))
	f.ids = f.data[headerSize:end]
	for i, b := range f.data[end:table] {
		if b != 0 {
			return &SourceError{f.name, ErrFormat, fmt.Sprintf("0x%02x at byte %d", b, end+i), "zero after the ids"}
		}
	}
	f.ends = make([]int, f.documents)
	for i := range f.ends {
		e := binary.LittleEndian.Uint64(f.data[table+8*i:])
		if e > f.count {
			return &SourceError{f.name, ErrDocuments, fmt.Sprintf("document %d ends at %d", i, e), fmt.Sprintf("at most %d", f.count)}
		}
		f.ends[i] = int(e)
	}
	if err := checkEnds(f.name, f.ends, int(f.count)); err != nil {
		return err
	}
	return f.checkContent()
}

func (f *File) checkHeader() error {
	b := f.data[:headerSize]
	word := binary.LittleEndian.Uint64
	if !bytes.HasPrefix(b, []byte(fileMagic)) {
		return &SourceError{f.name, ErrFormat, fmt.Sprintf("it begins with %q", b[:8]), fmt.Sprintf("%q; text has to be encoded first", fileMagic)}
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != fileVersion {
		return &SourceError{f.name, ErrFormat, fmt.Sprintf("version %d", v), fmt.Sprintf("version %d", fileVersion)}
	}
	f.header = header{width: binary.LittleEndian.Uint32(b[12:]), count: word(b[16:]), vocab: word(b[24:]), documents: word(b[32:])}
	for i := range 4 {
		f.tokenizer[i], f.content[i] = word(b[40+8*i:]), word(b[72+8*i:])
	}
	if !bytes.Equal(f.encode(), b) {
		return &SourceError{f.name, ErrDigest, fmt.Sprintf("seal of the header %x", b[sealAt:sealAt+8]), fmt.Sprintf("%x", f.encode()[sealAt:sealAt+8])}
	}
	if f.width != 2 && f.width != 4 {
		return &SourceError{f.name, ErrFormat, fmt.Sprintf("ids of %d bytes", f.width), "2 or 4"}
	}
	if f.vocab < 1 || f.vocab > math.MaxInt32 {
		return &SourceError{f.name, ErrVocab, fmt.Sprintf("a vocabulary of %d", f.vocab), fmt.Sprintf("1 to %d", math.MaxInt32)}
	}
	if f.count < shortest {
		return &SourceError{f.name, ErrTooShort, fmt.Sprintf("%d tokens", f.count), fmt.Sprintf("%d or more", shortest)}
	}
	if n, ok := f.size(); !ok || n != int64(len(f.data)) {
		return &SourceError{f.name, ErrSize, fmt.Sprintf("the file has %d bytes", len(f.data)),
			fmt.Sprintf("%d for the %d tokens and %d documents of its header", n, f.count, f.documents)}
	}
	return nil
}

// checkContent checks every id and compares the digest.
func (f *File) checkContent() error {
	c := newContent(int(f.vocab), int(f.count))
	buf := make([]int32, 4096)
	for at := 0; at < int(f.count); at += len(buf) {
		piece := buf[:min(len(buf), int(f.count)-at)]
		f.decode(piece, at)
		for i, id := range piece {
			if uint64(uint32(id)) >= f.vocab {
				return wrongID(f.name, at+i, int64(uint32(id)), int64(f.vocab))
			}
		}
		c.ids(piece)
	}
	f.vocabulary, f.digest = int(f.vocab), c.sum(f.ends)
	if f.digest != f.content {
		return &SourceError{f.name, ErrDigest, hex(f.digest), hex(f.content) + " of its header"}
	}
	return nil
}

// decode reads ids of a range that is inside the file.
func (f *File) decode(dst []int32, at int) {
	if f.width == 2 {
		b := f.ids[2*at:]
		for i := range dst {
			dst[i] = int32(binary.LittleEndian.Uint16(b[2*i:]))
		}
		return
	}
	b := f.ids[4*at:]
	for i := range dst {
		dst[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// Close unmaps the file; later reads fail with ErrClosed. A second
// Close does nothing.
func (f *File) Close() error {
	data := f.data
	f.data, f.ids = nil, nil
	if data == nil {
		return nil
	}
	return unmap(data)
}

// Tokenizer returns the digest of the tokenizer that made the ids, zero if the
// file names none.
func (f *File) Tokenizer() [4]uint64 { return f.tokenizer }

// CheckTokenizer returns a *SourceError of ErrTokenizer unless the ids are
// those of the tokenizer with this digest.
func (f *File) CheckTokenizer(digest [4]uint64) error {
	if f.tokenizer == digest {
		return nil
	}
	return &SourceError{f.name, ErrTokenizer, "made by " + hex(f.tokenizer), hex(digest) + "; encode the text again"}
}

// Read copies ids. The error is a *SourceError of ErrShrunk or ErrClosed.
func (f *File) Read(dst []int32, at int) error {
	inside(len(dst), at, int(f.count))
	if f.data == nil {
		return &SourceError{f.name, ErrClosed, "a read", "none after Close"}
	}
	return f.guard(func() error {
		f.decode(dst, at)
		return nil
	})
}
