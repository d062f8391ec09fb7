package ir

import "math"

// Eval applies an entry-by-entry function to numbers; Lin, Const and Iota,
// which need more than their arguments, are not such functions.
func (o Op) Eval(v []float64) (float64, bool) {
	switch o {
	case Select:
		return choose(v[0] != 0, v[1], v[2]), true
	case Lin, Const, Iota:
		return 0, false
	}
	if f, ok := unary[o]; ok {
		return f(v[0]), true
	}
	if f, ok := binary[o]; ok {
		return f(v[0], v[1]), true
	}
	return 0, false
}

// Unary and Binary return the function of one or two arguments behind an op,
// or nil.
func (o Op) Unary() func(float64) float64       { return unary[o] }
func (o Op) Binary() func(x, y float64) float64 { return binary[o] }

var unary = map[Op]func(float64) float64{
	Stop:     func(x float64) float64 { return x },
	Exp:      math.Exp,
	Log:      math.Log,
	Log1p:    math.Log1p,
	Expm1:    math.Expm1,
	Sqrt:     math.Sqrt,
	Tanh:     math.Tanh,
	Sigmoid:  sigmoid,
	Softplus: func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
	Sin:      math.Sin,
	Cos:      math.Cos,
	Erf:      math.Erf,
	Abs:      math.Abs,
	Sign:     sign,
	Floor:    math.Floor,
	Not:      func(x float64) float64 { return truth(x == 0) },
	ToReal:   func(x float64) float64 { return x },
}

var binary = map[Op]func(x, y float64) float64{
	Override: func(x, _ float64) float64 { return x },
	Div:      func(x, y float64) float64 { return x / y },
	Pow:      math.Pow,
	Mod:      func(x, y float64) float64 { return x - y*math.Floor(x/y) },
	// The first argument wins a tie; a NaN on either side comes out.
	Max2:   func(x, y float64) float64 { return choose(y <= x || x != x, x, y) },
	Min2:   func(x, y float64) float64 { return choose(x <= y || x != x, x, y) },
	Less:   func(x, y float64) float64 { return truth(x < y) },
	LessEq: func(x, y float64) float64 { return truth(x <= y) },
	Equal:  func(x, y float64) float64 { return truth(x == y) },
	And:    func(x, y float64) float64 { return truth(x != 0 && y != 0) },
	Or:     func(x, y float64) float64 { return truth(x != 0 || y != 0) },
}

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // zero stays zero, NaN stays NaN
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func choose(first bool, x, y float64) float64 {
	if first {
		return x
	}
	return y
}
