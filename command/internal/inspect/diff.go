package inspect

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Diff is the differences between two checkpoints.
type Diff struct {
	A       string       `json:"a"`
	B       string       `json:"b"`
	Meta    []MetaDiff   `json:"metadata"`
	Tensors []TensorDiff `json:"tensors"`
	Equal   int          `json:"equal_tensors"` // with the same bits
}

// A MetaDiff is a key of the metadata; nil is a side without it.
type MetaDiff struct {
	Key  string  `json:"key"`
	A, B *string `json:",omitempty"`
}

// A TensorDiff is a tensor with other bits, or one that only one side has.
type TensorDiff struct {
	Name    string  `json:"name"`
	What    string  `json:"what"` // values, shape, type, only in A, only in B
	A, B    string  `json:"-"`    // type and shape
	Count   int     `json:"differing,omitempty"`
	Of      int     `json:"of,omitempty"`
	MaxAbs  float64 `json:"max_abs,omitempty"` // never NaN: those are counted
	MaxRel  float64 `json:"max_rel,omitempty"` // by the greater of the two
	NaN     int     `json:"not_comparable,omitempty"`
	First   []int   `json:"first,omitempty"` // index of the first difference
	FirstA  float64 `json:"-"`
	FirstB  float64 `json:"-"`
	WorstAt []int   `json:"worst,omitempty"` // index of MaxAbs
}

// Same reports whether nothing differs.
func (d *Diff) Same() bool { return len(d.Meta) == 0 && len(d.Tensors) == 0 }

// Compare compares two files, bit for bit.
func Compare(a, b *File) *Diff {
	d := &Diff{A: a.Path, B: b.Path}
	for _, k := range union(maps.Keys(a.Meta), maps.Keys(b.Meta)) {
		x, inA := a.Meta[k]
		y, inB := b.Meta[k]
		if inA && inB && x == y {
			continue
		}
		m := MetaDiff{Key: k}
		if inA {
			m.A = &x
		}
		if inB {
			m.B = &y
		}
		d.Meta = append(d.Meta, m)
	}
	left, right := byName(a), byName(b)
	for _, name := range union(maps.Keys(left), maps.Keys(right)) {
		x, y := left[name], right[name]
		switch t := compare(name, x, y); {
		case t == nil:
			d.Equal++
		default:
			d.Tensors = append(d.Tensors, *t)
		}
	}
	return d
}

func byName(f *File) map[string]*Tensor {
	out := map[string]*Tensor{}
	for i := range f.Tensors {
		out[f.Tensors[i].Name] = &f.Tensors[i]
	}
	return out
}

// union is the names of both, sorted.
func union(a, b func(func(string) bool)) []string {
	all := slices.AppendSeq(slices.Collect(a), b)
	slices.Sort(all)
	return slices.Compact(all)
}

// compare compares one tensor; nil if it has the same bits.
func compare(name string, x, y *Tensor) *TensorDiff {
	d := &TensorDiff{Name: name}
	if x != nil {
		d.A = x.Type + " " + shape(x.Shape)
	}
	if y != nil {
		d.B = y.Type + " " + shape(y.Shape)
	}
	switch {
	case y == nil:
		d.What = "only in A"
	case x == nil:
		d.What = "only in B"
	case x.Type != y.Type:
		d.What = "type"
	case !slices.Equal(x.Shape, y.Shape) || len(x.raw) != len(y.raw):
		d.What = "shape"
	case bytes.Equal(x.raw, y.raw):
		return nil
	default:
		d.What = "values"
		d.values(x, y)
	}
	return d
}

// values compares elements.
func (d *TensorDiff) values(x, y *Tensor) {
	size := x.size()
	d.Of = x.Len()
	for i := range d.Of {
		if bytes.Equal(x.raw[i*size:(i+1)*size], y.raw[i*size:(i+1)*size]) {
			continue
		}
		a, b := x.At(i), y.At(i)
		if d.Count++; d.Count == 1 {
			d.First, d.FirstA, d.FirstB = index(i, x.Shape), a, b
		}
		abs := math.Abs(a - b)
		if math.IsNaN(abs) || math.IsInf(abs, 0) {
			d.NaN++
			continue
		}
		if abs > d.MaxAbs {
			d.MaxAbs, d.WorstAt = abs, index(i, x.Shape)
		}
		if g := max(math.Abs(a), math.Abs(b)); g > 0 {
			d.MaxRel = max(d.MaxRel, abs/g)
		}
	}
}

// index is the place of element i in a shape.
func index(i int, shape []int) []int {
	out := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		out[k] = i % shape[k]
		i /= shape[k]
	}
	return out
}

// String shows both sides of every difference.
func (d *Diff) String() string {
	var b strings.Builder
	if d.Same() {
		fmt.Fprintf(&b, "%s and %s are equal: %d tensors with the same bits, and the same metadata\n", d.A, d.B, d.Equal)
		return b.String()
	}
	fmt.Fprintf(&b, "A: %s\nB: %s\n", d.A, d.B)
	side := func(s *string) string {
		if s == nil {
			return "(none)"
		}
		return *s
	}
	for _, m := range d.Meta {
		fmt.Fprintf(&b, "metadata %s\n  A: %s\n  B: %s\n", m.Key, side(m.A), side(m.B))
	}
	for _, t := range d.Tensors {
		switch t.What {
		case "only in A":
			fmt.Fprintf(&b, "%s: only in A, %s\n", t.Name, t.A)
		case "only in B":
			fmt.Fprintf(&b, "%s: only in B, %s\n", t.Name, t.B)
		case "values":
			fmt.Fprintf(&b, "%s %s: %d of %d differ, by at most %.4g at %v, relatively %.4g; first at %v: %v in A, %v in B", t.Name, t.A, t.Count, t.Of, t.MaxAbs, t.WorstAt, t.MaxRel, t.First, t.FirstA, t.FirstB)
			if t.NaN > 0 {
				fmt.Fprintf(&b, "; %d are not finite on one side", t.NaN)
			}
			b.WriteByte('\n')
		default:
			fmt.Fprintf(&b, "%s: the %s differs: %s in A, %s in B\n", t.Name, t.What, t.A, t.B)
		}
	}
	fmt.Fprintf(&b, "%d tensors have the same bits, %d differ\n", d.Equal, len(d.Tensors))
	return b.String()
}
