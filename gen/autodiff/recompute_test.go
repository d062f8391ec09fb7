package autodiff

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
)

// TestRecomputed says of small programs what the forward saves.
func TestRecomputed(t *testing.T) {
	const head = `func f(x: input real[L, T, d], W: outer real[d, d], c: outer real[k, d], b: outer real[d]) {
  axes L, T, d, k = 4, "T + 3" = T + 3, "3" = 3
  h [L, T, d] = prod i:L j:T k:d l:d : x[i, j, l] W[k, l]
`
	for _, c := range []struct {
		name, body string
		saved      []string
	}{
		{"a gated value keeps what both factors come from", `  s [L, T, d] = sigmoid i:L j:T k:d : h[i, j, k]
  y [L, T, d] = prod i:L j:T k:d : h[i, j, k] s[i, j, k]
  return y = y
}`, []string{"h"}},
		{"a result is read and nothing saved", `  y [L, T, d] = exp i:L j:T k:d : h[i, j, k]
  return y = y
}`, nil},
		{"a quotient is computed again from a norm, which is one number for each token", `  n [L, T] = prod i:L j:T k:d : h[i, j, k] h[i, j, k]
  r [L, T] = sqrt i:L j:T : n[i, j]
  y [L, T, d] = div i:L j:T k:d : h[i, j, k] r[i, j]
  z [L, T, d] = prod i:L j:T k:d : y[i, j, k] y[i, j, k]
  return z = z
}`, []string{"h", "r"}},
		{"a function without code for vectors is saved, if its derivative needs nothing else alone", `  e [L, T, d] = expm1 i:L j:T k:d : h[i, j, k]
  y [L, T, d] = prod i:L j:T k:d : e[i, j, k] e[i, j, k] e[i, j, k]
  return y = y
}`, []string{"e"}},
	} {
		f, err := ir.Parse(head + c.body)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if p := NewPair(f); !slices.Equal(p.Saved, c.saved) {
			t.Errorf("%s: saved %v, want %v\n%s", c.name, p.Saved, c.saved, p.Bwd)
		}
	}
}

// TestMinimumCut compares the cost of cuts of random networks with that of the best of all.
func TestMinimumCut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		const n = 7
		var save, price [n]int64
		var again [n]bool // may be computed again
		var reads [n][]int
		for v := range n {
			save[v], price[v], again[v] = 1+random.Int64N(20), random.Int64N(8), v > 1 && random.IntN(4) > 0
			for u := range v {
				if random.IntN(3) == 0 {
					reads[v] = append(reads[v], u)
				}
			}
		}
		wanted := []int{n - 1, n - 2}
		cost := func(saved int) int64 {
			sum, seen := int64(0), map[int]bool{}
			var want func(v int)
			want = func(v int) {
				switch {
				case seen[v]:
				case saved>>v&1 == 1:
					seen[v], sum = true, sum+save[v]
				case !again[v]:
					sum += infinite
				default:
					seen[v], sum = true, sum+price[v]
					for _, u := range reads[v] {
						want(u)
					}
				}
			}
			for _, v := range wanted {
				want(v)
			}
			return sum
		}
		best := infinite
		for s := range 1 << n {
			best = min(best, cost(s))
		}
		c := newCut()
		for range n {
			c.add()
		}
		for v := range n {
			in := 2 + 2*v
			c.edge(in, in+1, save[v])
			if !again[v] {
				c.edge(source, in, infinite)
				continue
			}
			c.edge(source, in, price[v])
			for _, u := range reads[v] {
				c.edge(2+2*u+1, in, infinite)
			}
		}
		for _, v := range wanted {
			c.edge(2+2*v+1, sink, infinite)
		}
		c.fill()
		after, chosen := c.reachesSink(), 0
		for v := range n {
			if !after[2+2*v] && after[2+2*v+1] {
				chosen |= 1 << v
			}
		}
		if got := cost(chosen); got != best {
			t.Fatalf("the cut costs %d, the best %d: save %v, again %v for %v, reads %v", got, best, save, again, price, reads)
		}
	}
}
