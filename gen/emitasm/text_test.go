package emitasm_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/emitasm/neon"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/plan"
)

// kernFolder is the package that all kernels share.
const kernFolder = "../../runtime/kern"

// emitted compiles the project's pages: their kernels, and the assembly with
// the Go beside it.
func emitted() (kernels []plan.KernelFile, files map[string][]byte, err error) {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		return nil, nil, &ds
	}
	units, ds := gen.Compile(s)
	if ds.HasErrors() {
		return nil, nil, &ds
	}
	kernels = emitgo.KernelFiles(abi.WithFunctions(units))
	files = gen.Assembly(kernels, emitasm.Package{Folder: "regions", Import: "regions", Name: "regions"})
	entries, err := os.ReadDir(kernFolder)
	for _, e := range entries {
		if err == nil {
			files[kernFolder+"/"+e.Name()], err = os.ReadFile(filepath.Join(kernFolder, e.Name()))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return kernels, files, nil
}

type emission struct {
	kernels []plan.KernelFile
	files   map[string][]byte
}

var once = sync.OnceValues(func() (emission, error) {
	k, f, err := emitted()
	return emission{k, f}, err
})

func first(t *testing.T) emission {
	t.Helper()
	e, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestText holds every function of every file to what Go's assembler does not
// check.
func TestText(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	e := first(t)
	functions := 0
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if path.Ext(name) != ".s" {
			continue
		}
		text := string(e.files[name])
		for _, p := range problems(text) {
			t.Errorf("%s: %s", name, p)
		}
		functions += strings.Count(text, "\nTEXT ")
		for _, p := range undeclared(name, text, e.files) {
			t.Errorf("%s: %s", name, p)
		}
	}
	if functions < 100 {
		t.Errorf("only %d functions were looked at", functions)
	}
}

// TestProblems breaks a text in each way that problems is there to see.
func TestProblems(t *testing.T) {
	const good = "\nTEXT ·fAVX2x8(SB), 0, $200-8\n\tLEAQ 71(SP), R13\n\tVMOVUPS Y0, 96(R13)\n\tJMP done1\ndone1:\n\tVZEROUPPER\n\tRET\n"
	if p := problems(good); len(p) > 0 {
		t.Fatalf("the text itself: %v", p)
	}
	for _, c := range [][3]string{
		{"\tVZEROUPPER\n", "", "RET without VZEROUPPER"},
		{"\tRET\n", "", "does not end in RET"},
		{"\tJMP done1\n", "\tRET\n\tJMP done1\n", "RET without VZEROUPPER"},
		{"VMOVUPS Y0", "VMOVUPS Z0", "Z0 at AVX2"},
		{"VMOVUPS Y0", "VMOVUPS Y17", "Y17 at AVX2"},
		{"VMOVUPS Y0,", "VMOVUPS Y0, K1,", "K1 at AVX2"},
		{"JMP done1", "JMP done2", "no label done2"},
		{"\tVZEROUPPER", "\tJEQ end2\nend2:\n\tVZEROUPPER", "a length may be negative"},
		{"done1:\n", "done1:\ndone1:\n", "label done1 twice"},
		{"96(R13)", "104(R13)", "outside the frame"},
		{"VMOVUPS Y0", "VMOVUPS X0", "lanes of a scalar keep what was there"},
		{"\tVZEROUPPER", "\tVMOVUPS (BP), Y0\n\tVZEROUPPER", "BP"},
	} {
		breaks(t, good, c)
	}
}

// TestProblemsARM64 does the same to a text for arm64.
func TestProblemsARM64(t *testing.T) {
	const good = "\nTEXT ·fNEONx8(SB), 0, $136-8\n\tMOVD $16(RSP), R1\n\tPFADD(P1, P2, P15)\n\tFSTPQ (F30, F31), 96(R1)\n\tB done1\ndone1:\n\tRET\n"
	if p := problems(good); len(p) > 0 {
		t.Fatalf("the text itself: %v", p)
	}
	for _, c := range [][3]string{
		{"\tRET\n", "", "does not end in RET"},
		{"B done1", "BLE done2", "no label done2"},
		{"\tRET", "\tBEQ end2\nend2:\n\tRET", "a length may be negative"},
		{"done1:\n", "done1:\ndone1:\n", "label done1 twice"},
		{"96(R1)", "104(R1)", "outside the frame"},
		{"FSTPQ (F30, F31)", "FMOVQ F30", "lanes of a scalar keep what was there"},
		{"P15", "P16", "P16 at NEON"},
		{"(F30, F31)", "(F29, F30)", "no pair"},
		{"PFADD", "PFMAX", "no macro PFMAX"},
		{"PFADD(P1, ", "PFADD(", "PFADD has 3 operands"},
		{"\tRET", "\tFLDPQ (R18), (F0, F1)\n\tRET", "R18"},
		{"\tRET", "\tMOVD R3, R27\n\tRET", "R27"},
	} {
		breaks(t, good, c)
	}
}

// breaks breaks a text and wants a problem.
func breaks(t *testing.T, good string, c [3]string) {
	t.Helper()
	bad := strings.Replace(good, c[0], c[1], 1)
	if got := strings.Join(problems(bad), "\n"); !strings.Contains(got, c[2]) {
		t.Errorf("%q for %q: %q, want %q", c[1], c[0], got, c[2])
	}
}

var (
	heads     = regexp.MustCompile(`(?m)^TEXT ·(\w+)\(SB\), \w+, \$(\d+)-\d+$`)
	jumps     = regexp.MustCompile(`^(?:J[A-Z]+|B(?:EQ|NE|LT|LE|GT|GE)?) (\w+)$`)
	zeroOnly  = regexp.MustCompile(`^(JEQ|BEQ) end\d+$`)
	narrowBad = regexp.MustCompile(`\b(Z\d+|K\d|[XY](1[6-9]|2\d|3\d))\b`)
	taken     = regexp.MustCompile(`\bBP\b`) // the frame
	slotsAt   = regexp.MustCompile(`^LEAQ (\d+)\(SP\), R13$`)
	slotUse   = regexp.MustCompile(`\b(\d+)\(R13\)`)
	slotStore = regexp.MustCompile(`^VMOVUPS ([XYZ])\d+, \d+\(R13\)$`)
	vectors   = regexp.MustCompile(`\b([XYZ])\d+\b`)

	pairBad   = regexp.MustCompile(`\bP(1[6-9]|[2-9]\d)\b`)
	pairsUsed = regexp.MustCompile(`^F(?:LD|ST)PQ .*\(F(\d+), F(\d+)\)`)
	takenARM  = regexp.MustCompile(`\b(R18|R2[6-9]|R30|g)\b`) // the platform, the assembler, the linker, the goroutine, the frame
	macroUse  = regexp.MustCompile(`^(P[A-Z]\w*|FROMWORD|TOWORD)\((.*)\)`)
	macros    = regexp.MustCompile(`(?m)^#define (\w+)\(([^)]*)\)`)
	slotsARM  = regexp.MustCompile(`^MOVD \$(\d+)\(RSP\), R1$`)
	slotARM   = regexp.MustCompile(`^(\w+) .*\b(\d+)\(R1\)`)
)

// problems are what is wrong with the functions of a file.
func problems(text string) []string {
	var out []string
	at := heads.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		f := asmFunction{name: text[m[2]:m[3]], arm: strings.Contains(text[m[1]:end], "\n\tMOVD ")}
		f.frame, _ = strconv.Atoi(text[m[4]:m[5]])
		for l := range strings.Lines(text[m[1]:end]) {
			if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "//") && !strings.HasPrefix(l, "#") {
				f.lines = append(f.lines, l)
			}
		}
		f.ends()
		f.labels()
		f.remainders()
		if f.arm {
			f.pairs()
			f.slotsOfPairs()
		} else {
			f.registers()
			f.slots()
		}
		out = append(out, f.wrong...)
	}
	return out
}

type asmFunction struct {
	name  string
	arm   bool
	frame int
	lines []string
	wrong []string
}

func (f *asmFunction) report(format string, args ...any) {
	f.wrong = append(f.wrong, f.name+": "+fmt.Sprintf(format, args...))
}

func (f *asmFunction) ends() {
	last := ""
	for _, l := range f.lines {
		if l == "RET" && last != "VZEROUPPER" && !f.arm {
			f.report("RET without VZEROUPPER before it")
		}
		last = l
	}
	if last != "RET" {
		f.report("does not end in RET")
	}
}

func (f *asmFunction) labels() {
	there := map[string]int{}
	for _, l := range f.lines {
		if name, ok := strings.CutSuffix(l, ":"); ok {
			if there[name]++; there[name] == 2 {
				f.report("label %s twice", name)
			}
		}
	}
	for _, l := range f.lines {
		if m := jumps.FindStringSubmatch(l); m != nil && there[m[1]] == 0 {
			f.report("no label %s", m[1])
		}
	}
}

// remainders wants the masked pass of a vector loop to be skipped where the length is negative
// as well as where it is zero: there is no mask for it.
func (f *asmFunction) remainders() {
	for _, l := range f.lines {
		if zeroOnly.MatchString(l) {
			f.report("a length may be negative: %s", l)
		}
	}
}

func (f *asmFunction) registers() {
	for _, l := range f.lines {
		if strings.Contains(f.name, "AVX2") {
			for _, r := range narrowBad.FindAllString(l, -1) {
				f.report("%s at AVX2: %s", r, l)
			}
		}
		if r := taken.FindString(l); r != "" {
			f.report("%s is not for this use: %s", r, l)
		}
	}
}

// pairs checks the registers and the macros of a function for arm64.
func (f *asmFunction) pairs() {
	arguments := map[string]int{}
	for _, m := range macros.FindAllStringSubmatch(neon.Header(), -1) {
		arguments[m[1]] = strings.Count(m[2], ",") + 1
	}
	for _, l := range f.lines {
		for _, r := range pairBad.FindAllString(l, -1) {
			f.report("%s at NEON: %s", r, l)
		}
		if r := takenARM.FindString(l); r != "" {
			f.report("%s is not for this use: %s", r, l)
		}
		if m := pairsUsed.FindStringSubmatch(l); m != nil && !strings.HasPrefix(f.name, "gemmPack") { // which transposes
			first, _ := strconv.Atoi(m[1])
			if second, _ := strconv.Atoi(m[2]); first%2 != 0 || second != first+1 {
				f.report("no pair: %s", l)
			}
		}
		m := macroUse.FindStringSubmatch(l)
		switch n := arguments[at(m, 1)]; {
		case m == nil:
		case n == 0:
			f.report("no macro %s", m[1])
		case n != strings.Count(m[2], ",")+1:
			f.report("%s has %d operands: %s", m[1], n, l)
		}
	}
}

func at(m []string, i int) string {
	if i < len(m) {
		return m[i]
	}
	return ""
}

// slotsOfPairs checks that the scalars at R1 are inside the frame.
func (f *asmFunction) slotsOfPairs() {
	room := -1
	for _, l := range f.lines {
		if m := slotsARM.FindStringSubmatch(l); m != nil {
			from, _ := strconv.Atoi(m[1])
			room = f.frame + 8 - from
		}
		m := slotARM.FindStringSubmatch(l)
		if m == nil || room < 0 {
			continue
		}
		n := map[string]int{"FMOVS": 4, "FMOVD": 8, "FMOVQ": 16}[m[1]]
		switch {
		case n > 0 && strings.HasSuffix(l, "(R1)"):
			f.report("some lanes of a scalar keep what was there: %s", l)
		case n == 0:
			n = 32
		}
		if at, _ := strconv.Atoi(m[2]); at+n > room {
			f.report("outside the frame, which has %d bytes of scalars: %s", room, l)
		}
	}
}

// slots checks that the scalars at R13 are inside the frame.
func (f *asmFunction) slots() {
	size := map[string]int{"X": 16, "Y": 32, "Z": 64}
	room := -1
	for _, l := range f.lines {
		if m := slotsAt.FindStringSubmatch(l); m != nil {
			from, _ := strconv.Atoi(m[1])
			room = f.frame - 64 - (from - 63)
		}
		m := slotUse.FindStringSubmatch(l)
		if m == nil || room < 0 {
			continue
		}
		end, _ := strconv.Atoi(m[1])
		bytes := 4
		if !strings.HasPrefix(l, "VBROADCASTSS") && !strings.Contains(l, ".BCST ") {
			for _, v := range vectors.FindAllStringSubmatch(l, -1) {
				bytes = max(bytes, size[v[1]])
			}
		}
		whole := "Z"
		if strings.Contains(f.name, "AVX2") {
			whole = "Y"
		}
		if m := slotStore.FindStringSubmatch(l); m != nil && m[1] != whole {
			f.report("some lanes of a scalar keep what was there, which may be numbers that are slow to compute with: %s", l)
		}
		if end+bytes > room {
			f.report("outside the frame, which has %d bytes of scalars: %s", room, l)
		}
	}
}

// undeclared lists the functions of a text that the Go beside it does not
// declare, and the other way round.
func undeclared(name, text string, files map[string][]byte) []string {
	var out []string
	beside, arm := "", strings.HasSuffix(name, "_arm64.s")
	arch := map[bool]string{false: "_amd64", true: "_arm64"}[arm]
	for other, text := range files {
		ofKern := path.Dir(name) == kernFolder && path.Dir(other) == kernFolder && strings.HasSuffix(other, arch+".go")
		if ofKern || other == strings.TrimSuffix(name, arch+".s")+".go" {
			beside += string(text)
		}
	}
	for _, m := range heads.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(beside, "\nfunc "+m[1]+"(") {
			out = append(out, m[1]+" is not declared")
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^//go:noescape\nfunc (\w+)\(`).FindAllStringSubmatch(beside, -1) {
		if !strings.Contains(text, "TEXT ·"+m[1]+"(SB)") && path.Dir(name) != kernFolder && arm == strings.Contains(m[1], "NEON") {
			out = append(out, m[1]+" is declared and not there")
		}
	}
	return out
}

// TestSameBytes compiles the pages again: every file is the same.
func TestSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	_, again, err := emitted()
	if err != nil {
		t.Fatal(err)
	}
	e := first(t)
	if len(again) != len(e.files) {
		t.Errorf("%d files and %d", len(e.files), len(again))
	}
	for name, text := range e.files {
		if !bytes.Equal(text, again[name]) {
			t.Errorf("%s: two runs differ", name)
		}
	}
}

// TestAllRegionsFit: no region of the project's pages stays in Go for want of
// registers.
func TestAllRegionsFit(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	linked := 0
	for _, f := range first(t).kernels {
		for _, k := range f.Kernels {
			if k.Fused == nil {
				continue
			}
			plan.Walk(k.Fused.Body, func(n plan.Node) {
				r, ok := n.(*plan.Region)
				switch {
				case !ok:
				case r.Link == nil:
					t.Errorf("%s: region %s of %s has no functions", f.Path, r.Name, k.Name)
				case len(r.Link.Targets) != 3:
					t.Errorf("%s: region %s of %s: levels %v", f.Path, r.Name, k.Name, r.Link.Targets)
				default:
					linked++
				}
			})
		}
	}
	if linked < 50 {
		t.Errorf("only %d regions", linked)
	}
}

// TestKernIsCurrent compares what kerngen prints with the files of runtime/kern.
func TestKernIsCurrent(t *testing.T) {
	for name, want := range emitasm.Kern() {
		if got, err := os.ReadFile(filepath.Join(kernFolder, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("runtime/kern/%s is not current (%v): run go generate ./runtime/kern", name, err)
		}
	}
}
