package plan

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Jam returns the body of a loop for width neighbouring iterations at once,
// Var being the first of them: what depends on the iteration is there once for
// each, with scalars and private buffers of its own; what does not is there
// once. Loops inside run once for all of them. Sums into one entry, or into a
// scalar from outside the loop, add the iterations in order, so no bit differs
// from running them one after another.
func Jam(loop *Loop, width int) []Node {
	j := newJammer(loop)
	for u := range width {
		c := &copied{j: j, at: u, local: map[*Local]*Local{}, vars: map[*Var]*Var{}, buf: map[*Buffer]*Buffer{}}
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
	loop   *Loop
	dep    map[any]bool    // variables, scalars and buffers that differ between iterations
	own    map[*Local]bool // scalars that begin in the loop
	copies []*copied
}

func newJammer(loop *Loop) *jammer {
	j := &jammer{loop: loop, dep: map[any]bool{loop.Var: true}, own: map[*Local]bool{}}
	Walk(loop.Body, func(n Node) {
		switch n := n.(type) {
		case *Let:
			j.own[n.To] = true
		case *FindRoot:
			j.own[n.To], j.own[n.X] = true, true
		}
	})
	for _, b := range loop.Private {
		j.dep[b] = true
	}
	for n := -1; n != len(j.dep); {
		n = len(j.dep)
		j.mark(loop.Body)
	}
	return j
}

// mark finds what depends on the iteration.
func (j *jammer) mark(ns []Node) {
	Walk(ns, func(n Node) {
		switch n := n.(type) {
		case *Let:
			if j.expr(n.Val) {
				j.dep[n.To] = true
			}
		case *Accumulate:
			if j.own[n.To] && j.expr(n.Val) {
				j.dep[n.To] = true
			}
		case *Gather:
			if j.access(n.From) || j.index(n.Plus) {
				j.dep[n.To] = true
			}
		case *Loop:
			if slices.ContainsFunc(append(slices.Clone(n.Lo), n.Hi...), j.index) {
				j.dep[n] = true
			}
		case *FindRoot:
			if j.expr(n.Lo) || j.expr(n.Hi) || j.expr(n.Val) {
				j.dep[n.To], j.dep[n.X] = true, true
			}
		}
	})
}

func (j *jammer) index(x Index) bool {
	return slices.ContainsFunc(x.Terms, func(t Term) bool { return j.dep[t.Var] })
}

func (j *jammer) access(a Access) bool {
	return j.dep[a.Buf.Base()] || slices.ContainsFunc(a.Index, j.index)
}

func (j *jammer) expr(e Expr) bool {
	dep := false
	WalkExpr(e, func(e Expr) {
		switch e := e.(type) {
		case Load:
			dep = dep || j.access(e.Access)
		case Ref:
			dep = dep || j.dep[e.To]
		case IndexExpr:
			dep = dep || j.index(e.Index)
		}
	})
	return dep
}

// nodes jams a body: stretches without loops row by row, which keeps few
// scalars alive, and loops around their jammed bodies.
func (j *jammer) nodes(ns []Node) []Node {
	var out, run []Node
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
func (j *jammer) around(n Node) Node {
	switch x := n.(type) {
	case *Loop:
		if !j.dep[x] {
			c := *x
			c.Body = j.nodes(x.Body)
			return &c
		}
	case *If:
		if !slices.ContainsFunc(x.Cond, j.index) {
			return &If{x.Cond, x.Present, j.nodes(x.Body)}
		}
	}
	return nil
}

// straight jams nodes that run one after another: first what all iterations
// share, then each iteration. A sum into an entry that they share is a scalar
// meanwhile; buffers of theirs that nothing has touched are cleared together.
func (j *jammer) straight(run []Node) []Node {
	var first, last, rows []Node
	written := Written(run)
	shared := map[string]*Local{}
	share := func(e Expr) Expr {
		return RewriteExpr(e, func(e Expr) Expr {
			l, ok := e.(Load)
			if !ok || j.access(l.Access) || written[l.Buf.Base()] {
				return e
			}
			key := l.Access.String()
			if shared[key] == nil {
				shared[key] = &Local{Name: l.Buf.Name + ".entry", Elem: l.Buf.Elem}
				first = append(first, &Let{shared[key], l})
			}
			return Ref{shared[key]}
		})
	}
	for i, n := range run {
		if z, ok := n.(*Zero); ok && slices.Contains(j.loop.Private, z.Buf.Base()) && !touched(run[:i], z.Buf.Base()) {
			first = append(first, z)
			continue
		}
		if s, ok := n.(*Store); ok && s.Add && !j.access(s.To) {
			x := &Local{Name: s.To.Buf.Name + ".sum", Elem: ir.Real}
			first = append(first, &Let{x, Load{s.To}})
			last = append(last, &Store{To: s.To, Vals: []Expr{Ref{x}}})
			rows = append(rows, &Accumulate{To: x, Val: share(s.Vals[0])})
			continue
		}
		if j.differs(n) {
			n = copyNode(n)
			MapExprs(n, share)
			rows = append(rows, n)
		} else {
			first = append(first, n)
		}
	}
	for _, c := range j.copies {
		for _, n := range rows {
			first = append(first, c.node(n))
		}
	}
	return append(first, last...)
}

// touched reports whether nodes read, write or clear a buffer.
func touched(ns []Node, b *Buffer) bool {
	found := false
	Walk(ns, func(n Node) {
		EachAccess(n, func(a Access) { found = found || a.Buf.Base() == b })
		if z, ok := n.(*Zero); ok {
			found = found || z.Buf.Base() == b
		}
	})
	return found
}

func (j *jammer) differs(n Node) bool {
	differs := false
	Walk([]Node{n}, func(n Node) {
		EachAccess(n, func(a Access) { differs = differs || j.access(a) })
		MapExprs(n, func(e Expr) Expr { differs = differs || j.expr(e); return e })
		switch n := n.(type) {
		case *Let:
			differs = differs || j.dep[n.To]
		case *Accumulate:
			differs = differs || j.dep[n.To] || !j.own[n.To]
		case *Store:
			differs = differs || n.Add || len(n.Vals) == 1 && AddsTo(n.Vals[0], n.To)
		case *Gather:
			differs = differs || j.dep[n.To]
		case *Loop:
			differs = differs || j.dep[n]
		case *FindRoot:
			differs = differs || j.dep[n.To]
		case *If:
			differs = differs || slices.ContainsFunc(n.Cond, j.index)
		case *Zero:
			differs = differs || j.dep[n.Buf.Base()]
		}
	})
	return differs
}

// A copied is one iteration with its own names.
type copied struct {
	j     *jammer
	at    int
	local map[*Local]*Local
	vars  map[*Var]*Var
	buf   map[*Buffer]*Buffer
}

func (c *copied) toLocal(l *Local) *Local {
	if !c.j.dep[l] {
		return l
	}
	if c.local[l] == nil {
		c.local[l] = &Local{fmt.Sprintf("%s.%d", l.Name, c.at), l.Elem}
	}
	return c.local[l]
}

func (c *copied) toVar(v *Var) *Var {
	if c.vars[v] == nil {
		c.vars[v] = &Var{fmt.Sprintf("%s.%d", v.Name, c.at), v.Gathered}
	}
	return c.vars[v]
}

func (c *copied) index(x Index) Index {
	out := x
	for _, t := range x.Terms {
		switch {
		case t.Var == c.j.loop.Var && c.at > 0:
			out = out.Subst(t.Var, At(t.Var).Add(Fixed(shape.Int(int64(c.at))), shape.Int(1)))
		case t.Var != c.j.loop.Var && c.j.dep[t.Var]:
			out = out.Subst(t.Var, At(c.toVar(t.Var)))
		}
	}
	return out
}

func (c *copied) indices(xs []Index) []Index {
	out := make([]Index, len(xs))
	for i, x := range xs {
		out[i] = c.index(x)
	}
	return out
}

func (c *copied) access(a Access) Access {
	b := a.Buf
	if c.buf[b.Base()] != nil {
		if b.ViewOf != nil {
			n := *b
			n.ViewOf = c.buf[b.Base()]
			b = &n
		} else {
			b = c.buf[b]
		}
	}
	return Access{b, c.indices(a.Index)}
}

func (c *copied) expr(e Expr) Expr {
	return RewriteExpr(e, func(e Expr) Expr {
		switch e := e.(type) {
		case Load:
			return Load{c.access(e.Access)}
		case Ref:
			return Ref{c.toLocal(e.To)}
		case IndexExpr:
			return IndexExpr{c.index(e.Index)}
		}
		return e
	})
}

func (c *copied) node(n Node) Node {
	list := func(ns []Node) []Node {
		out := make([]Node, len(ns))
		for i, n := range ns {
			out[i] = c.node(n)
		}
		return out
	}
	switch n := n.(type) {
	case *Let:
		return &Let{c.toLocal(n.To), c.expr(n.Val)}
	case *Accumulate:
		return &Accumulate{c.toLocal(n.To), n.Max, n.Set, c.expr(n.Val)}
	case *Gather:
		return &Gather{c.toVar(n.To), c.access(n.From), c.index(n.Plus)}
	case *Store:
		out := &Store{To: c.access(n.To), Add: n.Add}
		for _, v := range n.Vals {
			out.Vals = append(out.Vals, c.expr(v))
		}
		return out
	case *Zero:
		return &Zero{c.access(Access{Buf: n.Buf}).Buf}
	case *Loop:
		out := *n
		out.Lo, out.Hi, out.Body = c.indices(n.Lo), c.indices(n.Hi), list(n.Body)
		return &out
	case *If:
		return &If{c.indices(n.Cond), n.Present, list(n.Body)}
	case *FindRoot:
		out := *n
		out.To, out.X, out.Lo, out.Hi = c.toLocal(n.To), c.toLocal(n.X), c.expr(n.Lo), c.expr(n.Hi)
		out.Body, out.Val = list(n.Body), c.expr(n.Val)
		return &out
	}
	panic(fmt.Sprintf("plan: BUG: no copy of %T", n))
}

// copyNode copies a statement so that its expressions can be replaced.
func copyNode(n Node) Node {
	switch n := n.(type) {
	case *Let:
		c := *n
		return &c
	case *Accumulate:
		c := *n
		return &c
	case *Store:
		c := *n
		c.Vals = slices.Clone(n.Vals)
		return &c
	case *FindRoot:
		c := *n
		return &c
	}
	return n
}
