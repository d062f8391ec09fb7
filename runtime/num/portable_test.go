package num

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestGoldenBits pins the bits of every function: a platform, compiler or edit
// that changes one changes every checkpoint.
func TestGoldenBits(t *testing.T) {
	var b strings.Builder
	for _, x := range []float64{0.7310585786300049, -2.5, 1e-3, 19.25} {
		for _, f := range functions {
			if f.name != "exp subnormal" {
				fmt.Fprintf(&b, "%s(%x) = %x %x\n", f.name, x, f.f64(x), f.f32(float32(x)))
			}
		}
		fmt.Fprintf(&b, "pow(%x, 1.7) = %x %x\n", math.Abs(x), Pow(math.Abs(x), 1.7), Pow(float32(math.Abs(x)), 1.7))
	}
	fmt.Fprintf(&b, "sin(1e22) = %x\n", Sin(1e22))
	s := NewStream("level.0.W_K", 42)
	fmt.Fprintf(&b, "next = %#016x\nuniform = %x\nnormal = %x\n", s.Next(), s.Uniform(-0.125, 0.125), s.Normal(0, 1))
	var f32 [2]float32
	FillNormal(f32[:], NewStream("E", 7), 0.5, 2)
	fmt.Fprintf(&b, "normal32 = %x %x\n", f32[0], f32[1])

	const golden = "testdata/golden.txt"
	want, err := os.ReadFile(golden)
	if os.Getenv("HECATE_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatal("golden file rewritten; run again")
	}
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w string
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Errorf("line %d: %s, want %s", i+1, g, w)
		}
	}
}

// TestSplitmix compares the generator with the published first outputs of
// splitmix64 from state 0 and 1234567.
func TestSplitmix(t *testing.T) {
	s := &Stream{state: 1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := s.Next(); got != want {
			t.Errorf("output %d = %d, want %d", i, got, want)
		}
	}
	if NewStream("", 0).state != 0xcbf29ce484222325 {
		t.Error("FNV-1a of the empty name is not the offset basis")
	}
	if NewStream("a", 1).Next() == NewStream("b", 1).Next() || NewStream("a", 1).Next() == NewStream("a", 2).Next() {
		t.Error("name or seed does not change the stream")
	}
}

// TestMoments checks mean and spread of the two fills over 100,000 draws.
func TestMoments(t *testing.T) {
	const n, tol = 100_000, 0.02 // six standard errors of the mean and more
	xs := make([]float64, n)
	FillNormal(xs, NewStream("m", 3), 0, 1)
	if m, sd := stat.PopMeanStdDev(xs, nil); math.Abs(m) > tol || math.Abs(sd-1) > tol {
		t.Errorf("normal: mean %v, sd %v", m, sd)
	}
	FillUniform(xs, NewStream("m", 3), -1, 1)
	if m, sd := stat.PopMeanStdDev(xs, nil); math.Abs(m) > tol || math.Abs(sd-1/math.Sqrt(3)) > tol {
		t.Errorf("uniform: mean %v, sd %v", m, sd)
	}
}

// TestNothingIsFused compiles this package for machines on which Go fuses
// x*y + z and looks for a fused instruction in the assembly. The probe beside
// it, written without the conversion, must show one, or the test sees nothing.
func TestNothingIsFused(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for other machines")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	machines := []struct{ arch, env, fused string }{
		{"arm64", "GOARM64=v8.0", "FMADD|FMSUB|FNMADD|FNMSUB"},
		{"amd64", "GOAMD64=v3", "VFMADD|VFNMADD|VFMSUB"},
	}
	probe := `package probe
import "github.com/nl-hecate/hecate/runtime/num"
func Axpy[F num.Float](a, x, y F) F { return ROUND(a*x) + y }
func Use(a, x, y float64, b, c, d float32) (float64, float32) {
	return Axpy(a, x, y) + ROUND64(num.Exp(a)*x), Axpy(b, c, d)
}
`
	for _, m := range machines {
		lines := func(dir string) (n int) {
			cmd := exec.Command(goTool, "build", "-gcflags=-S", dir)
			cmd.Env = append(os.Environ(), "GOARCH="+m.arch, m.env, "GOOS=linux", "CGO_ENABLED=0")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %v\n%s", m.arch, err, stderr.String())
			}
			for line := range strings.Lines(stderr.String()) {
				for op := range strings.SplitSeq(m.fused, "|") {
					if strings.Contains(line, "\t"+op) {
						n++
						break
					}
				}
			}
			return n
		}
		if n := lines("."); n > 0 {
			t.Errorf("%s: %d fused instructions in runtime/num", m.arch, n)
		}
		dir, err := os.MkdirTemp(".", "_probe")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		for _, p := range []struct {
			conv, conv64 string
			fused        bool
		}{{"", "", true}, {"F", "float64", false}} {
			src := strings.NewReplacer("ROUND64(", p.conv64+"(", "ROUND(", p.conv+"(").Replace(probe)
			if err := os.WriteFile(filepath.Join(dir, "probe.go"), []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			if n := lines("./" + dir); (n > 0) != p.fused {
				t.Errorf("%s: generic probe with conversion %q has %d fused instructions, want some: %v", m.arch, p.conv, n, p.fused)
			}
		}
	}
}
