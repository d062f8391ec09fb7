package interp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// TestDoubleDoubleFunctions compares with digits from tables.
func TestDoubleDoubleFunctions(t *testing.T) {
	for _, c := range []struct {
		op   ir.Op
		x    float64
		want string
	}{
		{ir.Exp, 1, "2.71828182845904523536028747135266249775724709369995"},
		{ir.Exp, -30.5, "5.67568523263272246187278872380665127714771085E-14"},
		{ir.Log, 2, "0.693147180559945309417232121458176568075500134360255"},
		{ir.Log, 10, "2.30258509299404568401799145468436420760110148862877"},
		{ir.Sqrt, 2, "1.41421356237309504880168872420969807856967187537694"},
		{ir.Sin, 1, "0.841470984807896506652502321630298999622563060798371"},
		{ir.Cos, 1, "0.540302305868139717400936607442976603732310420617922"},
		{ir.Cos, 4, "-0.653643620863611914639168183097750381424133596646218"},
		{ir.Tanh, 1, "0.761594155955764888119458282604793590412768597257936"},
		{ir.Erf, 1, "0.842700792949714869341220635082609259296066997966302"},
		{ir.Log1p, 1, "0.693147180559945309417232121458176568075500134360255"},
		{ir.Expm1, 1, "1.71828182845904523536028747135266249775724709369995"},
		{ir.Softplus, 0, "0.693147180559945309417232121458176568075500134360255"},
		{ir.Sigmoid, 0, "0.5"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, 200, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		w := doubleDoubleUnary[c.op](DoubleDouble{Hi: c.x})
		got := new(big.Float).SetPrec(200).SetFloat64(w.Hi)
		got.Add(got, big.NewFloat(w.Lo))
		d, _ := new(big.Float).Quo(got.Sub(got, want), want).Float64()
		if !(math.Abs(d) <= 1e-28) {
			t.Errorf("%v(%g) is off by %.3g", c.op, c.x, d)
		}
	}
	third := DoubleDouble{Hi: 1}.Div(DoubleDouble{Hi: 3})
	if d := third.Mul(DoubleDouble{Hi: 3}).Sub(DoubleDouble{Hi: 1}); math.Abs(d.Hi) > 1e-31 {
		t.Errorf("3·(1/3) − 1 = %g", d.Hi)
	}
	if x := (DoubleDouble{Hi: 0.1}).pow(DoubleDouble{Hi: -3}).Mul(DoubleDouble{Hi: 0.1}.pow(DoubleDouble{Hi: 3})).Sub(DoubleDouble{Hi: 1}); math.Abs(x.Hi) > 1e-29 {
		t.Errorf("0.1⁻³·0.1³ − 1 = %g", x.Hi)
	}
}

// TestDoubleDoubleIsRun: double-double numbers are the float64 ones, but for rounding.
func TestDoubleDoubleIsRun(t *testing.T) {
	ran := 0
	for seed := range uint64(400) {
		f := irtest.Program(seed)
		params := inputs(f, irtest.Sizes, rand.New(rand.NewPCG(seed, 1)))
		got, ok := RunDoubleDouble(f, irtest.Sizes, params)
		if !ok {
			continue
		}
		ran++
		for n, want := range Run(f, irtest.Sizes, params) {
			for i, x := range want.Data {
				w := got[n].Data[i].Hi
				if d := math.Abs(x - w); !(d <= 1e-9*math.Max(1, math.Abs(x))) && x != w && !(math.IsNaN(x) && math.IsNaN(w)) {
					t.Errorf("seed %d: %s[%d] = %g, in double-double %g\n%s", seed, n, i, x, w, f)
				}
			}
		}
	}
	if ran < 100 {
		t.Errorf("only %d programs ran", ran)
	}
}
