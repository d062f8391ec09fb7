// Package dependence analyses which iterations of a loop nest may run side by side.
//
// A loop inside a nest owns what the nest writes when, in every access of the nest to a
// buffer that it writes, one and the same index of the buffer is the loop's variable plus
// what does not change in the nest. Then iterations with different values of the variable
// touch different entries, wherever in the nest the loop is; so a thread that runs the
// whole nest with the variable held at one value does, to its entries, what the nest does
// to them, in the nest's order. Several loops own together: each has its own index.
//
// Of two loops that own, the second may have the first in its index, since threads that
// differ in the first are apart already. A gathered variable counts as what it is gathered
// from, at a fixed position, plus what is added to it.
//
// A sum into an entry whose index lacks the variable is no such access, and that loop stays
// inside the thread.
package dependence

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Box is the range of a loop as sizes, from Lo to before Hi: what of its ends has no
// variables. Known reports whether it has one.
type Box struct {
	Lo, Hi shape.Poly
	Known  bool
}

// Extent is the number of iterations of the box.
func (b Box) Extent() shape.Poly { return b.Hi.Sub(b.Lo) }

// BoxOf is the box of a loop.
func BoxOf(n *plan.Loop) Box {
	lo := slices.IndexFunc(n.Lo, func(x plan.Index) bool { return len(x.Terms) == 0 })
	hi := slices.IndexFunc(n.Hi, func(x plan.Index) bool { return len(x.Terms) == 0 })
	if lo < 0 || hi < 0 {
		return Box{}
	}
	return Box{n.Lo[lo].Const, n.Hi[hi].Const, true}
}

// A Nest is some nodes and what they access, by the base of each buffer.
type Nest struct {
	Node     plan.Node                        // the node, where it is one
	Accesses map[*plan.Buffer][]plan.Access   // of each buffer
	Writes   map[*plan.Buffer]bool            // the buffers that are written
	Sums     map[*plan.Buffer]bool            // those written by sums alone, and not read
	Totals   map[*plan.Local]*plan.Accumulate // of scalars that begin outside
	HasGemm  bool                             // has a product or a triangular solve, which divide their own entries

	inside map[*plan.Var]bool         // variables that the nest sets
	picks  map[*plan.Var]*plan.Gather // those that are gathered
}

// Of analyses some nodes.
func Of(ns ...plan.Node) *Nest {
	x := &Nest{inside: map[*plan.Var]bool{}, picks: map[*plan.Var]*plan.Gather{}, Accesses: map[*plan.Buffer][]plan.Access{},
		Writes: plan.Written(ns), Sums: map[*plan.Buffer]bool{}, Totals: map[*plan.Local]*plan.Accumulate{}}
	if len(ns) == 1 {
		x.Node = ns[0]
	}
	for b := range x.Writes {
		x.Sums[b] = true
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
				x.Totals[n.To] = n
			}
		case *plan.Gemm, *plan.TriSolve:
			x.HasGemm = true
		case *plan.Zero:
			x.note(plan.Access{Buf: n.Buf}, false)
		case *plan.Narrow:
			x.note(plan.Access{Buf: n.Buf}, false)
			x.note(plan.Access{Buf: n.Buf.NarrowOf}, false)
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
func (x *Nest) note(a plan.Access, sum bool) {
	b := a.Buf.Base()
	x.Accesses[b] = append(x.Accesses[b], a)
	if !sum {
		x.Sums[b] = false
	}
}

func (x *Nest) loads(v plan.Expr) {
	plan.WalkExpr(v, func(e plan.Expr) {
		if l, ok := e.(plan.Load); ok {
			x.note(l.Access, false)
		}
	})
}

// Owns reports whether a variable owns what the nest writes in a buffer; fixed
// are variables of the nest that the caller holds fixed.
func (x *Nest) Owns(v *plan.Var, b *plan.Buffer, fixed ...*plan.Var) bool {
	as := x.Accesses[b]
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

// OwnsEntry reports whether a variable owns the entry of one access, in a nest that sets
// the variables inside.
func OwnsEntry(v *plan.Var, a plan.Access, inside map[*plan.Var]bool) bool {
	b := a.Buf.Base()
	x := &Nest{inside: inside, Accesses: map[*plan.Buffer][]plan.Access{b: {a}}}
	return x.Owns(v, b)
}

func (x *Nest) separates(v *plan.Var, as []plan.Access, p int, fixed []*plan.Var) bool {
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
func (x *Nest) expand(i plan.Index, fixed []*plan.Var) plan.Index {
	for _, t := range i.Terms {
		p := x.picks[t.Var]
		if p == nil || x.Writes[p.From.Buf.Base()] {
			continue
		}
		moves := func(t plan.Term) bool { return x.inside[t.Var] && !slices.Contains(fixed, t.Var) }
		if !slices.ContainsFunc(p.From.Index, func(i plan.Index) bool { return slices.ContainsFunc(i.Terms, moves) }) {
			return x.expand(i.Subst(t.Var, p.Plus), fixed)
		}
	}
	return i
}

// OwnsAll reports whether a variable owns everything that the nest writes.
func (x *Nest) OwnsAll(v *plan.Var, fixed ...*plan.Var) bool {
	for b := range x.Writes {
		if !x.Owns(v, b, fixed...) {
			return false
		}
	}
	return true
}

// Chain lists the loops from a node inwards as long as there is nothing beside
// the next one but scalars, which every thread can compute for itself.
func Chain(n plan.Node) []*plan.Loop {
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

// Independent lists the loops of a nest over whose iterations threads can be Independent.
func (x *Nest) Independent() []*plan.Loop {
	if x.HasGemm || x.Node == nil {
		return nil
	}
	var out []*plan.Loop
	var fixed []*plan.Var
	for _, l := range Chain(x.Node) {
		if BoxOf(l).Known && x.OwnsAll(l.Var, fixed...) && x.ScalarsIndependent(l) {
			out = append(out, l)
			fixed = append(fixed, l.Var)
		}
	}
	return out
}

// ScalarsIndependent reports that no scalar carries anything from one iteration to
// the next but sums that begin outside the nest and are read after it.
func (x *Nest) ScalarsIndependent(l *plan.Loop) bool {
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
		if !begun[g] && (x.Totals[g] == nil || read[g]) {
			return false
		}
	}
	return true
}
