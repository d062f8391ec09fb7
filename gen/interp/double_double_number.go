package interp

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Double-double numbers. Sums use TwoSum (Knuth) and Fast2Sum (Dekker), products a fused
// multiply-add; elementary functions reduce their argument and sum a Taylor series, or
// take one step of Newton's method from the float64 value.

// A DoubleDouble is the number Hi + Lo, where Hi is the sum rounded to float64.
type DoubleDouble struct{ Hi, Lo float64 }

// fastTwoSum is a + b for |a| ≥ |b| without a rounding error (Dekker). A NaN or an
// infinity has no second part.
func fastTwoSum(a, b float64) DoubleDouble {
	s := a + b
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return DoubleDouble{s, 0}
	}
	return DoubleDouble{s, b - (s - a)}
}

// Add returns x + y.
func (x DoubleDouble) Add(y DoubleDouble) DoubleDouble {
	s := x.Hi + y.Hi
	v := s - x.Hi
	e := (x.Hi - (s - v)) + (y.Hi - v)
	if math.IsNaN(e) {
		return DoubleDouble{Hi: s}
	}
	return fastTwoSum(s, e+x.Lo+y.Lo)
}

// Neg returns −x.
func (x DoubleDouble) Neg() DoubleDouble { return DoubleDouble{-x.Hi, -x.Lo} }

// Sub returns x − y.
func (x DoubleDouble) Sub(y DoubleDouble) DoubleDouble { return x.Add(y.Neg()) }

// Mul returns x · y.
func (x DoubleDouble) Mul(y DoubleDouble) DoubleDouble {
	p := x.Hi * y.Hi
	e := math.FMA(x.Hi, y.Hi, -p)
	if math.IsNaN(e) {
		return DoubleDouble{Hi: p}
	}
	return fastTwoSum(p, e+x.Hi*y.Lo+x.Lo*y.Hi)
}

// Div returns x / y.
func (x DoubleDouble) Div(y DoubleDouble) DoubleDouble {
	q := x.Hi / y.Hi
	if math.IsNaN(q) || math.IsInf(q, 0) || math.IsInf(y.Hi, 0) {
		return DoubleDouble{Hi: q}
	}
	r := x.Sub(y.Mul(DoubleDouble{Hi: q}))
	q2 := r.Hi / y.Hi
	r = r.Sub(y.Mul(DoubleDouble{Hi: q2}))
	return fastTwoSum(q, q2).Add(DoubleDouble{Hi: r.Hi / y.Hi})
}

func (x DoubleDouble) less(y DoubleDouble) bool { return x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo }

func (x DoubleDouble) isZero() bool { return x.Hi == 0 && x.Lo == 0 }

func (x DoubleDouble) scale(k int) DoubleDouble {
	return DoubleDouble{math.Ldexp(x.Hi, k), math.Ldexp(x.Lo, k)}
}

func doubleDoubleOf(n float64) DoubleDouble { return DoubleDouble{Hi: n} }

var (
	ln2           = DoubleDouble{math.Ln2, 2.3190468138462996e-17}
	halfPi        = DoubleDouble{math.Pi / 2, 6.123233995736766e-17}
	twoOverSqrtPi = doubleDoubleOf(2).Div(halfPi.scale(1).sqrt()) // 2/√π
)

func (x DoubleDouble) sqrt() DoubleDouble {
	if x.Hi <= 0 || math.IsInf(x.Hi, 1) {
		return DoubleDouble{Hi: math.Sqrt(x.Hi)}
	}
	y := DoubleDouble{Hi: math.Sqrt(x.Hi)}
	return y.Add(x.Sub(y.Mul(y)).Div(y.scale(1)))
}

// exp halves what is left of x beside multiples of ln 2 nine times.
func (x DoubleDouble) exp() DoubleDouble {
	if !(math.Abs(x.Hi) < 700) {
		return DoubleDouble{Hi: math.Exp(x.Hi)}
	}
	const halvings = 9
	k := math.Round(x.Hi / math.Ln2)
	r := x.Sub(ln2.Mul(doubleDoubleOf(k))).scale(-halvings)
	term, sum := r, r // of e^r − 1
	for n := 2.0; n < 12; n++ {
		term = term.Mul(r).Div(doubleDoubleOf(n))
		sum = sum.Add(term)
	}
	for range halvings {
		sum = sum.scale(1).Add(sum.Mul(sum))
	}
	return sum.Add(doubleDoubleOf(1)).scale(int(k))
}

func (x DoubleDouble) log() DoubleDouble {
	y := DoubleDouble{Hi: math.Log(x.Hi)}
	if math.IsNaN(y.Hi) || math.IsInf(y.Hi, 0) || math.Abs(y.Hi) > 690 {
		return y
	}
	return y.Add(x.Mul(y.Neg().exp())).Sub(doubleDoubleOf(1))
}

// turn is sin or cos: the rest of x beside quarters of a turn by its series.
func (x DoubleDouble) turn(quarter int) DoubleDouble {
	if !(math.Abs(x.Hi) < 1e15) {
		return DoubleDouble{Hi: math.NaN()}
	}
	k := math.Round(x.Hi / (math.Pi / 2))
	r := x.Sub(halfPi.Mul(doubleDoubleOf(k)))
	q := (int(math.Mod(k, 4)) + quarter + 8) % 4
	term, n := r, 1.0
	if q%2 == 1 {
		term, n = doubleDoubleOf(1), 0
	}
	sum := term
	for range 16 {
		term = term.Mul(r).Mul(r).Div(doubleDoubleOf(-(n + 1) * (n + 2)))
		sum, n = sum.Add(term), n+2
	}
	if q >= 2 {
		return sum.Neg()
	}
	return sum
}

func (x DoubleDouble) erf() DoubleDouble {
	if !(math.Abs(x.Hi) < 6) {
		return DoubleDouble{Hi: math.Erf(x.Hi)}
	}
	square := x.Mul(x).Neg()
	term, sum := x, x
	for n := 1.0; n < 200 && math.Abs(term.Hi) > 1e-34*math.Abs(sum.Hi); n++ {
		term = term.Mul(square).Div(doubleDoubleOf(n))
		sum = sum.Add(term.Div(doubleDoubleOf(2*n + 1)))
	}
	return sum.Mul(twoOverSqrtPi)
}

func (x DoubleDouble) floor() DoubleDouble {
	f := math.Floor(x.Hi)
	if f == x.Hi {
		return fastTwoSum(f, math.Floor(x.Lo))
	}
	return DoubleDouble{Hi: f}
}

// pow multiplies for a small integer exponent.
func (x DoubleDouble) pow(y DoubleDouble) DoubleDouble {
	if n := y.Hi; y.Lo == 0 && n == math.Trunc(n) && math.Abs(n) <= 64 {
		p := doubleDoubleOf(1)
		for range int(math.Abs(n)) {
			p = p.Mul(x)
		}
		if n < 0 {
			return doubleDoubleOf(1).Div(p)
		}
		return p
	}
	if x.Hi <= 0 {
		return DoubleDouble{Hi: math.Pow(x.Hi, y.Hi)}
	}
	return y.Mul(x.log()).exp()
}

func (x DoubleDouble) abs() DoubleDouble {
	if x.Hi < 0 {
		return x.Neg()
	}
	return x
}

func (x DoubleDouble) sigmoid() DoubleDouble {
	return doubleDoubleOf(1).Div(doubleDoubleOf(1).Add(x.Neg().exp()))
}

func doubleDoubleTruth(b bool) DoubleDouble {
	if b {
		return doubleDoubleOf(1)
	}
	return DoubleDouble{}
}

func (x DoubleDouble) isNaN() bool { return math.IsNaN(x.Hi) }

var doubleDoubleUnary = map[ir.Op]func(x DoubleDouble) DoubleDouble{
	ir.Stop:    func(x DoubleDouble) DoubleDouble { return x },
	ir.Exp:     DoubleDouble.exp,
	ir.Log:     DoubleDouble.log,
	ir.Log1p:   func(x DoubleDouble) DoubleDouble { return x.Add(doubleDoubleOf(1)).log() },
	ir.Expm1:   func(x DoubleDouble) DoubleDouble { return x.exp().Sub(doubleDoubleOf(1)) },
	ir.Sqrt:    DoubleDouble.sqrt,
	ir.Tanh:    func(x DoubleDouble) DoubleDouble { return x.scale(1).sigmoid().scale(1).Sub(doubleDoubleOf(1)) },
	ir.Sigmoid: DoubleDouble.sigmoid,
	ir.Softplus: func(x DoubleDouble) DoubleDouble {
		y := doubleDoubleOf(1).Add(x.abs().Neg().exp()).log()
		if x.Hi > 0 {
			return x.Add(y)
		}
		return y
	},
	ir.Sin: func(x DoubleDouble) DoubleDouble { return x.turn(0) },
	ir.Cos: func(x DoubleDouble) DoubleDouble { return x.turn(1) },
	ir.Erf: DoubleDouble.erf,
	ir.Abs: DoubleDouble.abs,
	ir.Sign: func(x DoubleDouble) DoubleDouble {
		return doubleDoubleTruth(DoubleDouble{}.less(x)).Sub(doubleDoubleTruth(x.less(DoubleDouble{})))
	},
	ir.Floor:  DoubleDouble.floor,
	ir.Not:    func(x DoubleDouble) DoubleDouble { return doubleDoubleTruth(x.isZero()) },
	ir.ToReal: func(x DoubleDouble) DoubleDouble { return x },
}

var doubleDoubleBinary = map[ir.Op]func(x, y DoubleDouble) DoubleDouble{
	ir.Override: func(x, _ DoubleDouble) DoubleDouble { return x },
	ir.Div:      DoubleDouble.Div,
	ir.Pow:      DoubleDouble.pow,
	ir.Mod:      func(x, y DoubleDouble) DoubleDouble { return x.Sub(y.Mul(x.Div(y).floor())) },
	ir.Max2: func(x, y DoubleDouble) DoubleDouble {
		if x.less(y) || y.isNaN() {
			return y
		}
		return x
	},
	ir.Min2: func(x, y DoubleDouble) DoubleDouble {
		if y.less(x) || y.isNaN() {
			return y
		}
		return x
	},
	ir.Less:   func(x, y DoubleDouble) DoubleDouble { return doubleDoubleTruth(x.less(y)) },
	ir.LessEq: func(x, y DoubleDouble) DoubleDouble { return doubleDoubleTruth(!y.less(x) && !x.isNaN() && !y.isNaN()) },
	ir.Equal:  func(x, y DoubleDouble) DoubleDouble { return doubleDoubleTruth(x == y) },
	ir.And:    func(x, y DoubleDouble) DoubleDouble { return doubleDoubleTruth(!x.isZero() && !y.isZero()) },
	ir.Or:     func(x, y DoubleDouble) DoubleDouble { return doubleDoubleTruth(!x.isZero() || !y.isZero()) },
}
