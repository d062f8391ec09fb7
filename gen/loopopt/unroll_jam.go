package loopopt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Unroll-and-jam (Callahan, Cocke, Kennedy 1988): an outer loop is unrolled and
// the copies of its inner loops are fused, so that what the iterations share is
// loaded once and their chains of operations overlap.

// UnrollAndJam returns the body of a loop for width neighbouring iterations at once,
// Var being the first of them: what depends on the iteration is there once for
// each, with scalars and private buffers of its own; what does not is there
// once. Loops inside run once for all of them. Sums into one entry, or into a
// scalar from outside the loop, add the iterations in order, so no bit differs
// from running them one after another.
func UnrollAndJam(loop *plan.Loop, width int) []plan.Node {
	j := newJammer(loop)
	for u := range width {
		c := &iteration{j: j, at: u, local: map[*plan.Local]*plan.Local{}, vars: map[*plan.Var]*plan.Var{}, buf: map[*plan.Buffer]*plan.Buffer{}}
		for _, b := range loop.Private {
			n := *b
			n.Name, n.CopyOf, n.Iteration = fmt.Sprintf("%s.%d", b.Name, u), b, u
			c.buf[b] = &n
		}
		j.copies = append(j.copies, c)
	}
	return j.nodes(loop.Body)
}

type jammer struct {
	loop   *plan.Loop
	varies map[any]bool         // variables, scalars and buffers that differ between iterations
	inside map[*plan.Local]bool // scalars that begin in the loop
	copies []*iteration
}

func newJammer(loop *plan.Loop) *jammer {
	j := &jammer{loop: loop, varies: map[any]bool{loop.Var: true}, inside: map[*plan.Local]bool{}}
	plan.Walk(loop.Body, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Let:
			j.inside[n.To] = true
		case *plan.FindRoot:
			j.inside[n.To], j.inside[n.X] = true, true
		}
	})
	for _, b := range loop.Private {
		j.varies[b] = true
	}
	for n := -1; n != len(j.varies); {
		n = len(j.varies)
		j.mark(loop.Body)
	}
	return j
}

// mark finds what depends on the iteration.
func (j *jammer) mark(ns []plan.Node) {
	plan.Walk(ns, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Let:
			if j.expr(n.Val) {
				j.varies[n.To] = true
			}
		case *plan.Accumulate:
			if j.inside[n.To] && j.expr(n.Val) {
				j.varies[n.To] = true
			}
		case *plan.Gather:
			if j.access(n.From) || j.index(n.Plus) {
				j.varies[n.To] = true
			}
		case *plan.Loop:
			if slices.ContainsFunc(append(slices.Clone(n.Lo), n.Hi...), j.index) {
				j.varies[n] = true
			}
		case *plan.FindRoot:
			if j.expr(n.Lo) || j.expr(n.Hi) || j.expr(n.Val) {
				j.varies[n.To], j.varies[n.X] = true, true
			}
		}
	})
}

func (j *jammer) index(x plan.Index) bool {
	return slices.ContainsFunc(x.Terms, func(t plan.Term) bool { return j.varies[t.Var] })
}

func (j *jammer) access(a plan.Access) bool {
	return j.varies[a.Buf.Base()] || slices.ContainsFunc(a.Index, j.index)
}

func (j *jammer) expr(e plan.Expr) bool {
	dep := false
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e := e.(type) {
		case plan.Load:
			dep = dep || j.access(e.Access)
		case plan.Ref:
			dep = dep || j.varies[e.To]
		case plan.IndexExpr:
			dep = dep || j.index(e.Index)
		}
	})
	return dep
}

// nodes jams a body: stretches without loops row by row, which keeps few
// scalars alive, and loops around their jammed bodies.
func (j *jammer) nodes(ns []plan.Node) []plan.Node {
	var out, run []plan.Node
	for _, n := range ns {
		if inner := j.around(n); inner != nil {
			out = append(append(out, j.straight(run)...), inner)
			run = nil
			continue
		}
		run = append(run, n)
	}
	return append(out, j.straight(run)...)
}

// around jams the inside of a loop or condition that is the same for all
// iterations; for all else it returns nil.
func (j *jammer) around(n plan.Node) plan.Node {
	switch x := n.(type) {
	case *plan.Loop:
		if !j.varies[x] {
			c := *x
			c.Body = j.nodes(x.Body)
			return &c
		}
	case *plan.If:
		if !slices.ContainsFunc(x.Cond, j.index) {
			return &plan.If{Cond: x.Cond, Present: x.Present, Body: j.nodes(x.Body)}
		}
	}
	return nil
}

// straight jams nodes that run one after another: first what all iterations
// share, then each iteration. A sum into an entry that they share is a scalar
// meanwhile; buffers of theirs that nothing has touched are cleared together.
func (j *jammer) straight(run []plan.Node) []plan.Node {
	var first, last, rows []plan.Node
	written := plan.Written(run)
	shared := map[string]*plan.Local{}
	share := func(e plan.Expr) plan.Expr {
		return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
			l, ok := e.(plan.Load)
			if !ok || j.access(l.Access) || written[l.Buf.Base()] {
				return e
			}
			key := l.Access.String()
			if shared[key] == nil {
				shared[key] = &plan.Local{Name: l.Buf.Name + ".entry", Elem: l.Buf.Elem}
				first = append(first, &plan.Let{To: shared[key], Val: l})
			}
			return plan.Ref{To: shared[key]}
		})
	}
	for i, n := range run {
		if z, ok := n.(*plan.Zero); ok && slices.Contains(j.loop.Private, z.Buf.Base()) && !touched(run[:i], z.Buf.Base()) {
			first = append(first, z)
			continue
		}
		if s, ok := n.(*plan.Store); ok && s.Add && !j.access(s.To) {
			x := &plan.Local{Name: s.To.Buf.Name + ".sum", Elem: ir.Real}
			first = append(first, &plan.Let{To: x, Val: plan.Load{Access: s.To}})
			last = append(last, &plan.Store{To: s.To, Vals: []plan.Expr{plan.Ref{To: x}}})
			rows = append(rows, &plan.Accumulate{To: x, Val: share(s.Vals[0])})
			continue
		}
		if j.differs(n) {
			n = copyNode(n)
			plan.MapExprs(n, share)
			rows = append(rows, n)
		} else {
			first = append(first, n)
		}
	}
	for _, c := range j.copies {
		for _, n := range rows {
			first = append(first, c.copier().Node(n))
		}
	}
	return append(first, last...)
}

// touched reports whether nodes read, write or clear a buffer.
func touched(ns []plan.Node, b *plan.Buffer) bool {
	found := false
	plan.Walk(ns, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) { found = found || a.Buf.Base() == b })
		if z, ok := n.(*plan.Zero); ok {
			found = found || z.Buf.Base() == b
		}
	})
	return found
}

func (j *jammer) differs(n plan.Node) bool {
	differs := false
	plan.Walk([]plan.Node{n}, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) { differs = differs || j.access(a) })
		plan.MapExprs(n, func(e plan.Expr) plan.Expr { differs = differs || j.expr(e); return e })
		switch n := n.(type) {
		case *plan.Let:
			differs = differs || j.varies[n.To]
		case *plan.Accumulate:
			differs = differs || j.varies[n.To] || !j.inside[n.To]
		case *plan.Store:
			differs = differs || n.Add || len(n.Vals) == 1 && plan.AddsTo(n.Vals[0], n.To)
		case *plan.Gather:
			differs = differs || j.varies[n.To]
		case *plan.Loop:
			differs = differs || j.varies[n]
		case *plan.FindRoot:
			differs = differs || j.varies[n.To]
		case *plan.If:
			differs = differs || slices.ContainsFunc(n.Cond, j.index)
		case *plan.Zero:
			differs = differs || j.varies[n.Buf.Base()]
		}
	})
	return differs
}

// An iteration is one copy of the body with its own names.
type iteration struct {
	j     *jammer
	at    int
	local map[*plan.Local]*plan.Local
	vars  map[*plan.Var]*plan.Var
	buf   map[*plan.Buffer]*plan.Buffer
}

func (c *iteration) toLocal(l *plan.Local) *plan.Local {
	if !c.j.varies[l] {
		return l
	}
	if c.local[l] == nil {
		c.local[l] = &plan.Local{Name: fmt.Sprintf("%s.%d", l.Name, c.at), Elem: l.Elem}
	}
	return c.local[l]
}

func (c *iteration) toVar(v *plan.Var) *plan.Var {
	if c.vars[v] == nil {
		c.vars[v] = &plan.Var{Name: fmt.Sprintf("%s.%d", v.Name, c.at), Gathered: v.Gathered}
	}
	return c.vars[v]
}

func (c *iteration) index(x plan.Index) plan.Index {
	out := x
	for _, t := range x.Terms {
		switch {
		case t.Var == c.j.loop.Var && c.at > 0:
			out = out.Subst(t.Var, plan.At(t.Var).Add(plan.Fixed(shape.Int(int64(c.at))), shape.Int(1)))
		case t.Var != c.j.loop.Var && c.j.varies[t.Var]:
			out = out.Subst(t.Var, plan.At(c.toVar(t.Var)))
		}
	}
	return out
}

func (c *iteration) buffer(b *plan.Buffer) *plan.Buffer {
	own := c.buf[b.Base()]
	if own == nil || b.ViewOf == nil {
		return cmp.Or(own, b)
	}
	n := *b
	n.ViewOf = own
	return &n
}

// copier copies statements into the iteration.
func (c *iteration) copier() plan.Copier {
	return plan.Copier{Local: c.toLocal, Var: c.toVar, Index: c.index, Buf: c.buffer}
}

// copyNode copies a statement so that its expressions can be replaced.
func copyNode(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Let:
		c := *n
		return &c
	case *plan.Accumulate:
		c := *n
		return &c
	case *plan.Store:
		c := *n
		c.Vals = slices.Clone(n.Vals)
		return &c
	case *plan.FindRoot:
		c := *n
		return &c
	}
	return n
}
