package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const someLog = `ptxas info    : 24 bytes gmem
ptxas info    : Compiling entry function 'two' for 'sm_90'
ptxas info    : Function properties for two
ptxas         .     16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 21 registers
ptxas info    : Compiling entry function 'one' for 'sm_90'
ptxas info    : Function properties for one
ptxas         .     0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for called
ptxas         .     40 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads
ptxas info    : Used 32 registers, 4096 bytes smem, 380 bytes cmem[0]
`

func TestParseLog(t *testing.T) {
	got, err := parseLog("a.cu", "sm_90", someLog)
	want := []row{
		{"a.cu", "two", "sm_90", 21, 16, 0, 0, 0},
		{"a.cu", "one", "sm_90", 32, 40, 5, 10, 4096},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("parseLog = %v, %v, want %v", got, err, want)
	}
	for _, c := range []struct{ log, want string }{
		{"", "names no kernel"},
		{"ptxas info    : Compiling entry function 'two' for 'sm_80'\n", "speaks of sm_80"},
		{"ptxas info    : Compiling entry function 'two' for 'sm_90'\n", "no registers of two"},
	} {
		if _, err := parseLog("a.cu", "sm_90", c.log); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("parseLog(%q): %v, want %q", c.log, err, c.want)
		}
	}
	if err := spills(got); err == nil || !strings.Contains(err.Error(), "kernel one spills on sm_90: 5 bytes stored, 10 loaded") || strings.Contains(err.Error(), "two") {
		t.Errorf("spills = %v", err)
	}
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct{ old, got, want string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\n", "a\nc\n", "c"},
		{"a\n", "a\nc\n", "c"},
		{"a\nb\nc", "a\nb", "c (no longer made)"},
	} {
		if line, differ := firstDifference(c.old, c.got); line != c.want || differ != (c.want != "") {
			t.Errorf("firstDifference(%q, %q) = %q, %v, want %q", c.old, c.got, line, differ, c.want)
		}
	}
}

// compiled runs the command over kernels of testdata.
func compiled(t *testing.T, c config, files ...string) (string, error) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
	c.kernels, c.out, c.include, c.jobs = filepath.Join(t.TempDir(), "kernels"), t.TempDir(), filepath.Join("cuda", "include"), 2
	c.resources = filepath.Join(t.TempDir(), "resources.json")
	if _, err := openLibrary(c.out); err != nil {
		if slices.Contains(strings.Split(os.Getenv("HECATE_REQUIRE"), ","), "nvrtc") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err := os.Mkdir(c.kernels, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join("internal", "cudac", "testdata", f))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.kernels, f), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.run(); err != nil {
		return "", err
	}
	if c.compare {
		return "", nil
	}
	table, err := os.ReadFile(c.resources)
	if err != nil {
		t.Fatal(err)
	}
	c.compare, c.once = true, true
	if err := c.run(); err != nil {
		t.Errorf("the table is not current right after it was written: %v", err)
	}
	return string(table), nil
}

func TestCompile(t *testing.T) {
	table, err := compiled(t, config{}, "device.cu")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kernel":"copies","registers":[`, `"spilled":[0,0,0,0],"shared":[2048,2048,2048,2048]}`, `"machines": ["sm_80","sm_86","sm_89","sm_90"]`} {
		if !strings.Contains(table, want) {
			t.Errorf("no %s in the table:\n%s", want, table)
		}
	}
	if strings.Index(table, `"copies"`) > strings.Index(table, `"sums"`) {
		t.Errorf("the table is not sorted:\n%s", table)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"spills.cu", "kernel spilly spills on sm_90"},
		{"broken.cu", "broken.cu(3): error"},
	} {
		t.Run(c.file, func(t *testing.T) {
			if _, err := compiled(t, config{once: true}, c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("no table", func(t *testing.T) {
		if _, err := compiled(t, config{once: true, compare: true}, "device.cu"); err == nil || !strings.Contains(err.Error(), "run make cuda") {
			t.Errorf("%v, want the table to be missed", err)
		}
	})
}

// TestKnown: a file is compiled again when its text or its numbers have changed, when it
// is in the sample, and when all are asked for.
func TestKnown(t *testing.T) {
	if _, err := compiled(t, config{once: true}, "device.cu"); err != nil { // or the test is skipped
		t.Fatal(err)
	}
	c := config{kernels: filepath.Join(t.TempDir(), "kernels"), out: t.TempDir(), include: filepath.Join("cuda", "include"), resources: filepath.Join(t.TempDir(), "resources.json"), once: true}
	device := filepath.Join(c.kernels, "device.cu")
	text, err := os.ReadFile(filepath.Join("internal", "cudac", "testdata", "device.cu"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(device, text)
	if err := c.run(); err != nil {
		t.Fatal(err)
	}
	lib, err := openLibrary(c.out)
	if err != nil {
		t.Fatal(err)
	}
	if lib.version != tableVersion {
		t.Skipf("the table holds what NVRTC %s says, and this is %s", tableVersion, lib.version)
	}
	table, err := os.ReadFile(c.resources)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(table), `"registers":[`, `"registers":[1`, 1)
	for _, k := range []struct {
		what        string
		text, table string
		change      func(c *config)
		want        int
	}{
		{"nothing changed", string(text), string(table), func(*config) {}, 0},
		{"in the sample", string(text), string(table), func(c *config) { c.sample = 1 }, 1},
		{"all", string(text), string(table), func(c *config) { c.all = true }, 1},
		{"another text", string(text) + "\n", string(table), func(*config) {}, 1},
		{"another number", string(text), edited, func(*config) {}, 1},
		{"another compiler", string(text), strings.Replace(string(table), "nvrtc 11", "nvrtc 12", 1), func(*config) {}, 1},
	} {
		write(device, []byte(k.text))
		write(c.resources, []byte(k.table))
		now := c
		k.change(&now)
		if _, _, n, err := now.compile(lib, []string{"device.cu"}); n != k.want || err != nil {
			t.Errorf("%s: compiled %d files, want %d: %v", k.what, n, k.want, err)
		}
	}
	write(device, text)
	write(c.resources, []byte(edited))
	if c.compare = true; c.run() == nil {
		t.Error("an edited number is current")
	}
}
