package safety_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/prove/marker"
	"github.com/nl-hecate/hecate/gen/safety"
)

// TestCover: every two knobs that may be combined are so in a combination
// that is built, and every structure with a set of its own meets every
// retention with every algorithm.
func TestCover(t *testing.T) {
	for name, s := range trees(t) {
		tab := table(t, s)
		cover := tab.Covering()
		for _, u := range tab.Tuples() {
			if !u.Legal() {
				continue
			}
			for i := range u.Knobs {
				for j := range i {
					if !slices.ContainsFunc(cover, func(c safety.Tuple) bool { return c.Knobs[i] == u.Knobs[i] && c.Knobs[j] == u.Knobs[j] }) {
						t.Errorf("%s: %s and %s never meet", name, u.Knobs[j].Name.Text, u.Knobs[i].Name.Text)
					}
				}
			}
			if strings.Contains(u.Knobs[0].Span.Text(), "Δ") && !slices.ContainsFunc(cover, func(c safety.Tuple) bool {
				return c.Knobs[0] == u.Knobs[0] && slices.Equal(c.Knobs[2:], u.Knobs[2:])
			}) {
				t.Errorf("%s: %s is not tried with any bias", name, u)
			}
		}
		t.Logf("%s: %d of %d combinations", name, len(cover), len(tab.Tuples()))
	}
}

// faults are two pages each that do not go together, though nothing says so.
var faults = map[string][]string{
	"option twice": {"bias B9\noption w > 0 = 1\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ w ‖y − v‖²",
		"algorithm A9\noption w > 0 = 1\nstep(G) = −w θ_t G"},
	"vector for matrix": {"structure S9\nweight m ∈ ℝ^{d} = 0\nfit m : m ⊙ k_t → v_t\ny_t = m_t ⊙ q_t",
		"retention R9\njoin(Z ∈ ℝ^{r×c}, U ∈ ℝ^{r×c}; ρ, θ)[i∈r] = ρ Z[i] + U[i]"},
	"leaves its set": {"simple(A ∈ ℝ^{m×n})[i∈m] = softmax_{j∈n}(A[i,j])\nstructure S9\nouter M⁰ ∈ ℝ^{d×d} ~ normal(0, 1)\nweight M ∈ Δ^{d×d} = simple(M⁰)\nfit M : M k_t → v_t\ny_t = M_t q_t",
		"retention R9\njoin(Z, U; ρ, θ) = ρ Z + U"},
}

// large is a tree with many knobs of each kind, some of which require what
// others provide.
func large(n [4]int) []string {
	out := []string{base}
	for i := range n[0] {
		text := fmt.Sprintf("structure S%d\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = M_t q_t", i)
		if i%2 == 0 {
			text += "\nprovides Round(M)"
		}
		out = append(out, text)
	}
	for i := range n[1] {
		out = append(out, fmt.Sprintf("bias B%d\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²", i))
	}
	for i := range n[2] {
		text := fmt.Sprintf("retention R%d\njoin(Z, U; ρ, θ) = ρ Z + U", i)
		if i%3 == 0 {
			text += "\nrequires Round(Z) \"retention " + fmt.Sprint(i) + " needs what is round\""
		}
		if i%4 == 1 {
			text += "\nprovides Slow"
		}
		out = append(out, text)
	}
	for i := range n[3] {
		text := fmt.Sprintf("algorithm A%d\nstate H = 0\nH_t = η_t H_{t−1} − θ_t G_t\nstep(G) = H_t", i)
		if i%4 == 3 {
			text += "\nrequires Slow(G) \"algorithm " + fmt.Sprint(i) + " is quick\""
		}
		out = append(out, text)
	}
	out[0] = strings.NewReplacer("gate θ", "gate η ∈ (0,1) = sigmoid(w · x_t)\ngate θ",
		"U_t = step(∇_W J(W_{t−1}, e_t))", "G_t = ∇_W J(W_{t−1}, e_t)\nU_t = step(G_t)").Replace(base)
	return out
}

// TestCoverFindsFaults: what is wrong between two knobs of many is found without
// making all combinations, and it is what making all of them finds.
func TestCoverFindsFaults(t *testing.T) {
	for name, pages := range faults {
		s := load(t, append(large([4]int{3, 3, 3, 3}), pages...)...)
		tab := table(t, s)
		quick, whole := tab.Build(tab.Covering(), sets), tab.Build(tab.Tuples(), sets)
		if !quick.HasErrors() || !whole.HasErrors() {
			t.Errorf("%s: %d messages of some combinations, %d of all", name, quick.Len(), whole.Len())
		}
		if quick.HasErrors() && quick.Sorted()[0].Related[0].Text != whole.Sorted()[0].Related[0].Text {
			t.Errorf("%s:\n%s\nbut of all:\n%s", name, quick.Error(), whole.Error())
		}
	}
}

// TestManyKnobs: what generate builds stays few where knobs are many, and the
// emitted package still holds every combination to its table.
func TestManyKnobs(t *testing.T) {
	n := [4]int{6, 9, 9, 9}
	tab := table(t, load(t, large(n)...))
	const most = 6*9 + 6*9 + 6*9 + 3*9*9 // a combination for each pair
	cover := tab.Covering()
	if len(cover) > most {
		t.Errorf("%d of %d combinations are built", len(cover), len(tab.Tuples()))
	}
	start := time.Now()
	if ds := tab.Build(tab.Covering(), nil); ds.Len() > 0 {
		t.Fatal(ds.Error())
	}
	t.Logf("%d of %d combinations built in %v", len(cover), len(tab.Tuples()), time.Since(start))
	if testing.Short() {
		return
	}
	start = time.Now()
	out, err := goTest(t, emitgo.Safety(abi.Home{Folder: "generated"}, tab.Choices()))
	if err != nil || !strings.Contains(out, "4374 combinations: 3051 legal, 1323 illegal, 0 disagreements") {
		t.Errorf("%v:\n%s", err, out)
	}
	t.Logf("tested in %v:\n%s", time.Since(start), out)
}

// sets is what generate asks of each rule.
func sets(b *check.Block) diag.List { return marker.KeepsRows(b) }
