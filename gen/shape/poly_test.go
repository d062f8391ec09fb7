package shape

import (
	"math/rand/v2"
	"testing"
)

// TestRing evaluates sums, differences and products of random polynomials, and wants
// those that are equal to be spelled alike.
func TestRing(t *testing.T) {
	names := []string{"a", "ab", "b", "⌊a/3⌋"}
	sizes := map[string]int{"a": 7, "ab": 5, "b": 3}
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() Poly {
		p := Int(r.Int64N(5) - 2)
		for range r.IntN(4) {
			m := Int(r.Int64N(7) - 3)
			for range r.IntN(4) {
				s := Sym(names[r.IntN(3)])
				if r.IntN(5) == 0 {
					s = Floor("a", 3)
				}
				m = m.Mul(s)
			}
			p = p.Add(m)
		}
		return p
	}
	value := func(p Poly) int {
		n, err := p.Eval(sizes)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 2000 {
		p, q, s := draw(), draw(), draw()
		x, y, z := value(p), value(q), value(s)
		if got := value(p.Add(q)); got != x+y {
			t.Fatalf("(%s) + (%s) is %s, which is %d and not %d", p, q, p.Add(q), got, x+y)
		}
		if got := value(p.Sub(q)); got != x-y {
			t.Fatalf("(%s) - (%s) is %s, which is %d and not %d", p, q, p.Sub(q), got, x-y)
		}
		if got := value(p.Mul(q)); got != x*y {
			t.Fatalf("(%s) · (%s) is %s, which is %d and not %d", p, q, p.Mul(q), got, x*y)
		}
		one, other := p.Mul(q.Add(s)), s.Mul(p).Add(q.Mul(p))
		if one.String() != other.String() || !one.Equal(other) || value(one) != x*(y+z) {
			t.Fatalf("%s and %s are one polynomial", one, other)
		}
		if d := one.Sub(other); !d.IsZero() || d.String() != "0" {
			t.Fatalf("%s minus itself is %s", one, d)
		}
		if p.Equal(q) != (p.String() == q.String()) {
			t.Fatalf("%s and %s", p, q)
		}
	}
}

// TestShared wants constants and sums that share terms to stay what they are.
func TestShared(t *testing.T) {
	n := Sym("n")
	p := n.Add(Int(1))
	_ = p.Add(p)
	_ = p.Mul(Int(3)).Sub(p)
	if p.String() != "n + 1" || Int(1).String() != "1" || Int(-1).String() != "-1" || Int(64).String() != "64" || Int(65).String() != "65" || Int(-2).String() != "-2" {
		t.Errorf("%s, %s", p, Int(1))
	}
}
