package trace_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/trace"
	"github.com/nl-hecate/hecate/gen/tree"
)

const contract = "```text\nCONTRACT\n  Purpose: A test.\n  Expects: Nothing\n  Guarantees: Nothing\n  Cost: None\n  Trade-off: None\n  Position: here\n  Source: none\n```\n\n"

// mini is a small tree: one function, one operation of each of two similar
// names, a rule in its own words, a rule of knobs, and a knob that no rule uses.
var mini = map[string]string{
	"papers.md": "# Papers\n\n| key | title | arXiv | version | equations read |\n|--|--|--|--|--|\n| alpha | On alpha | 9901.00001 | v2 | 1-4 |\n",
	"ops.md":    "bend(x ∈ ℝ^{…}) = x ⊙ tanh(x)\nnever(x ∈ ℝ^{…}) = x ⊙ x\nclaimed(x ∈ ℝ^{…}) = x + x\nop Bow(x ∈ ℝ^{n}) → out = bend(x)  @eq alpha#3\nclaim out = bend(x)\nop BowTwice(x ∈ ℝ^{n}) → out = bend(bend(x))\nclaim claimed(x) = 2 x\n",
	"own.md":    "rule Echo\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\nstate z ∈ ℝ^{d} = 0\na_t = x_t + x_t\nb_t = a_t\nz_t = ρ_t z_{t−1} + b_t  @eq alpha#9\ny_t = z_t\n",
	"door.md":   "front Door\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\nouter A, B, C ∈ ℝ^{d×d} ~ uniform(−1, 1)\nk_t = A x_t\nv_t = B x_t\nq_t = C x_t\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\ngate θ > 0 = softplus(w · x_t)\n",
	"law.md":    "law Learn(structure, bias, algorithm, retention)\nslope(y, v) = ∇_y ℓ(y, v)\nJ(W, e) = F(W) · e\ne_t = slope(F(W_{t−1}), V)\nU_t = step(∇_W J(W_{t−1}, e_t))\nW_t = join(W_{t−1}, U_t; ρ_t, θ_t)\n",
	"knobs.md":  "structure Bowl\nouter Z ∈ ℝ^{d×d} ~ uniform(−1, 1)\nweight M ∈ ℝ^{d×d} = bend(Z)\nfit M : M k_t → v_t\ny_t = M_t q_t\nbias Soft\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²\nretention Leak\njoin(Z, U; ρ, θ) = ρ Z + U\nretention Idle\njoin(Z, U; ρ, θ) = Z + U\nalgorithm Crawl\nstep(G) = −θ_t G\n",
	"made.md":   "rule Made = Bowl + Soft + Leak + Crawl over Door\n",
	"block.md":  "compose Pair(inner : Rule)\ndims d\ninput X ∈ ℝ^{T×d}\nouter W ∈ ℝ^{d×d} ~ uniform(−1, 1)\nm = inner(X)\nout[t∈T] = W m[t]\n",
}

// build traces pages, after an edit of the files that were emitted.
func build(t *testing.T, pages map[string]string, edit func(tree.Files)) *trace.Trace {
	t.Helper()
	var files []*source.File
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		text := pages[name]
		if name != "papers.md" {
			text = "# " + name + "\n\n" + contract + "```hecate\n" + text + "```\n"
		}
		files = append(files, source.NewFile("specs/"+name, text))
	}
	s, ds := gen.LoadFiles(files...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	e, ds := gen.EmitCode(s)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	if edit != nil {
		edit(e.Files)
	}
	return trace.New(e)
}

func equation(t *testing.T, tr *trace.Trace, id string) *trace.Equation {
	t.Helper()
	for _, e := range tr.Equations {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("there is no equation %s", id)
	return nil
}

func symbol(t *testing.T, tr *trace.Trace, name string) *trace.Symbol {
	t.Helper()
	for _, s := range tr.Symbols {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no symbol %s", name)
	return nil
}

func TestEquations(t *testing.T) {
	tr := build(t, mini, nil)
	door := path.Dir(equation(t, tr, "made.rho").Files[0]) // the function that made calls for its gate
	if !strings.HasPrefix(door, "generated/fronts/door/") {
		t.Errorf("the gate of made is computed in %s", door)
	}
	for _, c := range []struct {
		id, kind, of string
		in           []string
		symbols      string // one that must be there, or "" for none at all
	}{
		{"bend()", "function", "", []string{"bow.out", "bow_twice.out", "made.M.start"}, "generated/ops.BowTwiceCall"},
		{"bowl.M.start", "start", "", []string{"made.M.start"}, "generated/rules/made.Start"},
		{"made.M.start", "start", "bowl.M.start", nil, "generated/rules/made.StartBackward"},
		{"never()", "function", "", nil, ""},
		{"bow.out", "equation", "", nil, "generated/ops.BowCall"},
		{"echo.rho", "gate", "", nil, "generated/rules/echo.Step"},
		{"echo.a", "equation", "", nil, "generated/rules/echo.Step"},
		{"door.rho", "gate", "", []string{"made.rho"}, door + ".Forward"},
		{"made.rho", "gate", "door.rho", nil, door + ".Backward"},
		{"learn.W", "equation", "", []string{"made.M"}, "generated/rules/made.Step"},
		{"made.M", "equation", "learn.W", nil, "generated/rules/made.Step"},
		{"bowl.fit.M", "fit", "", []string{"made.M", "made.U", "made.e"}, "generated/rules/made.Step"},
		{"soft.ell", "function", "", []string{"made.e"}, "generated/rules/made.Step"},
		{"crawl.step", "function", "", []string{"made.U"}, "generated/rules/made.Step"},
		{"leak.join", "function", "", []string{"made.M"}, "generated/rules/made.Step"},
		{"idle.join", "function", "", nil, ""},
		{"pair.m", "part", "", nil, "generated/compositions/pair.Block.Step"},
		{"pair.out", "equation", "", nil, "generated/compositions/pair.Out"},
	} {
		e := equation(t, tr, c.id)
		if e.Kind != c.kind || e.Of != c.of || !slices.Equal(e.In, c.in) {
			t.Errorf("%s: kind %q of %q in %v, want %q %q %v", c.id, e.Kind, e.Of, e.In, c.kind, c.of, c.in)
		}
		if (c.symbols == "") != (len(e.Symbols) == 0) || c.symbols != "" && !slices.Contains(e.Symbols, c.symbols) {
			t.Errorf("%s: symbols %v, want %q", c.id, e.Symbols, c.symbols)
		}
	}
	if e := equation(t, tr, "bow.out"); e.Cite != "alpha#3" || e.Paper == nil || !e.Paper.Read || e.Paper.ArXiv != "9901.00001v2" {
		t.Errorf("bow.out cites %q %+v", e.Cite, e.Paper)
	}
	if e := equation(t, tr, "echo.z"); e.Paper == nil || e.Paper.Read || e.Page != "specs/own.md" || e.Line != 23 {
		t.Errorf("echo.z: paper %+v at %s:%d", e.Paper, e.Page, e.Line)
	}
	if e := equation(t, tr, "claimed()"); len(e.Claims) != 1 || e.Claims[0] != "bow_twice" {
		t.Errorf("claimed is claimed by %v", e.Claims)
	}
}

// bothWays checks that the two directions say the same.
func bothWays(t *testing.T, tr *trace.Trace) {
	t.Helper()
	ids, names := map[string]*trace.Equation{}, map[string]*trace.Symbol{}
	for _, e := range tr.Equations {
		if ids[e.ID] != nil {
			t.Errorf("equation %s twice", e.ID)
		}
		ids[e.ID] = e
	}
	for _, s := range tr.Symbols {
		names[s.Name] = s
	}
	for _, e := range tr.Equations {
		for _, n := range e.Symbols {
			switch s := names[n]; {
			case s == nil:
				t.Errorf("%s names %s, which does not exist", e.ID, n)
			case s.Unit == e.Unit && !slices.Contains(s.Equations, e.ID):
				t.Errorf("%s is computed by %s, which lists %v", e.ID, n, s.Equations)
			}
		}
		for _, id := range append(slices.Clone(e.In), e.Folded...) {
			if ids[id] == nil {
				t.Errorf("%s names %s, which does not exist", e.ID, id)
			}
		}
		if e.Of != "" && (ids[e.Of] == nil || !slices.Contains(ids[e.Of].In, e.ID)) {
			t.Errorf("%s is of %s, which does not know it", e.ID, e.Of)
		}
	}
	for _, s := range tr.Symbols {
		for _, id := range s.Equations {
			if ids[id] == nil || ids[id].Unit != s.Unit {
				t.Errorf("%s names %s, which is not of %s", s.Name, id, s.Unit)
			}
		}
		if (s.Role == trace.Shared) != (s.Unit == "") || s.Role != trace.Shared && len(s.Equations) == 0 {
			t.Errorf("%s is %s of %q with equations %v", s.Name, s.Role, s.Unit, s.Equations)
		}
	}
}

func TestBothWays(t *testing.T) { bothWays(t, build(t, mini, nil)) }

// TestComments: a comment that is wrong, or gone, is seen.
func TestComments(t *testing.T) {
	tr := build(t, mini, func(files tree.Files) {
		for name, text := range files {
			text = bytes.ReplaceAll(text, []byte("// echo.rho\n"), []byte("// echo.rhoo\n"))
			files[name] = bytes.ReplaceAll(text, []byte("// bow.out\n"), []byte("//\n"))
		}
	})
	var unknown []string
	for _, s := range tr.Symbols {
		unknown = append(unknown, s.Unknown...)
	}
	if len(unknown) == 0 || unknown[0] != "echo.rhoo" {
		t.Errorf("unknown ids are %v", unknown)
	}
	if e := equation(t, tr, "bow.out"); len(e.Symbols) > 0 {
		t.Errorf("bow.out has symbols %v without a comment", e.Symbols)
	}
	if s := symbol(t, tr, "generated/ops.BowCall"); s.Role != trace.Face {
		t.Errorf("BowCall is a %s", s.Role)
	}
	if e := equation(t, tr, "echo.b"); !slices.Equal(e.Folded, []string{"echo.z"}) || len(e.Symbols) == 0 {
		t.Errorf("echo.b is another name for echo.a, and is folded into %v", e.Folded)
	}
}

func TestTests(t *testing.T) {
	tr := build(t, mini, func(files tree.Files) {
		head := "// Code generated by hecategen from specs/own.md. DO NOT EDIT.\n\n"
		files["generated/ops/bow_test.go"] = []byte("package ops\n\nfunc TestBow(t *testing.T) {}\nfunc TestBowTwice(t *testing.T) {}\nfunc TestBow_Gradient(t *testing.T) {}\nfunc FuzzBow(t *testing.T) {}\nfunc TestBowl(t *testing.T) {}\nfunc TestMain(m *testing.M) {}\n")
		files["generated/rules/echo/more_test.go"] = []byte(head + "package echo\n\nfunc TestReplay(t *testing.T) {}\n")
		files["generated/tests/all_test.go"] = []byte("package tests\n\nfunc TestMadeAndPair(t *testing.T) {}\nfunc TestNothing(t *testing.T) {}\n")
	})
	got := map[string]string{}
	for _, x := range tr.Tests {
		got[x.Name[strings.LastIndexByte(x.Name, '/')+1:]] = x.Unit
	}
	want := map[string]string{"ops.TestBow": "bow", "ops.TestBowTwice": "bow_twice", "ops.TestBow_Gradient": "bow", "ops.FuzzBow": "bow",
		"ops.TestBowl": "bowl", "echo.TestReplay": "echo", "tests.TestMadeAndPair": "made", "tests.TestNothing": ""}
	if !maps.Equal(got, want) {
		t.Errorf("tests are about %v, want %v", got, want)
	}
	if e := equation(t, tr, "learn.W"); !slices.Equal(e.Tests, []string{"generated/tests.TestMadeAndPair"}) {
		t.Errorf("learn.W is held by %v", e.Tests)
	}
	if s := symbol(t, tr, "generated/rules/echo.Step.Run"); !slices.Equal(s.Tests, []string{"generated/rules/echo.TestReplay"}) {
		t.Errorf("echo.Step.Run is held by %v", s.Tests)
	}
}

// TestHashes: what each of the three sees.
func TestHashes(t *testing.T) {
	alone := map[string]string{"papers.md": mini["papers.md"], "own.md": mini["own.md"]}
	base := equation(t, build(t, alone, nil), "echo.z")
	for _, c := range []struct {
		name, text        string
		bytes, tokens, ir bool // stays
	}{
		{"same", "z_t = ρ_t z_{t−1} + b_t  @eq alpha#9\n", true, true, true},
		{"spacing", "z_t  =  ρ_t z_{t−1}+b_t  @eq alpha#9\n", false, true, true},
		{"words", "z_t = z_{t−1} ρ_t + b_t  @eq alpha#9\n", false, false, true},
		{"sign", "z_t = ρ_t z_{t−1} − b_t  @eq alpha#9\n", false, false, false},
		{"name", "z_t = ρ_t z_{t−1} + x_t  @eq alpha#9\n", false, false, false},
	} {
		pages := maps.Clone(alone)
		pages["own.md"] = strings.Replace(mini["own.md"], "z_t = ρ_t z_{t−1} + b_t  @eq alpha#9\n", c.text, 1)
		h := equation(t, build(t, pages, nil), "echo.z").Hashes
		if h.IR == "" || (h.Bytes == base.Hashes.Bytes) != c.bytes || (h.Tokens == base.Hashes.Tokens) != c.tokens || (h.IR == base.Hashes.IR) != c.ir {
			t.Errorf("%s: %+v from %+v", c.name, h, base.Hashes)
		}
	}
	prose := maps.Clone(alone)
	prose["own.md"] = "k(x ∈ ℝ^{…}) = x\n\n" + mini["own.md"]
	if e := equation(t, build(t, prose, nil), "echo.z"); e.Hashes != base.Hashes || e.Line != base.Line+2 {
		t.Errorf("two lines more: %+v at %d", e.Hashes, e.Line)
	}
}

// TestOrder: equations are sorted, and two runs give the same trace.
func TestOrder(t *testing.T) {
	tr := build(t, mini, nil)
	text := func(tr *trace.Trace) []byte {
		b, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !bytes.Equal(text(tr), text(build(t, mini, nil))) {
		t.Error("two runs give two traces")
	}
	if !slices.IsSortedFunc(tr.Equations, func(a, b *trace.Equation) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("equations are not sorted")
	}
}

// TestSpecs: our own pages have no equation of an emitted unit without a
// symbol, and the bytes do not depend on the working directory.
func TestSpecs(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	e, ds := gen.Emit(gen.Config{Root: "../..", Specs: []string{"../../specs"}})
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	tr := trace.New(e)
	bothWays(t, tr)
	emitted := map[string]bool{}
	for _, u := range tr.Units {
		emitted[u.ID] = u.Emitted
	}
	for _, e := range tr.Equations {
		if emitted[e.Unit] && len(e.Symbols) == 0 {
			t.Errorf("%s (%s:%d) has no symbol", e.ID, e.Page, e.Line)
		}
		at, err := os.ReadFile(filepath.Join("../..", e.Page))
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(at), "\n")[e.Line-1]
		if first := strings.Fields(e.Text)[0]; !strings.Contains(line, first) {
			t.Errorf("%s: %s:%d is %q and has no %q", e.ID, e.Page, e.Line, line, first)
		}
	}
	for _, s := range tr.Symbols {
		if len(s.Unknown) > 0 {
			t.Errorf("%s names %v, which no page has", s.Name, s.Unknown)
		}
	}
	t.Chdir("../..")
	again, ds := gen.Emit(gen.Config{Root: ".", Specs: []string{"specs"}})
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(e.Files)) {
		if !bytes.Equal(e.Files[name], again.Files[name]) {
			t.Errorf("%s depends on the working directory", name)
		}
	}
}
