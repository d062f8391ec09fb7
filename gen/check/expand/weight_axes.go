package expand

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// An algorithm may keep arrays of other shapes than the weight's: a network that reads
// the rows of a gradient has a matrix as wide as these rows. Its line `dims W = r × c`
// names the axes of the weight. A line that reads one of them is written once for each
// weight, with the axis of that weight. The names are not axes of the rule.

// weightAxes are the names that a unit gives the axes of the weight, or nil.
func (e *expander) weightAxes(u *notation.Unit) *notation.DimsItem {
	if u == nil || !e.usesLetters(u) {
		return nil
	}
	for d := range notation.Of[*notation.Dims](u.Body) {
		for _, it := range d.Items {
			if it.Name.Text == "W" && len(it.Factors) > 0 {
				return it
			}
		}
	}
	return nil
}

// weightAxis is the position of a name among the axes of the weight, or -1.
func (e *expander) weightAxis(u *notation.Unit, name string) int {
	it := e.weightAxes(u)
	if it == nil {
		return -1
	}
	return slices.IndexFunc(it.Factors, func(f notation.Word) bool { return f.Text == name })
}

// checkWeightAxes refuses a weight that has another number of axes than an algorithm
// names.
func (e *expander) checkWeightAxes() bool {
	it := e.weightAxes(e.knobs[notation.AlgorithmUnit])
	if it == nil {
		return true
	}
	for _, f := range e.fits {
		for _, w := range f.Weights {
			n := weightDecl(e.knobs[notation.StructUnit].Body, w.Text)
			if n == nil || n.Type == nil || len(n.Type.Shape) == len(it.Factors) {
				continue
			}
			e.ds.Errorf(diag.IllegalFormula, n.Span, "%s needs weights with %d axes, and %s has %d",
				e.knobs[notation.AlgorithmUnit].Name.Text, len(it.Factors), w.Text, len(n.Type.Shape)).
				See(it.Span, "it names them here").Hint("choose an algorithm that does not ask for the axes of a weight")
			return false
		}
	}
	return true
}

// weightAxisOf is the axis of the weight that a name stands for, or nil for any other
// name.
func (s *substitution) weightAxisOf(name string) notation.Expr {
	i := s.e.weightAxis(s.unit, name)
	if i < 0 || s.weight == "" {
		return nil
	}
	n := weightDecl(s.e.knobs[notation.StructUnit].Body, s.weight)
	if n == nil || n.Type == nil || i >= len(n.Type.Shape) {
		return nil
	}
	return n.Type.Shape[i]
}

// typeOf is a type with the axes of the weight.
func (s *substitution) typeOf(t *notation.Type) *notation.Type {
	if t == nil || s.e.weightAxes(s.unit) == nil {
		return s.renameSizes(t)
	}
	return notation.Copy(t, s.expr)
}

// axisLine is a dims line without what it says of the weight, or nil when
// nothing is left.
func axisLine(d *notation.Dims) notation.Stmt {
	c := *d
	c.Items = slices.DeleteFunc(slices.Clone(d.Items), func(it *notation.DimsItem) bool { return it.Name.Text == "W" && len(it.Factors) > 0 })
	if len(c.Items) == 0 {
		return nil
	}
	return &c
}
