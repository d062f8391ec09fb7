package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// An update changes one parameter in one training step. Its header says what it reads of
// the parameter: an entry, `update F(w, g)`, or the whole of a matrix,
// `update F(w ∈ ℝ^{r×c}, g ∈ ℝ^{r×c})`. Then r and c are axes of the unit, and the header
// names the update of entries for the parameters that are not matrices.

// Matrices returns the axes of the parameter of an update of matrices.
func (b *Block) Matrices() (rows, cols *Axis, ok bool) {
	t := matrixType(b.Unit)
	if t == nil {
		return nil, nil, false
	}
	name := func(e notation.Expr) *Axis { return b.Axes[e.(*notation.Ident).Name.Text] }
	return name(t.Shape[0]), name(t.Shape[1]), true
}

// matrixType is the type of the parameter of an update of matrices, or nil.
func matrixType(u *notation.Unit) *notation.Type {
	if u.Kind != notation.UpdateUnit || len(u.Params) == 0 {
		return nil
	}
	t := u.Params[0].Type
	if t == nil || t.Kind != notation.RealType || t.AnyShape || len(t.Shape) != 2 {
		return nil
	}
	for _, x := range t.Shape {
		if _, ok := x.(*notation.Ident); !ok {
			return nil
		}
	}
	return t
}

// updateHeader reads the header of an update: its axes, and the update of the other
// parameters.
func (r *resolver) updateHeader() {
	u := r.b.Unit
	if u.Kind != notation.UpdateUnit || !r.updateParams(u) {
		return
	}
	t := matrixType(u)
	switch {
	case t != nil:
		for _, x := range t.Shape {
			if name := x.(*notation.Ident).Name.Text; r.b.Axes[name] == nil {
				r.b.AddFreeAxis(name)
			}
		}
		if u.Else == nil {
			r.ds.Errorf(diag.MissingEquation, u.Name.Span, "%s updates matrices, and nothing updates the other parameters", u.Name.Text).
				Hint("name an update of entries after the header: … else Name")
			return
		}
		r.fallback(u.Else)
	case u.Else != nil:
		r.ds.Errorf(diag.NotHere, u.Else.Span, "%s updates every parameter entry by entry, so nothing is left for %s", u.Name.Text, u.Else.Name.Text).
			Hint("take it away, or give w and g the type of a matrix")
	}
}

// updateParams reports whether the parameters of an update are a parameter and its gradient,
// both without a type or both of one matrix type.
func (r *resolver) updateParams(u *notation.Unit) bool {
	if len(u.Params) != 2 || u.Params[0].Group+u.Params[1].Group > 0 {
		r.ds.Errorf(diag.NotHere, u.Name.Span, "an update takes a parameter and its gradient").Hint("write update %s(w, g)", u.Name.Text)
		return false
	}
	w, g := u.Params[0], u.Params[1]
	if t := matrixType(u); w.Type != nil && (t == nil || notation.Equal(t.Shape[0], t.Shape[1])) {
		r.ds.Errorf(diag.NotSupported, w.Type.Span, "an update reads an entry of a parameter or the whole of a matrix").
			Hint("write %s(w, g), or %s(w ∈ ℝ^{r×c}, g ∈ ℝ^{r×c})", u.Name.Text, u.Name.Text)
		return false
	}
	if !notation.Equal(w.Type, g.Type) {
		r.ds.Errorf(diag.ShapeMismatch, g.Span, "a gradient has the shape of its parameter").See(w.Span, "the parameter")
		return false
	}
	return true
}

// fallback resolves the update after else, one of entries, with its settings.
func (r *resolver) fallback(a *notation.Apply) {
	u := r.page(a, notation.UpdateUnit)
	if u == nil {
		return
	}
	before := r.ds.Len()
	_, options := units.Bind(u, a.Args, r.ds)
	b := instantiate(r.tree, u, u.Name.Text, options, u.With, r.ds)
	if b == nil || r.ds.Len() > before {
		return
	}
	if _, _, matrices := b.Matrices(); matrices {
		r.ds.Errorf(diag.WrongPageKind, a.Name.Span, "%s updates matrices too", u.Name.Text).See(u.Name.Span, "defined here").
			Hint("other parameters are updated entry by entry")
		return
	}
	for _, o := range options {
		if opt := b.Options[o.Name.Text]; opt != nil && opt.Static {
			r.ds.Errorf(diag.BadOption, o.Span, "%s is not a setting: it decides what %s is", o.Name.Text, u.Name.Text).See(opt.Decl.Span, "declared here").
				Hint("give the variant a name, update Other = %s(%s), and name that", u.Name.Text, o.Span.Text())
			return
		}
	}
	r.b.Fallback = &Subpart{Name: u.Name.Text, Kind: "Update", Formula: a, Block: b}
}

// checkSlots refuses an update with a slot or parameter without an equation.
func (r *resolver) checkSlots() {
	if r.b.Unit.Kind != notation.UpdateUnit {
		return
	}
	if r.b.Time == "" {
		r.ds.Errorf(diag.MissingEquation, r.b.Unit.Name.Span, "%s has no clock", r.b.Name).Hint("write clock n: it counts the steps, and w_n is the parameter after one")
		return
	}
	for _, s := range r.b.SymSeq {
		if s.Kind == State && !slices.ContainsFunc(r.defs, func(e *Equation) bool { return e.Name == s.Name }) {
			d := r.ds.Errorf(diag.MissingEquation, s.Span, "%s has no equation", s.Name)
			d.Hint("write its equation for a step: %s = …", notation.At(s.Name, "_"+r.b.Time))
		}
	}
}
