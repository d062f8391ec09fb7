package equivalence_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// rulesOf are the rules of the project that no strategy computes and that know
// nothing of calls.
func rulesOf(t *testing.T, s *gen.Source) []*notation.Unit {
	t.Helper()
	return slices.DeleteFunc(s.Tree.Kinds(notation.RuleUnit), func(u *notation.Unit) bool {
		b, ds := check.Instantiate(s.Tree, u)
		snaps := b != nil && slices.ContainsFunc(b.SymSeq, func(s *check.Symbol) bool { return s.Kind == check.Snap })
		return u.Example || b == nil || ds.HasErrors() || b.Strategy != nil || snaps
	})
}

// TestFrozenBoundaryOfEveryRule gives every rule the frozen boundary, which
// needs no line of its page: with chunks of one token it is the rule, and with
// longer ones no answer leaves the numbers.
func TestFrozenBoundaryOfEveryRule(t *testing.T) {
	if testing.Short() {
		t.Skip("proves every rule once more")
	}
	s, ds := gen.Load("../../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	var page strings.Builder
	page.WriteString(pageHead)
	rules := rulesOf(t, s)
	for _, u := range rules {
		fmt.Fprintf(&page, "rule Frozen%s = Chunkwise(%s)\n\n", u.Name.Text, u.Name.Text)
	}
	page.WriteString("```\n")
	s, ds = gen.LoadWith([]string{"../../../specs"}, source.NewFile("page.md", page.String()))
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, u := range rules {
		t.Run(u.Name.Text, func(t *testing.T) {
			v := s.Tree.Units["Frozen"+u.Name.Text]
			rep, ds := prove.Block(s.Tree, v, proof.Options{Facts: true})
			if ds.HasErrors() {
				t.Fatal(ds.Error())
			}
			off, bad := equivalence.Approximation(s.Tree, v)
			if bad != nil {
				t.Fatal(bad.Error())
			}
			if off[0] != 0 {
				t.Errorf("with chunks of one token it is off by %g", off[0])
			}
			if w := rep.Worst(); w == proof.Failed {
				t.Errorf("the proof failed")
			}
			t.Logf("off by %.2g", off)
		})
	}
}

// TestApproximationGrows wants the frozen boundary of the delta rule to be
// farther off the longer a chunk is, and about twice as far at twice the length
// where chunks are short and rates small, as they are where a model starts.
func TestApproximationGrows(t *testing.T) {
	s, ds := gen.Load("../../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	off, bad := equivalence.Approximation(s.Tree, s.Tree.Units["DeltaFrozen"])
	if bad != nil {
		t.Fatal(bad.Error())
	}
	if !slices.IsSorted(off) {
		t.Errorf("off by %v, which does not grow", off)
	}
	const least, most = 1.5, 4.5 // of a slope of one there are few tokens to see
	if r := off[2] / off[1]; !(r >= least && r <= most) {
		t.Errorf("off by %g at two tokens and %g at four, %.2g times as far", off[1], off[2], r)
	}
}

// TestLogitSum holds the sum of logits to the frozen boundary, which it is a
// closed form of: their answers are equally far from the rule's at every length.
func TestLogitSum(t *testing.T) {
	s, ds := gen.Load("../../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	rule := s.Tree.Units["MEMORA"]
	sum, frozen := equivalence.Apply(s.Tree, s.Tree.Units["LogitSum"], rule), equivalence.Apply(s.Tree, s.Tree.Units["Chunkwise"], rule)
	if sum.Refused+frozen.Refused != "" || len(sum.Off) != len(frozen.Off) || len(sum.Off) == 0 {
		t.Fatalf("%+v and %+v", sum, frozen)
	}
	const tol = 1e-12 // float64; another order of a few sums
	for i, off := range sum.Off {
		if !(math.Abs(off-frozen.Off[i]) <= tol) || i > 0 && !(off > 0) {
			t.Errorf("off by %g and by %g", off, frozen.Off[i])
		}
	}
}

// TestExactAtEveryLength holds the exact strategies to their rules at the
// lengths that a quick proof leaves out.
func TestExactAtEveryLength(t *testing.T) {
	if testing.Short() {
		t.Skip("chunks of 64 tokens")
	}
	s, ds := gen.Load("../../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, u := range s.Tree.Kinds(notation.RuleUnit) {
		b, _ := check.Instantiate(s.Tree, u)
		if u.Example || b == nil || b.Strategy == nil || b.Strategy.Approximate() {
			continue
		}
		t.Run(u.Name.Text, func(t *testing.T) {
			rep, ds := prove.Block(s.Tree, u, proof.Options{Facts: true, Deep: true})
			if ds.HasErrors() {
				t.Fatal(ds.Error())
			}
			if !slices.ContainsFunc(rep.Items, func(it proof.Item) bool { return it.Kind == proof.Claim && it.Verdict == proof.Tested }) {
				t.Errorf("nothing is claimed of it")
			}
		})
	}
}

// TestStandings tries strategies on rules: which of them compute which is found
// out, and what cannot be given a strategy says why.
func TestStandings(t *testing.T) {
	const page = `
rule Entries
dims d, d_k, d_v
input x ∈ ℝ^{d}
outer W_F, W_K ∈ ℝ^{d_k×d} ~ normal(0, 1), W_V ∈ ℝ^{d_v×d} ~ normal(0, 1), M⁰ ∈ ℝ^{d_v×d_k} ~ normal(0, 1), b ∈ ℝ^{d_v} ~ normal(0, 1)
state M ∈ ℝ^{d_v×d_k} = M⁰, s ∈ ℝ^{d_v} = b
f_t = sigmoid(W_F x_t)
k_t = W_K x_t
v_t = W_V x_t
s_t[i∈d_v] = 0.5 s_{t−1}[i] tanh(v_t[i]) + 1
M_t[i∈d_v, j∈d_k] = f_t[j] M_{t−1}[i,j] v_t[i] + k_t[j]
y_t = M_t k_t + s_t

rule Vectors
dims d
input x ∈ ℝ^{d}
outer W, A ∈ ℝ^{d×d} ~ normal(0, 1/sqrt(d))
outer h⁰ ∈ ℝ^{d} ~ normal(0, 1)
f_t = sigmoid(W x_t)
state h ∈ ℝ^{d} = h⁰, S ∈ ℝ^{d×d} = 0, Z ∈ ℝ^{d×d} = 0
h_t = f_t ⊙ h_{t−1} − ½ h_{t−1} + (1 − f_t) ⊙ x_t
S_t = −(f_t 1ᵀ) ⊙ S_{t−1} + x_t x_tᵀ
Z_t = (A ⊙ Z_{t−1}) / 3 + x_t h_tᵀ
y_t = h_t + S_t x_t + Z_t x_t

rule Multiplied
dims d
input x ∈ ℝ^{d}
outer A ∈ ℝ^{d×d} ~ normal(0, 1/sqrt(d))
state S ∈ ℝ^{d×d} = 0
S_t = A S_{t−1} + x_t x_tᵀ
y_t = S_t x_t

rule Mixed
dims d
input x ∈ ℝ^{d}
outer A ∈ ℝ^{d×d} ~ normal(0, 1/sqrt(d))
state h ∈ ℝ^{d} = 0
h_t = A (x_t ⊙ h_{t−1}) + x_t
y_t = h_t

strategy Indexed(memory : Rule)
option C ≥ 1 = 4 per chunk
U_t[i∈d_v] = v_t[i] − Σ_{j∈C, j<t} v_t[i] (k_j · k_t) U_j[i]
M_t = Σ_{i∈C} U_i k_iᵀ
y_t = U_t
claim ≡ sequential
`
	s, ds := gen.LoadWith([]string{"../../../specs"}, source.NewFile("page.md", pageHead+page+"```\n"))
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, c := range []struct{ strategy, rule, refused string }{
		{"AssociativeScan", "Hebbian", ""},
		{"AssociativeScan", "HGRN2", ""},
		{"AssociativeScan", "Entries", ""},
		{"AssociativeScan", "Vectors", ""},
		{"AssociativeScan", "Multiplied", "the factor of the name in its own equation is a number, or is multiplied entry by entry"},
		{"AssociativeScan", "Mixed", "the factor of the name in its own equation is a number, or is multiplied entry by entry"},
		{"AssociativeScan", "DeltaRule", "M stands in this term in another way than once as a factor"},
		{"ExactChunk", "DeltaRule", ""},
		{"ExactChunk", "Hebbian", "it computes something else: value of y differs"},
		{"ExactChunk", "RetNet", "M is not a state"},
		{"ExactMomentumChunk", "TitansLMM", ""},
		{"Chunkwise", "SelfReferentialChunk", "SelfReferentialChunk reads M[k] where its call began, and a strategy cuts the call into chunks"},
		{"Indexed", "Entries", "the factor of the name in a sum over earlier tokens is one number for all entries, and this one has indices"},
	} {
		got := equivalence.Apply(s.Tree, s.Tree.Units[c.strategy], s.Tree.Units[c.rule])
		if got.Refused != c.refused || c.refused == "" && !got.Exact() {
			t.Errorf("%s of %s: %+v, want %q", c.strategy, c.rule, got, c.refused)
		}
	}
	got := equivalence.Apply(s.Tree, s.Tree.Units["Chunkwise"], s.Tree.Units["DeltaRule"])
	if off, n := got.Last(); got.Exact() || got.Refused != "" || n != 16 || !(off > 0 && off < 1) {
		t.Errorf("the frozen boundary of the delta rule stands as %+v", got)
	}
}

// TestCostOfChunks: a line of a strategy is held at several lengths, one of its
// rule at the rule's own, and each says what was counted.
func TestCostOfChunks(t *testing.T) {
	library, ds := gen.Load("../../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, c := range []struct{ strategy, rule, code, text string }{
		{"cost chunk = (3 C + 1) d_k d_v + O(C² (d_k + d_v) + C³)", "cost chunk = 25 d_k d_v + O(C² (d_k + d_v) + C³)", "", ""},
		{"cost chunk = (3 C + 2) d_k d_v + O(C² (d_k + d_v) + C³)", "", "HEC5007", "chunk takes 25·d_k·d_v operations in a chunk of 8"},
		{"cost chunk = 25 d_k d_v + O(C² (d_k + d_v) + C³)", "", "HEC5007", "chunk takes 7·d_k·d_v operations in a chunk of 2"},
		{"", "cost chunk = 7 d_k d_v + O(C² (d_k + d_v) + C³)", "HEC5007", "chunk takes 25·d_k·d_v operations in a chunk of 8"},
		{"cost write+read = 4 d_k d_v", "", "HEC5016", "nothing in R is counted as write+read"},
		{"", "cost chunk = sqrt(C) d_k d_v", "HEC5016", "this is no size"},
	} {
		var files []*source.File
		for _, p := range library.Pages {
			f := p.File
			if strings.HasSuffix(f.Path, "/exact_chunk.md") {
				var lines []string
				for l := range strings.Lines(f.Text) {
					if strings.HasPrefix(l, "cost ") {
						l = c.strategy + "\n"
					}
					lines = append(lines, strings.Replace(l, "rule DeltaChunk = ExactChunk(DeltaRule)", "rule DeltaChunk = ExactChunk(DeltaRule)\n\nrule R = ExactChunk(DeltaRule, C = 8)\n"+c.rule, 1))
				}
				f = source.NewFile(f.Path, strings.Join(lines, ""))
			}
			files = append(files, f)
		}
		s, ds := gen.LoadFiles(files...)
		if ds.HasErrors() {
			t.Fatal(ds.Error())
		}
		_, ds = prove.Block(s.Tree, s.Tree.Units["R"], proof.Options{Facts: true})
		if c.code == "" {
			if ds.HasErrors() {
				t.Errorf("%s, %s:\n%s", c.strategy, c.rule, ds.Error())
			}
			continue
		}
		if d := ds.Sorted(); len(d) != 1 || d[0].Code.String() != c.code || d[0].Text != c.text {
			t.Errorf("%s, %s: want %s %s, got\n%s", c.strategy, c.rule, c.code, c.text, ds.Error())
		}
	}
}

// TestAnewInChunks: a redefinition in a rule that a strategy computes applies to the
// chunks and of the rule token by token.
func TestAnewInChunks(t *testing.T) {
	const page = `
rule Plain over Projected(unit = on)
state M ∈ ℝ^{d_v×d_k} = 0
M_t = ρ_t M_{t−1} + θ_t v_t k_tᵀ
y_t = M_t q_t

rule Gate = StateSpaceChunk(Plain, C = 3)
gate ρ ∈ (0,1) = 0.9

rule Start = StateSpaceChunk(Plain, C = 3)
outer b_θ = 1

rule Both = Start
gate θ > 0 = softplus(b_θ)

rule Behind = Start with ρ := 0.9
`
	s, ds := gen.LoadWith([]string{"../../../specs"}, source.NewFile("page.md", pageHead+page+"```\n"))
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, name := range []string{"Gate", "Start", "Both", "Behind"} {
		if _, ds := prove.Block(s.Tree, s.Tree.Units[name], proof.Options{Facts: true}); ds.HasErrors() {
			t.Errorf("%s: %s", name, ds.Error())
		}
	}
}
