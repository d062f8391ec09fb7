package kern_test

import (
	"math"
	"testing"

	"github.com/nl-hecate/hecate/runtime/kern"
)

// The elementary functions of the fused arithmetic against float64, in units in
// the last place of the float32 that is nearest to the true value. Where the
// true value is subnormal, a unit is 2⁻¹⁴⁹.

// ulps bounds all of them. Measured on the samples below: exp 1.00, log 0.79,
// log1p 1.44, sigmoid 2.01, softplus 1.73, tanh 1.91.
const ulps = 2.25

var inf = math.Inf(1)

var functions = []struct {
	name string
	of   func(float32) float32
	want func(float64) float64
}{
	{"exp", kern.Exp, math.Exp},
	{"log", kern.Log, math.Log},
	{"log1p", kern.Log1p, math.Log1p},
	{"sigmoid", kern.Sigmoid, func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	}},
	{"softplus", kern.Softplus, func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }},
	{"tanh", kern.Tanh, math.Tanh},
	{"erf", kern.Erf, math.Erf},
}

// stride walks over all bits of a float32 in about a million samples: it is odd
// and shares no factor with the steps of an exponent.
const stride = 4099

func TestFunctions(t *testing.T) {
	for _, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			worst, at := 0.0, float32(0)
			try := func(x float32) {
				e := distance(f.of(x), f.want(float64(x)))
				if !(e <= worst) {
					worst, at = e, x
				}
			}
			for b := uint64(0); b < 1<<32; b += stride {
				try(math.Float32frombits(uint32(b)))
			}
			for _, x := range seams {
				for n := range uint32(512) {
					try(math.Float32frombits(math.Float32bits(x) + n - 256))
				}
			}
			if !(worst <= ulps) {
				t.Errorf("%v units at %v: %v, want %v", worst, at, f.of(at), f.want(float64(at)))
			}
			t.Logf("%.3f units at %v", worst, at)
		})
	}
}

// seams are where one way to compute meets another, or results end.
var seams = []float32{0.35, -0.35, 1, -1, 0.5, math.Sqrt2, 0.5 * math.Sqrt2, 0x1p-126, -0x1p-126, 0x1p-24, 0x1p24, 88.72284, -87.33655, -103.97208, 17, -17,
	math.Ln2, 0.5 * math.Ln2, 9, math.MaxFloat32, 2, 0.9, -0.9, 4, -4}

// distance is the error of got in units in the last place, +Inf where one of the
// two is no number or infinite and the other is not.
func distance(got float32, want float64) float64 {
	near := float32(want)
	switch {
	case got != got || want != want:
		if got != got && want != want {
			return 0
		}
		return inf
	case got == near && math.IsInf(float64(near), 0):
		return 0
	case math.IsInf(float64(got), 0) || math.IsInf(float64(near), 0):
		// One step over the end is one unit.
		if math.Abs(float64(got)) == math.MaxFloat32 || math.Abs(float64(near)) == math.MaxFloat32 {
			return 1
		}
		return inf
	}
	return math.Abs(float64(got)-want) / unit(near)
}

func unit(x float32) float64 {
	if math.IsInf(float64(x), 0) {
		return inf
	}
	_, e := math.Frexp(float64(x))
	if x == 0 {
		e = -149
	}
	return math.Ldexp(1, max(e-24, -149))
}

// TestFunctionsAtTheEnds are values that are exact.
func TestFunctionsAtTheEnds(t *testing.T) {
	pos, neg, nan, zero := float32(inf), float32(-inf), float32(math.NaN()), float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name     string
		of       func(float32) float32
		in, want float32
	}{
		{"exp", kern.Exp, pos, pos}, {"exp", kern.Exp, neg, 0}, {"exp", kern.Exp, nan, nan}, {"exp", kern.Exp, 0, 1}, {"exp", kern.Exp, zero, 1},
		{"exp", kern.Exp, 1000, pos}, {"exp", kern.Exp, -1000, 0}, {"exp", kern.Exp, 0x1p-149, 1},
		{"log", kern.Log, pos, pos}, {"log", kern.Log, neg, nan}, {"log", kern.Log, nan, nan}, {"log", kern.Log, 0, neg}, {"log", kern.Log, zero, neg},
		{"log", kern.Log, 1, 0}, {"log", kern.Log, -0x1p-149, nan},
		{"log1p", kern.Log1p, pos, pos}, {"log1p", kern.Log1p, neg, nan}, {"log1p", kern.Log1p, nan, nan}, {"log1p", kern.Log1p, -1, neg},
		{"log1p", kern.Log1p, 0, 0}, {"log1p", kern.Log1p, zero, zero}, {"log1p", kern.Log1p, -2, nan}, {"log1p", kern.Log1p, 0x1p-149, 0x1p-149},
		{"sigmoid", kern.Sigmoid, pos, 1}, {"sigmoid", kern.Sigmoid, neg, 0}, {"sigmoid", kern.Sigmoid, nan, nan}, {"sigmoid", kern.Sigmoid, zero, 0.5},
		{"softplus", kern.Softplus, pos, pos}, {"softplus", kern.Softplus, neg, 0}, {"softplus", kern.Softplus, nan, nan},
		{"tanh", kern.Tanh, pos, 1}, {"tanh", kern.Tanh, neg, -1}, {"tanh", kern.Tanh, nan, nan}, {"tanh", kern.Tanh, 0, 0},
		{"tanh", kern.Tanh, 0x1p-149, 0x1p-149}, {"tanh", kern.Tanh, -0x1p-149, -0x1p-149},
		{"erf", kern.Erf, pos, 1}, {"erf", kern.Erf, neg, -1}, {"erf", kern.Erf, nan, nan}, {"erf", kern.Erf, 0, 0}, {"erf", kern.Erf, zero, zero},
		{"sign", kern.Sign, neg, -1}, {"sign", kern.Sign, nan, nan}, {"sign", kern.Sign, 0, 0}, {"sign", kern.Sign, 0x1p-149, 1},
	} {
		got := c.of(c.in)
		if math.Float32bits(got) != math.Float32bits(c.want) && (got == got || c.want == c.want) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.in, got, c.want)
		}
	}
}

// TestChoices are the functions that choose one of two numbers: no number wins.
func TestChoices(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name       string
		of         func(x, y float32) float32
		x, y, want float32
	}{
		{"larger", kern.Larger, 1, 2, 2}, {"larger", kern.Larger, 2, 1, 2}, {"larger", kern.Larger, nan, 1, nan}, {"larger", kern.Larger, 1, nan, nan},
		{"smaller", kern.Smaller, 1, 2, 1}, {"smaller", kern.Smaller, 2, 1, 1}, {"smaller", kern.Smaller, nan, 1, nan}, {"smaller", kern.Smaller, 1, nan, nan},
		{"gather", kern.Gather, 1, 2, 2}, {"gather", kern.Gather, 2, 1, 2}, {"gather", kern.Gather, nan, 1, nan}, {"gather", kern.Gather, 1, nan, nan},
		{"gather", kern.Gather, float32(-inf), -3, -3},
	} {
		got := c.of(c.x, c.y)
		if got != c.want && (got == got || c.want == c.want) {
			t.Errorf("%s(%v, %v) = %v, want %v", c.name, c.x, c.y, got, c.want)
		}
	}
}
