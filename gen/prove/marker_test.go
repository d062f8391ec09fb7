package prove_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// Rules over a token x, a gate and a matrix or two, to which lines are added.
const ruleHead = `rule R
dims d, e
input x ∈ ℝ^{d}
outer A ∈ ℝ^{e×d} ~ uniform(−1, 1)
outer w ∈ ℝ^{d} ~ uniform(−1, 1)
outer B ∈ ℝ^{e×e} ~ uniform(−1, 1)
gate ρ ∈ (0,1) = sigmoid(w · x_t)
v_t = A x_t
state M ∈ ℝ^{e×d} = 0
`

const joint = "state n ∈ ℝ = 0\nn_t = 0.9 n_{t−1} + ρ_t\ny_t = M_t x_t\n"

// TestUnclaimed: of what holds and is not claimed the largest sets of states are listed,
// each once, and none that a claim covers.
func TestUnclaimed(t *testing.T) {
	const states = "state S ∈ ℝ^{e×d} = 0, Z ∈ ℝ^{e×d} = 0\n"
	const body = states + "S_t = ρ_t S_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\nM_t = M_{t−1} + S_t\nZ_t = tanh(Z_{t−1}) + v_t x_tᵀ\ny_t = M_t x_t + Z_t x_t\n"
	for _, c := range []struct{ claims, marker, want string }{
		{"", "AffineInState", "AffineInState(M, S)"},
		{"provides AffineInState(S, M)\n", "AffineInState", ""},
		{"", "RowIndependent", "RowIndependent(M, S, Z)"},
		{"provides RowIndependent(Z)\n", "RowIndependent", "RowIndependent(M, S, Z)"},
		{"", "ColumnIndependent", "ColumnIndependent(Z)"},
		{"", "StateIndependentMomentum", ""},
		{"", "ScalarAffineInState", ""},
	} {
		reports, ds := proveText(ruleHead+body+c.claims, false)
		if ds.HasErrors() {
			t.Fatal(ds.Error())
		}
		var got []string
		for _, it := range reports[0].Items {
			if it.Kind == proof.Marker && it.Note == "not claimed by the page" && strings.HasPrefix(it.Text, c.marker) {
				got = append(got, it.Text)
			}
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s%s: listed is %q, want %q", c.claims, c.marker, s, c.want)
		}
	}
}

func TestMarkers(t *testing.T) {
	tests := []struct {
		name, body, marker string
		want               proof.Verdict
	}{
		{"delta", "M_t = ρ_t M_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\ny_t = M_t x_t\n", "AffineInState(M)", proof.Proved},
		{"delta is no scalar", "M_t = ρ_t M_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\ny_t = M_t x_t\n", "ScalarAffineInState(M)", proof.Failed},
		{"delta by rows", "M_t = ρ_t M_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\ny_t = M_t x_t\n", "RowIndependent(M)", proof.Proved},
		{"one scalar scales the other", joint + "M_t = tanh(n_{t−1}) M_{t−1} + v_t x_tᵀ\n", "ScalarAffineInState(n, M)", proof.Failed},
		{"one scalar is added to the other", joint + "M_t[i∈e, j∈d] = 0.5 M_{t−1}[i,j] + n_{t−1}\n", "ScalarAffineInState(n, M)", proof.Proved},
		{"decay", "M_t = ρ_t M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "ScalarAffineInState(M)", proof.Proved},
		{"decay by an alias", "M_t = ρ_t M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "LinearRecurrence(M)", proof.Proved},
		{"gate of the state", "M_t = sigmoid(ρ_t) M_{t−1} ⊙ M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "AffineInState(M)", proof.Failed},
		{"a function of the state", "M_t = tanh(M_{t−1}) + v_t x_tᵀ\ny_t = M_t x_t\n", "AffineInState(M)", proof.Failed},
		{"from the left", "M_t = ρ_t B M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "RowIndependent(M)", proof.Failed},
		{"from the left is affine", "M_t = ρ_t B M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "AffineInState(M)", proof.Proved},
		{"the norm mixes rows", "M_t = ρ_t M_{t−1} / (1 + ‖M_{t−1}‖) + v_t x_tᵀ\ny_t = M_t x_t\n", "RowIndependent(M)", proof.Failed},
		{"each row by its norm", "M_t[i∈e] = M_{t−1}[i] / (1 + ‖M_{t−1}[i]‖) + v_t[i] x_t\ny_t = M_t x_t\n", "RowIndependent(M)", proof.Proved},
		{"decay by columns", "M_t = ρ_t M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "ColumnIndependent(M)", proof.Proved},
		{"from the left by columns", "M_t = ρ_t B M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "ColumnIndependent(M)", proof.Proved},
		{"columns that a column of another state drives", "state S ∈ ℝ^{e×d} = 0\nS_t = tanh(B S_{t−1}) + v_t x_tᵀ\nM_t = M_{t−1} + S_t ⊙ M_{t−1}\ny_t = M_t x_t\n", "ColumnIndependent(M, S)", proof.Proved},
		{"delta mixes columns", "M_t = ρ_t M_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\ny_t = M_t x_t\n", "ColumnIndependent(M)", proof.Failed},
		{"the norm mixes columns", "M_t = ρ_t M_{t−1} / (1 + ‖M_{t−1}‖) + v_t x_tᵀ\ny_t = M_t x_t\n", "ColumnIndependent(M)", proof.Failed},
		{"columns that trade places", "dims e = d\nM_t[i∈e, j∈d] = M_{t−1}[j,i] + v_t[i] x_t[j]\ny_t = M_t x_t\n", "ColumnIndependent(M)", proof.Failed},
		{"a vector has no columns", "state s ∈ ℝ^{e} = 0\ns_t = ρ_t s_{t−1} + v_t\nM_t = M_{t−1} + s_t x_tᵀ\ny_t = M_t x_t\n", "ColumnIndependent(s)", proof.Failed},
		{"softmax of rows", "M_t[i∈e] = softmax_{j∈d}(M_{t−1}[i,j] + v_t[i] x_t[j])\ny_t = M_t x_t\n", "ProbabilitySimplex(M)", proof.Proved},
		{"softmax of columns", "M_t[i∈e, j∈d] = softmax_{i}(M_{t−1}[i,j] + v_t[i] x_t[j])\ny_t = M_t x_t\n", "ProbabilitySimplex(M)", proof.Failed},
		{"a learned start", "outer B⁰ ∈ ℝ^{e×d} ~ normal(0, 1)\nstate K ∈ ℝ^{e×d} = 2 B⁰\nK_t = K_{t−1}\nM_t = M_{t−1} + K_t\ny_t = M_t x_t\n", "LearnedStart(K)", proof.Proved},
		{"a start that is learned and not drawn", "outer B⁰ ∈ ℝ^{e×d} = 1\nstate K ∈ ℝ^{e×d} = 2 B⁰\nK_t = K_{t−1}\nM_t = M_{t−1} + K_t\ny_t = M_t x_t\n", "LearnedStart(K)", proof.Failed},
		{"a start of zero", "M_t = ρ_t M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "LearnedStart(M)", proof.Failed},
		{"jointly", "state S ∈ ℝ^{e×d} = 0\nS_t = ρ_t S_{t−1} − (M_{t−1} x_t) x_tᵀ\nM_t = M_{t−1} + S_t\ny_t = M_t x_t\n", "AffineInState(M, S)", proof.Proved},
		{"neither alone", "state S ∈ ℝ^{e×d} = 0\nS_t = ρ_t S_{t−1} − (M_{t−1} x_t) x_tᵀ\nM_t = M_{t−1} + S_t\ny_t = M_t x_t\n", "AffineInState(M)", proof.Failed},
		{"momentum of the state", "state S ∈ ℝ^{e×d} = 0\nS_t = ρ_t S_{t−1} − (M_{t−1} x_t) x_tᵀ\nM_t = M_{t−1} + S_t\ny_t = M_t x_t\n", "StateIndependentMomentum(S)", proof.Failed},
		{"momentum of the input", "state S ∈ ℝ^{e×d} = 0\nS_t = ρ_t S_{t−1} + v_t x_tᵀ\nM_t = M_{t−1} + S_t ⊙ M_{t−1}\ny_t = M_t x_t\n", "StateIndependentMomentum(S)", proof.Proved},
		{"affine beside a free state", "state S ∈ ℝ^{e×d} = 0\nS_t = ρ_t S_{t−1} + v_t x_tᵀ\nM_t = M_{t−1} + S_t ⊙ M_{t−1}\ny_t = M_t x_t\n", "AffineInState(M)", proof.Proved},
		{"causal", "M_t = ρ_t M_{t−1} + v_t x_tᵀ\ny_t = M_t x_t\n", "Causal", proof.Tested},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reports, ds := proveText(ruleHead+test.body+"provides "+test.marker+"\n", false)
			found := false
			for _, it := range reports[0].Items {
				if it.Kind == proof.Marker && it.Text == test.marker {
					found = true
					if it.Verdict != test.want {
						t.Errorf("%s is %v, want %v", test.marker, it.Verdict, test.want)
					}
				}
			}
			if !found {
				t.Errorf("no item for %s: %s\n%v", test.marker, ds.Error(), reports[0])
			}
			if bad := test.want == proof.Failed; bad != strings.Contains(ds.Error(), "HEC5008") {
				t.Errorf("the messages are %s", ds.Error())
			}
		})
	}
}
