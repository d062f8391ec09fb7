package markdown

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/internal/spelling"
)

// nearest returns the field name that a misspelt one was meant to be, or "". It is
// stricter than [spelling.Nearest]: a label that is no field is text.
func nearest(name string) spec.FieldName {
	best, bestName := 3, spec.FieldName("")
	for _, n := range spec.FieldNames {
		d := spelling.Distance(strings.ToLower(name), strings.ToLower(string(n)))
		if d <= len(n)/3 && d < best {
			best, bestName = d, n
		}
	}
	return bestName
}
