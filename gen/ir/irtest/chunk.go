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

// Momentum returns the exact chunk form of the same rule with a momentum,
//
//	S_t = η_t S_{t−1} − θ_t (M_{t−1} k_t − v_t) k_tᵀ    M_t = ρ_t M_{t−1} + S_t
//
// its tables given: two states, each of which the tokens of a chunk write.
func Momentum() *ir.Func { return parse(momentum) }

// Linear returns the chunk form of linear attention with a gate: products of
// matrices and no system.
func Linear() *ir.Func { return parse(linear) }

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

const momentum = `func momentum(K: input real[L, T, C, d_k], Q: input real[L, T, C, d_k], V: input real[L, T, C, d_v],
  D: input real[L, T, C, C], Gm: input real[L, T, C, C], g: input real[L, T, C], gp: input real[L, T, C], gam: input real[L, T, C],
  h: input real[L, T, C], hp: input real[L, T, C], gae: input real[L, T, C], gC: input real[L, T], hC: input real[L, T], pC: input real[L, T],
  theta: input real[L, T, C], M: state real[L, d_v, d_k], S: state real[L, d_v, d_k]) {
  axes L, T, C, d_k, d_v
  scan momentum.step over L, T as @1 {
    carry M [d_v, d_k] from M to M.next [L, d_v, d_k]
    carry S [d_v, d_k] from S to S.next [L, d_v, d_k]
    token K [C, d_k] from K
    token Q [C, d_k] from Q
    token V [C, d_v] from V
    token D [C, C] from D
    token Gm [C, C] from Gm
    token g [C] from g
    token gp [C] from gp
    token gam [C] from gam
    token h [C] from h
    token hp [C] from hp
    token gae [C] from gae
    token gC [] from gC
    token hC [] from hC
    token pC [] from pC
    token theta [C] from theta
    P [C, d_v] = prod t:C v:d_v k:d_k : K[t, k] M[v, k]
    PS [C, d_v] = prod t:C v:d_v k:d_k : K[t, k] S[v, k]
    KK [C, C] = prod t:C i:C k:d_k : K[t, k] K[i, k]
    A [C, C] = prod t:C i:C : theta[t] D[t, i] KK[t, i]
    old [C, d_v] = prod t:C v:d_v : gp[t] P[t, v]
    olds [C, d_v] = prod t:C v:d_v : hp[t] PS[t, v]
    R [C, d_v] = lin t:C v:d_v : V[t, v] - old[t, v] - olds[t, v]
    B [C, d_v] = prod t:C v:d_v : theta[t] R[t, v]
    U [C, d_v] = trisolve t:C v:d_v i:C over t i : A[t, i] B[t, v]
    QM [C, d_v] = prod t:C v:d_v k:d_k : Q[t, k] M[v, k]
    QS [C, d_v] = prod t:C v:d_v k:d_k : Q[t, k] S[v, k]
    QK [C, C] = prod t:C i:C k:d_k : Q[t, k] K[i, k]
    H [C, C] = prod t:C i:C : Gm[t, i] QK[t, i]
    HU [C, d_v] = prod t:C v:d_v i:C : H[t, i] U[i, v]
    gQ [C, d_v] = prod t:C v:d_v : g[t] QM[t, v]
    hQ [C, d_v] = prod t:C v:d_v : h[t] QS[t, v]
    Y [C, d_v] = lin t:C v:d_v : gQ[t, v] + hQ[t, v] + HU[t, v]
    UM [C, d_v] = prod t:C v:d_v : gam[t] U[t, v]
    US [C, d_v] = prod t:C v:d_v : gae[t] U[t, v]
    WM [d_v, d_k] = prod v:d_v k:d_k t:C : UM[t, v] K[t, k]
    WS [d_v, d_k] = prod v:d_v k:d_k t:C : US[t, v] K[t, k]
    gM [d_v, d_k] = prod v:d_v k:d_k : gC M[v, k]
    hS [d_v, d_k] = prod v:d_v k:d_k : hC S[v, k]
    pS [d_v, d_k] = prod v:d_v k:d_k : pC S[v, k]
    m [d_v, d_k] = lin v:d_v k:d_k : gM[v, k] + hS[v, k] + WM[v, k]
    s [d_v, d_k] = lin v:d_v k:d_k : pS[v, k] + WS[v, k]
    next M = m
    next S = s
    give Y [L, T, C, d_v] = Y
  }
  return y = Y
  return state M = M.next
  return state S = S.next
}`

const linear = `func linear(K: input real[L, T, C, d_k], Q: input real[L, T, C, d_k], V: input real[L, T, C, d_v],
  Gm: input real[L, T, C, C], g: input real[L, T, C], W: outer real[d_k, d_k], M: state real[L, d_v, d_k]) {
  axes L, T, C, d_k, d_v
  scan linear.step over L, T as @1 {
    carry M [d_v, d_k] from M to M.next [L, d_v, d_k]
    token K [C, d_k] from K
    token Q [C, d_k] from Q
    token V [C, d_v] from V
    token Gm [C, C] from Gm
    token g [C] from g
    shared W [d_k, d_k] from W
    F [C, d_k] = prod t:C k:d_k j:d_k : K[t, j] W[k, j]
    QM [C, d_v] = prod t:C v:d_v k:d_k : Q[t, k] M[v, k]
    QK [C, C] = prod t:C i:C k:d_k : Q[t, k] F[i, k]
    H [C, C] = prod t:C i:C : Gm[t, i] QK[t, i]
    HV [C, d_v] = prod t:C v:d_v i:C : H[t, i] V[i, v]
    gQ [C, d_v] = prod t:C v:d_v : g[t] QM[t, v]
    Y [C, d_v] = lin t:C v:d_v : gQ[t, v] + HV[t, v]
    KV [d_k, d_v] = prod k:d_k v:d_v t:C : -1 F[t, k] V[t, v]
    n [d_v, d_k] = lin v:d_v k:d_k : M[v, k] - KV[k, v]
    next M = n
    give Y [L, T, C, d_v] = Y
  }
  return y = Y
  return state M = M.next
}`
