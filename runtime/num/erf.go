package num

import (
	"math"

	"github.com/nl-hecate/hecate/runtime/num/internal/table"
)

// erf expands around the nearest multiple of ¼, degree 14, from a table; below
// ⅜ the odd series keeps the relative error.
func erf(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0.375:
		return erfNear(x)
	case a >= 6: // 1 − erf(6) is 2e-17
		return math.Copysign(1, x)
	case x != x:
		return x
	}
	i := int(float64(a*4) + 0.5)
	t := a - float64(float64(i)*0.25)
	c := &table.Erf[i]
	p := c[0]
	for _, v := range c[1:14] {
		p = v + float64(p*t)
	}
	return math.Copysign(c[14]+float64(p*t), x)
}

// erfNear returns 2/√π·(x − x³/3 + x⁵/10 − x⁷/42 + …) to x^21, |x| < ⅜. The
// constant is 1.128…; its leading 1 is added exactly.
func erfNear(x float64) float64 {
	z := float64(x * x)
	p := -1.0/6894720 + float64(z*(1.0/76204800))
	p = 1.0/685440 + float64(z*p)
	p = -1.0/75600 + float64(z*p)
	p = 1.0/9360 + float64(z*p)
	p = -1.0/1320 + float64(z*p)
	p = 1.0/216 + float64(z*p)
	p = -1.0/42 + float64(z*p)
	p = 1.0/10 + float64(z*p)
	p = -1.0/3 + float64(z*p)
	q := (table.TwoOverSqrtPi - 1) + float64(table.TwoOverSqrtPi*float64(z*p))
	return x + float64(x*q)
}
