package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/gen/project"
)

// TestKilled kills generate in a project, without a warning, at moments that are spread
// over its run. Whatever it had done, the next run makes the tree that the pages say, and
// until then every file is whole: as it was before or as it will be.
func TestKilled(t *testing.T) {
	kills := 30
	if testing.Short() {
		kills = 4
	}
	p := newKilled(t)
	trees := [2]map[string]string{p.tree(0), p.tree(1)}
	start := time.Now()
	p.tree(0)
	took := time.Since(start)
	cut := 0
	for i := range kills {
		from, to := i%2, 1-i%2
		p.generate(from)
		p.page(to)
		cmd := p.command("generate")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i+1) / time.Duration(kills))
		_ = cmd.Process.Kill() // it may be over
		if cmd.Wait() != nil {
			cut++
		}
		for name, text := range p.read() {
			if old, new := trees[from][name], trees[to][name]; text != old && text != new {
				t.Errorf("kill %d: %s is torn", i, name)
			}
		}
		p.generate(to)
		if got := p.read(); !same(got, trees[to]) {
			t.Errorf("kill %d: the next run makes another tree: %v", i, names(got, trees[to]))
		}
	}
	if cut == 0 {
		t.Errorf("no run was killed before its end, of %d in %v", kills, took)
	}
	t.Logf("%d of %d runs were cut off", cut, kills)
}

// A killed project has two versions of a page.
type killed struct {
	*testing.T
	root string
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	p := &killed{t, t.TempDir()}
	lib, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p.write("go.mod", fmt.Sprintf("module example.com/killed\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", project.Library, project.Library, lib))
	p.write(project.FileName, "")
	return p
}

func (p *killed) write(name, text string) {
	p.Helper()
	name = filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

// page writes a version of the page: other numbers, and a unit more or less, so that
// files are written and removed.
func (p *killed) page(version int) {
	p.Helper()
	units := []string{"op First(x ∈ ℝ^{n}) → out = 2 x\n\nop Second(x ∈ ℝ^{n}) → out = tanh(x)\n", "op First(x ∈ ℝ^{n}) → out = 3 x\n\nop Third(x ∈ ℝ^{n}) → out = exp(x)\n"}
	p.write("specs/page.md", "# Page\n\n```text\nCONTRACT\n  Purpose: A page of a test.\n  Expects: nothing\n  Guarantees: nothing\n  Cost: nothing\n  Trade-off: nothing\n  Position: specs/page.md\n  Source: none\n```\n\n```hecate\n"+units[version]+"```\n")
}

func (p *killed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = p.root
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(p.root, ".cache"), asCommand+"=1")
	return cmd
}

func (p *killed) generate(version int) {
	p.Helper()
	p.page(version)
	if out, err := p.command("generate").CombinedOutput(); err != nil {
		p.Fatalf("%v\n%s", err, out)
	}
}

func (p *killed) tree(version int) map[string]string {
	p.Helper()
	p.generate(version)
	return p.read()
}

// read is the content of the folders that the compiler owns.
func (p *killed) read() map[string]string {
	p.Helper()
	out := map[string]string{}
	for _, dir := range []string{"generated", "cuda"} {
		err := filepath.WalkDir(filepath.Join(p.root, dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			out[strings.TrimPrefix(name, p.root)] = string(text)
			return err
		})
		if err != nil {
			p.Fatal(err)
		}
	}
	return out
}

func same(a, b map[string]string) bool { return len(names(a, b)) == 0 }

// names are the files in which two trees differ.
func names(a, b map[string]string) []string {
	var out []string
	for n, text := range a {
		if other, ok := b[n]; !ok || other != text {
			out = append(out, n)
		}
	}
	for n := range b {
		if _, ok := a[n]; !ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
