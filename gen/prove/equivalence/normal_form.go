package equivalence

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// SameNormalForm reports whether two results of a program have the same normal form.
func SameNormalForm(f *ir.Func, left, right string) bool {
	return simplify.Equal(withResult(f, left), withResult(f, right))
}

// withResult is f, simplified, with one result.
func withResult(f *ir.Func, name string) *ir.Func {
	g, _ := f.Clone()
	g.Results = []ir.Result{{Name: "value", Val: g.Result(name)}}
	g.Sweep()
	simplify.Simplify(g)
	return g
}
