package irbuild

import (
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// pageAxes introduces the axes that the types of a page alone name: those of a
// front are not known there.
func (e *builder) pageAxes() {
	introduce := func(t *notation.Type) {
		if t == nil || t.AnyShape {
			return
		}
		for _, x := range t.Shape {
			if id, ok := x.(*notation.Ident); ok && e.blk.AxisOf(id.Name.Text) == nil {
				e.freeAxis(id)
			}
		}
	}
	for _, s := range e.blk.SymSeq {
		introduce(s.Type)
	}
	for _, st := range e.blk.Unit.Body {
		if d, ok := st.(*notation.Define); ok && d.Target.IsFunc {
			for _, p := range d.Target.Params {
				introduce(p.Type)
			}
		}
	}
}

// freeAxis introduces an axis in the scope of the whole claim, once.
func (e *builder) freeAxis(id *notation.Ident) *ir.Axis {
	base := e.scopes[0]
	if b := base.names[id.Name.Text]; b != nil {
		return b.axis
	}
	if base.names == nil {
		base.names = map[string]*binding{}
	}
	a := e.f.NewAxis(ident.ASCII(id.Name.Text))
	base.names[id.Name.Text] = &binding{axis: a}
	return a
}
