package gen_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// oddPages are units of kinds that the project's own pages do not have: gates
// with bounds that bind, first states that are learned, a read before the
// write, a read that asks nothing, a composition that no model names, one with
// windows over one series on both sides of a part, a model around a learned
// start, and normalised pairs whose gradients float32 reaches in few draws or in
// none. Their generated tests must pass like those of the others.
const oddPages = `# Other pages

§§§text
CONTRACT
  Purpose:    Units that the tests of generated tests need
  Expects:    Nothing
  Guarantees: Nothing
  Cost:       None
  Trade-off:  None
  Position:   here
  Source:     none
§§§

§§§hecate
rule BoundedDelta over Projected(conv = 4, unit = on, θ_max = 0.45)
state M ∈ ℝ^{d_v×d_k} = 0
ℓ(M ∈ ℝ^{d_v×d_k}; k ∈ ℝ^{d_k}, v ∈ ℝ^{d_v}) = ½ ‖M k − v‖²
M_t = ρ_t M_{t−1} − θ_t ∇_M ℓ(M_{t−1}; k_t, v_t)
y_t = M_t q_t
provides Causal

rule BoundedBoth over Projected(conv = 2, ρ_min = 0.5, ρ_max = 0.97, θ_min = 0.005, θ_max = 0.45)
state M ∈ ℝ^{d_v×d_k} = 0
M_t = ρ_t M_{t−1} + θ_t v_t k_tᵀ
y_t = M_t q_t
provides Causal

rule LearnedStart over Projected(conv = 2)
outer A ∈ ℝ^{d_v×d_k} ~ uniform(−1, 1)
outer u ∈ ℝ^{d_v} ~ uniform(−1, 1)
state M ∈ ℝ^{d_v×d_k} = A, r ∈ ℝ^{d_v} = u
M_t = ρ_t M_{t−1} + v_t k_tᵀ
r_t = ρ_t r_{t−1} + M_t q_t
y_t = M_t q_t + r_t
provides Causal

rule ReadFirst over Projected
state M ∈ ℝ^{d_v×d_k} = 0
y_t = M_{t−1} q_t
M_t = ρ_t M_{t−1} + v_t k_tᵀ
provides Causal

rule NoQuestion
dims d
input x ∈ ℝ^{d}
outer u ∈ ℝ^{d} ~ uniform(−1, 1)
state M ∈ ℝ^{d} = u
M_t = 0.5 M_{t−1} + x_t
y_t = M_t
provides Causal

rule NormedPairs
dims d, m = 8, n = 2
input x ∈ ℝ^{d}
outer W_K ∈ ℝ^{m×n×d} ~ uniform(−1/sqrt(d), 1/sqrt(d))
outer g, b ∈ ℝ^{n} = 1
state M ∈ ℝ^{d} = 0
u_t[i∈m, j∈n] = Σ_{a∈d} W_K[i,j,a] (x_t[a] + M_{t−1}[a])
c_t[i∈m, j∈n] = u_t[i,j] − mean_{a∈n}(u_t[i,a])
k_t[i∈m, j∈n] = g[j] c_t[i,j] / sqrt(mean_{a∈n}(c_t[i,a]²) + 1e-9) + b[j]
M_t[a∈d] = 0.5 M_{t−1}[a] + (1/8) Σ_{i∈m} Σ_{j∈n} W_K[i,j,a] k_t[i,j]
y_t = M_t

compose LooksBackTwice(memory : Rule)
option w ≥ 1 = 3, u ≥ 1 = 5
dims d, d_v = d
input X ∈ ℝ^{T×d}
a[t∈T] = mean_{s∈window(t,w)}(X[s])
m = memory(a)
out[t∈T] = m[t] + mean_{s∈window(t,u)}(X[s])
provides Causal

compose Twice(first : Rule, second : Composition)
dims d, d_v = d
input X ∈ ℝ^{T×d}
outer W_O ∈ ℝ^{d×d} ~ uniform(−1/sqrt(d), 1/sqrt(d))
a = first(X)
b = second(a)
out[t∈T] = W_O (a[t] + b[t])
provides Causal

model LearnedLM = ByteLM(MAG(LearnedStart, SlidingWindow))
§§§
`

// boundedTest is put beside the tests of Track Zero: the case of
// the oracle whose bound on the rate clamps some tokens and not others, on
// emitted code.
const boundedTest = `package zero

import (
	"testing"

	"github.com/nl-hecate/hecate/odd/generated/rules/boundeddelta"
)

func TestBounded(t *testing.T) {
	ref := open(t, "delta_rule").under("case2")
	if max := ref.floats("theta_max")[0]; max != 0.45 {
		t.Fatalf("the oracle's bound is %v, the page's 0.45", max)
	}
	rule(t, ref, func() (any, any) { return &boundeddelta.Step[float64]{}, &boundeddelta.StepBackward[float64]{} }, 2)
}
`

// TestOddPages generates and runs the tests of oddPages in a module inside of this one,
// with a copy of Track Zero, which reads internal packages.
func TestOddPages(t *testing.T) {
	const path = gen.LibraryModule + "/odd"
	root := newModule(t, path)
	for _, dir := range []string{"validation/zero", "validation/oracle/vectors"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"specs/odd.md": fenced(oddPages), "validation/zero/bounded_test.go": boundedTest} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	generate(t, root, path)
	vetAndTest(t, root, "./generated/...")
	runGo(t, root, "test", "-vet=off", "-run", "TestBounded", "./validation/zero")
}

// fenced puts the backquotes in, which a raw string cannot hold.
func fenced(text string) string {
	var out []rune
	for _, r := range text {
		if r == '§' {
			r = '`'
		}
		out = append(out, r)
	}
	return string(out)
}
