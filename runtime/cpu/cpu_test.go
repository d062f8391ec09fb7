package cpu

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

var (
	none   = features{}
	plain  = features{assembly: true}
	narrow = features{assembly: true, avx2: true}
	wide   = features{assembly: true, avx2: true, avx512: true}
	purego = features{avx2: true, avx512: true}
	arm    = features{assembly: true, neon: true}
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		env  string
		f    features
		want Target
		says string // a part of the message; "" for none
	}{
		{"", none, Portable, ""},
		{"", plain, Portable, ""},
		{"", narrow, AVX2, ""},
		{"", wide, AVX512, ""},
		{"", purego, Portable, ""},
		{"", arm, NEON, ""},
		{"neon", arm, NEON, ""},
		{"avx512", arm, NEON, "HECATE_CPU=avx512: this CPU or its operating system lacks it; running at target neon"},
		{"avx2", arm, NEON, "running at target neon"},
		{"neon", wide, AVX2, "HECATE_CPU=neon: this CPU or its operating system lacks it; running at target avx2"},
		{"neon", plain, FMA, "running at target fma"},
		{"neon", purego, FMA, "built without assembly"},
		{"", features{assembly: true, avx512: true}, Portable, ""}, // the wide kernels use narrow tails
		{"portable", wide, Portable, ""},
		{"fma", wide, FMA, ""},
		{"fma", none, FMA, ""},
		{"avx2", wide, AVX2, ""},
		{"avx512", wide, AVX512, ""},
		{"avx512", narrow, AVX2, "HECATE_CPU=avx512: this CPU or its operating system lacks it; running at target avx2"},
		{"avx512", plain, FMA, "running at target fma"}, // the same bits as were asked for
		{"avx2", none, FMA, "built without assembly"},
		{"avx512", purego, FMA, "built without assembly"},
		{"AVX2", wide, AVX512, `"AVX2" is not one of`},
		{"sse", none, Portable, "running at target portable"},
		{"Target(0)", wide, AVX512, "is not one of"},
		{" ", narrow, AVX2, "is not one of"},
	} {
		got, message := choose(c.env, c.f)
		if got != c.want || (c.says == "") != (message == "") || !strings.Contains(message, c.says) {
			t.Errorf("choose(%q, %+v) = %v, %q; want %v, …%s…", c.env, c.f, got, message, c.want, c.says)
		}
		if strings.Contains(message, "\n") {
			t.Errorf("choose(%q): more than one line: %q", c.env, message)
		}
	}
}

func TestNames(t *testing.T) {
	for l, want := range map[Target][2]string{Portable: {"portable", "portable"}, FMA: {"fma", "fma"},
		NEON: {"neon", "fma"}, AVX2: {"avx2", "fma"}, AVX512: {"avx512", "fma"}, 0: {"Target(0)", "portable"}, 9: {"Target(9)", "fma"}} {
		if got := [2]string{l.String(), l.Arithmetic()}; got != want {
			t.Errorf("target %d: %q, want %q", l, got, want)
		}
	}
}

func TestForce(t *testing.T) {
	was := Active()
	for _, l := range Targets() {
		restore, err := Force(l)
		if (err == nil) != detected.has(l) {
			t.Errorf("Force(%v): %v on %+v", l, err, detected)
		}
		if want := map[bool]Target{true: l, false: was}[err == nil]; Active() != want {
			t.Errorf("Force(%v): active is %v, want %v", l, Active(), want)
		}
		restore()
		if Active() != was {
			t.Errorf("restored to %v, want %v", Active(), was)
		}
	}
	for _, l := range []Target{0, AVX512 + 1} {
		if _, err := Force(l); err == nil {
			t.Errorf("Force(%v): no error", l)
		}
	}
}

// TestStart runs this test binary again under values of the variable.
func TestStart(t *testing.T) {
	const child = "HECATE_CPU_TEST_CHILD"
	if os.Getenv(child) != "" {
		os.Stdout.WriteString("active " + Active().String() + "\n")
		return
	}
	for env, want := range map[string]Target{"": Best(), "portable": Portable, "fma": FMA, "unheard": Best()} {
		c := exec.Command(os.Args[0], "-test.run=^TestStart$")
		c.Env = append(os.Environ(), child+"=1", Env+"="+env)
		var out, errs strings.Builder
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(errs.String(), "hecate: ")
		if !strings.Contains(out.String(), "active "+want.String()+"\n") || (lines == 1) != (env == "unheard") {
			t.Errorf("%s=%q: %q, %q; want %v", Env, env, out.String(), errs.String(), want)
		}
	}
}

var sink Target

func BenchmarkActive(b *testing.B) {
	for b.Loop() {
		sink = Active()
	}
}
