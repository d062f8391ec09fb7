// Package checkpoint writes and reads numbered states of a model as one file.
//
// The layout is safetensors: eight bytes with the length of a JSON header,
// little-endian; the header, an object from tensor name to element type, shape
// and byte range, with sorted keys and a __metadata__ object of strings; then
// the elements, little-endian. The header is padded with spaces so that the
// data begins at a multiple of 64 bytes; tensors of eight-byte elements come
// first, each group in the order of names, without holes, as the format asks.
//
// This package adds metadata: the arithmetic that ran
// (package cpu), which a reader must share because bitwise claims hold within
// one arithmetic only, a SHA-256 per tensor, and one of all that the header says:
// names, types, shapes, those digests and the other metadata. So no byte of a
// file can change unnoticed, but for the order of the tensors and how JSON is
// spelled, which mean nothing. A write goes to a temporary file that is synced
// and renamed, so a reader sees the old file or the new one and nothing between.
// A read takes nothing on trust: order and padding are free as in the format,
// everything else must be what a write produces, or is a typed error.
package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/runtime/tensor"
)

// What can be wrong with a file; an *Error wraps one of them.
var (
	ErrTruncated  = errors.New("file is truncated")
	ErrHeader     = errors.New("header is not valid")
	ErrDuplicate  = errors.New("name appears twice")
	ErrType       = errors.New("element type differs or is unknown")
	ErrShape      = errors.New("shape does not fit")
	ErrOffsets    = errors.New("byte ranges overlap, leave holes or leave the file")
	ErrTrailing   = errors.New("bytes after the last tensor")
	ErrDigest     = errors.New("digest differs from the elements")
	ErrMissing    = errors.New("tensor is missing")
	ErrUnknown    = errors.New("tensor is unknown")
	ErrArithmetic = errors.New("arithmetic level differs")
	ErrMetadata   = errors.New("metadata is missing or not ours")
)

// An Error says which tensor of a checkpoint is wrong and how.
type Error struct {
	Tensor string // empty if it is the file as a whole
	Err    error  // one of the above
	Detail string // both sides, where there are two
}

func (e *Error) Error() string {
	s := "checkpoint: "
	if e.Tensor != "" {
		s += fmt.Sprintf("%q: ", e.Tensor)
	}
	s += e.Err.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

func fail(tensor string, err error, format string, args ...any) error {
	return &Error{tensor, err, fmt.Sprintf(format, args...)}
}

// Type is an element type by the name it has in a header.
type Type string

// The element types.
const (
	F32 Type = "F32"
	F64 Type = "F64"
	U64 Type = "U64"
	I64 Type = "I64"
)

// Size returns the bytes of one element, 0 for an unknown type.
func (t Type) Size() int {
	switch t {
	case F32:
		return 4
	case F64, U64, I64:
		return 8
	}
	return 0
}

// An Element is what a tensor of a file may hold.
type Element interface {
	float32 | float64 | uint64 | int64
}

// TypeOf returns the type of elements E.
func TypeOf[E Element]() Type {
	switch any(*new(E)).(type) {
	case float32:
		return F32
	case float64:
		return F64
	case uint64:
		return U64
	case int64:
		return I64
	}
	panic("checkpoint: BUG: Element has a type without a name")
}

// A Snapshot is the content of one file. The zero Snapshot is empty and ready.
type Snapshot struct {
	meta    map[string]string
	tensors map[string]*entry
}

// An entry is one tensor, its elements as little-endian bytes.
type entry struct {
	typ   Type
	shape tensor.Shape
	raw   []byte
	taken bool
}

// reserved is the key of the metadata object; digestKey, sealKey and
// arithmeticKey are the metadata of this package.
const (
	reserved      = "__metadata__"
	digestKey     = "sha256." // of a tensor
	sealKey       = "sha256"  // of all that the header says
	arithmeticKey = "arithmetic"
)

// Panic messages for misuse by the caller.
const (
	keyTaken     = "checkpoint: metadata key is reserved"
	reservedName = "checkpoint: tensor name is reserved, empty or not UTF-8"
	addedTwice   = "checkpoint: tensor added twice"
)

// SetMeta sets a metadata string. It panics for a key of this
// package.
func (s *Snapshot) SetMeta(key, value string) {
	if reservedKey(key) {
		panic(keyTaken)
	}
	if s.meta == nil {
		s.meta = map[string]string{}
	}
	s.meta[key] = value
}

func reservedKey(key string) bool {
	return key == arithmeticKey || key == sealKey || strings.HasPrefix(key, digestKey)
}

// Meta returns a metadata string, or an error that wraps ErrMetadata.
func (s *Snapshot) Meta(key string) (string, error) {
	v, ok := s.meta[key]
	if !ok {
		return "", fail("", ErrMetadata, "no %q", key)
	}
	return v, nil
}

// MetaKeys returns the keys of the metadata that callers have set, sorted.
func (s *Snapshot) MetaKeys() []string { return slices.Sorted(maps.Keys(s.meta)) }

// Add copies a tensor into the snapshot. The error wraps ErrShape if the shape
// has not len(data) elements. Add panics for a name that is
// reserved or was added before.
func Add[E Element](s *Snapshot, name string, shape tensor.Shape, data []E) error {
	if name == reserved || name == "" || !utf8.ValidString(name) {
		panic(reservedName)
	}
	if _, ok := s.tensors[name]; ok {
		panic(addedTwice)
	}
	if n, err := shape.Size(); err != nil || n != len(data) {
		return fail(name, ErrShape, "%v has not %d elements", shape, len(data))
	}
	if s.tensors == nil {
		s.tensors = map[string]*entry{}
	}
	s.tensors[name] = &entry{typ: TypeOf[E](), shape: slices.Clone(shape), raw: encode(data)}
	return nil
}

// Take copies the named tensor into dst and marks it as used. The error wraps
// ErrMissing, ErrType or ErrShape, and then dst is unchanged.
func Take[E Element](s *Snapshot, name string, shape tensor.Shape, dst []E) error {
	e, ok := s.tensors[name]
	switch {
	case !ok:
		return fail(name, ErrMissing, "")
	case e.typ != TypeOf[E]():
		return fail(name, ErrType, "file has %s, want %s", e.typ, TypeOf[E]())
	case !e.shape.Equal(shape) || len(dst)*e.typ.Size() != len(e.raw):
		return fail(name, ErrShape, "file has %v, want %v in %d elements", e.shape, shape, len(dst))
	}
	decode(dst, e.raw)
	e.taken = true
	return nil
}

// Done returns an error that wraps ErrUnknown if a tensor was not taken.
func (s *Snapshot) Done() error {
	for _, name := range s.Names() {
		if !s.tensors[name].taken {
			return fail(name, ErrUnknown, "nothing here reads it")
		}
	}
	return nil
}

// Names returns the names of the tensors, sorted.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.tensors)) }

// Shape returns the type and shape of a tensor, or an error that wraps ErrMissing.
func (s *Snapshot) Shape(name string) (Type, tensor.Shape, error) {
	e, ok := s.tensors[name]
	if !ok {
		return "", nil, fail(name, ErrMissing, "")
	}
	return e.typ, slices.Clone(e.shape), nil
}
