package gotext

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// SizeText prints a size as a Go expression.
func SizeText(p shape.Poly, name func(string) string) string {
	return (&clike.Printer{Size: name}).Poly(p)
}

// ShapeText is a buffer's shape as a comment.
func ShapeText(b *plan.Buffer) string {
	s := make([]string, len(b.Dims))
	for i, d := range b.Dims {
		s[i] = d.String()
	}
	return "[" + strings.Join(s, ", ") + "]"
}
