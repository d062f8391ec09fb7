package sample

import (
	"math"

	"github.com/nl-hecate/hecate/gen/notation"
)

// constant folds an expression of numbers and names; name returns the value of a name.
func constant(x notation.Expr, name func(text string) (float64, bool)) (float64, bool) {
	if v, ok := notation.Constant(x); ok {
		return v, true
	}
	all := func(xs ...notation.Expr) ([]float64, bool) {
		var out []float64
		for _, x := range xs {
			v, ok := constant(x, name)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	}
	switch x := x.(type) {
	case *notation.Ident:
		return name(x.Name.Text)
	case *notation.Unary:
		v, ok := constant(x.X, name)
		return -v, ok
	case *notation.Juxt:
		if vs, ok := all(x.Items...); ok {
			p := 1.0
			for _, v := range vs {
				p *= v
			}
			return p, true
		}
	case *notation.Binary:
		if vs, ok := all(x.X, x.Y); ok {
			switch x.Op {
			case "+":
				return vs[0] + vs[1], true
			case "−":
				return vs[0] - vs[1], true
			case "·":
				return vs[0] * vs[1], true
			case "/":
				return vs[0] / vs[1], true
			}
		}
	case *notation.Power:
		if vs, ok := all(x.X, x.Exp); ok {
			return math.Pow(vs[0], vs[1]), true
		}
	case *notation.Call:
		if vs, ok := all(x.Args...); ok && x.Fun.Text == "sqrt" && len(vs) == 1 {
			return math.Sqrt(vs[0]), true
		}
	}
	return 0, false
}
