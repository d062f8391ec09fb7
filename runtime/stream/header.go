package stream

import (
	"crypto/sha256"
	"encoding/binary"
)

// A token file is a source of ids on the disk, mapped into memory where the
// system can do that. All numbers are little-endian.
//
//	  0   8  magic "hecatok\n"
//	  8   4  version, 1
//	 12   4  bytes of an id, 2 or 4
//	 16   8  number of tokens n
//	 24   8  vocabulary: ids are in [0, vocabulary)
//	 32   8  number of documents m
//	 40  32  digest of the tokenizer, zero if there is none
//	 72  32  digest of the content, as Tokens.Digest
//	104  24  the first bytes of the SHA-256 of bytes 0 to 103
//	128      n ids, then zeros up to a multiple of 8
//	         m ends of documents, 8 bytes each, ascending, the last one n
//
// The file ends there. So every byte is under one of the two digests or known,
// and a file that opens is the one that was written. Opening reads it once.
const (
	fileMagic   = "hecatok\n"
	fileVersion = 1
	headerSize  = 128
	sealAt      = 104
)

// A header is the first 128 bytes of a token file, but for the magic, the
// version and the seal.
type header struct {
	width                   uint32
	count, vocab, documents uint64
	tokenizer, content      [4]uint64
}

func (h header) encode() []byte {
	b := []byte(fileMagic)
	b = binary.LittleEndian.AppendUint32(b, fileVersion)
	b = binary.LittleEndian.AppendUint32(b, h.width)
	for _, x := range []uint64{h.count, h.vocab, h.documents} {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	for _, d := range [][4]uint64{h.tokenizer, h.content} {
		for _, x := range d {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:headerSize-sealAt]...)
}

// size is the length of the file, or false if no file is that long.
func (h header) size() (int64, bool) {
	const most = 1 << 58 // times 4 and 8 fits in 63 bits
	if h.count > most || h.documents > most {
		return 0, false
	}
	return int64(headerSize + pad8(h.count*uint64(h.width)) + 8*h.documents), true
}

func pad8(n uint64) uint64 { return (n + 7) &^ 7 }
