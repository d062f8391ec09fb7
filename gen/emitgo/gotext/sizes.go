package gotext

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// SizeText prints a size as a Go expression.
func SizeText(p shape.Poly, name func(string) string) string {
	ms := p.Monomials()
	if len(ms) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, m := range ms {
		c := m.Coef
		neg := c.Sign() < 0
		switch {
		case neg && i == 0:
			b.WriteString("-")
		case neg:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		}
		var fs []string
		num := c.Num().Int64()
		if num < 0 {
			num = -num
		}
		if num != 1 || len(m.Syms) == 0 {
			fs = append(fs, fmt.Sprint(num))
		}
		for _, s := range m.Syms {
			fs = append(fs, name(s))
		}
		text := strings.Join(fs, "*")
		if !c.IsInt() {
			text = fmt.Sprintf("%s/%d", text, c.Denom().Int64())
		}
		b.WriteString(text)
	}
	return b.String()
}

// ShapeText is a buffer's shape as a comment.
func ShapeText(b *plan.Buffer) string {
	s := make([]string, len(b.Dims))
	for i, d := range b.Dims {
		s[i] = d.String()
	}
	return "[" + strings.Join(s, ", ") + "]"
}
