package vectors_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/internal/vectors"
)

func read(t *testing.T, text string) *vectors.File {
	t.Helper()
	f, err := vectors.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRead(t *testing.T) {
	f := read(t, `# a file
# of two comments

tensor case0.x f64 [2 3]
0x1.8p+0 -0x1p-1
0x0.0p+0 inf -inf 0x0.0000000000001p-1022
# the position
tensor pos int []
-7
tensor empty f32 [2 0 6]
# end
`)
	x, err := f.Get("case0.x", 2, -1)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1.5, -0.5, 0, math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64}
	if !reflect.DeepEqual(x.Floats, want) {
		t.Errorf("x = %v, want %v", x.Floats, want)
	}
	if got := strings.Join(x.Comment, "|"); got != "a file|of two comments" {
		t.Errorf("comment of x = %q", got)
	}
	pos, err := f.Get("pos")
	if err != nil || pos.Ints[0] != -7 {
		t.Errorf("pos = %v, %v", pos, err)
	}
	if e, err := f.Get("empty", 2, 0, 6); err != nil || len(e.Floats) != 0 {
		t.Errorf("empty = %v, %v", e, err)
	}
	if len(f.Tensors()) != 3 || f.Tensors()[1] != pos {
		t.Errorf("order not kept")
	}
	if !reflect.DeepEqual(f.Trailer, []string{"end"}) {
		t.Errorf("trailer = %q", f.Trailer)
	}
}

func TestGetChecksNameAndShape(t *testing.T) {
	f := read(t, "tensor x f64 [2 1]\n0x1p+0 0x1p+1\n")
	for _, tc := range []struct {
		name  string
		shape []int
		want  string
	}{
		{"y", nil, "no tensor y"},
		{"x", nil, "tensor x has shape [2 1], want []"},
		{"x", []int{2}, "has shape [2 1], want [2]"},
		{"x", []int{1, 2}, "has shape [2 1], want [1 2]"},
	} {
		if _, err := f.Get(tc.name, tc.shape...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Get(%s, %v) = %v, want an error with %q", tc.name, tc.shape, err, tc.want)
		}
	}
	x, _ := f.Lookup("x")
	if _, err := x.Scalar(); err == nil {
		t.Error("Scalar of a [2 1] tensor succeeded")
	}
}

func TestReadErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"data first", "0x1p+0\n", `line 1: want a tensor header, found "0x1p+0"`},
		{"no shape", "tensor x f64\n", "line 1: bad header"},
		{"no name", "tensor f64 [1]\n", "line 1: bad header"},
		{"after shape", "tensor x f64 [1] 2\n", "line 1: bad header"},
		{"open shape", "tensor x f64 [1\n", "line 1: bad header"},
		{"kind", "tensor x f16 [1]\n", `line 1: unknown kind "f16"`},
		{"extent", "tensor x f64 [-1]\n", `line 1: tensor x: bad extent "-1"`},
		{"huge", "tensor x f64 [99999 99999 99999]\n", "line 1: tensor x: shape [99999 99999 99999] has more than"},
		{"name", "tensor x#y f64 [1]\n", `line 1: bad tensor name "x#y"`},
		{"twice", "tensor x int []\n1\ntensor x int []\n", "line 3: tensor x: name already used"},
		{"short, then header", "# c\ntensor x int [2]\n1\n\ntensor y int []\n", "line 5: tensor x of line 2 has 1 elements, want 2"},
		{"short at end", "tensor x int [2]\n1\n", "line 2: tensor x of line 1 has 1 elements, want 2"},
		{"long", "tensor x int []\n1 2\n", "line 2: tensor x of line 1 has more than its 1 elements"},
		{"decimal", "tensor x f64 []\n1.5\n", `line 2: bad float "1.5"`},
		{"float as int", "tensor x int []\n0x1p+0\n", `line 2: bad int "0x1p+0"`},
		{"underscore", "tensor x f64 []\n0x1_0p+0\n", "line 2: bad float"},
		{"no exponent", "tensor x f64 []\n0x1.8\n", "line 2: bad float"},
		{"overflow", "tensor x f64 []\n0x1p+2000\n", "line 2: bad float"},
		{"not a float32", "tensor x f32 []\n0x1.0000001p+0\n", "line 2: 0x1.0000001p+0 is not a float32"},
		{"carriage return", "# a\rb\n", "line 1: stray carriage return"},
		{"float32 overflow", "tensor x f32 []\n0x1p+200\n", "line 2: 0x1p+200 is not a float32"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := vectors.Read(strings.NewReader(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestAddRefusesWhatReadWould(t *testing.T) {
	f := new(vectors.File)
	if err := f.Add(&vectors.Tensor{Name: "x", Shape: []int{1}, Floats: []float64{1}}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []*vectors.Tensor{
		{Name: "x", Shape: []int{1}, Floats: []float64{1}},
		{Name: "a b", Shape: []int{1}, Floats: []float64{1}},
		{Name: "a[0]", Shape: []int{1}, Floats: []float64{1}},
		{Name: "", Shape: []int{1}, Floats: []float64{1}},
		{Name: "y", Shape: []int{2}, Floats: []float64{1}},
		{Name: "y", Kind: vectors.Int, Floats: []float64{1}},
		{Name: "y", Kind: vectors.F32, Floats: []float64{0.1}},
		{Name: "y", Kind: 9, Floats: []float64{0.1}},
		{Name: "y", Floats: []float64{0.1}, Comment: []string{"a\nb"}},
	} {
		if err := f.Add(bad); err == nil {
			t.Errorf("Add(%+v) succeeded", bad)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	f := &vectors.File{Trailer: []string{"", "end"}}
	for _, tn := range []*vectors.Tensor{
		{Name: "case0.grad.W_K", Shape: []int{2, 4}, Comment: []string{"two rows", ""},
			Floats: []float64{0, math.Copysign(0, -1), math.Pi, -1e-300, math.MaxFloat64,
				math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1)}},
		{Name: "ρ", Kind: vectors.F32, Shape: []int{1, 3},
			Floats: []float64{float64(float32(0.1)), math.SmallestNonzeroFloat32, math.MaxFloat32}},
		{Name: "ids", Kind: vectors.Int, Shape: []int{8}, Ints: []int64{-1, 0, 1, 2, 3, 4, math.MaxInt64, math.MinInt64}},
		{Name: "lr", Floats: []float64{3e-3}},
		{Name: "nothing", Shape: []int{0}},
	} {
		if err := f.Add(tn); err != nil {
			t.Fatal(err)
		}
	}
	var first, second bytes.Buffer
	if err := vectors.Write(&first, f); err != nil {
		t.Fatal(err)
	}
	g := read(t, first.String())
	if !reflect.DeepEqual(f, g) {
		t.Errorf("read back differs:\n%s", first.String())
	}
	x, err := g.Get("case0.grad.W_K", 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	if !math.Signbit(x.Floats[1]) {
		t.Error("the sign of zero was lost")
	}
	if err := vectors.Write(&second, g); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Errorf("second writing differs:\n%s\n%s", first.String(), second.String())
	}
}

func TestNaN(t *testing.T) {
	f := new(vectors.File)
	if err := f.Add(&vectors.Tensor{Name: "x", Kind: vectors.F32, Floats: []float64{math.NaN()}}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := vectors.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	x, err := read(t, b.String()).Get("x")
	if err != nil || !math.IsNaN(x.Floats[0]) {
		t.Errorf("x = %v, %v; want nan", x, err)
	}
}

// TestOracleFiles reads what Python wrote, so that the two sides cannot drift.
func TestOracleFiles(t *testing.T) {
	names, err := filepath.Glob("../../validation/oracle/vectors/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("no vector files under validation/oracle/vectors")
	}
	for _, name := range names {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := vectors.Read(in)
		in.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(f.Tensors()) == 0 {
			t.Errorf("%s: no tensors", name)
		}
		var b bytes.Buffer
		if err := vectors.Write(&b, f); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if g := read(t, b.String()); !reflect.DeepEqual(f, g) {
			t.Errorf("%s: written and read again it differs", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("# c\ntensor x f64 [2 1]\n0x1p+0 nan\n")
	f.Add("tensor i int []\n-3\n# end\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := vectors.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := vectors.Write(&first, file); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		again, err := vectors.Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("written but not read: %v\n%s", err, first.String())
		}
		if err := vectors.Write(&second, again); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Fatalf("two writings differ:\n%s\n%s", first.String(), second.String())
		}
	})
}

func TestNoise(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want bool
	}{{nil, false}, {[]float64{0, 0}, false}, {[]float64{0, 1e-17}, true}, {[]float64{-1e-17, 1e-3}, false}, {[]float64{math.NaN()}, false}} {
		if got := vectors.Noise(c.x); got != c.want {
			t.Errorf("%v: %v", c.x, got)
		}
	}
}
