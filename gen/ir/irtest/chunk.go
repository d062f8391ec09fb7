package irtest

import "github.com/nl-hecate/hecate/gen/ir"

// Triangular returns a program of triangular systems: a batch of them with
// columns, from the first row on, and one of a single column from the last row
// on, whose matrix is read backward along one of its axes only.
func Triangular() *ir.Func { return parse(triangular) }

// Chunk returns the exact chunk form of the delta rule
//
//	M_t = ρ_t M_{t−1} − θ_t (M_{t−1} k_t − v_t) k_tᵀ    y_t = M_t q_t
//
// with the products of its gates given: T chunks of C tokens, one after another.
// With g_t = Π_{j≤t} ρ_j inside a chunk, D[t,i] = g_{t−1}/g_i for i < t and
// Gm[t,i] = g_t/g_i for i ≤ t, both 0 elsewhere; gp[t] = g_{t−1}, gam[i] = g_C/g_i.
func Chunk() *ir.Func { return parse(chunk) }

func parse(text string) *ir.Func {
	f, err := ir.Parse(text)
	if err != nil {
		panic("irtest: BUG: " + err.Error())
	}
	return f
}

const triangular = `func triangular(A: input real[B, c, c], x: input real[B, d, c], y: outer real[c]) {
  axes B, c, d
  first [B, c, d] = trisolve b:B t:c j:d i:c over t i : A[b, t, i] x[b, j, t]
  total [c, c] at [t, 0] = prod b:B t:c j:d : 0.25 first[b, t, j]
  last [c] at [c - 1 - t] = trisolve t:c i:c over t i : total[c - 1 - i, t] y[c - 1 - t]
  return first = first
  return last = last
}`

const chunk = `func chunk(K: input real[L, T, C, d_k], Q: input real[L, T, C, d_k], V: input real[L, T, C, d_v],
  D: input real[L, T, C, C], Gm: input real[L, T, C, C], g: input real[L, T, C], gp: input real[L, T, C], gam: input real[L, T, C],
  gC: input real[L, T], theta: input real[L, T, C], M: state real[L, d_v, d_k]) {
  axes L, T, C, d_k, d_v
  scan chunk.step over L, T as @1 {
    carry M [d_v, d_k] from M to M.next [L, d_v, d_k]
    token K [C, d_k] from K
    token Q [C, d_k] from Q
    token V [C, d_v] from V
    token D [C, C] from D
    token Gm [C, C] from Gm
    token g [C] from g
    token gp [C] from gp
    token gam [C] from gam
    token gC [] from gC
    token theta [C] from theta
    P [C, d_v] = prod t:C v:d_v k:d_k : K[t, k] M[v, k]
    KK [C, C] = prod t:C i:C k:d_k : K[t, k] K[i, k]
    N [C, C] = prod t:C i:C : D[t, i] KK[t, i]
    A [C, C] = prod t:C i:C : theta[t] N[t, i]
    old [C, d_v] = prod t:C v:d_v : gp[t] P[t, v]
    R [C, d_v] = lin t:C v:d_v : V[t, v] - old[t, v]
    B [C, d_v] = prod t:C v:d_v : theta[t] R[t, v]
    U [C, d_v] = trisolve t:C v:d_v i:C over t i : A[t, i] B[t, v]
    QM [C, d_v] = prod t:C v:d_v k:d_k : Q[t, k] M[v, k]
    QK [C, C] = prod t:C i:C k:d_k : Q[t, k] K[i, k]
    H [C, C] = prod t:C i:C : Gm[t, i] QK[t, i]
    HU [C, d_v] = prod t:C v:d_v i:C : H[t, i] U[i, v]
    gQ [C, d_v] = prod t:C v:d_v : g[t] QM[t, v]
    Y [C, d_v] = lin t:C v:d_v : gQ[t, v] + HU[t, v]
    GU [C, d_v] = prod t:C v:d_v : gam[t] U[t, v]
    W [d_v, d_k] = prod v:d_v k:d_k t:C : GU[t, v] K[t, k]
    kept [d_v, d_k] = prod v:d_v k:d_k : gC M[v, k]
    n [d_v, d_k] = lin v:d_v k:d_k : kept[v, k] + W[v, k]
    next M = n
    give Y [L, T, C, d_v] = Y
  }
  return y = Y
  return state M = M.next
}`
