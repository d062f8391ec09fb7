package claim

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Claims of pages that are no programs by themselves: knobs and fronts. Every name with a
// type is a parameter.

// pageAxes introduces the axes that only the types of the page name: those of a front are
// not known on its page.
func pageAxes(e *expr.Builder) {
	introduce := func(t *notation.Type) {
		if t == nil || t.AnyShape {
			return
		}
		for id := range notation.Of[*notation.Ident](t.Shape) {
			if e.Block.AxisOf(id.Name.Text) == nil {
				freeAxis(e, id)
			}
		}
	}
	for _, s := range e.Block.SymSeq {
		introduce(s.Type)
	}
	for d := range notation.Functions(e.Block.Unit.Body) {
		for _, p := range d.Target.Params {
			introduce(p.Type)
		}
	}
}

// freeAxis introduces an axis in the scope of the whole claim, once.
func freeAxis(e *expr.Builder, id *notation.Ident) *ir.Axis {
	base := e.Scopes[0]
	if b := base.Names[id.Name.Text]; b != nil {
		return b.Axis
	}
	if base.Names == nil {
		base.Names = map[string]*expr.Binding{}
	}
	a := e.Func.NewAxis(ident.ASCII(id.Name.Text))
	base.Names[id.Name.Text] = &expr.Binding{Axis: a}
	return a
}

// A pageClaim serves a page that is no program by itself: a knob or a front.
type pageClaim struct{ *names }

// Resolve finds the value of a name with a type: a parameter.
func (n *pageClaim) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	if sym.Type == nil || when != (expr.Time{}) {
		e.Diags.Errorf(diag.TimeSuffix, span, "%s has no value on this page alone", sym.Name)
		return nil
	}
	axes, ok := freeShape(e, sym.Type)
	if !ok {
		return nil
	}
	return n.param(e, ident.ASCII(sym.Name), ir.Real, axes, Free{Text: sym.Name, Sym: sym, Type: sym.Type})
}

// Adjoint refuses adjoints.
func (n *pageClaim) Adjoint(e *expr.Builder, x *notation.Ident, _ string) *tensor.Tensor {
	return n.refuseAdjoint(e, x, "adjoints occur in the claims of an operation or a rule")
}
