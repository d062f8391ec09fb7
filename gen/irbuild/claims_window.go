package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A claim about a step whose equations look back through a window has one
// parameter for all the moments of that window, the value now being its entry
// 0, and one for how many tokens the context had before. So a claim is held to
// windows that reach behind the start as well.

// inWindow is a series of a claim at a moment of a window, or now.
func (n *stepClaim) inWindow(e *builder, sym *check.Symbol, at *binding, elem ir.Elem, axes []*ir.Axis, span notation.Span) *ten {
	wide, to := n.wide[sym.Name], affine{}
	if at != nil {
		if wide == nil {
			wide = at.wide
			n.wide[sym.Name] = wide
		}
		if at.time == nil || wide == nil || at.wide != wide {
			e.ds.Errorf(diag.NotSupported, span, "a claim about a step can look at %s in one window, and this is another", sym.Name).
				Hint("give its windows one width, or claim something that does not read the step")
			return nil
		}
		to = varAff(e.token).add(*at.time, -1)
	}
	t := n.param(e, check.ASCII(sym.Name)+".window", elem, append([]*ir.Axis{wide}, axes...), Free{Text: sym.Name + " in its window"})
	return atMoment(t, to)
}

// sinceStart counts from a parameter.
func (n *stepClaim) sinceStart(e *builder, at affine) affine {
	t := n.param(e, "before", ir.Int, nil, Free{Text: "the tokens before"})
	return e.counted(at, t.fs[0].val)
}

// windowBar is the adjoint of a series that a window reads, at a moment.
func (n *stepClaim) windowBar(e *builder, name string, when moment) *ten {
	t := n.bars[name+".window"]
	switch {
	case t == nil:
		return nil
	case when.now:
		return atMoment(t, affine{})
	case when.at != nil && when.at.time != nil && when.at.wide == n.wide[name]:
		return atMoment(t, varAff(e.token).add(*when.at.time, -1))
	}
	return nil
}

// windows finds the series that the equations behind states read in windows,
// so that their values now are entries of those.
func (n *stepClaim) windows(o *builder) {
	n.wide = map[string]*ir.Axis{}
	look := func(x any) {
		notation.Inspect(x, func(y any) bool {
			if r, ok := y.(*notation.Reduce); ok {
				n.window(o, r)
			}
			return true
		})
	}
	for _, eq := range o.blk.Eqs {
		if eq.Class == check.Step && eq.Def != nil {
			look(eq.Def)
		}
	}
	for _, f := range o.blk.Funcs {
		if f.Block != nil {
			look(f.Def)
		}
	}
}

// window notes what a reduction over a window reads at its moments.
func (n *stepClaim) window(o *builder, r *notation.Reduce) {
	for _, b := range r.Binders {
		c, ok := b.Range.(*notation.Call)
		if !ok || c.Fun.Text != "window" || len(c.Args) != 2 {
			continue
		}
		w := o.axisExpr(c.Args[1], nil)
		notation.Inspect(r.Body, func(y any) bool {
			if id, ok := y.(*notation.Ident); ok {
				if name, at := o.blk.Split(id.Name.Text); at == b.Name.Text && n.wide[name] == nil {
					n.wide[name] = w
				}
			}
			return true
		})
	}
}
