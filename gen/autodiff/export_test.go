package autodiff

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// Twins lists the values of a program and of the steps in it that are the same
// function of its parameters and that are too expensive to be computed again.
func Twins(f *ir.Func) []string {
	var out []string
	var first []*ir.Value
	values := simplify.NewValues(f)
	for _, in := range f.Body {
		if in.Scan != nil {
			out = append(out, Twins(in.Scan.Body)...)
			continue
		}
		if in.Op.Info().Cost <= ir.Simple && length(in) == 1 {
			continue
		}
		for _, old := range first {
			if values.Equal(old, in.Out) {
				out = append(out, f.Name+": "+old.Name+" and "+in.Out.Name)
			}
		}
		first = append(first, in.Out)
	}
	return out
}
