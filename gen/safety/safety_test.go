package safety_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/marker"
	"github.com/nl-hecate/hecate/gen/safety"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// page puts hecate text on a page of its own.
func page(name, text string) *source.File {
	return source.NewFile(name, "# "+name+"\n\n```text\n"+contract+"```\n\n```hecate\n"+text+"\n```\n")
}

const contract = "CONTRACT\n  Purpose: A test.\n  Expects: Nothing\n  Guarantees: Nothing\n  Cost: None\n  Trade-off: None\n  Position: here\n  Source: none\n"

const base = `law Learn(structure, bias, algorithm, retention)
slope(y, v) = ∇_y ℓ(y, v)
J(W, e) = F(W) · e
e_t = slope(F(W_{t−1}), V)
U_t = step(∇_W J(W_{t−1}, e_t))
W_t = join(W_{t−1}, U_t; ρ_t, θ_t)

front Door
dims d
input x ∈ ℝ^{d}
outer w ∈ ℝ^{d} ~ uniform(−1, 1)
k_t = x_t
v_t = x_t
q_t = x_t
gate ρ ∈ (0,1) = sigmoid(w · x_t)
gate θ > 0 = softplus(w · x_t)
`

// flat is a tree with one dependency: of a retention on the structure.
var flat = []string{base, `structure Bowl
weight M ∈ ℝ^{d×d} = 0
fit M : M k_t → v_t
y_t = M_t q_t`, `structure Ring
weight M ∈ ℝ^{d×d} = 0
fit M : M k_t → v_t
y_t = M_t q_t
provides Round(M)`, `bias Soft
ℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²`, `retention Leak
join(Z, U; ρ, θ) = ρ Z + U`, `retention Wheel
join(Z, U; ρ, θ) = ρ Z + U
requires Round(Z) "a wheel turns only what is round"`, `algorithm Crawl
step(G) = −θ_t G`}

// knotted is flat with dependencies in every direction: a bias on the
// structure, an algorithm on that bias and on the retention, a structure on the
// retention, two reasons for one pair, and a property that nobody has.
var knotted = append(append([]string{}, flat...), `bias Hard
ℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²
requires Round(y) "hard: round, or nothing (ρ₀ ≤ 1)"
requires Even(y) "hard on what is uneven"
provides Steep`, `structure Orb
weight M ∈ ℝ^{d×d} = 0
fit M : M k_t → v_t
y_t = M_t q_t
provides Round(M), Even(M)`, `structure Cube
weight M ∈ ℝ^{d×d} = 0
fit M : M k_t → v_t
y_t = M_t q_t
provides Even(M)
requires Still(M) "a cube does not leak"`, `retention Hold
join(Z, U; ρ, θ) = Z + U
provides Still(Z)`, `algorithm Jump
step(G) = −θ_t G
requires Steep(G), Still(G) "a jump needs a slope"`, `algorithm Never
step(G) = −θ_t G
requires Magic(G) "there is no magic"`)

func load(t *testing.T, texts ...string) *gen.Source {
	t.Helper()
	var files []*source.File
	for i, text := range texts {
		files = append(files, page(string(rune('a'+i))+".md", text))
	}
	s, ds := gen.LoadFiles(files...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return s
}

func table(t *testing.T, s *gen.Source) *safety.Table {
	t.Helper()
	tab, ds := safety.New(s.Tree)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return tab
}

// trees are the sources that the tests go over.
func trees(t *testing.T) map[string]*gen.Source {
	ours, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return map[string]*gen.Source{"flat": load(t, flat...), "knotted": load(t, knotted...), "specs": ours}
}

// TestCovering: two knobs that are together in some legal combination are
// together in the set that stands for all, which is much smaller, and no illegal
// combination is in it.
func TestCovering(t *testing.T) {
	for name, s := range trees(t) {
		tab := table(t, s)
		seen := map[[2]string]bool{}
		count := func(list []safety.Tuple) (legal int) {
			for _, u := range list {
				if !u.Legal() {
					continue
				}
				legal++
				for i, a := range u.Knobs {
					for _, b := range u.Knobs[i+1:] {
						seen[[2]string{a.Name.Text, b.Name.Text}] = true
					}
				}
			}
			return legal
		}
		few := tab.Covering()
		if n := count(few); n != len(few) {
			t.Errorf("%s: %d of %d in the covering set are illegal", name, len(few)-n, len(few))
		}
		pairs := len(seen)
		if all := count(tab.Tuples()); len(seen) != pairs || name == "specs" && 10*len(few) > all {
			t.Errorf("%s: %d of %d combinations have %d of %d pairs", name, len(few), all, pairs, len(seen))
		}
		t.Logf("%s: %d combinations have all %d pairs", name, len(few), pairs)
	}
}

// TestFormulas makes a rule of every legal combination, of a covering set in a
// short run; an illegal one is refused with the sentence of the page and its
// place.
func TestFormulas(t *testing.T) {
	for name, s := range trees(t) {
		tab := table(t, s)
		front := s.Tree.Kinds(notation.FrontUnit)[0]
		for _, u := range tab.Tuples() {
			if u.Legal() {
				continue
			}
			ds := tab.Instance(u, front, nil)
			for _, v := range u.Why {
				if !slices.ContainsFunc(ds.Sorted(), func(d diag.Diagnostic) bool {
					return d.Code == diag.IllegalFormula && strings.Contains(d.Text, v.Reason()) && len(d.Related) == 1 && d.Related[0].Span == v.Line.Span
				}) {
					t.Errorf("%s: %s: want %v with %q and its line, got %s", name, u, diag.IllegalFormula, v.Reason(), ds.Error())
				}
			}
		}
		built := tab.Tuples()
		if testing.Short() {
			built = tab.Covering()
		}
		if ds := tab.Build(built, marker.KeepsRows); ds.Len() > 0 {
			t.Errorf("%s: %s", name, ds.Error())
		}
	}
}

// TestRulePage refuses a rule on a page.
func TestRulePage(t *testing.T) {
	s := load(t, append(append([]string{}, flat...), "rule Bad = Bowl + Soft + Wheel + Crawl over Door", "rule Good = Ring + Soft + Wheel + Crawl over Door")...)
	_, ds := gen.Compile(s)
	const want = `h.md:15:26: error HEC3013: Wheel does not fit here: a wheel turns only what is round
   15 | rule Bad = Bowl + Soft + Wheel + Crawl over Door
      |                          ^^^^^ requires Round(Z)
  note: f.md:17:1: Wheel requires it
   17 | requires Round(Z) "a wheel turns only what is round"
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  help: Round is provided by structure Ring
`
	if got := diag.Render(ds.Sorted()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestWeights: a structure provides for all its weights or not at all.
func TestWeights(t *testing.T) {
	for _, c := range []struct {
		provides string
		want     bool
	}{{"provides Round(A, B)", true}, {"provides Round(A)\nprovides Round(B)", true}, {"provides Round", true},
		{"provides Round(A)", false}, {"provides Causal", false}, {"requires Round(A) \"no\"", false}} {
		s := load(t, "structure Two\nweight A, B ∈ ℝ^{d×d} = 0\nfit A, B : B (A k_t) → v_t\ny_t = B_t q_t\n"+c.provides)
		if got := units.Meets(s.Tree.Units["Two"], "Round"); got != c.want {
			t.Errorf("Meets with %q = %v", c.provides, got)
		}
	}
}

// TestExplanations compiles the examples of the codes of this package.
func TestExplanations(t *testing.T) {
	for _, c := range []diag.Code{diag.IllegalFormula, diag.EitherOr, diag.UnbuiltFormula} {
		e, ok := diag.Explain(c)
		if !ok || e.Summary == "" {
			t.Fatalf("%v has no explanation", c)
		}
		for text, want := range map[string]bool{e.Wrong: true, e.Right: false} {
			s, ds := gen.LoadFiles(page("example.md", text))
			if !ds.HasErrors() {
				_, cd := gen.Compile(s)
				ds.Append(cd)
			}
			_, sd := gen.Combinations(s)
			ds.Append(sd)
			n := 0
			for _, d := range ds.Sorted() {
				if d.Code == c {
					n++
				}
			}
			if want != (n > 0) || ds.Len() != n {
				t.Errorf("%v: %d messages of this code, %d in all:\n%s", c, n, ds.Len(), ds.Error())
			}
		}
	}
}

// TestHold lets another stage refuse what can be built.
func TestHold(t *testing.T) {
	tab := table(t, load(t, flat...))
	var seen []string
	var mu sync.Mutex // rules are made on all cores
	ds := tab.Build(tab.Covering(), func(b *check.Block) diag.List {
		var ds diag.List
		mu.Lock()
		seen = append(seen, b.Name)
		mu.Unlock()
		if strings.Contains(b.Name, "Leak") {
			ds.Errorf(diag.MarkerUnfounded, b.Unit.Span, "it leaks")
		}
		return ds
	})
	if len(seen) != 3 || ds.Len() != 2 || ds.Sorted()[0].Code != diag.UnbuiltFormula {
		t.Errorf("looked at %v: %s", seen, ds.Error())
	}
}

// TestOurTable holds the table of our pages to what is meant: the retentions
// and the algorithms that each structure goes with.
func TestOurTable(t *testing.T) {
	const (
		start, flow = "KL retention needs rows that start apart", "an f-divergence needs rows that start apart"
		direction   = "rows on the sphere need a direction to start from"
		simplex     = "rows on the simplex need a retention that keeps them there"
		slots       = "slots on the sphere need a retention that keeps them there"
		rows        = "orthogonal steps need the rows and columns of a matrix"
		network     = "deep momentum reads the rows of a matrix"
	)
	plain := []string{"L2Decay", "Anchored", "Bregman", "ElasticNet", "Lq", "SigmoidBounded"}
	kept := []string{"KL", "FDivergence"}
	fromConstant := map[string]string{"KL": start, "FDivergence": flow, "Sphere": direction}
	only := func(reason string, which ...string) map[string]string {
		out := map[string]string{}
		for _, r := range append(append([]string{"Sphere"}, plain...), kept...) {
			if !slices.Contains(which, r) {
				out[r] = reason
			}
		}
		return out
	}
	want := map[string]map[string]string{
		"Matrix": fromConstant, "TwoPass": fromConstant, "Vector": fromConstant,
		"TwoLayers": {}, "DeepLayers": {}, "ResidualLayers": {}, "ResidualGated": {},
		"SimplexMatrix": only(simplex, kept...), "SignedSimplex": only(simplex, kept...),
		"Slots": only(slots, "Sphere"),
	}
	networks := map[string]string{"OrthogonalMomentum": rows, "DeepMomentum": network, "DMGD": network}
	for _, u := range table(t, trees(t)["specs"]).Tuples() {
		n := u.Names()
		reasons, known := want[n[0]]
		if !known {
			t.Fatalf("the table does not know the structure %s", n[0])
		}
		var expect, got []string
		if r := reasons[n[2]]; r != "" {
			expect = append(expect, r)
		}
		if r := networks[n[3]]; r != "" && n[0] == "Vector" {
			expect = append(expect, r)
		}
		for _, v := range u.Why {
			got = append(got, v.Reason())
		}
		if !slices.Equal(got, expect) {
			t.Errorf("%s: refused because of %q, want %q", u, got, expect)
		}
	}
}

// TestLeavesItsSet: a formula that its pages let pass is refused where a state
// leaves the set that is declared for it.
func TestLeavesItsSet(t *testing.T) {
	ring := `structure Disc
outer M⁰ ∈ ℝ^{d×d} ~ normal(0, 1)
weight M ∈ Δ^{d×d} = rows(M⁰)
fit M : M k_t → v_t
y_t = M_t q_t
`
	const rows = "rows(A ∈ ℝ^{m×n})[i∈m] = softmax_{j∈n}(A[i,j])\n"
	for requires, want := range map[string]int{"": 1, "requires Flat(M) \"a disc stays flat\"": 0} {
		s := load(t, append(slices.Clone(flat), rows+ring+requires)...)
		_, ds := gen.Combinations(s)
		if ds.Len() != want {
			t.Fatalf("%q: %d messages:\n%s", requires, ds.Len(), diag.Render(ds.Sorted()))
		}
		for _, d := range ds.Sorted() {
			if d.Code != diag.UnbuiltFormula || !strings.Contains(d.Text, "Disc + Soft +") || len(d.Related) != 1 || d.Related[0].Span.Text() != "M" {
				t.Errorf("got:\n%s", diag.Render(ds.Sorted()))
			}
		}
	}
}
