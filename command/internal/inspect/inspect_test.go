package inspect

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a checkpoint of three tensors; change may alter it.
func write(t *testing.T, change func(m map[string]string, w []float32, n []uint64)) (path string, data []byte) {
	t.Helper()
	meta := map[string]string{"build.model": "M", "build.seed": "1"}
	w, n := []float32{0.5, -2, 3, 4, 5, 6}, []uint64{7, 1 << 60}
	if change != nil {
		change(meta, w, n)
	}
	var s checkpoint.Snapshot
	for k, v := range meta {
		s.SetMeta(k, v)
	}
	check(t, checkpoint.Add(&s, "w", tensor.Shape{2, 3}, w))
	check(t, checkpoint.Add(&s, "n", tensor.Shape{2}, n))
	check(t, checkpoint.Add(&s, "e", tensor.Shape{0}, []float64{}))
	path = filepath.Join(t.TempDir(), "c.safetensors")
	check(t, checkpoint.Write(path, &s))
	data, err := os.ReadFile(path)
	check(t, err)
	return path, data
}

func read(t *testing.T, path string) *File {
	t.Helper()
	f, err := Read(path, catalog.New())
	check(t, err)
	return f
}

func TestRead(t *testing.T) {
	path, data := write(t, nil)
	f := read(t, path)
	w := f.Tensors[2]
	if f.Refused != "" || f.Bytes != len(data) || len(f.Tensors) != 3 || w.Name != "w" || w.Type != "F32" || !slices.Equal(w.Shape, []int{2, 3}) {
		t.Errorf("%+v", f)
	}
	if want := math.Sqrt(0.25 + 4 + 9 + 16 + 25 + 36); !(math.Abs(w.Norm-want) <= 1e-12) || w.MaxAbs != 6 || w.Mean != 16.5/6 {
		t.Errorf("norm %v, want %v; %+v", w.Norm, want, w)
	}
	for _, want := range []string{"build.model  M", "F32   [2×3]", w.Digest[:12]} {
		if !strings.Contains(strings.ReplaceAll(f.String(), "      ", ""), want) && !strings.Contains(f.String(), want) {
			t.Errorf("no %q in\n%s", want, f)
		}
	}
}

// TestDamage flips a bit of the elements, changes the arithmetic, and cuts the
// file everywhere: what can be read is shown and said to be wrong, nothing
// panics.
func TestDamage(t *testing.T) {
	path, data := write(t, nil)
	bad := slices.Clone(data)
	bad[len(bad)-1] ^= 1
	check(t, os.WriteFile(path, bad, 0o600))
	f := read(t, path)
	if !f.Tensors[2].Wrong || !f.Damaged || f.Tensors[1].Wrong || !strings.Contains(f.String(), "DIGEST DIFFERS") {
		t.Errorf("a flipped bit was not seen:\n%s", f)
	}
	for _, pair := range [][2]string{{`"arithmetic":"fma/`, `"arithmetic":"xxx/`}, {`"arithmetic":"portable/`, `"arithmetic":"fmaxxxxx/`}} {
		other := bytes.Replace(data, []byte(pair[0]), []byte(pair[1]), 1)
		if bytes.Equal(other, data) {
			continue
		}
		check(t, os.WriteFile(path, other, 0o600))
		if f := read(t, path); f.Refused == "" || f.Damaged {
			t.Errorf("another arithmetic: %q, damaged %v", f.Refused, f.Damaged)
		}
	}
	for n := range data {
		check(t, os.WriteFile(path, data[:n], 0o600))
		if f, err := Read(path, catalog.New()); err == nil && !f.Damaged {
			t.Fatalf("the first %d bytes of %d pass for a checkpoint", n, len(data))
		}
	}
	for i := range data[:len(data)-64] {
		bad := slices.Clone(data)
		bad[i] ^= 0x10
		check(t, os.WriteFile(path, bad, 0o600))
		if f, err := Read(path, catalog.New()); err == nil {
			_ = f.String()
		}
	}
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	check(t, os.WriteFile(path, huge, 0o600))
	if _, err := Read(path, catalog.New()); err == nil {
		t.Error("a header of 2^64 bytes was read")
	}
}

func TestCompare(t *testing.T) {
	path, _ := write(t, nil)
	same, _ := write(t, nil)
	if d := Compare(read(t, path), read(t, same)); !d.Same() || d.Equal != 3 {
		t.Errorf("%+v", d)
	}
	other, _ := write(t, func(m map[string]string, w []float32, n []uint64) {
		m["build.seed"], m["more"] = "2", "x"
		delete(m, "build.model")
		w[1], w[4] = -2.5, 6
		n[1]++ // too small a change for a float64
	})
	d := Compare(read(t, path), read(t, other))
	if d.Same() || len(d.Meta) != 3 || len(d.Tensors) != 2 || d.Equal != 1 {
		t.Fatalf("%+v", d)
	}
	n, w := d.Tensors[0], d.Tensors[1]
	if w.Count != 2 || w.Of != 6 || w.MaxAbs != 1 || !slices.Equal(w.WorstAt, []int{1, 1}) || !(math.Abs(w.MaxRel-0.2) <= 1e-12) || !slices.Equal(w.First, []int{0, 1}) || w.FirstA != -2 || w.FirstB != -2.5 {
		t.Errorf("%+v", w)
	}
	if n.Count != 1 || !slices.Equal(n.First, []int{1}) {
		t.Errorf("%+v", n)
	}
	for _, want := range []string{"metadata build.seed\n  A: 1\n  B: 2\n", "metadata more\n  A: (none)\n  B: x\n", "w F32 [2×3]: 2 of 6 differ, by at most 1 at [1 1], relatively 0.2; first at [0 1]: -2 in A, -2.5 in B"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("no %q in\n%s", want, d)
		}
	}
}

// TestOtherForms compares tensors that one side lacks, of other types and shapes,
// and ones that are no numbers.
func TestOtherForms(t *testing.T) {
	f := func(ts ...Tensor) *File { return &File{Tensors: ts} }
	four := []byte{0, 0, 0x80, 0x3f}
	nan := []byte{0, 0, 0xc0, 0x7f}
	a := f(Tensor{Name: "a", Type: "F32", Shape: []int{1}, raw: four}, Tensor{Name: "b", Type: "F32", Shape: []int{1}, raw: four},
		Tensor{Name: "c", Type: "F32", Shape: []int{1}, raw: four}, Tensor{Name: "d", Type: "F32", raw: four})
	b := f(Tensor{Name: "b", Type: "BF16", Shape: []int{2}, raw: four}, Tensor{Name: "c", Type: "F32", Shape: []int{1, 1}, raw: four},
		Tensor{Name: "d", Type: "F32", raw: nan}, Tensor{Name: "e", Type: "F32", raw: nan})
	d := Compare(a, b)
	var got []string
	for _, x := range d.Tensors {
		got = append(got, x.Name+" "+x.What)
	}
	if want := []string{"a only in A", "b type", "c shape", "d values", "e only in B"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if x := d.Tensors[3]; x.NaN != 1 || x.MaxAbs != 0 || x.Count != 1 || !strings.Contains(d.String(), "1 are not finite on one side") {
		t.Errorf("%+v", x)
	}
}

// TestPrecisionOfOtherPages: a model of pages that are not this program's has no map but the type.
func TestPrecisionOfOtherPages(t *testing.T) {
	path, _ := write(t, func(m map[string]string, _ []float32, _ []uint64) {
		m["run.model"], m["hecate.operands"] = "Other", "bfloat16"
	})
	f, err := Read(path, catalog.New())
	check(t, err)
	want := []Row{{Type: "bfloat16", Values: "the operands of products"}, {Type: "float32", Values: "all else: parameters, sums, states, gates, gradients, updates"}}
	if !slices.Equal(f.Map, want) {
		t.Errorf("%v, want %v", f.Map, want)
	}
}
