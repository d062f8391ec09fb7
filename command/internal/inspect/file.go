// Package inspect reads checkpoints to show and compare them.
//
// It accepts more than package checkpoint, which verifies everything: a file of
// another arithmetic, one with a tensor whose digest is wrong, one of another program.
// It shows what it can read, and the reason why this program would refuse the file.
package inspect

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// A File is a checkpoint.
type File struct {
	Path    string            `json:"path"`
	Bytes   int               `json:"bytes"`
	Meta    map[string]string `json:"metadata"`            // without digests
	Tensors []Tensor          `json:"tensors"`             // by name
	Levels  []Level           `json:"levels,omitempty"`    // of a checkpoint of a build
	Map     []Row             `json:"precision,omitempty"` // the same
	Refused string            `json:"refused,omitempty"`
	Damaged bool              `json:"damaged"` // refused for more than another arithmetic
}

// A Row of the precision map says in which type what is stored: values of a page, or, where Page is "", all
// that no other row has.
type Row struct {
	Type   string `json:"type"`
	Page   string `json:"page,omitempty"`
	Values string `json:"values"`
}

// A Tensor is one of them.
type Tensor struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Shape  []int   `json:"shape"`
	Digest string  `json:"sha256"` // of the elements
	Wrong  bool    `json:"digest_differs,omitempty"`
	Norm   float64 `json:"-"` // Euclidean, of the finite elements
	Mean   float64 `json:"-"`
	MaxAbs float64 `json:"-"`
	Bad    int     `json:"not_finite,omitempty"` // elements
	Level  *int    `json:"level,omitempty"`      // of a parameter, of the state of its update and of its buffer
	raw    []byte
}

const (
	digestKey = "sha256."
	// headerDigest is the digest of the header, which is not shown.
	headerDigest = "sha256"
	maxHeader    = 100 << 20 // bytes; the limit of the format
)

// Read reads a file. The error says why nothing can be shown. The precision map is that of a model of the
// catalog.
func Read(path string, pages *catalog.Catalog) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Bytes: len(data), Meta: map[string]string{}}
	if err := f.parse(data); err != nil {
		return nil, fmt.Errorf("%s is not a checkpoint: %w", path, err)
	}
	f.level()
	f.precision(pages)
	if _, err := checkpoint.Decode(data); err != nil {
		f.Refused, f.Damaged = err.Error(), !errors.Is(err, checkpoint.ErrArithmetic)
	}
	return f, nil
}

// precision makes the precision map of a build's checkpoint.
func (f *File) precision(pages *catalog.Catalog) {
	model := f.Meta["run.model"]
	if model == "" {
		return
	}
	const float32Type = "float32"
	of, rest := cmp.Or(f.Meta[module.OperandsKey], float32Type), "all"
	if of != float32Type {
		rest = "all else: parameters, sums, states, gates, gradients, updates"
		rows := []catalog.Operands{{Names: "the operands of products"}}
		if digest, err := pages.DigestOf(model, f.Meta["run.update"], f.Meta["run.buffer"]); err == nil && digest == f.Meta["run.specification"] {
			rows, _ = pages.OperandsOf(model) // the pages are those that the model was made of
		}
		for _, r := range rows {
			f.Map = append(f.Map, Row{of, r.Page, r.Names})
		}
	}
	f.Map = append(f.Map, Row{Type: float32Type, Values: rest})
}

// parse reads the header and splits the data.
func (f *File) parse(data []byte) error {
	if len(data) < 8 {
		return fmt.Errorf("it has %d bytes, the length of a header needs 8", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return fmt.Errorf("its header should have %d bytes, the file has %d", n, len(data))
	}
	var rows map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &rows); err != nil {
		return fmt.Errorf("its header is not a JSON object: %w", err)
	}
	digests, err := f.metadata(rows)
	if err != nil {
		return err
	}
	return f.tensors(rows, digests, data[8+n:])
}

// metadata takes the strings out of a header and returns the digests among them.
func (f *File) metadata(rows map[string]json.RawMessage) (digests map[string]string, err error) {
	const key = "__metadata__"
	digests = map[string]string{}
	meta, ok := rows[key]
	if !ok {
		return digests, nil
	}
	var all map[string]string
	if err := json.Unmarshal(meta, &all); err != nil {
		return nil, fmt.Errorf("its metadata: %w", err)
	}
	for k, v := range all {
		if name, ok := strings.CutPrefix(k, digestKey); ok {
			digests[name] = v
		} else if k != headerDigest {
			f.Meta[k] = v
		}
	}
	delete(rows, key)
	return digests, nil
}

// tensors cuts the data.
func (f *File) tensors(rows map[string]json.RawMessage, digests map[string]string, body []byte) error {
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		var r struct {
			Type    string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(rows[name], &r); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		if r.Offsets[0] < 0 || r.Offsets[1] < r.Offsets[0] || r.Offsets[1] > len(body) {
			return fmt.Errorf("tensor %q is at [%d, %d) of %d bytes", name, r.Offsets[0], r.Offsets[1], len(body))
		}
		t := Tensor{Name: name, Type: r.Type, Shape: r.Shape, raw: body[r.Offsets[0]:r.Offsets[1]]}
		if err := t.fits(); err != nil {
			return err
		}
		sum := sha256.Sum256(t.raw)
		t.Digest = hex.EncodeToString(sum[:])
		saved, ok := digests[name]
		t.Wrong = ok && saved != t.Digest
		t.measure()
		f.Tensors = append(f.Tensors, t)
	}
	return nil
}

// fits compares the shape with the bytes, if the type is known.
func (t *Tensor) fits() error {
	n, err := tensor.Shape(t.Shape).Size()
	if err != nil || t.size() > 0 && n*t.size() != len(t.raw) {
		return fmt.Errorf("tensor %q has the shape %v of %s in %d bytes", t.Name, t.Shape, t.Type, len(t.raw))
	}
	return nil
}

// size is the bytes of an element, 0 for an unknown type.
func (t *Tensor) size() int {
	switch t.Type {
	case "F32":
		return 4
	case "F64", "U64", "I64":
		return 8
	}
	return 0
}

// Len is the number of elements that can be read.
func (t *Tensor) Len() int {
	if t.size() == 0 {
		return 0
	}
	return len(t.raw) / t.size()
}

// At is element i. Whole numbers above 2^53 are rounded.
func (t *Tensor) At(i int) float64 {
	switch b := t.raw[i*t.size():]; t.Type {
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case "U64":
		return float64(binary.LittleEndian.Uint64(b))
	default:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	}
}

// measure fills in norm, mean and maximum.
func (t *Tensor) measure() {
	sum, squares, n := 0.0, 0.0, 0
	for i := range t.Len() {
		x := t.At(i)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Bad++
			continue
		}
		n++
		sum += x
		squares += float64(x * x)
		t.MaxAbs = max(t.MaxAbs, math.Abs(x))
	}
	t.Norm = math.Sqrt(squares)
	if n > 0 {
		t.Mean = sum / float64(n)
	}
}

// shape prints a shape, [] for a scalar.
func shape(s []int) string { return strings.ReplaceAll(fmt.Sprint(s), " ", "×") }

// String shows the metadata and a line for each tensor.
func (f *File) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d bytes, %d tensors\n", f.Path, f.Bytes, len(f.Tensors))
	if f.Refused != "" {
		fmt.Fprintf(&b, "this program would refuse it: %s\n", f.Refused)
	}
	width := 0
	for _, t := range f.Tensors {
		width = max(width, len(t.Name))
	}
	for _, k := range slices.Sorted(maps.Keys(f.Meta)) {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, k, f.Meta[k])
	}
	f.levels(&b)
	for _, r := range f.Map {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, "in "+r.Type, strings.TrimSpace(r.Page+"  "+r.Values))
	}
	fmt.Fprintf(&b, "  %-*s  type  %-12s %11s %11s %11s  sha256\n", width, "tensor", "shape", "norm", "mean", "max abs")
	for i := range f.Tensors {
		t := &f.Tensors[i]
		fmt.Fprintf(&b, "  %-*s  %-4s  %-12s %11.5g %11.4g %11.5g  %s", width, t.Name, t.Type, shape(t.Shape), t.Norm, t.Mean, t.MaxAbs, t.Digest[:12])
		if t.Level != nil && len(f.Levels) > 1 {
			fmt.Fprintf(&b, "  level %d", *t.Level)
		}
		if t.Wrong {
			b.WriteString("  DIGEST DIFFERS")
		}
		if t.Bad > 0 {
			fmt.Fprintf(&b, "  %d NOT FINITE", t.Bad)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
