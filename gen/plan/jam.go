package plan

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/shape"
)

// Jam returns the body of a loop for width neighbouring iterations at once,
// Var being the first of them: what depends on the iteration is there once for
// each, interleaved, with scalars and private buffers of its own; what does
// not is there once. Sums into one entry add the iterations in order, so no
// bit differs from running them one after another.
func Jam(loop *Loop, width int) []Node {
	j := &jammer{loop: loop, width: width, dep: map[any]bool{loop.Var: true}}
	for _, b := range loop.Private {
		j.dep[b] = true
	}
	for n := -1; n != len(j.dep); {
		n = len(j.dep)
		j.mark(loop.Body)
	}
	for u := range width {
		c := &copied{j: j, at: u, local: map[*Local]*Local{}, vars: map[*Var]*Var{}, buf: map[*Buffer]*Buffer{}}
		for _, b := range loop.Private {
			n := *b
			n.Name, n.Slot, n.At = fmt.Sprintf("%s.%d", b.Name, u), b, u
			c.buf[b] = &n
		}
		j.copies = append(j.copies, c)
	}
	return j.nodes(loop.Body)
}

type jammer struct {
	loop   *Loop
	width  int
	dep    map[any]bool // variables, scalars and buffers that differ between iterations
	copies []*copied
}

// mark finds what depends on the iteration.
func (j *jammer) mark(ns []Node) {
	Walk(ns, func(n Node) {
		switch n := n.(type) {
		case *Let:
			if j.expr(n.Val) {
				j.dep[n.To] = true
			}
		case *Acc:
			if j.expr(n.Val) {
				j.dep[n.To] = true
			}
		case *Pick:
			if j.access(n.From) || j.index(n.Plus) {
				j.dep[n.To] = true
			}
		case *Loop:
			if slices.ContainsFunc(append(slices.Clone(n.Lo), n.Hi...), j.index) {
				j.dep[n] = true
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
	Visit(e, func(e Expr) {
		switch e := e.(type) {
		case Load:
			dep = dep || j.access(e.Access)
		case Ref:
			dep = dep || j.dep[e.To]
		case Pos:
			dep = dep || j.index(e.Index)
		}
	})
	return dep
}

func (j *jammer) nodes(ns []Node) []Node {
	var out []Node
	for _, n := range ns {
		out = append(out, j.node(n)...)
	}
	return out
}

func (j *jammer) node(n Node) []Node {
	switch x := n.(type) {
	case *Loop:
		if !j.dep[x] {
			c := *x
			c.Body = j.nodes(x.Body)
			return []Node{&c}
		}
	case *If:
		if !slices.ContainsFunc(x.Cond, j.index) {
			return []Node{&If{x.Cond, x.Present, j.nodes(x.Body)}}
		}
	case *Store:
		if x.Add && !j.access(x.To) {
			return []Node{j.sum(x)}
		}
	}
	if !j.differs(n) {
		return []Node{n}
	}
	var out []Node
	for _, c := range j.copies {
		out = append(out, c.node(n))
	}
	return out
}

// sum adds the values of all iterations to the one entry.
func (j *jammer) sum(s *Store) Node {
	out := &Store{To: s.To, Add: true}
	for _, c := range j.copies {
		out.Vals = append(out.Vals, c.node(s).(*Store).Vals...)
	}
	return out
}

func (j *jammer) differs(n Node) bool {
	differs := false
	Walk([]Node{n}, func(n Node) {
		Accesses(n, func(a Access) { differs = differs || j.access(a) })
		Exprs(n, func(e Expr) Expr { differs = differs || j.expr(e); return e })
		switch n := n.(type) {
		case *Let:
			differs = differs || j.dep[n.To]
		case *Acc:
			differs = differs || j.dep[n.To]
		case *Pick:
			differs = differs || j.dep[n.To]
		case *Loop:
			differs = differs || j.dep[n]
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
		c.vars[v] = &Var{fmt.Sprintf("%s.%d", v.Name, c.at), v.Picked}
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
		if b.Shows != nil {
			n := *b
			n.Shows = c.buf[b.Base()]
			b = &n
		} else {
			b = c.buf[b]
		}
	}
	return Access{b, c.indices(a.Index)}
}

func (c *copied) expr(e Expr) Expr {
	return Rewrite(e, func(e Expr) Expr {
		switch e := e.(type) {
		case Load:
			return Load{c.access(e.Access)}
		case Ref:
			return Ref{c.toLocal(e.To)}
		case Pos:
			return Pos{c.index(e.Index)}
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
	case *Acc:
		return &Acc{c.toLocal(n.To), n.Max, c.expr(n.Val)}
	case *Pick:
		return &Pick{c.toVar(n.To), c.access(n.From), c.index(n.Plus)}
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
	}
	panic(fmt.Sprintf("plan: BUG: no copy of %T", n))
}
