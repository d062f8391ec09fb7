package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cpu"
)

// TestLevels sees that a level that is not there is a line and not a row.
func TestLevels(t *testing.T) {
	all, lacks := levels([]cpu.Target{cpu.Portable, cpu.AVX512 + 1})
	if len(all) == 0 || all[0].Target != cpu.Portable || len(lacks) != 1 || !strings.Contains(lacks[0], "Target(") {
		t.Errorf("levels %v, lacks %q", all, lacks)
	}
	was := cpu.Active()
	if _, err := all[0].at(func() (int64, error) {
		if cpu.Active() != cpu.Portable {
			t.Errorf("a task runs at level %v", cpu.Active())
		}
		return 0, nil
	})(); err != nil || cpu.Active() != was {
		t.Errorf("%v; the level is %v afterwards, was %v", err, cpu.Active(), was)
	}
}

// TestSlots holds the slots of each rule forward to the cost that its page claims
// and that the compiler proves.
func TestSlots(t *testing.T) {
	cost := regexp.MustCompile(`(?m)^cost write\+read = (\d+)·d_k·d_v \+`)
	for _, r := range rules[float32]() {
		text, err := os.ReadFile("page/" + r.name + "_core.md")
		if err != nil {
			t.Fatal(err)
		}
		found := cost.FindSubmatch(text)
		if found == nil || string(found[1]) != fmt.Sprint(slots[r.name][forward]) {
			t.Errorf("%s: the page says %q, slots %v", r.name, found, slots[r.name][forward])
		}
		if !(slots[r.name][backward] > slots[r.name][forward]) {
			t.Errorf("%s: backward is not counted", r.name)
		}
	}
}

// TestChecks sees that one difference that is too large, or no number, is an
// error, and that the largest is kept.
func TestChecks(t *testing.T) {
	var k checks
	for _, c := range []struct {
		d  difference
		ok bool
	}{{difference{"x", "y", 1e-7}, true}, {difference{"x", "y", 5e-8}, true}, {difference{"x", "k.bar", 5e-6}, true},
		{difference{"x", "y", 5e-6}, false}, {difference{"x", "k.bar", 5e-5}, false}, {difference{"x", "y", nan()}, false}} {
		if err := k.add("a variant", c.d); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.d, err)
		}
	}
	if text := k.String(); !strings.Contains(text, "| a variant | 1.0e-07 (y of x) | 5.0e-06 (k.bar of x) |") {
		t.Errorf("the table is\n%s", text)
	}
}

func nan() float64 { return distance([]float64{1}, []float64{}) }

// fabricated is a report of times that are known: at every width the Go of a
// level takes 1 ms, intrinsics 0.9, other C more.
func fabricated() *report {
	r := &report{machine: "a machine", rounds: 2, core: &times{}, threads: &times{}, model: true, gen: &times{},
		blas: "OpenBLAS 1.0", peakFlops: map[string]float64{"AVX-512": 1e6}}
	add := func(to *times, what, variant string, ns int64) {
		to.tasks = append(to.tasks, task{what: what, variant: variant})
		to.ns = append(to.ns, []int64{ns, skipped, ns})
	}
	add(r.core, peakName, "AVX-512", 1000) // 1000 GFLOP/s
	for _, rule := range rules[float32]() {
		for _, pass := range passNames {
			for _, d := range widths {
				what := at(passOf(rule.name, pass), d)
				add(r.core, what, "Go portable", 20e6)
				add(r.core, what, "Go avx512", 1e6)
				add(r.threads, what, "Go avx512, 1 thread", 3e6)
				add(r.threads, what, "Go avx512, 2 threads", 2e6)
				if rule.name != deltaRule {
					continue
				}
				if pass == forward {
					add(r.core, what, "C textbook "+plainFlags, 30e6)
					add(r.core, what, "C textbook "+fastFlags, 3e6)
					add(r.core, what, "C row-fused "+fastFlags, 1.6e6)
					add(r.core, what, "C cols32 × time, AVX-512 intrinsics", 9.5e5)
					add(r.core, what, "C cols64 × time, AVX-512 intrinsics", 9e5)
					add(r.core, what, "C cols16 × time, AVX2 intrinsics", 1e5)
				} else {
					add(r.core, what, "C textbook, stored M "+fastFlags, 25e5)
				}
			}
		}
	}
	for _, p := range products[float32]() {
		for _, d := range widths {
			add(r.core, at(p.name, d), "Go avx512", 2e6)
			add(r.core, at(p.name, d), openBLAS, 1.5e6)
		}
	}
	for _, x := range []struct {
		variant string
		ns      int64
	}{{"Go portable", 90e6}, {"Go avx512", 15e6}} {
		add(r.core, modelStep, x.variant, x.ns)
		add(r.core, modelUpdate, x.variant, x.ns/9)
	}
	add(r.gen, generationName, generateFirst, 1e9)
	add(r.gen, generationName, generateAgain, 5e7)
	add(r.gen, generationName, buildEmitted, 1e10)
	return r
}

// TestReport prints a report of times that are known and draws its chart.
func TestReport(t *testing.T) {
	r := fabricated()
	text := r.String()
	for _, want := range []string{
		"AVX-512 1000 GFLOP/s (best 1000)",
		"| Go avx512 | 1000 µs · 2 % · 10.00× | 1000 µs · 7 % · 10.00× |", // 8·64²·512 = 16.8 MFLOP in a millisecond, of 1000
		"| delta forward: C intrinsics of the mapping ÷ Go | 0.90 [0.90] met (cols64 × time) |",
		"| delta forward: fast-math textbook ÷ Go | 3.00 [2.00] met (textbook) |",
		"| delta forward: best fast-math ÷ Go | 1.60 [1.70] **not met** (row-fused) |",
		"| delta forward: share of the peak | 0.017 [0.60] **not met** | 0.067 [0.60] **not met** | 0.27 | 1.07 |",
		"| delta backward: fast-math textbook ÷ Go | 2.50 [2.00] met (textbook, stored M) |",
		"| titans forward: share of the peak ÷ delta's | 1.25 [0.90] met |",
		"| X·Wᵀ: OpenBLAS ÷ Go | 0.75 [1.00] **not met** |",
		"| delta forward: 1 thread ÷ 2 threads | 1.50 [1.50] met | 1.50 [1.70] **not met** |",
		"| Go avx512 | 3000 → 2000 µs · 1.50 [1.50 1.50 1.50] |",
		"6.00 times the tokens per second of the portable level [4]: met.",
		"| Go avx512 | 16667 | 1667 | 30720 | 8.33 [8.33 8.33 8.33] |",
		"| generate, no evidence | 1000 | 0.10 [",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	dir := t.TempDir()
	if err := r.draw(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shares.svg", "shares.png"} {
		if text, err := os.ReadFile(dir + "/" + name); err != nil || len(text) < 1000 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

// TestReportWithoutC prints one where there was nothing to compare with.
func TestReportWithoutC(t *testing.T) {
	r := fabricated()
	r.lacks, r.blas, r.threads, r.gen = []string{"no compiler"}, "", nil, nil
	old := r.core
	r.core = &times{}
	for i, k := range old.tasks {
		if strings.HasPrefix(k.variant, "Go ") {
			r.core.tasks, r.core.ns = append(r.core.tasks, k), append(r.core.ns, old.ns[i])
		}
	}
	text := r.String()
	for _, want := range []string{"Left out: no compiler.", "No peak was measured", "| Go avx512 | 1000 µs · – · 1.00× |", "| delta forward: share of the peak | – |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("not a number in\n%s", text)
	}
}
