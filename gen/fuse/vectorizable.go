package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// vectorizable reports whether a region can run on vectors, once it has the given
// scalars.
func vectorizable(r *plan.Region, own ...*plan.Local) bool {
	c := &checker{r: r, defined: map[*plan.Local]bool{}}
	for _, l := range own {
		c.defined[l] = true
	}
	c.nodes(r.Body, nil)
	return !c.refused && c.vectorLoops > 0
}

// A checker examines a region; refused is set by what vectors cannot compute.
type checker struct {
	r           *plan.Region
	refused     bool
	vectorLoops int // innermost loops
	defined     map[*plan.Local]bool
}

func (c *checker) need(ok bool) { c.refused = c.refused || !ok }

// nodes checks statements; inner is the innermost loop around them.
func (c *checker) nodes(ns []plan.Node, inner *plan.Loop) {
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Note:
		case *plan.Loop:
			c.loop(n, inner)
		case *plan.If:
			c.need(inner == nil && len(n.Cond) == 0 && n.Present != nil)
			c.nodes(n.Body, inner)
		case *plan.Let:
			c.defined[n.To] = true
			c.need(n.To.Elem != ir.Int)
			c.expr(n.Val, inner)
		case *plan.Accumulate:
			c.need(n.To.Elem == ir.Real && c.defined[n.To])
			c.expr(n.Val, inner)
		case *plan.Store:
			c.store(n, inner)
		case *plan.Gather:
			c.need(inner == nil && len(n.From.Gathered()) == 0 && !n.From.Mentions(c.r.Row) && !c.r.IsPrivate(n.From.Buf))
		default:
			c.need(false)
		}
	}
}

func (c *checker) loop(n *plan.Loop, inner *plan.Loop) {
	c.need(inner == nil && (n.Kind == plan.Plain || n.Kind == plan.Reduction || n.Kind == plan.Time))
	for _, x := range append(slices.Clone(n.Lo), n.Hi...) {
		c.need(x.Coef(c.r.Row).IsZero())
	}
	if n.Kind == plan.Time || !innermost(n) {
		c.nodes(n.Body, nil)
		return
	}
	c.vectorLoops++
	c.need(!n.Down && len(n.Lo) == 1 && n.Lo[0].Equal(plan.Index{}))
	c.nodes(n.Body, n)
	c.need(independent(n))
}

func (c *checker) store(n *plan.Store, inner *plan.Loop) {
	c.need(!n.Add && len(n.Vals) == 1 && n.To.Buf.Elem != ir.Int)
	c.access(n.To, inner)
	if inner != nil {
		c.need(!n.To.Flat().Coef(inner.Var).IsZero())
	}
	c.need(n.To.Buf.Elem == ir.Real || inner == nil && c.r.Row == nil) // Booleans are bytes
	c.expr(n.Vals[0], inner)
}

func (c *checker) expr(e plan.Expr, inner *plan.Loop) {
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e := e.(type) {
		case plan.Load:
			c.need(e.Buf.Elem == ir.Real || e.Buf.Elem == ir.Bool && inner == nil && c.r.Row == nil)
			c.access(e.Access, inner)
		case plan.Ref:
			c.need(c.defined[e.To] && e.To.Elem != ir.Int || e.To.Elem == ir.Real)
		case plan.IndexExpr:
			c.need(false)
		case plan.Call:
			c.need(e.Op.Info().Vector)
		}
	})
}

// access checks that a vector loop walks a buffer entry by entry.
func (c *checker) access(a plan.Access, inner *plan.Loop) {
	c.need(len(a.Gathered()) == 0)
	one := shape.Int(1)
	if c.r.IsPrivate(a.Buf) {
		c.need(inner != nil && a.Buf.ViewOf == nil && a.EndsIn(inner.Var))
		return
	}
	flat := a.Flat()
	unit := func(v *plan.Var) bool { k := flat.Coef(v); return k.IsZero() || k.Equal(one) }
	if c.r.Row != nil {
		c.need(unit(c.r.Row))
	}
	if inner == nil {
		return
	}
	c.need(unit(inner.Var))
	if c.r.Row != nil {
		c.need(flat.Coef(c.r.Row).IsZero() || flat.Coef(inner.Var).IsZero())
	}
}

// independent reports whether no entry that an iteration of a vector loop writes is one that
// another iteration touches: every other access of a written buffer is at the
// same index, or at one that differs by a number in an index without its variable.
func independent(inner *plan.Loop) bool {
	written := plan.Written(inner.Body)
	var all []plan.Access
	for _, n := range inner.Body {
		plan.EachAccess(n, func(a plan.Access) {
			if written[a.Buf.Base()] {
				all = append(all, a)
			}
		})
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Buf.Base() == b.Buf.Base() && !disjoint(a, b, inner.Var) {
				return false
			}
		}
	}
	return true
}

func disjoint(a, b plan.Access, v *plan.Var) bool {
	if a.Buf != b.Buf {
		return a.Flat().Equal(b.Flat())
	}
	same := true
	for i := range a.Index {
		d := a.Index[i].Add(b.Index[i], shape.Int(-1))
		if len(d.Terms) == 0 && d.Const.IsZero() {
			continue
		}
		same = false
		n, number := d.Const.Const()
		if len(d.Terms) == 0 && number && n != 0 && a.Index[i].Coef(v).IsZero() {
			return true
		}
	}
	return same
}
