package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// windows turns the two loops over time of a backward's segment, replay and
// reverse, into a window: see plan.Window.
func windows(row *plan.Loop) {
	for _, n := range row.Body {
		segment, ok := n.(*plan.Loop)
		if !ok || segment.Kind != plan.Segment {
			continue
		}
		last := len(segment.Body) - 2
		if last < 0 {
			continue
		}
		replay, ok1 := segment.Body[last].(*plan.Region)
		reverse, ok2 := segment.Body[last+1].(*plan.Region)
		if !ok1 || !ok2 {
			continue
		}
		if w := window(replay, reverse, row.Private); w != nil {
			segment.Body = append(segment.Body[:last:last], w)
		}
	}
}

// window is the window of two regions, or nil where they are no replay and its
// reverse.
func window(replay, reverse *plan.Region, private []*plan.Buffer) *plan.Window {
	up, down := replay.Body[0].(*plan.Loop), reverse.Body[0].(*plan.Loop)
	if up.Down || !down.Down || !from0(up) || !from0(down) || !slices.EqualFunc(up.Hi, down.Hi, plan.Index.Equal) {
		return nil
	}
	w := &plan.Window{From: &plan.Var{Name: "from"}, To: &plan.Var{Name: "to"}, Hi: up.Hi, Replay: replay, Reverse: reverse}
	for b := range plan.Writes(up.Body) {
		if slices.Contains(private, b) {
			w.Trail = append(w.Trail, b)
		}
	}
	slices.SortFunc(w.Trail, func(a, b *plan.Buffer) int { return slices.Index(private, a) - slices.Index(private, b) })
	if len(w.Trail) == 0 || !trails(up, w.Trail) || !trails(down, w.Trail) {
		return nil
	}
	for _, loop := range []*plan.Loop{up, down} {
		loop.Lo, loop.Hi = []plan.Index{plan.At(w.From)}, []plan.Index{plan.At(w.To)}
		shift(loop, w)
	}
	return w
}

func from0(loop *plan.Loop) bool { return len(loop.Lo) == 1 && loop.Lo[0].Equal(plan.Index{}) }

// trails reports whether a loop over time reaches its trails only at the
// present state and the one behind it.
func trails(loop *plan.Loop, trail []*plan.Buffer) bool {
	ok := true
	plan.Walk(loop.Body, func(n plan.Node) {
		plan.Accesses(n, func(a plan.Access) {
			if slices.Contains(trail, a.Buf.Base()) {
				d := a.Index[0].Subst(loop.Var, plan.Index{})
				c, number := d.Const.Const()
				ok = ok && a.Buf.Shows == nil && len(a.Index) == 2 && len(d.Terms) == 0 && number && (c == 0 || c == 1) &&
					a.Index[0].Coef(loop.Var).Equal(shape.Int(1))
			}
		})
	})
	return ok
}

// shift makes a loop index its trails from the window's first token on.
func shift(loop *plan.Loop, w *plan.Window) {
	move := func(a plan.Access) plan.Access {
		if !slices.Contains(w.Trail, a.Buf.Base()) {
			return a
		}
		index := slices.Clone(a.Index)
		index[0] = index[0].Add(plan.At(w.From), shape.Int(-1))
		return plan.Access{Buf: a.Buf, Index: index}
	}
	plan.Walk(loop.Body, func(n plan.Node) {
		plan.Exprs(n, func(e plan.Expr) plan.Expr {
			return plan.Rewrite(e, func(e plan.Expr) plan.Expr {
				if l, ok := e.(plan.Load); ok {
					return plan.Load{Access: move(l.Access)}
				}
				return e
			})
		})
		if s, ok := n.(*plan.Store); ok {
			s.To = move(s.To)
		}
	})
}
