package prove_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// verdicts is a report without its ids: what was decided, at how many points and
// how closely.
func verdicts(r *proof.Report) string {
	var b strings.Builder
	for _, it := range r.Items {
		fmt.Fprintln(&b, it.Kind, it.Verdict, it.Detail())
	}
	return b.String()
}

// unstable is a formula whose numbers grow: with some parameters they overflow,
// and which ones are drawn must not depend on a name.
const unstable = "TwoLayers + L2 + Bregman + DGD over Projected(unit = on)"

// TestUnitNames: the same unit has the same report under every name.
func TestUnitNames(t *testing.T) {
	s := specs(t)
	want := proveBeside(t, s, "rule Foo = "+unstable+"\n", "Foo")
	for _, name := range []string{"Bar"} {
		if rep := proveBeside(t, s, "rule "+name+" = "+unstable+"\n", name); rep != want {
			t.Errorf("%s as %s has the report\n%s\nand as Foo\n%s", unstable, name, rep, want)
		}
	}
}

// proveBeside proves a unit of a text beside the pages of the project.
func proveBeside(t *testing.T, s *pages, text, name string) string {
	t.Helper()
	var files []*source.File
	for _, p := range s.Pages {
		files = append(files, p.File)
	}
	all, ds := load(append(files, source.NewFile("beside.md", "# Page\n\n```hecate\n"+text+"```\n"))...)
	if ds.HasErrors() && all.Tree.Units[name] == nil {
		t.Fatal(ds.Error())
	}
	r, ds := prove.Block(all.Tree, all.Tree.Units[name], proof.Options{})
	if ds.HasErrors() {
		t.Errorf("%s: %s", name, ds.Error())
	}
	return verdicts(r)
}

// renamings give the units, states, gates, axes and locals of a text other names,
// some of which sort the other way round.
var renamings = []map[string]string{
	{"Small": "Other", "S": "Z", "M": "A", "d": "w", "d_v": "b", "d_k": "c", "x": "u", "W": "B", "Q": "C", "θ": "γ", "e": "h", "k": "r", "n": "p"},
	{"Small": "Aa", "S": "A", "M": "Z", "d": "z", "d_v": "g", "d_k": "c", "x": "s", "W": "Q", "Q": "W", "θ": "α", "e": "f", "k": "a", "n": "m"},
}

var small = []string{
	`rule Small
dims d_v, d_k, d
input x ∈ ℝ^{d}
outer W ∈ ℝ^{d_k×d} ~ uniform(−1/sqrt(d), 1/sqrt(d)), Q ∈ ℝ^{d_v×d} ~ normal(0, 1)
state M ∈ ℝ^{d_v×d_k} = 0, S ∈ ℝ^{d_v×d_k} = 0
gate θ ∈ (0,1) = sigmoid(W[0] · x_t)
k_t = W x_t
e_t = tanh(Q x_t)
S_t = θ_t S_{t−1} + (M_{t−1} k_t − e_t) k_tᵀ
M_t = M_{t−1} − θ_t S_t
y_t = M_t k_t
claim M_t = M_{t−1} − θ_t S_t
claim S̄_{t−1} = θ_t S̄_t
provides Causal
`,
	"op Small(M ∈ ℝ^{n+d}, S ∈ ℝ^{d_v×d_k}) → out = ‖M‖ S\n",
	"op Small(x ∈ ℝ^{n}) → out = cos(x) ⊙ cos(x)\nclaim out = ½ (1 + cos(2 x))\n",
}

// TestNames: renaming the names of a unit changes nothing that is decided.
func TestNames(t *testing.T) {
	for _, text := range small {
		reports, ds := proveText(text, false)
		want := verdicts(reports[0])
		for i, names := range renamings {
			again, ds2 := proveText(renamed(text, names), false)
			if got := verdicts(again[0]); got != want || ds.Len() != ds2.Len() {
				t.Errorf("%sunder the names %d:\n%s%s\nand as written:\n%s", text, i, got, ds2.Error(), want)
			}
		}
	}
}

var word = regexp.MustCompile(`\p{L}[\p{L}\p{N}]*(_[vk]\b)?`)

func renamed(text string, names map[string]string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if n := names[w]; n != "" {
			return n
		}
		return w
	})
}

// TestNeighbours: another page changes no report of a unit that does not use it.
func TestNeighbours(t *testing.T) {
	s := specs(t)
	for _, u := range s.Tree.Kinds(notation.OpUnit)[:3] {
		r, _ := prove.Block(s.Tree, u, proof.Options{})
		want := verdicts(r)
		var files []*source.File
		for _, p := range s.Pages {
			files = append(files, p.File)
		}
		all, _ := load(append([]*source.File{source.NewFile("a.md", "# Page\n\n```hecate\nop Beside(x ∈ ℝ^{n}) → out = 2 x\n```\n")}, files...)...)
		if r, _ = prove.Block(all.Tree, all.Tree.Units[u.Name.Text], proof.Options{}); verdicts(r) != want {
			t.Errorf("%s has another report beside another page", u.Name.Text)
		}
	}
}
