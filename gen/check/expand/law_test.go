package expand_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// The law and knobs that the cases share. The front is left out: what is not
// declared does not matter before expressions have types.
const pages = `law Learn(structure, bias, algorithm, retention)
slope(y, v) = ∇_y ℓ(y, v)
load(Z) = Z
start(P) = P
W_0 = start(P)
read W_t = load(W_t)
J(W, e) = F(W) · e
e_t = slope(F(load(W_{t−1})), V)
G_t = ∇_W J(load(W_{t−1}), e_t)
U_t = step(G_t)
W_t = join(W_{t−1}, U_t; ρ_t, θ_t)

front Door
dims d
input x ∈ ℝ^{d}
k_t = x_t
v_t = x_t
q_t = x_t
gate ρ ∈ (0,1) = 0.9
gate θ > 0 = 0.1

bias Half
ℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²

retention Leak
join(Z, U; ρ, θ) = ρ Z + U

retention Image
start(P) = exp(P)
load(Z) = exp(Z)
join(Z, U; ρ, θ) = ρ Z + U

retention Anchored
option e ≥ 0 = 1
state B = 0
B_t = B_{t−1}
join(Z, U; ρ, θ) = ρ Z + U − e (Z − B_t)

retention Indexed
join(Z, U ∈ ℝ^{r×c}; ρ, θ)[e∈r, G∈c] = ρ Z[e,G] + U[e,G] + Σ_{U∈r} 0 · Z[U,G]

algorithm Down
step(G) = −θ_t G

algorithm Sum
state S = 0
S_t = 0.5 S_{t−1} − θ_t G_t  {sum}
step(G) = S_t

algorithm Rounds
iterate U_t from G_t for 2 : U_t ← 1.5 U_t − A U_t with A = U_t U_tᵀ
step(G) = −θ_t U_t

structure One
weight M ∈ ℝ^{d×d} = 0
fit M : M k_t → v_t
y_t = M_t q_t

structure Two
outer A⁰ ∈ ℝ^{d×d}, B⁰ ∈ ℝ^{d×d} ~ normal(0, 1)
weight A ∈ ℝ^{d×d} = A⁰, C ∈ ℝ^{d×d} = B⁰
fit A, C : C tanh(A k_t) → v_t
y_t = C_t tanh(A_t q_t)

structure Passes
weight A ∈ ℝ^{d×d} = 0, C ∈ ℝ^{d×d} = 0
fit A : A k_t → v_t
fit C : C h → u_t with u_t = tanh(A_t k_t), h[i∈d] = a[i], a = C c_t, c_t = u_t
y_t = C_t (A_t q_t)
`

func parse(t *testing.T, text string) (*units.Tree, *source.File) {
	t.Helper()
	file := source.NewFile("page.md", text)
	in := parser.Input{Text: text, File: file}
	in.Known = parser.Known([]parser.Input{in})
	f, ds := parser.Parse(file, []parser.Input{in})
	tree, td := units.Collect([]*notation.File{f})
	if ds.Append(td); ds.Len() > 0 {
		t.Fatal(diag.Render(ds.Sorted()))
	}
	return tree, file
}

// expanded is what the law makes of a formula: first values of states, the
// functions and the equations, as text.
func expanded(t *testing.T, formula string) string {
	t.Helper()
	tree, _ := parse(t, pages+"rule R = "+formula+" over Door\n")
	b, ds := check.Instantiate(tree, tree.Units["R"])
	if ds.Len() > 0 {
		t.Fatalf("%s:\n%s", formula, diag.Render(ds.Sorted()))
	}
	var out []string
	for _, s := range b.SymSeq {
		if s.Kind == check.State {
			out = append(out, fmt.Sprintf("%s ∈ %s = %s", s.Name, notation.Print(s.Type, notation.Unicode), notation.Print(s.Decl.Init, notation.Unicode)))
		}
	}
	names := []string{}
	for n, f := range b.Funcs {
		if n := strings.ToLower(n); strings.HasPrefix(n, "j") || strings.HasPrefix(n, "step") {
			names = append(names, notation.Print(f.Def, notation.Unicode))
		}
	}
	slices.Sort(names)
	out = append(out, names...)
	for _, eq := range b.Eqs {
		switch {
		case eq.Iter != nil:
			out = append(out, notation.Print(eq.Iter, notation.Unicode))
		case eq.Def != nil && eq.Unit.Kind != notation.FrontUnit:
			out = append(out, notation.Print(eq.Def, notation.Unicode))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

func TestWritten(t *testing.T) {
	for _, c := range []struct{ formula, want string }{
		{"One + Half + Leak + Sum", `M ∈ ℝ^{d×d} = 0
S ∈ ℝ^{d×d} = 0
J(M, e) = M k_t · e
join(Z, U; ρ, θ) = ρ Z + U
step(G) = S_t
e_t = slope(load(M_{t−1}) k_t, v_t)
G_t = ∇_M J(load(M_{t−1}), e_t)
S_t = 0.5 S_{t−1} − θ_t G_t  {sum}
U_t = step(G_t)
M_t = join(M_{t−1}, U_t; ρ_t, θ_t)
y_t = M_t q_t
`},
		{"Two + Half + Image + Sum", `A ∈ ℝ^{d×d} = start(A⁰)
C ∈ ℝ^{d×d} = start(B⁰)
S_A ∈ ℝ^{d×d} = 0
S_C ∈ ℝ^{d×d} = 0
J(A, C, e) = C tanh(A k_t) · e
join(Z, U; ρ, θ) = ρ Z + U
step_A(G) = S_A_t
step_C(G) = S_C_t
e_t = slope(load(C_{t−1}) tanh(load(A_{t−1}) k_t), v_t)
G_C_t = ∇_C J(load(A_{t−1}), load(C_{t−1}), e_t)
S_C_t = 0.5 S_C_{t−1} − θ_t G_C_t  {sum_C}
U_C_t = step_C(G_C_t)
C_t = join(C_{t−1}, U_C_t; ρ_t, θ_t)
G_A_t = ∇_A J(load(A_{t−1}), load(C_{t−1}), e_t)
S_A_t = 0.5 S_A_{t−1} − θ_t G_A_t  {sum_A}
U_A_t = step_A(G_A_t)
A_t = join(A_{t−1}, U_A_t; ρ_t, θ_t)
y_t = load(C_t) tanh(load(A_t) q_t)
`},
		// an option of a knob has the name of something of the law
		{"One + Half + Anchored + Down", `M ∈ ℝ^{d×d} = 0
B ∈ ℝ^{d×d} = 0
J(M, e) = M k_t · e
join(Z, U; ρ, θ) = ρ Z + U − e (Z − B_t)
step(G) = −θ_t G
B_t = B_{t−1}
e_M_t = slope(load(M_{t−1}) k_t, v_t)
G_t = ∇_M J(load(M_{t−1}), e_M_t)
U_t = step(G_t)
M_t = join(M_{t−1}, U_t; ρ_t, θ_t)
y_t = M_t q_t
`},
		{"Two + Half + Anchored + Down", `A ∈ ℝ^{d×d} = A⁰
C ∈ ℝ^{d×d} = B⁰
B_A ∈ ℝ^{d×d} = 0
B_C ∈ ℝ^{d×d} = 0
J(A, C, e) = C tanh(A k_t) · e
join_A(Z, U; ρ, θ) = ρ Z + U − e (Z − B_A_t)
join_C(Z, U; ρ, θ) = ρ Z + U − e (Z − B_C_t)
step(G) = −θ_t G
B_C_t = B_C_{t−1}
e_A_t = slope(load(C_{t−1}) tanh(load(A_{t−1}) k_t), v_t)
G_C_t = ∇_C J(load(A_{t−1}), load(C_{t−1}), e_A_t)
U_C_t = step(G_C_t)
C_t = join_C(C_{t−1}, U_C_t; ρ_t, θ_t)
B_A_t = B_A_{t−1}
G_A_t = ∇_A J(load(A_{t−1}), load(C_{t−1}), e_A_t)
U_A_t = step(G_A_t)
A_t = join_A(A_{t−1}, U_A_t; ρ_t, θ_t)
y_t = C_t tanh(A_t q_t)
`},
		// indices of a knob have the names of what the law writes for each weight
		{"Two + Half + Indexed + Down", `A ∈ ℝ^{d×d} = A⁰
C ∈ ℝ^{d×d} = B⁰
J(A, C, e) = C tanh(A k_t) · e
join(Z, U ∈ ℝ^{r×c}; ρ, θ)[e∈r, G∈c] = ρ Z[e,G] + U[e,G] + Σ_{U∈r} 0 · Z[U,G]
step(G) = −θ_t G
e_t = slope(load(C_{t−1}) tanh(load(A_{t−1}) k_t), v_t)
G_C_t = ∇_C J(load(A_{t−1}), load(C_{t−1}), e_t)
U_C_t = step(G_C_t)
C_t = join(C_{t−1}, U_C_t; ρ_t, θ_t)
G_A_t = ∇_A J(load(A_{t−1}), load(C_{t−1}), e_t)
U_A_t = step(G_A_t)
A_t = join(A_{t−1}, U_A_t; ρ_t, θ_t)
y_t = C_t tanh(A_t q_t)
`},
		// an iteration is one for each weight, and has the name of something of the law
		{"Two + Half + Leak + Rounds", `A ∈ ℝ^{d×d} = A⁰
C ∈ ℝ^{d×d} = B⁰
J(A, C, e) = C tanh(A k_t) · e
join(Z, U; ρ, θ) = ρ Z + U
step_A(G) = −θ_t U_A_t
step_C(G) = −θ_t U_C_t
e_t = slope(load(C_{t−1}) tanh(load(A_{t−1}) k_t), v_t)
G_C_t = ∇_C J(load(A_{t−1}), load(C_{t−1}), e_t)
iterate U_C_t from G_C_t for 2 : U_C_t ← 1.5 U_C_t − A U_C_t with A = U_C_t U_C_tᵀ
U_C_C_t = step_C(G_C_t)
C_t = join(C_{t−1}, U_C_C_t; ρ_t, θ_t)
G_A_t = ∇_A J(load(A_{t−1}), load(C_{t−1}), e_t)
iterate U_A_t from G_A_t for 2 : U_A_t ← 1.5 U_A_t − A U_A_t with A = U_A_t U_A_tᵀ
U_A_A_t = step_A(G_A_t)
A_t = join(A_{t−1}, U_A_A_t; ρ_t, θ_t)
y_t = C_t tanh(A_t q_t)
`},
		// two fits, the second after the first; local names with and without a moment
		{"Passes + Half + Leak + Down", `A ∈ ℝ^{d×d} = 0
C ∈ ℝ^{d×d} = 0
J_A(A, e) = A k_t · e
J_C(C, e) = C h · e with a = C c_t, h[i∈d] = a[i]
join(Z, U; ρ, θ) = ρ Z + U
step(G) = −θ_t G
e_A_t = slope(load(A_{t−1}) k_t, v_t)
G_A_t = ∇_A J_A(load(A_{t−1}), e_A_t)
U_A_t = step(G_A_t)
A_t = join(A_{t−1}, U_A_t; ρ_t, θ_t)
u_t = tanh(A_t k_t)
c_t = u_t
e_C_t = slope(load(C_{t−1}) h, u_t) with a = load(C_{t−1}) c_t, h[i∈d] = a[i]
G_C_t = ∇_C J_C(load(C_{t−1}), e_C_t)
U_C_t = step(G_C_t)
C_t = join(C_{t−1}, U_C_t; ρ_t, θ_t)
y_t = C_t (A_t q_t)
`},
	} {
		if got := expanded(t, c.formula); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.formula, got, c.want)
		}
	}
}

// TestFitLines: what is wrong with a fit line is said at the very word.
func TestFitLines(t *testing.T) {
	for _, c := range []struct{ fit, at, fact string }{
		{"fit A, C : A k_t → v_t", "C", "C is fitted, but the prediction does not read it"},
		{"fit A, D : D (A k_t) → v_t", "D", "D is fitted, but Two declares no weight D"},
		{"fit A, A : A k_t → v_t", "A", "A is fitted twice"},
		{"fit A : A k_t → v_t\nfit C, A : C (A k_t) → v_t", "A", "A is fitted twice"},
		{"fit A, C : C (A_{t−1} k_t) → v_t", "A_{t−1}", "the prediction reads the weight A, which it fits, at a time"},
		{"fit A, C : C h → v_t with h = A_t k_t", "A_t", "the prediction reads the weight A, which it fits, at a time"},
		{"fit A, C : C (A k_t) → A k_t", "A", "the target is a value, and A in it is a weight without a time"},
		{"fit A, C : C (A c_t) → v_t with c_t = A k_t", "A", "c_t is a value, and A in it is a weight without a time"},
		{"fit A, C : C (A z) → v_t with z[A∈d] = k_t[A]", "A", "the index A has the name of something in this line"},
		{"fit A : C (A k_t) → v_t\nfit C : C k_t → v_t", "C", "C is fitted by another line, and read here without a time"},
		{"fit A, C : C (A c_t) → v_t with c_t = h, h = C k_t", "C", "c_t is a value, and C in it is a weight without a time"},
	} {
		text := pages + "structure Bad\nweight A, C ∈ ℝ^{d×d} = 0\n" + strings.ReplaceAll(c.fit, "Two", "Bad") +
			"\ny_t = C_t (A_t q_t)\nrule R = Bad + Half + Leak + Down over Door\n"
		tree, file := parse(t, text)
		_, ds := check.Instantiate(tree, tree.Units["R"])
		if ds.Len() != 1 {
			t.Errorf("%s: %d messages:\n%s", c.fit, ds.Len(), diag.Render(ds.Sorted()))
			continue
		}
		d := ds.Sorted()[0]
		if d.Code != diag.BadFit || d.Text != strings.ReplaceAll(c.fact, "Two", "Bad") || d.Span.Text() != c.at || d.Help == "" && !strings.Contains(c.fact, "twice") {
			t.Errorf("%s:\n%s", c.fit, diag.Render(ds.Sorted()))
		}
		if line, _ := file.Pos(d.Span.Start); !strings.HasPrefix(strings.Split(text, "\n")[line-1], "fit") {
			t.Errorf("%s: the message is at line %d", c.fit, line)
		}
	}
}

// TestStartFromNumber: a start that is made of an array needs one.
func TestStartFromNumber(t *testing.T) {
	tree, _ := parse(t, pages+"rule R = One + Half + Image + Down over Door\n")
	_, ds := check.Instantiate(tree, tree.Units["R"])
	if ds.Len() != 1 || ds.Sorted()[0].Code != diag.IllegalFormula || ds.Sorted()[0].Span.Text() != "M ∈ ℝ^{d×d} = 0" {
		t.Errorf("got:\n%s", diag.Render(ds.Sorted()))
	}
}

// TestOneOptionTwice: a rule and its structure, which read each other's names,
// have an option of one name.
func TestOneOptionTwice(t *testing.T) {
	tree, _ := parse(t, pages+"structure Strong\noption e > 0 = 2\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = e M_t q_t\n"+
		"rule R = Strong + Half + Anchored + Down over Door\noption e ≥ 0 = 1\n")
	_, ds := check.Instantiate(tree, tree.Units["R"])
	if ds.Len() != 1 || ds.Sorted()[0].Code != diag.DuplicateName || ds.Sorted()[0].Span.Text() != "e ≥ 0 = 1" || len(ds.Sorted()[0].Related) != 1 {
		t.Errorf("got:\n%s", diag.Render(ds.Sorted()))
	}
}

// TestFitExample: what `hecategen explain` shows is so.
func TestFitExample(t *testing.T) {
	e, _ := diag.Explain(diag.BadFit)
	for text, want := range map[string]int{e.Wrong: 1, e.Right: 0} {
		tree, _ := parse(t, text)
		_, ds := check.Instantiate(tree, tree.Units["R"])
		if ds.Len() != want || want > 0 && ds.Sorted()[0].Code != diag.BadFit {
			t.Errorf("got %s", diag.Render(ds.Sorted()))
		}
	}
}
