package num

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/internal/bigmath"
)

const testPrec = 200

// accuracySamples is drawn per function and range; one costs 20–500 µs of big arithmetic.
var accuracySamples = flag.Int("samples", 200, "arguments per function and range in the accuracy tests")

// ulpError returns |got − want| in units of the last place of want.
func ulpError(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if got == w {
		// Still up to half a unit away; count it as such.
		got = w
	}
	_, e := math.Frexp(w)
	ulp := math.Ldexp(1, max(e-53, -1074))
	d := new(big.Float).SetPrec(testPrec).Sub(new(big.Float).SetPrec(testPrec).SetFloat64(got), want)
	f, _ := d.Quo(d, big.NewFloat(ulp)).Float64()
	return math.Abs(f)
}

func bf(x float64) *big.Float { return new(big.Float).SetPrec(testPrec).SetFloat64(x) }

func add(x *big.Float, c float64) *big.Float {
	return new(big.Float).SetPrec(2*testPrec).Add(x, bf(c))
}

func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(testPrec).Quo(a, b) }

func bigSigmoid(x float64) *big.Float {
	return quo(bf(1), add(bigmath.Exp(2*testPrec, bf(-x)), 1))
}

func bigTanh(x float64) *big.Float {
	e := bigmath.Expm1(2*testPrec, bf(2*x))
	return quo(e, add(e, 2))
}

func bigSin(x float64) *big.Float { s, _ := bigmath.SinCos(testPrec, bf(x)); return s }
func bigCos(x float64) *big.Float { _, c := bigmath.SinCos(testPrec, bf(x)); return c }

// functions is the table of one-argument functions: what is promised, and the
// ranges over which it is measured.
var functions = []struct {
	name  string
	f64   func(float64) float64
	f32   func(float32) float32
	exact func(float64) *big.Float
	bound float64 // ulp, float64
	in    [][2]float64
}{
	{"exp", Exp[float64], Exp[float32], func(x float64) *big.Float { return bigmath.Exp(testPrec, bf(x)) }, 0.55,
		[][2]float64{{-1, 1}, {-87, 88}, {-700, 700}, {700, 709.7}, {-708, -700}}},
	{"exp subnormal", Exp[float64], Exp[float32], func(x float64) *big.Float { return bigmath.Exp(testPrec, bf(x)) }, 1.1,
		[][2]float64{{-745, -708}}},
	{"expm1", Expm1[float64], Expm1[float32], func(x float64) *big.Float { return bigmath.Expm1(testPrec, bf(x)) }, 1,
		[][2]float64{{-0.3, 0.3}, {-2, 2}, {-50, 88}, {-1e-6, 1e-6}}},
	{"log", Log[float64], Log[float32], func(x float64) *big.Float { return bigmath.Log(testPrec, bf(x)) }, 0.6,
		[][2]float64{{0.5, 2}, {0.99, 1.01}, {1e-30, 1e30}, {0x1p-1074, 0x1p-1030}, {1e-5, 10}}},
	{"log1p", Log1p[float64], Log1p[float32], func(x float64) *big.Float { return bigmath.Log1p(testPrec, bf(x)) }, 1,
		[][2]float64{{-0.9, 2}, {-1e-3, 1e-3}, {0, 1e10}, {-1e-12, 1e-12}}},
	{"tanh", Tanh[float64], Tanh[float32], bigTanh, 2.5,
		[][2]float64{{-0.6, 0.6}, {-3, 3}, {-25, 25}, {-1e-3, 1e-3}}},
	{"sigmoid", Sigmoid[float64], Sigmoid[float32], bigSigmoid, 2.5,
		[][2]float64{{-2, 2}, {-40, 40}, {-700, 700}}},
	{"softplus", Softplus[float64], Softplus[float32],
		func(x float64) *big.Float { return bigmath.Log1p(testPrec, bigmath.Exp(2*testPrec, bf(x))) }, 2.5,
		[][2]float64{{-2, 2}, {-40, 40}, {-700, 700}}},
	{"sin", Sin[float64], Sin[float32], bigSin, 0.8,
		[][2]float64{{-0.7, 0.7}, {-10, 10}, {-1e6, 1e6}, {1e6, 1e15}, {1e15, 1e300}}},
	{"cos", Cos[float64], Cos[float32], bigCos, 0.8,
		[][2]float64{{-0.7, 0.7}, {-10, 10}, {-1e6, 1e6}, {1e6, 1e15}, {1e15, 1e300}}},
	{"erf", Erf[float64], Erf[float32], func(x float64) *big.Float { return bigmath.Erf(testPrec, bf(x)) }, 1.2,
		[][2]float64{{-0.2, 0.2}, {-2, 2}, {-6.5, 6.5}, {-1e-9, 1e-9}}},
}

// samples draws n arguments from [lo, hi], half of them on a logarithmic scale
// when the range is one-sided and wide.
func samples(lo, hi float64, n int) []float64 {
	rng := rand.New(rand.NewPCG(math.Float64bits(lo), math.Float64bits(hi)))
	xs := make([]float64, n)
	for i := range xs {
		x := lo + (hi-lo)*rng.Float64()
		if lo > 0 && hi/lo > 100 && i%2 == 0 {
			x = math.Exp(math.Log(lo) + (math.Log(hi)-math.Log(lo))*rng.Float64())
		}
		xs[i] = x
	}
	return xs
}

func TestAccuracy(t *testing.T) {
	n := *accuracySamples
	for _, fn := range functions {
		worst, at := 0.0, 0.0
		tie := 0.0 // float32: worst distance beyond half a unit
		for _, r := range fn.in {
			for _, x := range samples(r[0], r[1], n) {
				if e := ulpError(fn.f64(x), fn.exact(x)); !(e <= worst) {
					worst, at = e, x
				}
				x32 := float32(x)
				if math.IsInf(float64(x32), 0) || x32 == 0 {
					continue
				}
				tie = max(tie, ulp32(fn.f32(x32), fn.exact(float64(x32))))
			}
		}
		t.Logf("%-14s float64 %.3f ulp at %x, float32 %.5f ulp", fn.name, worst, at, tie)
		if !(worst <= fn.bound) {
			t.Errorf("%s(%x) is %.3f ulp off, promised %v", fn.name, at, worst, fn.bound)
		}
		if tie > 0.5001 {
			t.Errorf("%s float32 is %.6f ulp off, promised 0.5001", fn.name, tie)
		}
	}
}

// ulp32 is ulpError for float32; results beyond the range must be Inf.
func ulp32(got float32, want *big.Float) float64 {
	w, _ := want.Float64()
	w32, _ := want.Float32()
	if math.IsInf(float64(w32), 0) {
		if got == w32 {
			return 0
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(w)
	ulp := math.Ldexp(1, max(e-24, -149))
	d := new(big.Float).SetPrec(testPrec).Sub(bf(float64(got)), want)
	f, _ := d.Quo(d, bf(ulp)).Float64()
	return math.Abs(f)
}

func bigPow(x, y float64) *big.Float {
	l := bigmath.Log(2*testPrec, bf(x))
	return bigmath.Exp(testPrec, l.Mul(l, bf(y)))
}

func TestPowAccuracy(t *testing.T) {
	const bound = 1 // ulp
	rng := rand.New(rand.NewPCG(1, 2))
	n := *accuracySamples
	worst, worst32 := 0.0, 0.0
	for i := range n {
		x := math.Exp(rng.NormFloat64() * []float64{0.01, 1, 20}[i%3])
		y := rng.NormFloat64() * []float64{3, 300 / (1 + math.Abs(math.Log(x))), 30000}[i%3]
		if i%3 == 0 {
			y = math.Copysign(650, y) / math.Log(x) * rng.Float64()
		}
		if want, _ := bigPow(x, y).Float64(); want == 0 || math.IsInf(want, 0) || want < 0x1p-1022 {
			continue
		}
		if e := ulpError(Pow(x, y), bigPow(x, y)); !(e <= worst) {
			worst = e
			if !(e <= bound) {
				t.Errorf("Pow(%x, %x) is %.3f ulp off, promised %v", x, y, e, bound)
			}
		}
		x32, y32 := float32(x), float32(y)
		want := bigPow(float64(x32), float64(y32))
		worst32 = max(worst32, ulp32(Pow(x32, y32), want))
	}
	t.Logf("pow float64 %.3f ulp, float32 %.5f ulp", worst, worst32)
	if worst32 > 0.5001 {
		t.Errorf("Pow float32 is %.6f ulp off, promised 0.5001", worst32)
	}
}

// TestPowCases compares the special cases with math.Pow, which follows the
// same standard.
func TestPowCases(t *testing.T) {
	vs := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, 4, 5, -7,
		0x1p53, 0x1p53 + 2, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e300, 5e-324, -5e-324, 1e-310}
	for _, x := range vs {
		for _, y := range vs {
			got, want := Pow(x, y), math.Pow(x, y)
			if got != want && !(got != got && want != want) && !(math.Abs(got-want) < 1e-14*math.Abs(want)) {
				t.Errorf("Pow(%v, %v) = %v, want %v", x, y, got, want)
			}
			if got == 0 && math.Signbit(got) != math.Signbit(want) {
				t.Errorf("Pow(%v, %v) = %v, want %v (sign of zero)", x, y, got, want)
			}
		}
	}
}

func TestSpecialValues(t *testing.T) {
	inf, nan, negZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	cases := []struct {
		name    string
		f64     func(float64) float64
		f32     func(float32) float32
		in, out float64
	}{
		{"exp", Exp[float64], Exp[float32], inf, inf}, {"exp", Exp[float64], Exp[float32], -inf, 0},
		{"exp", Exp[float64], Exp[float32], 1e30, inf}, {"exp", Exp[float64], Exp[float32], -1e30, 0},
		{"exp", Exp[float64], Exp[float32], 0, 1}, {"exp", Exp[float64], Exp[float32], nan, nan},
		{"expm1", Expm1[float64], Expm1[float32], negZero, negZero}, {"expm1", Expm1[float64], Expm1[float32], -inf, -1},
		{"expm1", Expm1[float64], Expm1[float32], inf, inf}, {"expm1", Expm1[float64], Expm1[float32], nan, nan},
		{"log", Log[float64], Log[float32], 0, -inf}, {"log", Log[float64], Log[float32], -1, nan},
		{"log", Log[float64], Log[float32], inf, inf}, {"log", Log[float64], Log[float32], nan, nan},
		{"log", Log[float64], Log[float32], 1, 0}, {"log", Log[float64], Log[float32], -inf, nan},
		{"log1p", Log1p[float64], Log1p[float32], -1, -inf}, {"log1p", Log1p[float64], Log1p[float32], -2, nan},
		{"log1p", Log1p[float64], Log1p[float32], inf, inf}, {"log1p", Log1p[float64], Log1p[float32], negZero, negZero},
		{"log1p", Log1p[float64], Log1p[float32], nan, nan},
		{"tanh", Tanh[float64], Tanh[float32], inf, 1}, {"tanh", Tanh[float64], Tanh[float32], -inf, -1},
		{"tanh", Tanh[float64], Tanh[float32], negZero, negZero}, {"tanh", Tanh[float64], Tanh[float32], nan, nan},
		{"sigmoid", Sigmoid[float64], Sigmoid[float32], inf, 1}, {"sigmoid", Sigmoid[float64], Sigmoid[float32], -inf, 0},
		{"sigmoid", Sigmoid[float64], Sigmoid[float32], 0, 0.5}, {"sigmoid", Sigmoid[float64], Sigmoid[float32], nan, nan},
		{"softplus", Softplus[float64], Softplus[float32], inf, inf}, {"softplus", Softplus[float64], Softplus[float32], -inf, 0},
		{"softplus", Softplus[float64], Softplus[float32], nan, nan},
		{"sin", Sin[float64], Sin[float32], inf, nan}, {"sin", Sin[float64], Sin[float32], nan, nan},
		{"sin", Sin[float64], Sin[float32], negZero, negZero}, {"cos", Cos[float64], Cos[float32], -inf, nan},
		{"erf", Erf[float64], Erf[float32], inf, 1}, {"erf", Erf[float64], Erf[float32], -inf, -1},
		{"erf", Erf[float64], Erf[float32], negZero, negZero}, {"erf", Erf[float64], Erf[float32], nan, nan},
		{"sqrt", Sqrt[float64], Sqrt[float32], -1, nan}, {"sign", Sign[float64], Sign[float32], nan, nan},
		{"sign", Sign[float64], Sign[float32], -3, -1}, {"abs", Abs[float64], Abs[float32], -inf, inf},
	}
	same := func(a, b float64) bool {
		return a != a && b != b || a == b && math.Signbit(a) == math.Signbit(b)
	}
	for _, c := range cases {
		if got := c.f64(c.in); !same(got, c.out) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.in, got, c.out)
		}
		if got := float64(c.f32(float32(c.in))); !same(got, c.out) {
			t.Errorf("%s32(%v) = %v, want %v", c.name, c.in, got, c.out)
		}
	}
}

func TestSigmoidHasNoHardZero(t *testing.T) {
	if s := Sigmoid[float32](-100); !(s > 0) {
		t.Errorf("Sigmoid[float32](-100) = %v, want the subnormal e^-100", s)
	}
	if s := Sigmoid(-740.0); !(s > 0) {
		t.Errorf("Sigmoid(-740) = %v, want a subnormal", s)
	}
}

func TestMinMax(t *testing.T) {
	nan, negZero := math.NaN(), math.Copysign(0, -1)
	if !math.IsNaN(Max(nan, 1)) || !math.IsNaN(Min(1, nan)) {
		t.Error("a NaN is hidden by Max or Min")
	}
	if math.Signbit(Max(negZero, 0)) || !math.Signbit(Min(0, negZero)) {
		t.Error("Max(−0, +0) or Min(+0, −0) has the wrong sign")
	}
	if IsFinite(nan) || IsFinite(math.Inf(-1)) || !IsFinite(math.MaxFloat64) {
		t.Error("IsFinite is wrong")
	}
}
