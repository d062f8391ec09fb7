package autodiff_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/interp/interptest"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// models are programs as pages have them.
var models = map[string]string{
	"delta": irtest.Delta,
	// Two states: the momentum S and the memory M.
	"momentum": `func momentum(k: input real[L, T, d_k], q: input real[L, T, d_k], v: input real[L, T, d_v],
  eta: input real[L, T], theta: input real[L, T], M: state real[L, d_v, d_k], S: state real[L, d_v, d_k]) {
  axes L, T, d_k, d_v
  scan momentum.step over L, T as @1 {
    carry M [d_v, d_k] from M to M.next [L, d_v, d_k]
    carry S [d_v, d_k] from S to S.next [L, d_v, d_k]
    token k [d_k] from k
    token q [d_k] from q
    token v [d_v] from v
    token eta [] from eta
    token theta [] from theta
    mk [d_v] = prod i:d_v j:d_k : M[i, j] k[j]
    e [d_v] = lin i:d_v : mk[i] - v[i]
    old [d_v, d_k] = prod i:d_v j:d_k : eta S[i, j]
    grad [d_v, d_k] = prod i:d_v j:d_k : theta e[i] k[j]
    s [d_v, d_k] = lin i:d_v j:d_k : old[i, j] - grad[i, j]
    n [d_v, d_k] = lin i:d_v j:d_k : M[i, j] + s[i, j]
    y [d_v] = prod i:d_v j:d_k : n[i, j] q[j]
    next M = n
    next S = s
    give y [L, T, d_v] = y
  }
  return y = y
  return state M = M.next
  return state S = S.next
}`,
	// A step that normalises its state: rows depend on one another.
	"softmax": `func softmax(k: input real[L, T, d], v: input real[L, T, m], rho: input real[L, T], Z: state real[L, m, d]) {
  axes L, T, m, d
  scan softmax.step over L, T as @1 {
    carry Z [m, d] from Z to Z.next [L, m, d]
    token k [d] from k
    token v [m] from v
    token rho [] from rho
    W [m, d] = softmax i:m j:d over i : Z[i, j]
    a [m] = prod i:m j:d : W[i, j] k[j]
    e [m] = lin i:m : a[i] - v[i]
    G [m, d] = prod i:m j:d : e[i] k[j]
    keep [m, d] = prod i:m j:d : rho Z[i, j]
    n [m, d] = lin i:m j:d : keep[i, j] - G[i, j]
    y [m] = prod i:m j:d : W[i, j] n[i, j]
    next Z = n
    give y [L, T, m] = y
  }
  return y = y
  return state Z = Z.next
}`,
	"attention": `func attention(x: input real[L, T, d], W_Q: outer real[h, d], W_K: outer real[h, d], W_V: outer real[d, d], scale: const real[]) {
  axes L, T, d, h
  q [L, T, h] = prod l:L t:T i:h j:d : W_Q[i, j] x[l, t, j]
  k [L, T, h] = prod l:L t:T i:h j:d : W_K[i, j] x[l, t, j]
  v [L, T, d] = prod l:L t:T i:d j:d : W_V[i, j] x[l, t, j]
  z [L, T, T] = prod l:L t:T s:T i:h where t - s >= 0 : scale q[l, t, i] k[l, s, i]
  p [L, T, T] = softmax l:L t:T s:T over s where t - s >= 0 : z[l, t, s]
  y [L, T, d] at [l, t, i] = prod l:L t:T s:T i:d where t - s >= 0 : p[l, t, s] v[l, s, i]
  return y = y
}`,
	// A byte model: embedding, one layer, logits, cross entropy with an ignore id.
	"bytes": `func bytes(ids: input int[T], want: input int[T], E: outer real[V, d], H: outer real[V, d], W: outer real[d, d]) {
  axes T, V, d
  x [T, d] = prod t:T i:d : E[ids[t], i]
  a [T, d] = prod t:T i:d j:d : W[i, j] x[t, j]
  b [T, d] = tanh t:T i:d : a[t, i]
  z [T, V] = prod t:T u:V i:d : H[u, i] b[t, i]
  n [T] = logsumexp t:T u:V over u : z[t, u]
  c [T] = prod t:T : z[t, want[t]]
  l [T] = lin t:T : n[t] - c[t]
  loss [] = prod t:T where want[t] >= 0 : l[t]
  return loss = loss
}`,
	// A convolution over the last w tokens whose window crosses the chunk's
	// edge, shared weights, weights per element of the batch, and three scans multiplied.
	"windows": `func windows(x: input real[L, past, d], u: input real[L, T, d], K: outer real[w, d], R: outer real[d, d], b: outer real[L, d], M: state real[L, d], N: state real[L, d]) {
  axes L, T, d, w, past = T + w - 1
  scan conv over L, T as @1 {
    carry M [d] from M to M.next [L, d]
    token x [w, d] from x window w base w - 1
    token u [d] from u
    shared K [w, d] from K
    shared R [d, d] from R
    shared b [d] from b by lane
    c [d] = prod i:d j:w : x[j, i] K[j, i]
    r [d] = prod i:d j:d : R[i, j] M[j]
    s [d] = lin i:d : c[i] + r[i] + b[i] + u[i]
    n [d] = tanh i:d : s[i]
    next M = n
    give h [L, T, d] = n
  }
  scan mean over L, T as @2 {
    carry N [d] from N to N.next [L, d]
    token h [d] from h
    token u [d] from u
    n [d] = lin i:d : 0.9 N[i] + 0.1 h[i]
    g [d] = prod i:d : n[i] u[i]
    next N = n
    give m [L, T, d] = g
  }
  scan total over L, T as @3 {
    carry S [d]
    token h [d] from h
    n [d] = lin i:d : S[i] + h[i]
    next S = n
    give c [L, T, d] = n
  }
  o [L, T, d] = prod l:L t:T i:d : h[l, t, i] m[l, t, i] c[l, t, i]
  y [L, d] = prod l:L i:d t:T : o[l, t, i]
  return y = y
  return state M = M.next
  return state N = N.next
}`,
}

// relTol is the agreement of a derivative with a fourth-order central
// difference in float64.
const relTol = 1e-7

var modelSizes = map[string]int{"L": 2, "T": 5, "d_k": 3, "d_v": 4, "d": 3, "m": 2, "h": 2, "V": 4, "w": 3}

// point is a random point; indices cover the vocabulary and the ignore id.
func point(f *ir.Func, sizes map[string]int, seed uint64) map[string]*interp.Tensor {
	rng := rand.New(rand.NewPCG(seed, 2))
	out := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = 0.8 * rng.NormFloat64()
			if p.Elem == ir.Int {
				x.Data[i] = float64(rng.IntN(sizes["V"]+1) - 1)
			}
		}
		out[p.Name] = x
	}
	return out
}

func TestPairs(t *testing.T) {
	for name, text := range models {
		f := irtest.MustParse(text)
		if err := ir.Verify(f); err != nil {
			t.Fatal(err)
		}
		if errs := gradErrors(f, modelSizes, point(f, modelSizes, 1)); len(errs) > 0 {
			t.Errorf("%s: %s", name, strings.Join(errs, "\n"))
		}
		pair := autodiff.NewPair(irtest.MustParse(text))
		golden(t, name, "saved "+strings.Join(pair.Saved, " ")+"\n\n"+pair.Fwd.String()+"\n"+pair.Bwd.String())
	}
}

// golden compares with a stored text.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	want, err := os.ReadFile(path)
	if *update || os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil || string(want) != got {
		t.Errorf("%s changed; run with UPDATE=1 and read the difference\n%s", path, got)
	}
}

// TestDeltaBackwardIsHandWritten counts the passes over the state in the
// backward of the delta rule: M_tᵀȳ, G k, Gᵀe, Mᵀ(G k) and ⟨G, M⟩, no other,
// and only the errors are saved.
func TestDeltaBackwardIsHandWritten(t *testing.T) {
	pair := autodiff.NewPair(irtest.MustParse(irtest.Delta))
	if len(pair.Saved) != 1 || len(pair.Missing) != 0 {
		t.Errorf("saved %v, missing %v; want the errors only, and nothing missing", pair.Saved, pair.Missing)
	}
	saved := pair.Bwd.Param(pair.Saved[0])
	if saved == nil || len(saved.Axes) != 3 || saved.Axes[2].Name != "d_v" {
		t.Errorf("saved %v", saved)
	}
	i := slices.IndexFunc(pair.Bwd.Body, func(in *ir.Instr) bool { return in.Scan != nil })
	passes, updates := 0, 0
	for _, in := range pair.Bwd.Body[i].Scan.Body.Body {
		switch {
		case len(in.Loops) == 2 && len(in.Out.Axes) < 2:
			passes++
		case len(in.Loops) == 2:
			updates++
		}
	}
	if passes != 5 || updates > 8 {
		t.Errorf("%d contractions and %d updates of the state, want 5 and at most 8\n%s", passes, updates, pair.Bwd)
	}
}

// TestScanIsUnrolled compares a scan of three tokens, and its backward, with
// the same steps written out one after another.
func TestScanIsUnrolled(t *testing.T) {
	head := "(x: input real[L, T, d], R: outer real[d, d], M: state real[L, d]) {\n  axes L, T = 3, d\n"
	scan := irtest.MustParse("func recurrent" + head + `  scan step over L, T as @1 {
    carry M [d] from M to M.next [L, d]
    token x [d] from x
    shared R [d, d] from R
    r [d] = prod i:d j:d : R[i, j] M[j]
    s [d] = lin i:d : r[i] + x[i]
    n [d] = tanh i:d : s[i]
    next M = n
    give y [L, T, d] = n
  }
  z [L, d] = prod l:L i:d t:T : y[l, t, i] y[l, t, i]
  return z = z
  return state M = M.next
}`)
	step := "  r# [L, d] = prod l:L i:d j:d : R[i, j] n@[l, j]\n  s# [L, d] = lin l:L i:d : r#[l, i] + x[l, @, i]\n  n# [L, d] = tanh l:L i:d : s#[l, i]\n  q# [L, d] = prod l:L i:d : n#[l, i] n#[l, i]\n"
	text := "func unrolled" + head + "  n0 [L, d] = lin l:L i:d : M[l, i]\n"
	for i := range 3 {
		text += strings.NewReplacer("#", string(rune('1'+i)), "@", string(rune('0'+i))).Replace(step)
	}
	unrolled := irtest.MustParse(text + "  z [L, d] = lin l:L i:d : q1[l, i] + q2[l, i] + q3[l, i]\n  return z = z\n  return state M = n3\n}")
	sizes := map[string]int{"L": 2, "d": 3, "T": 3}
	params := point(scan, sizes, 3)
	var grads []map[string]*interp.Tensor
	for _, f := range []*ir.Func{scan, unrolled} {
		tr := &trial{pair: autodiff.NewPair(f), sizes: sizes, params: params, weight: map[string]*interp.Tensor{}}
		grads = append(grads, tr.backward(false))
	}
	interptest.Compare(t, "gradients", grads[1], grads[0])
	interptest.Compare(t, "values", interp.Run(unrolled, sizes, params), interp.Run(scan, sizes, params))
}

// TestRandomPairs differentiates random programs.
func TestRandomPairs(t *testing.T) {
	for seed := range uint64(60) {
		f := irtest.Program(seed)
		if errs := gradErrors(f, irtest.Sizes, interptest.Inputs(f, irtest.Sizes, seed)); len(errs) > 0 {
			t.Fatalf("seed %d: %s", seed, strings.Join(errs, "\n"))
		}
	}
}
