package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// An update moves one parameter. Its header says what it sees of it: an entry,
// `update F(w, g)`, or all of a matrix, `update F(w ∈ ℝ^{r×c}, g ∈ ℝ^{r×c})`.
// Then r and c are axes of the unit, and the header has to say which update of
// entries moves the parameters that are no matrices: none is left lying, and
// none is moved by something that nobody wrote down.

// Matrices reports whether an update sees its parameter as a matrix; rows and
// columns are its axes.
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

// update reads the header of an update: its axes, and what moves the rest.
func (in *instancer) update() {
	u := in.b.Unit
	if u.Kind != notation.UpdateUnit || !in.updateParams(u) {
		return
	}
	t := matrixType(u)
	switch {
	case t != nil:
		for _, x := range t.Shape {
			if name := x.(*notation.Ident).Name.Text; in.b.Axes[name] == nil {
				in.b.AddFreeAxis(name)
			}
		}
		if u.Else == nil {
			in.ds.Errorf(diag.MissingEquation, u.Name.Span, "%s moves matrices, and nothing says what moves the other parameters", u.Name.Text).
				Hint("name an update of entries behind the header: … else Name")
			return
		}
		in.otherwise(u.Else)
	case u.Else != nil:
		in.ds.Errorf(diag.NotHere, u.Else.Span, "%s moves every parameter entry by entry, so nothing is left for %s", u.Name.Text, u.Else.Name.Text).
			Hint("take it away, or give w and g the type of a matrix")
	}
}

// updateParams wants a parameter and its gradient, both without a type or both
// the same matrix.
func (in *instancer) updateParams(u *notation.Unit) bool {
	if len(u.Params) != 2 || u.Params[0].Group+u.Params[1].Group > 0 {
		in.ds.Errorf(diag.NotHere, u.Name.Span, "an update takes a parameter and its gradient").Hint("write update %s(w, g)", u.Name.Text)
		return false
	}
	w, g := u.Params[0], u.Params[1]
	if t := matrixType(u); w.Type != nil && (t == nil || notation.Equal(t.Shape[0], t.Shape[1])) {
		in.ds.Errorf(diag.NotSupported, w.Type.Span, "an update sees an entry of a parameter or all of a matrix").
			Hint("write %s(w, g), or %s(w ∈ ℝ^{r×c}, g ∈ ℝ^{r×c})", u.Name.Text, u.Name.Text)
		return false
	}
	if !notation.Equal(w.Type, g.Type) {
		in.ds.Errorf(diag.ShapeMismatch, g.Span, "a gradient has the shape of its parameter").See(w.Span, "the parameter")
		return false
	}
	return true
}

// otherwise resolves the update behind else: one of entries, with its settings.
func (in *instancer) otherwise(a *notation.Apply) {
	u := in.page(a, notation.UpdateUnit)
	if u == nil {
		return
	}
	before := in.ds.Len()
	_, options := units.Bind(u, a.Args, in.ds)
	b := instantiate(in.tree, u, u.Name.Text, options, u.With, in.ds)
	if b == nil || in.ds.Len() > before {
		return
	}
	if _, _, matrices := b.Matrices(); matrices {
		in.ds.Errorf(diag.WrongPageKind, a.Name.Span, "%s moves matrices too", u.Name.Text).See(u.Name.Span, "defined here").
			Hint("what is no matrix is moved entry by entry")
		return
	}
	for _, o := range options {
		if opt := b.Options[o.Name.Text]; opt != nil && opt.Static {
			in.ds.Errorf(diag.BadOption, o.Span, "%s is no setting: it decides what %s is", o.Name.Text, u.Name.Text).See(opt.Decl.Span, "declared here").
				Hint("give the variant a name, update Other = %s(%s), and name that", u.Name.Text, o.Span.Text())
			return
		}
	}
	in.b.Fallback = &Subpart{Name: u.Name.Text, Kind: "Update", Formula: a, Block: b}
}

// moves refuses an update in which something that it carries has no equation.
func (in *instancer) moves() {
	if in.b.Unit.Kind != notation.UpdateUnit {
		return
	}
	if in.b.Time == "" {
		in.ds.Errorf(diag.MissingEquation, in.b.Unit.Name.Span, "%s has no clock", in.b.Name).Hint("write clock n: it counts the fires, and w_n is the parameter after one")
		return
	}
	for _, s := range in.b.SymSeq {
		if s.Kind == State && !slices.ContainsFunc(in.defs, func(e *Equation) bool { return e.Name == s.Name }) {
			d := in.ds.Errorf(diag.MissingEquation, s.Span, "%s has no equation", s.Name)
			d.Hint("say what a fire makes of it: %s = …", notation.At(s.Name, "_"+in.b.Time))
		}
	}
}

// slot looks at a slot: it has the shape of the parameter and begins at zero.
func (in *instancer) slot(n *notation.DeclName) {
	if x, ok := notation.Constant(n.Init); n.Init == nil || !ok || x != 0 {
		in.ds.Errorf(diag.NotSupported, n.Name.Span, "slot %s does not begin at zero", n.Name.Text).Hint("write slot %s = 0", n.Name.Text)
	}
}
