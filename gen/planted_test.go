package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A planted break is an edit of emitted text that a test of the levels must see. The text
// is that of a file, or of the assembly of the regions that a fused kernel calls.
type planted struct {
	name, file string
	edit       func(text string) string
	pkg, test  string
}

// pattern replaces what a pattern finds: the first time, or everywhere.
func pattern(find, put string, everywhere bool) func(string) string {
	re := regexp.MustCompile(find)
	return func(text string) string {
		if everywhere {
			return re.ReplaceAllString(text, put)
		}
		at := re.FindStringSubmatchIndex(text)
		if at == nil {
			return text
		}
		return text[:at[0]] + string(re.ExpandString(nil, put, text, at)) + text[at[1]:]
	}
}

var (
	ops   = "./generated/ops"
	delta = "./generated/rules/deltarule"
	kern  = "./runtime/kern"
)

var breaks = []planted{
	{"a product rounded before it is added", "ops/frobenius_dot_fused.go",
		pattern(`VFMADD231PS (\S+), (Z\d+), (Z\d+)`, "VMULPS $1, $2, Z31\n\tVADDPS Z31, $3, $3", true), ops, "TestFrobeniusDot/levels"},
	{"a constant off by its last bit", "ops/sigmoid_fused.go", pattern(`\$0x(3e2aaaab)?3e2aaaab`, "$$0x${1}3e2aaaac", true), ops, "TestSigmoid/levels"},
	{"a store without its mask", "ops/sigmoid_fused.go", pattern(`VMOVUPS (Z\d+), K1, (\S+)`, "VMOVUPS $1, $2", true), ops, "TestSigmoid/guards"},
	{"a narrow store without its mask", "ops/sigmoid_fused.go", pattern(`VMASKMOVPS (Y\d+), Y\d+, (\S+\(\S+)`, "VMOVUPS $1, $2", true), ops, "TestSigmoid/guards"},
	{"a load without its mask", "ops/sigmoid_fused.go", pattern(`VMOVUPS\.Z (\S+), K1, (Z\d+)`, "VMOVUPS $1, $2", true), ops, "TestSigmoid/guards"},
	{"another tree of partial sums", "../runtime/kern/fused.go", pattern(`\(x\[0\] \+ x\[2\]\) \+ \(x\[1\] \+ x\[3\]\)`, "(x[0] + x[1]) + (x[2] + x[3])", false), ops, "TestFrobeniusDot/levels"},
	{"half a stride", "rules/deltarule/step_fused.go", pattern(`IMUL3Q \$4, (\S+), CX`, "IMUL3Q $$2, $1, CX", true), delta, "TestDeltaRule/levels"},
	{"the load of another vector", "rules/deltarule/step_fused.go", pattern(`VMULPS \(SI\), `, "VMULPS 64(SI), ", true), delta, "TestDeltaRule/levels"},
	{"blocks of rows by the number of workers", "../runtime/kern/fused.go", pattern(`min\(most, rows/least\)`, "min(workers.Count(), rows/least)", false), delta, "TestDeltaRule/levels"},
	{"columns that change places", "../runtime/kern/move_amd64.s", pattern(`(VMOVUPS Z\d+, \(BX\)\(DX)\*1`, "$1*2", true), delta, "TestDeltaRule/levels"},
	{"a system with the other sign", "../runtime/kern/gemm_amd64.s", pattern(`VFNMADD231PS (Z\d+)`, "VFMADD231PS $1", true), kern, "TestTriangleFMA$"},
	{"a panel stored without its mask", "../runtime/kern/gemm_amd64.s", pattern(`VMOVUPS (Z\d+), K4, (\S+)`, "VMOVUPS $1, $2", true), kern, "TestTriangleFMA"},
}

// TestLevelsSeeBreaks builds the emitted code with a break in it, one at a time, and wants
// the generated tests to fail.
func TestLevelsSeeBreaks(t *testing.T) {
	if text, _ := os.ReadFile("/proc/cpuinfo"); !strings.Contains(string(text), "avx512vl") {
		t.Skip("breaks are planted in text for AVX-512, which this machine lacks")
	}
	if testing.Short() {
		t.Skip("builds the emitted code a dozen times")
	}
	if out, err := levelTest(t, nil, ops+" "+delta, "TestFrobeniusDot|TestSigmoid|TestDeltaRule/levels|guards"); err != nil {
		t.Fatalf("without a break: %v\n%s", err, out)
	}
	for _, b := range breaks {
		broken := map[string]string{}
		for _, file := range b.files(t) {
			text := read(t, file)
			if edited := b.edit(text); edited != text {
				broken[file] = edited
			}
		}
		if len(broken) == 0 {
			t.Errorf("%s: %s has nothing like it any more", b.name, b.file)
			continue
		}
		out, err := levelTest(t, broken, b.pkg, b.test)
		t.Logf("%s: %s", b.name, firstFailure.FindString(out))
		if err == nil || !ranAndFailed.MatchString(out) {
			t.Errorf("%s: %s sees nothing: %v\n%s", b.name, b.test, err, out)
		}
	}
}

// files are the absolute paths of what the break edits.
func (b planted) files(t *testing.T) []string {
	t.Helper()
	generated, err := filepath.Abs("../generated")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(generated, filepath.FromSlash(b.file))
	if !strings.HasSuffix(file, "_fused.go") {
		return []string{file}
	}
	var out []string
	for _, m := range regexp.MustCompile(`regions\.R([0-9a-f]+)\(`).FindAllStringSubmatch(read(t, file), -1) {
		out = append(out, filepath.Join(generated, "regions", "r"+m[1]+"_amd64.s"))
	}
	return out
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	firstFailure = regexp.MustCompile(`(?m)^( +\S+\.go:|fatal error:).*$`) // what a failed test says first
	ranAndFailed = regexp.MustCompile(`(?m)^FAIL\t\S+\t[0-9.]+s$`)         // or crashed: a break may corrupt memory
)

// levelTest runs tests with other text in the place of files.
func levelTest(t *testing.T, instead map[string]string, packages, run string) (string, error) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-overlay", overlaid(t, instead), "-vet=off", "-run", run}, strings.Fields(packages)...)...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "HECATE_CPU=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
