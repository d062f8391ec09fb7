package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/audit"
)

const papers = "# Papers\n\n| key | title | arXiv | version | equations read |\n|--|--|--|--|--|\n| alpha | On alpha | 9901.00001 | v2 | 1-4 |\n"

const page = "# A page\n\n```text\nCONTRACT\n  Purpose: A test.\n  Expects: Nothing\n  Guarantees: It doubles {twice}; it is nice; it flies {wings}\n  Cost: None\n  Trade-off: None\n  Position: here\n  Source: alpha#3\n```\n\n```hecate\nidle(x ∈ ℝ^{…}) = x ⊙ x\nabove(x ∈ ℝ) = { 1 if x > 0 ; 0 otherwise }\nop Twice(x ∈ ℝ^{n}) → out = 2 x  @eq alpha#9\nclaim x̄ = 2 out̄  {twice}\nerratum alpha#3 \"it halves\" by claim twice\nop Flag(x ∈ ℝ^{n}) → out = above(x)\nadjoint x̄ = out̄ \"nobody knows better\"\nrelax out = x\n```\n"

func report(t *testing.T, pages map[string]string) *audit.Report {
	t.Helper()
	root := t.TempDir()
	for name, text := range pages {
		path := filepath.Join(root, "specs", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, ds := audit.New(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}})
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	if _, err := os.Stat(filepath.Join(root, "generated")); err == nil {
		t.Error("an audit wrote files")
	}
	return r
}

func gaps(r *audit.Report, kind audit.GapKind) []string {
	var out []string
	for _, g := range r.Gaps {
		if g.Kind == kind {
			out = append(out, g.Name+": "+g.Why)
		}
	}
	return out
}

func TestGaps(t *testing.T) {
	r := report(t, map[string]string{"papers.md": papers, "a.md": page})
	for _, c := range []struct {
		kind audit.GapKind
		want []string
	}{
		{audit.NoSymbol, []string{"idle(): no emitted equation calls it"}},
		{audit.Unread, []string{"alpha::9: equation not read"}},
		{audit.Prose, []string{"Guarantees: it is nice", "Cost: None"}},
		{audit.Unbacked, []string{"{wings}: it flies"}},
		{audit.Stranger, nil},
		{audit.Loose, nil},
	} {
		if got := gaps(r, c.kind); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.kind, got, c.want)
		}
	}
	if got := len(gaps(r, audit.NoTest)); got > 2 {
		t.Errorf("%d units without a test, and there are two units", got)
	}
	var declared []string
	for _, d := range r.Declared {
		declared = append(declared, d.Kind+" "+d.Unit+" "+d.Reason)
	}
	if want := []string{"adjoint flag nobody knows better", "relax flag "}; !slices.Equal(declared, want) {
		t.Errorf("declared %q, want %q", declared, want)
	}
	if r.Clean() {
		t.Error("a report with gaps is clean")
	}
}

// TestMended closes gaps one by one.
func TestMended(t *testing.T) {
	for _, c := range []struct {
		old, new string
		kind     audit.GapKind
	}{
		{"idle(x ∈ ℝ^{…}) = x ⊙ x\n", "", audit.NoSymbol},
		{"alpha#9", "alpha#4", audit.Unread},
		{"; it is nice", "", audit.Prose},
		{"; it flies {wings}", "", audit.Unbacked},
	} {
		before := report(t, map[string]string{"papers.md": papers, "a.md": page})
		after := report(t, map[string]string{"papers.md": papers, "a.md": strings.Replace(page, c.old, c.new, 1)})
		if b, a := len(gaps(before, c.kind)), len(gaps(after, c.kind)); a != b-1 {
			t.Errorf("%s: %d gaps, and %d after %q became %q", c.kind, b, a, c.old, c.new)
		}
	}
}

func share(t *testing.T, r *audit.Report, what string) audit.Share {
	t.Helper()
	for _, s := range r.Coverage {
		if s.What == what {
			return s
		}
	}
	t.Fatalf("no coverage of %q", what)
	return audit.Share{}
}

func TestCoverage(t *testing.T) {
	r := report(t, map[string]string{"papers.md": papers, "a.md": page})
	for what, want := range map[string]audit.Share{
		"equations that a symbol computes":            {Have: 3, Of: 4},
		"cited equations that were read":              {Have: 2, Of: 3},
		"cited equations that cannot be read":         {Have: 0, Of: 3},
		"cited equations that were not read":          {Have: 1, Of: 3},
		"contract statements with a line behind them": {Have: 1, Of: 4},
	} {
		if s := share(t, r, what); s.Have != want.Have || s.Of != want.Of {
			t.Errorf("%s: %d of %d, want %d of %d", what, s.Have, s.Of, want.Have, want.Of)
		}
	}
	if p := (audit.Share{}).Percent(); p != 100 {
		t.Errorf("nothing of nothing is %v %%", p)
	}
}

func TestText(t *testing.T) {
	r := report(t, map[string]string{"papers.md": papers, "a.md": page})
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 pages: 4 units, of which 2 emitted, 4 equations,",
		"equations that a symbol computes                 3 of    4    75.0 %  ███████████████·····",
		"  op Twice  specs/a.md:17\n    out  17  TwiceBackward, TwiceCall, twiceBackwardFused, twiceCallFused  alpha#9 (not read)\n",
		"  function above  specs/a.md:16\n    above()  16  in flag.out\n    written out in flag\n",
		"adjoint x̄ = out̄  nobody knows better  specs/a.md:21\n",
		"  equation without a symbol: 1\n    idle()  no emitted equation calls it  specs/a.md:15\n",
		"  tag without a line: 1\n    {wings}  it flies  specs/a.md:7\n",
		"    ops.TwiceCall",
		"\nerrata of sources\n  alpha#3  On alpha  specs/a.md:19\n    it halves\n    shown by twice.claim.twice: claim x̄ = 2 out̄ {twice}\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, b.String())
		}
	}
	if err := r.Text(full{}); !errors.Is(err, errFull) {
		t.Errorf("Text to a full disk = %v", err)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestJSON(t *testing.T) {
	r := report(t, map[string]string{"papers.md": papers, "a.md": page})
	var b bytes.Buffer
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back audit.Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Gaps) != len(r.Gaps) || len(back.Equations) != len(r.Equations) || back.Coverage[0] != r.Coverage[0] {
		t.Error("the JSON does not say what the report does")
	}
}

// TestSpecs looks at our own pages: what an emitted unit says has a symbol, and
// every tag has its line.
func TestSpecs(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	r, ds := audit.New(gen.Config{Root: "../..", Specs: []string{"../../specs"}})
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, g := range r.Gaps {
		if g.Kind == audit.Stranger || g.Kind == audit.Unbacked {
			t.Errorf("%s: %s (%s:%d)", g.Kind, g.Name, g.File, g.Line)
		}
	}
	for _, s := range r.Coverage {
		t.Logf("%-45s %d of %d", s.What, s.Have, s.Of)
	}
}

// TestBroken: an error of a page gives no report.
func TestBroken(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.md"), []byte(strings.Replace(page, "2 x", "2 u", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, ds := audit.New(gen.Config{Root: root, Specs: []string{root}}); r != nil || !ds.HasErrors() {
		t.Errorf("a report of a broken page: %v", ds.Error())
	}
}
