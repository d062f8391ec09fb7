package checkpoint

import (
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/internal/atomicfile"

	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/runtime/tensor"
)

// sample has every type, a scalar, an empty tensor and awkward values.
func sample(t testing.TB) *Snapshot {
	t.Helper()
	s := &Snapshot{}
	s.SetMeta("step", "17")
	s.SetMeta("config", `{"d":64}`)
	err := errors.Join(
		Add(s, "level.0.W_K", tensor.Shape{2, 3}, []float32{1, -2, float32(math.Inf(1)), 1e-45, 0, float32(math.Copysign(0, -1))}),
		Add(s, "E", tensor.Shape{1, 2}, []float64{math.Pi, math.NaN()}),
		Add(s, "cursor", tensor.Shape{3}, []uint64{0, 1, math.MaxUint64}),
		Add(s, "count", nil, []int64{math.MinInt64}),
		Add(s, "none", tensor.Shape{0, 4}, []float32{}),
		Add(s, "η<&>", tensor.Shape{1}, []float32{0.5}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := s.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo = %d, %v for %d bytes", n, err, b.Len())
	}
	return b.Bytes()
}

func Example() {
	var s Snapshot
	_ = Add(&s, "w", tensor.Shape{2}, []float32{1, 2})
	var b bytes.Buffer
	_, _ = s.WriteTo(&b)
	back, err := Decode(b.Bytes())
	w := make([]float32, 2)
	fmt.Println(err, Take(back, "w", tensor.Shape{2}, w), w, back.Done())
	fmt.Println(Take(back, "w", tensor.Shape{1, 2}, w))
	// Output:
	// <nil> <nil> [1 2] <nil>
	// checkpoint: "w": shape does not fit: file has [2], want [1 2] in 2 elements
}

func TestRoundTrip(t *testing.T) {
	s := sample(t)
	data := file(t, s)
	if again := file(t, sample(t)); !bytes.Equal(data, again) {
		t.Error("the same snapshot gives other bytes")
	}
	if n := lengthBytes + binary.LittleEndian.Uint64(data); n%alignment != 0 {
		t.Errorf("the data begins at byte %d", n)
	}
	back, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file(t, back), data) {
		t.Error("written again, a file that was read has other bytes")
	}
	if step, err := back.Meta("step"); err != nil || step != "17" {
		t.Errorf("Meta(step) = %q, %v", step, err)
	}
	if keys := back.MetaKeys(); !slices.Equal(keys, []string{"config", "step"}) {
		t.Errorf("MetaKeys() = %v", keys)
	}
	w := make([]float32, 6)
	if err := Take(back, "level.0.W_K", tensor.Shape{2, 3}, w); err != nil || !math.Signbit(float64(w[5])) || w[3] != 1e-45 {
		t.Errorf("W_K = %v, %v", w, err)
	}
	if typ, shape, err := back.Shape("count"); typ != I64 || len(shape) != 0 || err != nil {
		t.Errorf("Shape(count) = %v %v %v", typ, shape, err)
	}
	count := make([]int64, 1)
	if err := Take(back, "count", nil, count); err != nil || count[0] != math.MinInt64 {
		t.Errorf("count = %v, %v", count, err)
	}
	if err := back.Done(); !errors.Is(err, ErrUnknown) {
		t.Errorf("Done with tensors left = %v, want ErrUnknown", err)
	}
}

func TestTakeRefuses(t *testing.T) {
	s := sample(t)
	keep := []float32{7}
	for _, c := range []struct {
		err  error
		want error
	}{
		{Take(s, "nope", nil, keep), ErrMissing},
		{Take(s, "count", nil, keep), ErrType},
		{Take(s, "η<&>", tensor.Shape{1, 1}, keep), ErrShape},
		{Take(s, "η<&>", tensor.Shape{1}, []float32{1, 2}), ErrShape},
		{Add(s, "bad", tensor.Shape{2}, keep), ErrShape},
		{Add(s, "bad", tensor.Shape{-1, -1}, keep), ErrShape},
		{func() error { _, err := s.Meta("nope"); return err }(), ErrMetadata},
		{func() error { _, _, err := s.Shape("nope"); return err }(), ErrMissing},
	} {
		var e *Error
		if !errors.Is(c.err, c.want) || !errors.As(c.err, &e) {
			t.Errorf("got %v, want %v", c.err, c.want)
		}
	}
	if keep[0] != 7 {
		t.Error("a refused Take wrote")
	}
}

// build makes a file of a header and data, with the true digest of zeros.
func build(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// TestDecodeRefuses has a row per kind of damage.
func TestDecodeRefuses(t *testing.T) {
	z4 := digest(make([]byte, 4))
	two := &Snapshot{tensors: map[string]*entry{"a": {typ: F32, shape: tensor.Shape{1}}, "b": {typ: F32, shape: tensor.Shape{1}}}}
	seal := two.seal(map[string]string{"arithmetic": level(), "sha256.a": z4, "sha256.b": z4})
	meta := `"__metadata__":{"arithmetic":"` + level() + `","sha256":"` + seal + `","sha256.a":"` + z4 + `","sha256.b":"` + z4 + `"}`
	a := `"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`
	b := `"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}`
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	good := "{" + meta + "," + a + "," + b + "}"
	eight := make([]byte, 8)
	if _, err := Decode(build(good, eight)); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(build(good+"   ", eight)); err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(eight)
	flipped[5] = 1
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrTruncated},
		{"short length", []byte{1, 2, 3}, ErrTruncated},
		{"huge header", binary.LittleEndian.AppendUint64(nil, 1<<60), ErrHeader},
		{"header beyond the file", binary.LittleEndian.AppendUint64(nil, 1000), ErrTruncated},
		{"not JSON", build("nonsense", nil), ErrHeader},
		{"empty header", build("", nil), ErrHeader},
		{"array", build("[]", nil), ErrHeader},
		{"unclosed", build(good[:len(good)-1], eight), ErrHeader},
		{"text after", build(good+"x", eight), ErrHeader},
		{"second object", build(good+"{}", eight), ErrHeader},
		{"not UTF-8", build(edit(good, `"a":`, "\"\xff\":"), eight), ErrHeader},
		{"truncated data", build(good, eight[:7]), ErrTruncated},
		{"trailing bytes", build(good, make([]byte, 9)), ErrTrailing},
		{"overlap", build(edit(good, "[4,8]", "[3,7]"), eight), ErrOffsets},
		{"same range", build(edit(good, "[4,8]", "[0,4]"), eight[:4]), ErrOffsets},
		{"hole", build(edit(good, "[4,8]", "[5,9]"), make([]byte, 9)), ErrOffsets},
		{"backwards", build(edit(good, "[4,8]", "[4,0]"), eight), ErrOffsets},
		{"one offset", build(edit(good, "[4,8]", "[4]"), eight), ErrOffsets},
		{"negative offset", build(edit(good, "[0,4]", "[-4,0]"), eight), ErrHeader},
		{"float offset", build(edit(good, "[0,4]", "[0,4.0]"), eight), ErrHeader},
		{"offset as text", build(edit(good, "[0,4]", `["0",4]`), eight), ErrHeader},
		{"shape too large", build(edit(good, "[1]", "[2]"), eight), ErrShape},
		{"shape overflow", build(edit(good, "[1]", "[4611686018427387904,4]"), eight), ErrShape},
		{"negative axis", build(edit(good, "[1]", "[-1]"), eight), ErrHeader},
		{"number beyond int64", build(edit(good, "[1]", "[99999999999999999999]"), eight), ErrHeader},
		{"unknown type", build(edit(good, "F32", "BF16"), eight), ErrType},
		{"type not text", build(edit(good, `"F32"`, "32"), eight), ErrType},
		{"missing key", build(edit(good, `"dtype":"F32",`, ""), eight), ErrHeader},
		{"unknown key", build(edit(good, `"dtype":"F32"`, `"dtype":"F32","x":1`), eight), ErrHeader},
		{"key twice", build(edit(good, `"dtype":"F32"`, `"dtype":"F32","dtype":"F32"`), eight), ErrDuplicate},
		{"tensor twice", build(edit(good, `"b":`, `"a":`), eight), ErrDuplicate},
		{"tensor twice, escaped", build(edit(good, `"b":`, `"\u0061":`), eight), ErrDuplicate},
		{"metadata twice", build("{"+meta+","+meta+","+a+","+b+"}", eight), ErrDuplicate},
		{"metadata key twice", build(edit(good, `"__metadata__":{`, `"__metadata__":{"arithmetic":"`+level()+`",`), eight), ErrDuplicate},
		{"metadata not text", build(edit(good, `"`+level()+`"`, "1"), eight), ErrHeader},
		{"null tensor", build("{"+meta+`,"a":null}`, nil), ErrHeader},
		{"no name", build(edit(good, `"b":`, `"":`), eight), ErrHeader},
		{"other arithmetic", build(edit(good, level(), "other"), eight), ErrArithmetic},
		{"first version of the arithmetic", build(edit(good, level(), cpu.Active().Arithmetic()), eight), ErrArithmetic},
		{"another version of the arithmetic", build(edit(good, level(), cpu.Active().Arithmetic()+"/9"), eight), ErrArithmetic},
		{"no metadata", build("{"+a+","+b+"}", eight), ErrMetadata},
		{"no digest", build(edit(good, "sha256.a", "other.a"), eight), ErrMetadata},
		{"digest without tensor", build(edit(good, `"__metadata__":{`, `"__metadata__":{"sha256.zz":"0",`), eight), ErrMissing},
		{"flipped bit", build(good, flipped), ErrDigest},
		{"no seal", build(edit(good, `"sha256":"`+seal+`",`, ""), eight), ErrMetadata},
		{"metadata added", build(edit(good, `"__metadata__":{`, `"__metadata__":{"x":"1",`), eight), ErrDigest},
		{"other shape of as many", build(edit(good, `"shape":[1],"data_offsets":[4,8]`, `"shape":[1,1],"data_offsets":[4,8]`), eight), ErrDigest},
		{"names exchanged", build(edit(good, `"a":{`, `"b":{`, `"b":{`, `"a":{`), eight), nil}, // equal elements: the same content
	} {
		_, err := Decode(c.file)
		var e *Error
		if !errors.Is(err, c.want) || c.want != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestMisuse(t *testing.T) {
	for i, c := range []struct {
		want string
		f    func(s *Snapshot)
	}{
		{keyTaken, func(s *Snapshot) { s.SetMeta("arithmetic", "fma") }},
		{keyTaken, func(s *Snapshot) { s.SetMeta("sha256.E", "") }},
		{keyTaken, func(s *Snapshot) { s.SetMeta("sha256", "") }},
		{reservedName, func(s *Snapshot) { _ = Add(s, "__metadata__", nil, []int64{1}) }},
		{reservedName, func(s *Snapshot) { _ = Add(s, "", nil, []int64{1}) }},
		{reservedName, func(s *Snapshot) { _ = Add(s, "\xff", nil, []int64{1}) }},
		{addedTwice, func(s *Snapshot) { _ = Add(s, "E", nil, []int64{1}) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("row %d: panic %v, want %v", i, got, c.want)
				}
			}()
			c.f(sample(t))
		}()
	}
}

// TestFailedWriteLeavesTheOldFile lets the write fail after some bytes.
func TestFailedWriteLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.safetensors")
	if err := Write(path, sample(t)); err != nil {
		t.Fatal(err)
	}
	old, _ := os.ReadFile(path)
	full := errors.New("disk is full")
	err := atomicfile.Write(path, func(f *os.File) error {
		if _, err := f.Write(make([]byte, 3<<20)); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("atomicfile.Write = %v, want the writer's error", err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, old) {
		t.Error("a failed write changed the file")
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) != 0 {
		t.Errorf("a failed write left %v", names)
	}
	if _, err := Read(path); err != nil {
		t.Error(err)
	}
	if err := WriteFile(path, []byte("text")); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(path); string(now) != "text" {
		t.Errorf("WriteFile left %q, %v", now, err)
	}
	if err := Write(filepath.Join(dir, "no", "such", "folder", "c"), sample(t)); err == nil {
		t.Error("Write into no folder = nil")
	}
	if _, err := Read(filepath.Join(dir, "nope")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Read of no file = %v", err)
	}
}

// TestKilledWriterNeverTears starts this test binary as a writer that replaces
// one file without end, kills it at different moments, and reads.
func TestKilledWriterNeverTears(t *testing.T) {
	const env = "HECATE_CHECKPOINT_VICTIM"
	if path := os.Getenv(env); path != "" {
		s := big(t)
		for {
			if err := Write(path, s); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(3)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	if err := Write(path, big(t)); err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(path)
	const kills = 8
	for i := range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriterNeverTears$")
		cmd.Env = append(os.Environ(), env+"="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(40+7*i) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() == 3 {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("kill %d tore the file: %d bytes of %d, %v", i, len(got), len(want), err)
		}
	}
	if err := Write(path, big(t)); err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(names) != 0 {
		t.Errorf("killed writers left %v behind a write", names)
	}
}

func big(t *testing.T) *Snapshot {
	s := &Snapshot{}
	if err := Add(s, "w", tensor.Shape{1 << 18}, make([]float32, 1<<18)); err != nil {
		t.Fatal(err)
	}
	return s
}

// FuzzDecode: no input panics, every error is typed, and what is accepted is
// written again to something equal.
func FuzzDecode(f *testing.F) {
	f.Add(file(f, sample(f)))
	f.Add(file(f, &Snapshot{}))
	f.Add(build(`{"__metadata__":{"arithmetic":"`+level()+`"}}`, nil))
	f.Add(build(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 4)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error without a type: %v", err)
			}
			return
		}
		again, err := Decode(file(t, s))
		if err != nil {
			t.Fatalf("written again it is refused: %v", err)
		}
		if !slices.Equal(again.Names(), s.Names()) {
			t.Fatalf("names %v became %v", s.Names(), again.Names())
		}
	})
}

// TestVersion wants both versions in the message about a checkpoint of an earlier one.
func TestVersion(t *testing.T) {
	arithmetic := cpu.Active().Arithmetic()
	for _, saved := range []string{arithmetic, arithmetic + "/1"} { // the first version had no number
		_, err := Decode(build(`{"__metadata__":{"arithmetic":"`+saved+`"}}`, nil))
		want := fmt.Sprintf("file has version 1 of the arithmetic %s, this program runs version %d", arithmetic, cpu.Version)
		if !errors.Is(err, ErrArithmetic) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", saved, err, want)
		}
	}
}

// level is the arithmetic of this machine, as checkpoints name it.
func level() string { return cpu.Active().Bits() }
