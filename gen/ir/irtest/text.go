package irtest

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Delta is the delta rule, the recurrence M' = ρM − θ(Mk − v)kᵀ with the read
// y = M'q and the series k, q, v, ρ, θ as inputs.
const Delta = `func delta(k: input real[L, T, d_k], q: input real[L, T, d_k], v: input real[L, T, d_v],
  rho: input real[L, T], theta: input real[L, T], M: state real[L, d_v, d_k]) {
  axes L, T, d_k, d_v
  scan delta.step over L, T as @1 {
    carry M [d_v, d_k] from M to M.next [L, d_v, d_k]
    token k [d_k] from k
    token q [d_k] from q
    token v [d_v] from v
    token rho [] from rho
    token theta [] from theta
    mk [d_v] = prod i:d_v j:d_k : M[i, j] k[j]
    e [d_v] = lin i:d_v : mk[i] - v[i]
    keep [d_v, d_k] = prod i:d_v j:d_k : rho M[i, j]
    write [d_v, d_k] = prod i:d_v j:d_k : -1 theta e[i] k[j]
    n [d_v, d_k] = lin i:d_v j:d_k : keep[i, j] + write[i, j]
    y [d_v] = prod i:d_v j:d_k : n[i, j] q[j]
    next M = n
    give y [L, T, d_v] = y
  }
  return y = y
  return state M = M.next
}`

// MustParse reads a program and panics where the text is not one.
func MustParse(text string) *ir.Func {
	f, err := ir.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%v\n%s", err, text))
	}
	return f
}
