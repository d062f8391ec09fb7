package claim

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Windows in claims of rules. A series that the equations of a step read in a window has one
// parameter for all time steps of the window, the present value being entry 0, and there is
// one for the number of tokens before. So a claim also covers windows that reach back beyond
// the start of the context.

// A lookback is how far a step reads a series in windows: in one, or in several, whose
// parameter has the sum of their lengths.
type lookback struct {
	axis    *ir.Axis
	windows []*ir.Axis
}

// inWindow is a series of a claim at a time step of a window, or now.
func (n *stepClaim) inWindow(e *expr.Builder, sym *check.Symbol, at *expr.Binding, elem ir.Elem, axes []*ir.Axis, span notation.Span) *tensor.Tensor {
	back, to := n.lookback[sym.Name], tensor.Affine{}
	if at != nil {
		if at.Time == nil || at.Window == nil || back == nil {
			e.Diags.Errorf(diag.NotSupported, span, "%s cannot be read at this index in a claim about a step", sym.Name).
				Hint("a window binds a time step: s∈window(t, w)")
			return nil
		}
		to = tensor.AffineOf(e.Token).Add(*at.Time, -1)
	}
	t := n.param(e, ident.ASCII(sym.Name)+".window", elem, append([]*ir.Axis{back.axis}, axes...), Free{Text: sym.Name + " in its window"})
	return tensor.At(t, to)
}

// SinceStart counts from a parameter.
func (n *stepClaim) SinceStart(e *expr.Builder, at tensor.Affine) tensor.Affine {
	t := n.param(e, "before", ir.Int, nil, Free{Text: "the tokens before"})
	return e.CountFrom(at, t.Factors[0].Val)
}

// windowBar is the adjoint of a series that a window reads, at a time step.
func (n *stepClaim) windowBar(e *expr.Builder, name string, when expr.Time) *tensor.Tensor {
	t := n.bars[name+".window"]
	switch {
	case t == nil:
		return nil
	case when.Now:
		return tensor.At(t, tensor.Affine{})
	case when.At != nil && when.At.Time != nil && when.At.Window != nil:
		return tensor.At(t, tensor.AffineOf(e.Token).Add(*when.At.Time, -1))
	}
	return nil
}

// windows finds the series that the equations that depend on states and the claims read in
// windows; their present values are entries of the parameters of those windows.
func (n *stepClaim) windows(o *expr.Builder) {
	n.lookback = map[string]*lookback{}
	look := func(x any) {
		notation.Inspect(x, func(y any) bool {
			if r, ok := y.(*notation.Reduce); ok {
				n.window(o, r)
			}
			return true
		})
	}
	for _, eq := range o.Block.Eqs {
		switch {
		case eq.Class != check.Recurrent:
		case eq.Def != nil:
			look(eq.Def)
		case eq.Iter != nil:
			look(eq.Iter)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Block.Funcs)) {
		if f := o.Block.Funcs[name]; f.Block != nil {
			look(f.Def)
		}
	}
	for _, c := range o.Block.Claims {
		look(c)
	}
	for _, name := range slices.Sorted(maps.Keys(n.lookback)) {
		back := n.lookback[name]
		if back.axis = back.windows[0]; len(back.windows) > 1 {
			all := shape.Poly{}
			for _, w := range back.windows {
				all = all.Add(w.Size)
			}
			back.axis = o.SizedAxis(all)
		}
	}
}

// window notes what a reduction over a window reads at its time steps.
func (n *stepClaim) window(o *expr.Builder, r *notation.Reduce) {
	for _, b := range r.Binders {
		c, ok := b.Range.(*notation.Call)
		if !ok || c.Fun.Text != "window" || len(c.Args) != 2 {
			continue
		}
		w := o.AxisExpr(c.Args[1], nil)
		notation.Inspect(r.Body, func(y any) bool {
			id, ok := y.(*notation.Ident)
			if !ok || w == nil {
				return true
			}
			if name, at := o.Block.Split(id.Name.Text); at == b.Name.Text {
				if n.lookback[name] == nil {
					n.lookback[name] = &lookback{}
				}
				if back := n.lookback[name]; !slices.Contains(back.windows, w) {
					back.windows = append(back.windows, w)
				}
			}
			return true
		})
	}
}
