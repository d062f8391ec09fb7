package simplify_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/interp/interptest"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

const (
	convolution = `func f(x: input real[L, T, d], tail: state real[L, "3", d], c: outer real[k, d], pos: state int[L]) {
  axes L, T, d, "3" = 3, k = 4, "T + 3" = T + 3
  s [L, "T + 3", d] = stack i:L j:"T + 3" k:d over j : tail[i, j, k] x[i, j - 3, k]
  y [L, T, d] = prod i:L j:T k:d l:k where j - l + pos[i] >= 0 : s[i, j - l + 3, k] c[l, k]
  rest [L, "3", d] = prod i:L j:"3" k:d : s[i, j + T, k]
  return y = y
  return state tail = rest
}`
	gate = `func f(a: input real[L, T, d], b: input real[L, T, n], w: outer real["d + n"]) {
  axes L, T, d, n, "d + n" = d + n
  s [L, T, "d + n"] = stack i:L j:T k:"d + n" over k : a[i, j, k] b[i, j, k - d]
  y [L, T] = prod i:L j:T k:"d + n" : s[i, j, k] w[k]
  return y = y
}`
	readWhole = `func f(a: input real[L, T, d], b: input real[L, T, n], w: outer real["d + n"]) {
  axes L, T, d, n, "d + n" = d + n
  s [L, T, "d + n"] = stack i:L j:T k:"d + n" over k : a[i, j, k] b[i, j, k - d]
  y [L, T] = prod i:L j:T k:"d + n" : s[i, j, k] w[k]
  z [L, T, "d + n"] = exp i:L j:T k:"d + n" : s[i, j, k]
  return y = y
  return z = z
}`
	scattered = `func f(x: input real[L, T, d], c: outer real[k, d]) {
  axes L, T, d, k = 4, "T + 3" = T + 3
  y [L, "T + 3", d] at [i, j - l + 3, k] = prod i:L j:T k:d l:k : x[i, j, k] c[l, k]
  return y = y
}`
	guarded = `func f(q: input real[L, T, d], s: input real[L, T, w], p: input real[L, T, w], pos: state int[L]) {
  axes L, T, d, w
  a [L, T, w] = softmax i:L j:T k:w over k where j - k + pos[i] >= 0 : s[i, j, k]
  b [L, T, w] = lin i:L j:T k:w where j - k + pos[i] >= 0 : p[i, j, k] + 2 s[i, j, k]
  e [L, T, w] = prod i:L j:T k:w where j - k + pos[i] >= 0 : a[i, j, k] b[i, j, k]
  return e = e
}`
)

// TestConcatenations holds the rewritten programs to the values of the originals, and says
// what each has no more.
func TestConcatenations(t *testing.T) {
	for _, c := range []struct {
		name, text string
		pass       func(*ir.Func)
		gone, has  []string
	}{
		{"convolution", convolution, simplify.Stacks, []string{"l:k where"}, []string{"where j + pos[i] - 3 >= 0 : tail", "over j"}},
		{"gate", gate, simplify.Stacks, []string{"stack"}, []string{"w[k + d]"}},
		{"read whole", readWhole, simplify.Stacks, nil, []string{"stack", "w[k]"}},
		{"adjoint of a convolution", scattered, simplify.Gathers, []string{"at ["}, []string{"[i, j + l, k]"}},
		{"conditions", guarded, simplify.Guards, []string{"lin i:L j:T k:w where", "prod i:L j:T k:w where"}, []string{"softmax"}},
	} {
		f, err := ir.Parse(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		g, _ := f.Clone()
		c.pass(g)
		if err := ir.Verify(g); err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, g)
		}
		for _, x := range c.gone {
			if strings.Contains(g.String(), x) {
				t.Errorf("%s has %q still:\n%s", c.name, x, g)
			}
		}
		for _, x := range c.has {
			if !strings.Contains(g.String(), x) {
				t.Errorf("%s has no %q:\n%s", c.name, x, g)
			}
		}
		for seed, length := range []int{1, 2, 3, 4, 7, 8} {
			sizes := map[string]int{"L": 2, "T": length, "d": 3, "n": 2, "w": 3}
			params := interptest.Inputs(f, sizes, uint64(seed))
			if pos := params["pos"]; pos != nil {
				pos.Data[0], pos.Data[1] = float64(seed), 0
			}
			interptest.Compare(t, c.name+"\n"+g.String(), interp.Run(f, sizes, params), interp.Run(g, sizes, params))
		}
	}
}
