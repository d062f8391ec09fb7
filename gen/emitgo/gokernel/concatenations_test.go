package gokernel_test

import (
	"math"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Programs whose values are computed in the memory of others: concatenations with what came
// before the call, of one value twice, and beside a view; and sums with a summand that has few
// entries, or the entries of an axis in another order.
const (
	convolutions = `func convolutions(x: input real[L, T, d], V: outer real[d, d], W: outer real[d, d], v.tail: state real[L, "3", d], w.tail: state real[L, "3", d],
    c: outer real[k, d], e: outer real[k, d], pos: state int[L]) {
  axes L, T, d, "3" = 3, k = 4, "T + 3" = T + 3
  v [L, T, d] = prod i:L j:T k:d l:d : x[i, j, l] V[k, l]
  w [L, T, d] = prod i:L j:T k:d l:d : x[i, j, l] W[k, l]
  vs [L, "T + 3", d] = stack i:L j:"T + 3" k:d over j : v.tail[i, j, k] v[i, j - 3, k]
  ws [L, "T + 3", d] = stack i:L j:"T + 3" k:d over j : w.tail[i, j, k] w[i, j - 3, k]
  vrest [L, "3", d] = prod i:L j:"3" k:d : vs[i, j + T, k]
  wrest [L, "3", d] = prod i:L j:"3" k:d : ws[i, j + T, k]
  vc [L, T, d] = prod i:L j:T k:d l:k where j - l + pos[i] >= 0 : vs[i, j - l + 3, k] c[l, k]
  wc [L, T, d] = prod i:L j:T k:d l:k where j - l + pos[i] >= 0 : ws[i, j - l + 3, k] e[l, k]
  g [L, T, d] = sigmoid i:L j:T k:d : wc[i, j, k]
  n [L, T] = prod i:L j:T k:d : vc[i, j, k] vc[i, j, k]
  m [L, T] = lin i:L j:T : n[i, j] + 1
  r [L, T] = sqrt i:L j:T : m[i, j]
  u [L, T, d] = div i:L j:T k:d : vc[i, j, k] r[i, j]
  y [L, T, d] = prod i:L j:T k:d : u[i, j, k] g[i, j, k]
  return y = y
  return state v.tail = vrest
  return state w.tail = wrest
}`
	summed = `func summed(A: input real[T, d], b: input real[d], B: input real[T, T], u: input real["3"], v: input real["3"]) {
  axes T, d, "3" = 3
  a [T] = prod i:T j:d : A[i, j] b[j]
  s [T] at [i + T - 3] = prod i:"3" where i + T - 3 >= 0 : u[i]
  y [T] = lin i:T : a[i] + s[i]
  c [T] = prod i:T j:T : B[i, j] y[j]
  r [T] at [i + T - 3] = prod i:"3" where i + T - 3 >= 0 : v[i]
  z [T] = lin i:T : c[i] + r[i]
  return z = z
}`
	oneSeries = `func convolution(x: input real[L, T, d], V: outer real[d, d], v.tail: state real[L, "3", d], c: outer real[k, d], pos: state int[L]) {
  axes L, T, d, "3" = 3, k = 4, "T + 3" = T + 3
  v [L, T, d] = prod i:L j:T k:d l:d : x[i, j, l] V[k, l]
  vs [L, "T + 3", d] = stack i:L j:"T + 3" k:d over j : v.tail[i, j, k] v[i, j - 3, k]
  vrest [L, "3", d] = prod i:L j:"3" k:d : vs[i, j + T, k]
  y [L, T, d] = prod i:L j:T k:d l:k where j - l + pos[i] >= 0 : vs[i, j - l + 3, k] c[l, k]
  return y = y
  return state v.tail = vrest
}`
	twice = `func twice(x: input real[L, T, d], W: outer real[d, d]) {
  axes L, T, d, "2·d" = 2·d
  h [L, T, d] = prod i:L j:T k:d l:d : x[i, j, l] W[k, l]
  s [L, T, "2·d"] = stack i:L j:T k:"2·d" over k : h[i, j, k] h[i, j, k - d]
  e [L, T, "2·d"] = exp i:L j:T k:"2·d" : s[i, j, k]
  y [L, T, d] = prod i:L j:T k:d l:d : e[i, j, k + l] h[i, j, l]
  return y = y
}`
	viewed = `func viewed(x: input real[L, T, n], W: outer real[n, n], tail: state real[L, "3", n], q: outer real[H, d]) {
  axes L, T, H, d, n = H·d, "3" = 3, "T + 3" = T + 3
  h [L, T, n] = prod i:L j:T k:n l:n : x[i, j, l] W[k, l]
  s [L, "T + 3", n] = stack i:L j:"T + 3" k:n over j : tail[i, j, k] h[i, j - 3, k]
  e [L, "T + 3", n] = exp i:L j:"T + 3" k:n : s[i, j, k]
  v [L, T, H, d] = reshape : h
  y [L, T, H] = prod i:L j:T k:H l:d : v[i, j, k, l] q[k, l]
  return e = e
  return y = y
}`
	turned = `func turned(x: input real[L, T, n], W: outer real[n, n], C: input real[L, T, d], S: input real[L, T, d]) {
  axes L, T, d, r = 2, n = 2·d
  h [L, T, n] = prod i:L j:T k:n l:n : x[i, j, l] W[k, l]
  p [L, T, r, d] = reshape : h
  a [L, T, r, d] = prod i:L j:T k:r l:d : p[i, j, k, l] C[i, j, l]
  b [L, T, r, d] = prod i:L j:T k:r l:d : p[i, j, 1 - k, l] S[i, j, l]
  y [L, T, r, d] = lin i:L j:T k:r l:d : a[i, j, k, l] + b[i, j, k, l]
  z [L, T, n] = reshape : y
  return z = z
}`
	windowOfHeads = `func heads(x: input real[L, T, n], W: outer real[n, n], tail: state real[L, "3", H, d], p: input real[L, T, H, w], pos: state int[L]) {
  axes L, T, H, d, n = H·d, "3" = 3, w = 4, "T + 3" = T + 3
  k [L, T, n] = prod i:L j:T k:n l:n : x[i, j, l] W[k, l]
  h [L, T, H, d] = reshape : k
  s [L, "T + 3", H, d] = stack i:L j:"T + 3" k:H l:d over j : tail[i, j, k, l] h[i, j - 3, k, l]
  rest [L, "3", H, d] = prod i:L j:"3" k:H l:d : s[i, j + T, k, l]
  a [L, T, H, w] = softmax i:L j:T k:H l:w over l where j - l + pos[i] >= 0 : p[i, j, k, l]
  o [L, T, H, d] = prod i:L j:T k:H l:d m:w where j - m + pos[i] >= 0 : a[i, j, k, m] s[i, j - m + 3, k, l]
  y [L, T, n] = reshape : o
  return y = y
  return state tail = rest
}`
)

// concatenations are those programs; fewer tokens than a convolution has terms among the sizes.
func concatenations() []*program {
	sizes := sizesOf([]string{"L", "T", "d", "H"}, []int{1, 1, 1, 1}, []int{2, 1, 3, 2}, []int{2, 2, 5, 3}, []int{3, 3, 2, 1}, []int{2, 7, 17, 2})
	var out []*program
	for name, text := range map[string]string{"Convolutions": convolutions, "OneSeries": oneSeries, "Twice": twice, "Summed": summed, "Viewed": viewed, "Turned": turned, "WindowOfHeads": windowOfHeads} {
		f, err := ir.Parse(text)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		out = append(out, &program{name: name, f: f, sizes: sizes, input: positions})
	}
	return out
}

// positions are from 0 to 4, fewer and more than a convolution looks back.
func positions(rng *rand.Rand, p *ir.Value, _ map[string]int) float64 {
	if p.IsPosition() {
		return float64(rng.IntN(5))
	}
	return math.NaN()
}
