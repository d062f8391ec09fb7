package emitcuda

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Which iterations may run side by side is decided here, for all of the text.
//
// A loop inside a nest owns what the nest writes when, in every access of the
// nest to a buffer that it writes, one and the same index of the buffer is the
// loop's variable plus what does not change in the nest. Then iterations with
// different values of the variable touch different entries, wherever in the
// nest the loop is; so a thread that runs the whole nest with the variable
// held at one value does, to its entries, what the nest does to them, in the
// nest's order. Several loops own together: each has its own index.
//
// Of two loops that own, the second may have the first in its index, since threads
// that differ in the first are apart already. A gathered variable counts as
// what it is gathered from, at a fixed position, plus what is added to it.
//
// A sum into an entry whose index lacks the variable is no such access, and
// that loop stays inside the thread.

// A box is what a loop runs over at most, as sizes.
type box struct {
	lo, hi shape.Poly
	ok     bool
}

func (b box) extent() shape.Poly { return b.hi.Sub(b.lo) }

// boxOf takes the ends of a loop that have no variables.
func boxOf(n *plan.Loop) box {
	lo := slices.IndexFunc(n.Lo, func(x plan.Index) bool { return len(x.Terms) == 0 })
	hi := slices.IndexFunc(n.Hi, func(x plan.Index) bool { return len(x.Terms) == 0 })
	if lo < 0 || hi < 0 {
		return box{}
	}
	return box{n.Lo[lo].Const, n.Hi[hi].Const, true}
}

// A nest is a node with what it touches.
type nest struct {
	node   plan.Node
	inside map[*plan.Var]bool               // variables that the nest sets
	picks  map[*plan.Var]*plan.Gather       // those of them that are picked
	access map[*plan.Buffer][]plan.Access   // by base
	wrote  map[*plan.Buffer]bool            // by base
	adds   map[*plan.Buffer]bool            // written by sums only, and not read
	outer  map[*plan.Local]*plan.Accumulate // gathered here, begun outside
	gemm   bool                             // has a product or a triangular solve, which share out their own entries
}

func newNest(n plan.Node) *nest { return nestOf([]plan.Node{n}) }

func nestOf(ns []plan.Node) *nest {
	x := &nest{inside: map[*plan.Var]bool{}, picks: map[*plan.Var]*plan.Gather{}, access: map[*plan.Buffer][]plan.Access{},
		wrote: plan.Written(ns), adds: map[*plan.Buffer]bool{}, outer: map[*plan.Local]*plan.Accumulate{}}
	if len(ns) == 1 {
		x.node = ns[0]
	}
	for b := range x.wrote {
		x.adds[b] = true
	}
	begun := map[*plan.Local]bool{}
	plan.Walk(ns, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Loop:
			x.inside[n.Var] = true
		case *plan.Gather:
			x.inside[n.To], x.picks[n.To] = true, n
		case *plan.Let:
			begun[n.To] = true
		case *plan.FindRoot:
			begun[n.To], begun[n.X] = true, true
		case *plan.Accumulate:
			if !begun[n.To] {
				x.outer[n.To] = n
			}
		case *plan.Gemm, *plan.TriSolve:
			x.gemm = true
		case *plan.Zero:
			x.note(plan.Access{Buf: n.Buf}, false)
		case *plan.Store:
			x.note(n.To, n.Add)
			for _, v := range n.Vals {
				x.loads(v)
			}
			return
		}
		plan.EachAccess(n, func(a plan.Access) { x.note(a, false) })
	})
	return x
}

// note notes an access; one that is no sum into the buffer makes the buffer
// more than an accumulator buffer.
func (x *nest) note(a plan.Access, sum bool) {
	b := a.Buf.Base()
	x.access[b] = append(x.access[b], a)
	if !sum {
		x.adds[b] = false
	}
}

func (x *nest) loads(v plan.Expr) {
	plan.WalkExpr(v, func(e plan.Expr) {
		if l, ok := e.(plan.Load); ok {
			x.note(l.Access, false)
		}
	})
}

// owns reports whether a variable owns what the nest writes in a buffer; fixed
// are variables of the nest that the caller holds fixed.
func (x *nest) owns(v *plan.Var, b *plan.Buffer, fixed ...*plan.Var) bool {
	as := x.access[b]
	if len(as) == 0 {
		return false
	}
	for p := range as[0].Buf.Dims {
		if x.separates(v, as, p, fixed) {
			return true
		}
	}
	return false
}

func (x *nest) separates(v *plan.Var, as []plan.Access, p int, fixed []*plan.Var) bool {
	for _, a := range as {
		if a.Buf != as[0].Buf || p >= len(a.Index) || !a.Index[p].Equal(as[0].Index[p]) {
			return false
		}
		index := x.expand(a.Index[p], fixed)
		for _, t := range index.Terms {
			switch {
			case t.Var == v:
				if c, ok := t.Coef.Const(); !ok || c == 0 {
					return false
				}
			case x.inside[t.Var] && !slices.Contains(fixed, t.Var):
				return false
			}
		}
		if index.Coef(v).IsZero() {
			return false
		}
	}
	return true
}

// expand writes out gathered variables: each is an entry plus an index,
// and an entry at a fixed position, of what the nest does not write, is fixed.
func (x *nest) expand(i plan.Index, fixed []*plan.Var) plan.Index {
	for _, t := range i.Terms {
		p := x.picks[t.Var]
		if p == nil || x.wrote[p.From.Buf.Base()] {
			continue
		}
		moves := func(t plan.Term) bool { return x.inside[t.Var] && !slices.Contains(fixed, t.Var) }
		if !slices.ContainsFunc(p.From.Index, func(i plan.Index) bool { return slices.ContainsFunc(i.Terms, moves) }) {
			return x.expand(i.Subst(t.Var, p.Plus), fixed)
		}
	}
	return i
}

// ownsAll reports whether a variable owns everything that the nest writes.
func (x *nest) ownsAll(v *plan.Var, fixed ...*plan.Var) bool {
	for b := range x.wrote {
		if !x.owns(v, b, fixed...) {
			return false
		}
	}
	return true
}

// chain lists the loops from a node inwards as long as there is nothing beside
// the next one but scalars, which every thread can compute for itself.
func chain(n plan.Node) []*plan.Loop {
	var out []*plan.Loop
	for {
		var body []plan.Node
		switch x := n.(type) {
		case *plan.Loop:
			if len(x.Private) > 0 {
				return out
			}
			out, body = append(out, x), x.Body
		case *plan.If:
			body = x.Body
		default:
			return out
		}
		n = nil
		for i, m := range body {
			switch m.(type) {
			case *plan.Note, *plan.Let, *plan.Gather:
				continue
			}
			if i+1 < len(body) {
				return out
			}
			n = m
		}
		if n == nil {
			return out
		}
	}
}

// spread lists the loops of a nest over whose iterations threads can be spread.
func (x *nest) spread() []*plan.Loop {
	if x.gemm || x.node == nil {
		return nil
	}
	var out []*plan.Loop
	var fixed []*plan.Var
	for _, l := range chain(x.node) {
		if boxOf(l).ok && x.ownsAll(l.Var, fixed...) && x.independentScalars(l) {
			out = append(out, l)
			fixed = append(fixed, l.Var)
		}
	}
	return out
}

// independentScalars reports that no scalar carries anything from one iteration to
// the next but sums that begin outside the nest and are read after it.
func (x *nest) independentScalars(l *plan.Loop) bool {
	begun, gathered, read := map[*plan.Local]bool{}, map[*plan.Local]bool{}, map[*plan.Local]bool{}
	plan.Walk(l.Body, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Let:
			begun[n.To] = true
		case *plan.Accumulate:
			gathered[n.To] = true
		}
		plan.EachRef(n, func(l *plan.Local) { read[l] = true })
	})
	for g := range gathered {
		if !begun[g] && (x.outer[g] == nil || read[g]) {
			return false
		}
	}
	return true
}
