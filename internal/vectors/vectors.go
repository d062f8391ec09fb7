package vectors

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kind says what the elements of a tensor are.
type Kind int

// The kinds of tensor.
const (
	F64 Kind = iota // float64
	F32             // float32, held as float64
	Int             // int64
)

var kindNames = [...]string{F64: "f64", F32: "f32", Int: "int"}

// String returns the word that a header uses for k.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

func parseKind(s string) (Kind, bool) {
	i := slices.Index(kindNames[:], s)
	return Kind(i), i >= 0
}

// A Tensor is a named array of numbers in row-major order. Floats holds the
// elements when Kind is F64 or F32, Ints when it is Int; the other is nil.
type Tensor struct {
	Name    string
	Kind    Kind
	Shape   []int
	Floats  []float64
	Ints    []int64
	Comment []string // the comment lines before the header, without "#"
}

// Float32s returns the elements rounded to float32; of an F32 tensor this is
// exact. It is nil for an Int tensor.
func (t *Tensor) Float32s() []float32 {
	if t.Kind == Int {
		return nil
	}
	out := make([]float32, len(t.Floats))
	for i, x := range t.Floats {
		out[i] = float32(x)
	}
	return out
}

// Scalar returns the single element of a float tensor with the shape [].
func (t *Tensor) Scalar() (float64, error) {
	if t.Kind == Int || len(t.Shape) != 0 {
		return 0, fmt.Errorf("vectors: tensor %s is %v %v, want a float scalar", t.Name, t.Kind, t.Shape)
	}
	return t.Floats[0], nil
}

func (t *Tensor) len() int {
	if t.Kind == Int {
		return len(t.Ints)
	}
	return len(t.Floats)
}

// check reports what would make t unreadable once written.
func (t *Tensor) check() error {
	if err := checkName(t.Name); err != nil {
		return err
	}
	if t.Kind < 0 || int(t.Kind) >= len(kindNames) {
		return fmt.Errorf("tensor %s: unknown kind %v", t.Name, t.Kind)
	}
	n, err := volume(t.Shape)
	if err != nil {
		return fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	if n != t.len() {
		return fmt.Errorf("tensor %s: shape %v wants %d elements, have %d", t.Name, t.Shape, n, t.len())
	}
	for i, x := range t.Floats {
		if t.Kind == F32 && !isFloat32(x) {
			return fmt.Errorf("tensor %s: element %d is not a float32", t.Name, i)
		}
	}
	for _, c := range t.Comment {
		if strings.ContainsAny(c, "\r\n") {
			return fmt.Errorf("tensor %s: comment holds a line break", t.Name)
		}
	}
	return nil
}

// A File is an ordered collection of tensors. The zero File is empty and
// ready to use.
type File struct {
	Trailer []string // the comment lines after the last tensor, without "#"

	tensors []*Tensor
	byName  map[string]*Tensor
}

// Tensors returns the tensors in file order.
func (f *File) Tensors() []*Tensor { return slices.Clone(f.tensors) }

// Add appends t. It is an error if t is malformed or its name is taken.
func (f *File) Add(t *Tensor) error {
	if err := t.check(); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	if f.byName[t.Name] != nil {
		return fmt.Errorf("vectors: tensor %s: name already used", t.Name)
	}
	f.append(t)
	return nil
}

func (f *File) append(t *Tensor) {
	if f.byName == nil {
		f.byName = make(map[string]*Tensor)
	}
	f.byName[t.Name] = t
	f.tensors = append(f.tensors, t)
}

// Lookup returns the tensor called name, whatever its shape.
func (f *File) Lookup(name string) (*Tensor, bool) {
	t, ok := f.byName[name]
	return t, ok
}

// Get returns the tensor called name and checks its shape: the number of
// extents must agree, and each extent too, but that -1 stands for any. Without
// extents it wants a scalar.
func (f *File) Get(name string, shape ...int) (*Tensor, error) {
	t, ok := f.byName[name]
	if !ok {
		return nil, fmt.Errorf("vectors: no tensor %s", name)
	}
	fits := len(shape) == len(t.Shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = shape[i] == -1 || shape[i] == t.Shape[i]
	}
	if !fits {
		return nil, fmt.Errorf("vectors: tensor %s has shape %v, want %v", name, t.Shape, shape)
	}
	return t, nil
}

// maxVolume bounds the elements of one tensor: far above every real file, and
// low enough that no product of extents overflows.
const maxVolume = 1 << 28

func volume(shape []int) (int, error) {
	n := 1
	for _, e := range shape {
		if e < 0 {
			return 0, fmt.Errorf("negative extent %d", e)
		}
		if e > maxVolume {
			return 0, fmt.Errorf("shape %v has more than %d elements", shape, maxVolume)
		}
		if n *= e; n > maxVolume {
			return 0, fmt.Errorf("shape %v has more than %d elements", shape, maxVolume)
		}
	}
	return n, nil
}

func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("empty tensor name")
	}
	if strings.ContainsAny(name, "#[]") || len(strings.Fields(name)) != 1 || strings.TrimSpace(name) != name {
		return fmt.Errorf("bad tensor name %q", name)
	}
	return nil
}

func isFloat32(x float64) bool {
	return math.IsNaN(x) || float64(float32(x)) == x
}

// Noise reports whether a gradient of float64 is zero but for rounding, as after a unit key of
// one entry: no entry is above 1e-12, and one is not zero. In float32 it is whatever the
// order of the sums leaves, times the inverse of the key's length.
func Noise(x []float64) bool {
	most := 0.
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most > 0 && most <= 1e-12
}
