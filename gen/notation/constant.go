package notation

import (
	"math"
)

// Constant evaluates an expression of numbers alone: a literal, ∞, or arithmetic on such.
func Constant(e Expr) (float64, bool) {
	switch e := e.(type) {
	case *Number:
		return e.Value, true
	case *Ident:
		if e.Name.Text == "∞" {
			return math.Inf(1), true
		}
	case *Unary:
		x, ok := Constant(e.X)
		return -x, ok
	case *Power:
		x, ok := Constant(e.X)
		y, oky := Constant(e.Exp)
		return math.Pow(x, y), ok && oky
	case *Call:
		if e.Fun.Text == "sqrt" && len(e.Args) == 1 {
			x, ok := Constant(e.Args[0])
			return math.Sqrt(x), ok
		}
	case *Binary:
		x, ok := Constant(e.X)
		y, oky := Constant(e.Y)
		if !ok || !oky {
			return 0, false
		}
		switch e.Op {
		case "+":
			return x + y, true
		case "−":
			return x - y, true
		case "·":
			return x * y, true
		case "/":
			return x / y, true
		}
	}
	return 0, false
}
