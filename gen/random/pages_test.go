package random_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/random"
)

var (
	count = flag.Int("pages", 500, "how many random pages")
	seed  = flag.Uint64("seed", 1, "seed of the first one")

	smaller = flag.Bool("smaller", false, "make pages smaller on which something is wrong")
	stage   = flag.String("stage", "run", "go so far: compile, print or run")
	arm64   = flag.Bool("arm64", false, "run the kernels for arm64, with qemu-user")
	verbose = flag.Bool("refused", false, "show the pages that the compiler refuses")
)

// TestPages holds the emitted code of random pages to the interpreter.
func TestPages(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // it prints many kernels and keeps few
	n := *count
	if testing.Short() {
		n = min(n, 20)
	}
	for from := 0; from < n; from += perProgram {
		var pages []*random.Page
		for i := from; i < min(from+perProgram, n); i++ {
			pages = append(pages, random.New(*seed+uint64(i)))
		}
		judge(t, subjects(t, pages...))
	}
}

// perProgram is how many pages are compiled and run at once: the kernels of all of
// them are in memory and in one executable.
const perProgram = 250

// TestMended holds pages on which a target was wrong once, and pages whose constructs
// random ones do not have.
func TestMended(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	names, err := filepath.Glob("testdata/*.md")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	all := kept(t, names...)
	compile(t, all)
	judge(t, all)
}

// kept reads pages of files.
func kept(t *testing.T, names ...string) (all []*subject) {
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		s := &subject{text: header + string(text)}
		m := unitName.FindAllStringSubmatch(s.text, -1)
		s.unit = m[len(m)-1][1] // the last of the page
		all = append(all, s)
	}
	return all
}

// TestStructuredTransitions looks for a square matrix in the kernels of rules whose
// transitions are diagonal matrices, identities and outer products.
func TestStructuredTransitions(t *testing.T) {
	all := kept(t, "testdata/diagonal_and_rank_one.md", "testdata/reflected.md")
	compile(t, all)
	for _, s := range all {
		if s.broken != "" || s.refused.HasErrors() || len(s.programs) == 0 {
			t.Fatal(s.unit, s.broken, s.refused.Sorted())
		}
		for _, p := range s.programs {
			for _, k := range p.kernels() {
				for _, b := range slices.Concat(k.Params, k.Work) {
					if squares(b) {
						t.Errorf("%s has a square matrix, %s %v", k.Name, b.Name, b.Dims)
					}
				}
				for _, axis := range []string{"d_k·d_k", "d_v·d_v", "d_k²", "d_v²"} {
					if w := k.Memory.Workspace.String(); strings.Contains(w, axis) {
						t.Errorf("%s has a workspace of %s", k.Name, w)
					}
				}
			}
		}
	}
}

// squares reports whether a buffer has one of the axes of a state twice.
func squares(b *plan.Buffer) bool {
	n := map[string]int{}
	for _, d := range b.Dims {
		n[d.String()]++
	}
	return n["d_k"] > 1 || n["d_v"] > 1
}

// header is the contract of a page that says nothing in it.
const header = "```text\nCONTRACT\n  Purpose: none\n  Expects: none\n  Guarantees: none\n  Cost: none\n  Trade-off: none\n  Position: none\n  Source: none\n```\n\n"

var unitName = regexp.MustCompile(`(?m)^(?:rule|op|compose) (\w+)`)

// judge compiles and runs pages and says what is wrong.
func judge(t *testing.T, all []*subject) {
	t0 := time.Now()
	tally := findBroken(t, all, false)
	t.Logf("%d pages in %v: %d refused, %d programs led astray by float32", len(all), time.Since(t0), tally.refused, tally.unsteady)
	for _, s := range all {
		if s.page == nil && s.refused.HasErrors() && s.broken == "" {
			t.Errorf("%s is refused:\n%s", s.unit, s.refused.Error())
		}
	}
	if tally.refused*20 > len(all) {
		t.Errorf("%d of %d pages are refused, and nothing holds them to anything", tally.refused, len(all))
	}
	for _, s := range all {
		if s.broken == "" {
			continue
		}
		t.Errorf("%s: %s\n%s", s.unit, s.broken, s.block())
		if *smaller && s.page != nil {
			small := shrink(t, s)
			t.Errorf("%s made smaller: %s\n%s", s.unit, small.broken, small.block())
		}
	}
}

// notLowered reports whether a page is right and the compiler has no kernels for it.
func notLowered(ds diag.List) bool {
	return slices.ContainsFunc(ds.Sorted(), func(d diag.Diagnostic) bool { return d.Code == diag.NotLowered })
}

// A tally counts what happened to pages.
type tally struct{ refused, unsteady int }

// findBroken finds what is wrong with pages: broken says it. With printed set it prints
// them, and compiles and runs nothing.
func findBroken(t *testing.T, all []*subject, printed bool) (n tally) {
	var good []*subject
	for _, s := range all {
		if s.refused.HasErrors() {
			n.refused++
			if notLowered(s.refused) {
				s.broken = "is not lowered:\n" + s.refused.Error()
			}
			if *verbose {
				t.Logf("%s is refused:\n%s\n%s", s.unit, diag.Render(s.refused.Sorted()), s.block())
			}
		} else if s.broken == "" {
			good = append(good, s)
		}
	}
	if *stage == "compile" {
		return n
	}
	if printed = printed || *stage == "print"; printed {
		(&harness{}).print(good)
		return n
	}
	h := newHarness(t, good)
	defer h.close()
	for _, s := range good {
		if s.broken == "" {
			n.unsteady += s.try(t, h)
		}
	}
	return n
}

// trials is how many sizes a program is tried at.
const trials = 2

// try holds the programs of a page to the interpreter.
func (s *subject) try(t *testing.T, h *harness) (unsteady int) {
	var bad []string
	for _, p := range s.programs {
		for i := range trials {
			x := p.draw(h, i)
			if x == nil {
				unsteady++
				continue
			}
			if wrong := x.check(t); len(wrong) > 0 {
				bad = append(bad, wrong...)
				break
			}
		}
	}
	s.broken = strings.Join(bad, "\n")
	return unsteady
}

// shrink makes a broken page smaller while it is broken in the same way.
func shrink(t *testing.T, s *subject) *subject {
	const atOnce = 24
	for {
		var next []*random.Page
		for i, p := range s.page.Shrunk() {
			next = append(next, p.Renamed(fmt.Sprintf("Small%d", i)))
		}
		found := false
		for part := range slices.Chunk(next, atOnce) {
			all := subjects(t, part...)
			if mistakeKind(s.broken) != "panic" || strings.Contains(s.broken, "/gen/emit") {
				findBroken(t, all, mistakeKind(s.broken) == "panic")
			}
			for _, c := range all { // the smallest comes first
				if !found && !c.refused.HasErrors() && c.broken != "" && mistakeKind(c.broken) == mistakeKind(s.broken) {
					s, found = c, true
				}
			}
			if found {
				break
			}
		}
		if !found {
			return s
		}
		t.Logf("%d bytes", len(s.text))
	}
}

// mistakeKind is the sort of a mistake: the numbers and names in its text left out.
func mistakeKind(broken string) string {
	switch {
	case strings.Contains(broken, "does not compile"):
		return "does not compile"
	case strings.Contains(broken, "BUG"):
		return "panic"
	case strings.Contains(broken, "is off by"):
		return "is off"
	case strings.Contains(broken, "has other bits"):
		return "bits"
	}
	return "other"
}
