package gen

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const pageHead = "# A page\n\n```text\nCONTRACT\n  Purpose: A page of a test.\n  Expects: nothing\n  Guarantees: nothing\n  Cost: nothing\n  Trade-off: nothing\n  Position: here\n  Source: none\n```\n\n```hecate\n"

// small are the pages of a small project.
var small = map[string]string{
	"front.md": "front Plain\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\n",
	"sum.md":   "rule Sum over Plain\nstate M ∈ ℝ^{d} = 0\nM_t = ρ_t M_{t−1} + x_t\ny_t = M_t\n",
	"two.md":   "compose Two(memory : Rule)\ndims d, d_v = d\ninput X ∈ ℝ^{T×d}\nm = memory(X)\nout[t∈T] = X[t] + m[t]\ntrial Two(Sum)\n",
	"half.md":  "op Half(x ∈ ℝ^{…}) → out = 0.5 x\n",
}

// A smallProject is written to disk and generated in memory.
type smallProject struct {
	*testing.T
	conf Config
}

func newSmall(t *testing.T) *smallProject {
	t.Helper()
	root := t.TempDir()
	p := &smallProject{t, Config{Root: root, Specs: []string{filepath.Join(root, "specs")}, Cache: filepath.Join(root, "cache")}}
	for name, text := range small {
		p.write(name, text)
	}
	return p
}

func (p *smallProject) write(name, units string) {
	p.Helper()
	path := filepath.Join(p.conf.Specs[0], name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(pageHead+units+"```\n"), 0o644); err != nil {
		p.Fatal(err)
	}
}

// run returns the files and which stages of which units were computed, with the reason.
func (p *smallProject) run() (map[string][]byte, []string) {
	p.Helper()
	var computed []string
	p.conf.Seen = func(e Event) {
		if !e.Cached {
			computed = append(computed, e.Unit+" "+e.Stage+": "+e.Why)
		}
	}
	files, ds := wanted(p.conf)
	if ds.HasErrors() {
		p.Fatal(ds.Error())
	}
	slices.Sort(computed)
	return files, computed
}

func (p *smallProject) wants(what string, got []string, want ...string) {
	p.Helper()
	if !slices.Equal(got, want) {
		p.Errorf("%s: computed\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestCache wants a unit to be computed again where something that it can read has
// changed, and nowhere else.
func TestCache(t *testing.T) {
	p := newSmall(t)
	first, all := p.run()
	if len(all) != 10 { // three stages of three units, and the proof of the front
		t.Errorf("computed %v", all)
	}
	again, computed := p.run()
	p.wants("nothing changed", computed)
	if !maps.EqualFunc(first, again, bytes.Equal) {
		t.Error("the files from the cache differ from those that were computed")
	}

	// Prose is part of no unit; a line above a unit moves it and changes nothing.
	path := filepath.Join(p.conf.Specs[0], "sum.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("# Another title\n\nwith prose\n\n"+strings.TrimPrefix(string(text), "# A page\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	_, computed = p.run()
	p.wants("prose", computed)

	// The contract is quoted in the code.
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "A page of a test", "A sum", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	_, computed = p.run()
	p.wants("contract", computed, "Sum code: the contract of the page has changed")

	// A front is read by the rules over it, and by what is tested with them.
	p.write("front.md", strings.Replace(small["front.md"], "w · x_t", "2 (w · x_t)", 1))
	_, computed = p.run()
	p.wants("front", computed, "Plain proof: unit Plain has changed", "Sum code: unit Plain has changed", "Sum proof: unit Plain has changed", "Sum tests: unit Plain has changed",
		"Two code: unit Plain has changed", "Two proof: unit Plain has changed", "Two tests: unit Plain has changed")

	// A function on another page makes a call of what was a product.
	p.write("half.md", "op Half(x ∈ ℝ^{…}; rate ∈ ℝ) → out = rate(x)\n")
	p.run()
	p.write("function.md", "rate(x ∈ ℝ) = 0.25 x\n")
	_, computed = p.run()
	p.wants("a new function", computed, "Half code: unit rate is new", "Half proof: unit rate is new", "Half tests: unit rate is new", "rate proof: not in the cache")
	p.write("function.md", "rate(x ∈ ℝ) = 0.5 x\n")
	_, computed = p.run()
	p.wants("a function", computed, "Half code: unit rate has changed", "Half proof: unit rate has changed", "Half tests: unit rate has changed", "rate proof: unit rate has changed")
}

// TestNewPage adds a page: no file of another unit changes, but for what lists all.
func TestNewPage(t *testing.T) {
	p := newSmall(t)
	p.write("bare.md", "compose Bare(memory : Rule)\ndims d, d_v = d\ninput X ∈ ℝ^{T×d}\nm = memory(X)\nout[t∈T] = m[t]\ntrial Bare(Sum)\n")
	before, _ := p.run()
	p.write("a_new.md", "rule Anew over Plain\nstate S ∈ ℝ^{d} = 0\nS_t = ρ_t S_{t−1} + ρ_t x_t\ny_t = S_t\n")
	after, computed := p.run()
	for _, c := range computed {
		if !strings.HasPrefix(c, "Anew ") {
			t.Errorf("computed %s", c)
		}
	}
	for name, text := range before {
		if !bytes.Equal(text, after[name]) && !strings.HasPrefix(name, "generated/registry/") && name != "cuda/kernels/manifest.json" {
			t.Errorf("%s changed", name)
		}
	}
}

// TestDamagedCache breaks the entries of the cache, one byte of each or all of it: they are
// computed again.
func TestDamagedCache(t *testing.T) {
	p := newSmall(t)
	want, _ := p.run()
	names, err := filepath.Glob(filepath.Join(p.conf.Cache, "*", "*"))
	if err != nil || len(names) != 12 {
		t.Fatal(names, err)
	}
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 0:
			text[len(text)/2] ^= 1
		case 1:
			text = text[:len(text)-1]
		case 2:
			text = nil
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, computed := p.run()
	if !maps.EqualFunc(want, got, bytes.Equal) {
		t.Error("a damaged entry is believed")
	}
	if len(computed) != 10 {
		t.Errorf("computed %v", computed)
	}
}

// TestFailuresAreSaid keeps no result that comes with a message.
func TestFailuresAreSaid(t *testing.T) {
	p := newSmall(t)
	p.write("half.md", "op Half(x ∈ ℝ^{…}) → out = 0.5 x\nclaim x̄ = 0.25 out̄\n")
	for range 2 {
		if _, ds := wanted(p.conf); !ds.HasErrors() {
			t.Fatal("a false claim was not refused")
		}
	}
}
