package interp

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Double-double numbers. Sums and products are those of Dekker and Knuth with a
// fused multiply-add; elementary functions reduce their argument and sum a Taylor
// series, or take one step of Newton's method from the float64 value.

// A Wide is the number Hi + Lo, where Hi is it rounded to float64.
type Wide struct{ Hi, Lo float64 }

// normal is a + b for |a| ≥ |b|. What is no finite number has no second part.
func normal(a, b float64) Wide {
	s := a + b
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return Wide{s, 0}
	}
	return Wide{s, b - (s - a)}
}

// Add returns x + y.
func (x Wide) Add(y Wide) Wide {
	s := x.Hi + y.Hi
	v := s - x.Hi
	e := (x.Hi - (s - v)) + (y.Hi - v)
	if math.IsNaN(e) {
		return Wide{Hi: s}
	}
	return normal(s, e+x.Lo+y.Lo)
}

// Neg returns −x.
func (x Wide) Neg() Wide { return Wide{-x.Hi, -x.Lo} }

// Sub returns x − y.
func (x Wide) Sub(y Wide) Wide { return x.Add(y.Neg()) }

// Mul returns x · y.
func (x Wide) Mul(y Wide) Wide {
	p := x.Hi * y.Hi
	e := math.FMA(x.Hi, y.Hi, -p)
	if math.IsNaN(e) {
		return Wide{Hi: p}
	}
	return normal(p, e+x.Hi*y.Lo+x.Lo*y.Hi)
}

// Div returns x / y.
func (x Wide) Div(y Wide) Wide {
	q := x.Hi / y.Hi
	if math.IsNaN(q) || math.IsInf(q, 0) || math.IsInf(y.Hi, 0) {
		return Wide{Hi: q}
	}
	r := x.Sub(y.Mul(Wide{Hi: q}))
	q2 := r.Hi / y.Hi
	r = r.Sub(y.Mul(Wide{Hi: q2}))
	return normal(q, q2).Add(Wide{Hi: r.Hi / y.Hi})
}

func (x Wide) less(y Wide) bool { return x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo }

func (x Wide) isZero() bool { return x.Hi == 0 && x.Lo == 0 }

func (x Wide) scale(k int) Wide { return Wide{math.Ldexp(x.Hi, k), math.Ldexp(x.Lo, k)} }

func wideOf(n float64) Wide { return Wide{Hi: n} }

var (
	wideLn2    = Wide{math.Ln2, 2.3190468138462996e-17}
	wideHalfPi = Wide{math.Pi / 2, 6.123233995736766e-17}
	wideErf    = wideOf(2).Div(wideHalfPi.scale(1).sqrt()) // 2/√π
)

func (x Wide) sqrt() Wide {
	if x.Hi <= 0 || math.IsInf(x.Hi, 1) {
		return Wide{Hi: math.Sqrt(x.Hi)}
	}
	y := Wide{Hi: math.Sqrt(x.Hi)}
	return y.Add(x.Sub(y.Mul(y)).Div(y.scale(1)))
}

// exp halves what is left of x beside multiples of ln 2 nine times.
func (x Wide) exp() Wide {
	if !(math.Abs(x.Hi) < 700) {
		return Wide{Hi: math.Exp(x.Hi)}
	}
	const halvings = 9
	k := math.Round(x.Hi / math.Ln2)
	r := x.Sub(wideLn2.Mul(wideOf(k))).scale(-halvings)
	term, sum := r, r // of e^r − 1
	for n := 2.0; n < 12; n++ {
		term = term.Mul(r).Div(wideOf(n))
		sum = sum.Add(term)
	}
	for range halvings {
		sum = sum.scale(1).Add(sum.Mul(sum))
	}
	return sum.Add(wideOf(1)).scale(int(k))
}

func (x Wide) log() Wide {
	y := Wide{Hi: math.Log(x.Hi)}
	if math.IsNaN(y.Hi) || math.IsInf(y.Hi, 0) || math.Abs(y.Hi) > 690 {
		return y
	}
	return y.Add(x.Mul(y.Neg().exp())).Sub(wideOf(1))
}

// turn is sin or cos: the rest of x beside quarters of a turn by its series.
func (x Wide) turn(quarter int) Wide {
	if !(math.Abs(x.Hi) < 1e15) {
		return Wide{Hi: math.NaN()}
	}
	k := math.Round(x.Hi / (math.Pi / 2))
	r := x.Sub(wideHalfPi.Mul(wideOf(k)))
	q := (int(math.Mod(k, 4)) + quarter + 8) % 4
	term, n := r, 1.0
	if q%2 == 1 {
		term, n = wideOf(1), 0
	}
	sum := term
	for range 16 {
		term = term.Mul(r).Mul(r).Div(wideOf(-(n + 1) * (n + 2)))
		sum, n = sum.Add(term), n+2
	}
	if q >= 2 {
		return sum.Neg()
	}
	return sum
}

func (x Wide) erf() Wide {
	if !(math.Abs(x.Hi) < 6) {
		return Wide{Hi: math.Erf(x.Hi)}
	}
	square := x.Mul(x).Neg()
	term, sum := x, x
	for n := 1.0; n < 200 && math.Abs(term.Hi) > 1e-34*math.Abs(sum.Hi); n++ {
		term = term.Mul(square).Div(wideOf(n))
		sum = sum.Add(term.Div(wideOf(2*n + 1)))
	}
	return sum.Mul(wideErf)
}

func (x Wide) floor() Wide {
	f := math.Floor(x.Hi)
	if f == x.Hi {
		return normal(f, math.Floor(x.Lo))
	}
	return Wide{Hi: f}
}

// pow multiplies for a small integer exponent.
func (x Wide) pow(y Wide) Wide {
	if n := y.Hi; y.Lo == 0 && n == math.Trunc(n) && math.Abs(n) <= 64 {
		p := wideOf(1)
		for range int(math.Abs(n)) {
			p = p.Mul(x)
		}
		if n < 0 {
			return wideOf(1).Div(p)
		}
		return p
	}
	if x.Hi <= 0 {
		return Wide{Hi: math.Pow(x.Hi, y.Hi)}
	}
	return y.Mul(x.log()).exp()
}

func (x Wide) abs() Wide {
	if x.Hi < 0 {
		return x.Neg()
	}
	return x
}

func (x Wide) sigmoid() Wide { return wideOf(1).Div(wideOf(1).Add(x.Neg().exp())) }

func wideTruth(b bool) Wide {
	if b {
		return wideOf(1)
	}
	return Wide{}
}

func (x Wide) isNaN() bool { return math.IsNaN(x.Hi) }

var wideUnary = map[ir.Op]func(x Wide) Wide{
	ir.Stop:    func(x Wide) Wide { return x },
	ir.Exp:     Wide.exp,
	ir.Log:     Wide.log,
	ir.Log1p:   func(x Wide) Wide { return x.Add(wideOf(1)).log() },
	ir.Expm1:   func(x Wide) Wide { return x.exp().Sub(wideOf(1)) },
	ir.Sqrt:    Wide.sqrt,
	ir.Tanh:    func(x Wide) Wide { return x.scale(1).sigmoid().scale(1).Sub(wideOf(1)) },
	ir.Sigmoid: Wide.sigmoid,
	ir.Softplus: func(x Wide) Wide {
		y := wideOf(1).Add(x.abs().Neg().exp()).log()
		if x.Hi > 0 {
			return x.Add(y)
		}
		return y
	},
	ir.Sin:    func(x Wide) Wide { return x.turn(0) },
	ir.Cos:    func(x Wide) Wide { return x.turn(1) },
	ir.Erf:    Wide.erf,
	ir.Abs:    Wide.abs,
	ir.Sign:   func(x Wide) Wide { return wideTruth(Wide{}.less(x)).Sub(wideTruth(x.less(Wide{}))) },
	ir.Floor:  Wide.floor,
	ir.Not:    func(x Wide) Wide { return wideTruth(x.isZero()) },
	ir.ToReal: func(x Wide) Wide { return x },
}

var wideBinary = map[ir.Op]func(x, y Wide) Wide{
	ir.Override: func(x, _ Wide) Wide { return x },
	ir.Div:      Wide.Div,
	ir.Pow:      Wide.pow,
	ir.Mod:      func(x, y Wide) Wide { return x.Sub(y.Mul(x.Div(y).floor())) },
	ir.Max2: func(x, y Wide) Wide {
		if x.less(y) || y.isNaN() {
			return y
		}
		return x
	},
	ir.Min2: func(x, y Wide) Wide {
		if y.less(x) || y.isNaN() {
			return y
		}
		return x
	},
	ir.Less:   func(x, y Wide) Wide { return wideTruth(x.less(y)) },
	ir.LessEq: func(x, y Wide) Wide { return wideTruth(!y.less(x) && !x.isNaN() && !y.isNaN()) },
	ir.Equal:  func(x, y Wide) Wide { return wideTruth(x == y) },
	ir.And:    func(x, y Wide) Wide { return wideTruth(!x.isZero() && !y.isZero()) },
	ir.Or:     func(x, y Wide) Wide { return wideTruth(!x.isZero() || !y.isZero()) },
}
