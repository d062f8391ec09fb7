package gen_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/docs"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/safety"
)

var (
	mdCode   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	mdLink   = regexp.MustCompile(`\]\(([^)]*)\)`)
	htmlLink = regexp.MustCompile(`href="#([^"]*)"`)
	anchor   = regexp.MustCompile(` id="([^"]*)"`)
)

// TestReference holds the reference of our pages: every emitted unit has an
// entry with what was made of it, every link leads somewhere, and the text is
// the same every time.
func TestReference(t *testing.T) {
	if testing.Short() {
		t.Skip("proves all pages")
	}
	c := gen.Config{Root: "..", Specs: []string{"../specs"}, Cache: sharedCache}
	site, ds := docs.Collect(c)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	files, err := site.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	page, err := site.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		for _, m := range mdLink.FindAllSubmatch(mdCode.ReplaceAll(text, nil), -1) {
			file, at, inside := strings.Cut(string(m[1]), "#")
			if files[file] == nil || inside && !bytes.Contains(files[file], []byte(`<a id="`+at+`"></a>`)) {
				t.Errorf("%s: a link to %s", name, m[1])
			}
		}
	}
	ids := map[string]int{}
	for _, m := range anchor.FindAllSubmatch(page, -1) {
		if ids[string(m[1])]++; ids[string(m[1])] > 1 {
			t.Errorf("two elements are called %s", m[1])
		}
	}
	for _, m := range htmlLink.FindAllSubmatch(page, -1) {
		if ids[string(m[1])] == 0 {
			t.Errorf("the site has a link to #%s", m[1])
		}
	}
	for _, word := range []string{"http:", "https:", "@import", "url("} {
		if bytes.Contains(page, []byte(word)) {
			t.Errorf("the site has %q", word)
		}
	}
	emitted(t, c, files, ids)
	again, err := site.HTML()
	if err != nil || !bytes.Equal(page, again) {
		t.Errorf("two texts, %v", err)
	}
	legal := string(files["legality.md"])
	for _, w := range []string{"KL: KL retention needs rows that start apart", "| [Hebbian](hebbian.md) | yes | yes | yes | exact |", "| [DeltaRule](delta_rule.md) | no | yes | yes |", "M is not a state"} {
		if !strings.Contains(legal, w) {
			t.Errorf("legality.md has no %q:\n%s", w, legal)
		}
	}
	if !bytes.Contains(files["atlas_printed.md"], []byte("(papers.md#atlas-5)")) || bytes.Contains(files["delta_rule.md"], []byte("(papers.md#atlas-5)")) {
		t.Error("the feature map is cited where the options choose none, or is not where they do")
	}
	pairs(t, c, site)
}

// pairs holds the tables of pairs to all combinations: what a cell says no to
// is in no legal one, and where it names what it takes, every legal one has
// that.
func pairs(t *testing.T, c gen.Config, site *docs.Site) {
	t.Helper()
	s, _ := gen.Load(c.Specs...)
	table, _ := safety.New(s.Tree)
	with := map[[2]string][]safety.Tuple{}
	for _, u := range table.Tuples() {
		for i, a := range u.Names() {
			for _, b := range u.Names()[i+1:] {
				if u.Legal() {
					with[[2]string{a, b}] = append(with[[2]string{a, b}], u)
				}
			}
		}
	}
	cells := 0
	for _, p := range site.Pairs {
		for _, r := range p.Rows {
			for i, cell := range r.Cells {
				cells++
				legal := with[[2]string{r.Name, p.Cols[i].Name}]
				takes, conditional := strings.CutPrefix(cell, "with ")
				if no := strings.HasPrefix(cell, "no"); no != (len(legal) == 0) || no && !strings.Contains(cell, "[") {
					t.Errorf("%s and %s: %q, but %d legal combinations", r.Name, p.Cols[i].Name, cell, len(legal))
				}
				for _, u := range legal {
					for _, one := range strings.Split(takes, " and ") {
						if conditional && !slices.ContainsFunc(strings.Split(one, " or "), func(k string) bool { return slices.Contains(u.Names(), k) }) {
							t.Errorf("%s and %s: %q, but %s is legal", r.Name, p.Cols[i].Name, cell, u)
						}
					}
				}
			}
		}
	}
	if cells == 0 {
		t.Error("no cells")
	}
}

// emitted looks for every unit that Compile returns, and for the kernels that are named.
func emitted(t *testing.T, c gen.Config, files map[string][]byte, ids map[string]int) {
	t.Helper()
	s, _ := c.Load()
	units, ds := gen.Compile(s)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	kernels := map[string]bool{}
	for _, u := range units {
		for _, p := range append(u.Functions(), u) {
			for _, f := range emitcuda.Unit(p) {
				kernels[emitcuda.Folder+"/"+f.Path] = true
			}
		}
		text := string(files[u.ID+".md"])
		if text == "" || ids[u.ID] == 0 {
			t.Errorf("%s has no entry", u.Name)
			continue
		}
		for _, q := range u.Equations {
			if !strings.Contains(text, "`"+q.ID+"`") {
				t.Errorf("%s: no equation %s", u.Name, q.ID)
			}
		}
		for _, w := range []string{"## On the page", "## Kernels", "## Proof"} {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %s", u.Name, w)
			}
		}
	}
	for name, text := range files {
		for _, m := range regexp.MustCompile("`(cuda/kernels/[^`]*)`").FindAllSubmatch(text, -1) {
			if !kernels[string(m[1])] {
				t.Errorf("%s names the kernel %s, which is not emitted", name, m[1])
			}
		}
	}
}
