package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// fmaExact is a·b + c by big numbers, wide enough for every float32.
type fmaExact struct{ p, x, y big.Float }

func newFMAExact() *fmaExact {
	var e fmaExact
	for _, f := range []*big.Float{&e.p, &e.x, &e.y} {
		f.SetPrec(700) // exponents run from −298 to 256
	}
	return &e
}

func (e *fmaExact) of(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	if s := p + float64(c); s-s != 0 || p == 0 || p == -float64(c) {
		return float32(s) // not finite, or one term, or an exact zero with its sign
	}
	e.x.SetFloat64(float64(a))
	e.y.SetFloat64(float64(b))
	e.p.Mul(&e.x, &e.y)
	e.y.SetFloat64(float64(c))
	e.p.Add(&e.p, &e.y)
	f, _ := e.p.Float32()
	return f
}

func sameBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

var fmaSpecial = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 3, 0x1p-149, -0x1p-149, 0x1p-126, -0x1p-126,
	0x1.fffffcp-127, 0x1.fffffep127, -0x1.fffffep127, 0x1p127, 0x1p-75, 0x1p-74, 0x1.000002p0, 0x1.fffffep-1,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0x1.8p-149 * 2, 0x1p64, 0x1.000002p-64, 0x1.555556p-2}

func TestFMA32Special(t *testing.T) {
	e := newFMAExact()
	for _, a := range fmaSpecial {
		for _, b := range fmaSpecial {
			for _, c := range fmaSpecial {
				if got, want := FMA32(a, b, c), e.of(a, b, c); !sameBits(got, want) {
					t.Errorf("FMA32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
				}
			}
		}
	}
}

// TestFMA32Hard draws triples whose sum is beside a midpoint of two float32
// by much less than 2^-53 of itself, normal and subnormal, and any bits.
func TestFMA32Hard(t *testing.T) {
	const seed = 11
	n := 2_000_000
	if testing.Short() {
		n = 200_000
	}
	e, r := newFMAExact(), rand.New(rand.NewPCG(seed, 1))
	double := 0 // how often two plain roundings are wrong
	for i := range n {
		a, b, c := hardTriple(r, i)
		got, want := FMA32(a, b, c), e.of(a, b, c)
		if !sameBits(got, want) {
			t.Fatalf("seed %d: FMA32(%x, %x, %x) = %x, want %x", seed, a, b, c, got, want)
		}
		if !sameBits(float32(float64(float64(a)*float64(b))+float64(c)), want) {
			double++
		}
	}
	if !(double > n/200) {
		t.Errorf("only %d of %d triples are hard", double, n)
	}
}

// hardTriple cycles through kinds of triples.
func hardTriple(r *rand.Rand, i int) (a, b, c float32) {
	bits := func() float32 { return math.Float32frombits(r.Uint32()) }
	sign := func(x float32) float32 { return math.Float32frombits(math.Float32bits(x) ^ r.Uint32()&(1<<31)) }
	pow := func(e int) float32 { return float32(math.Ldexp(1, e)) }
	switch i % 6 {
	case 0:
		return bits(), bits(), bits()
	case 1: // a midpoint from the product, and a crumb
		a = float32(r.IntN(1<<12)*2 + 1)
		b = float32(r.IntN(1<<12)*2 + 1 + 1<<13)
		return a, b, sign(pow(-30 - r.IntN(60)))
	case 2: // a midpoint of subnormals from the product, and a crumb of c that is none
		a, b = pow(-100)*float32(r.IntN(1<<10)*2+1), pow(-50)
		return sign(a), b, sign(0x1p-149 * float32(r.IntN(1<<20)))
	case 3: // c beside which the product is a little less or more than half an ulp
		c = math.Float32frombits(r.Uint32()&(1<<23-1) | uint32(100+r.IntN(50))<<23)
		ulp := math.Float32frombits(math.Float32bits(c)+1) - c
		k := float32(1+r.IntN(1<<11)) * 0x1p-23
		return sign(ulp / 2 * (1 + k)), 1 - k, sign(c)
	case 4: // close cancellation
		a, b = 1+float32(r.IntN(1<<23))*0x1p-23, 1+float32(r.IntN(1<<23))*0x1p-23
		return a, b, -float32(float64(a) * float64(b))
	}
	// small results: a crumb under half the smallest number
	a = math.Float32frombits(r.Uint32()&(1<<23-1) | uint32(20+r.IntN(40))<<23)
	b = math.Float32frombits(r.Uint32()&(1<<23-1) | uint32(20+r.IntN(60))<<23)
	return sign(a), sign(b), sign(0x1p-149 * float32(r.IntN(8)))
}

func BenchmarkFMA32(b *testing.B) {
	xs := make([]float32, 1024)
	FillUniform(xs, NewStream("bench", 1), -1, 1)
	var s float32
	for b.Loop() {
		for i, x := range xs {
			s = FMA32(x, xs[1023-i], s)
		}
	}
	sink32 = s
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/fma")
}
