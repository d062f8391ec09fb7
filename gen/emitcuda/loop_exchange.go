package emitcuda

import (
	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A nest such as
//
//	for j  for k  x[j - k + 3] += …
//
// adds to one entry from several j, and neither loop owns what it writes. But
// for an entry p and a k there is one j, so threads are spread over p instead:
//
//	p of the thread  for k  j = p + k - 3, where that is a j
//
// The k run in the direction in which j grows, so an entry gets the plan's sum.

// An exchanged is a nest with its loops exchanged.
type exchanged struct {
	node  plan.Node  // with j inside k
	loop  *plan.Loop // over j, in it
	place *plan.Loop // over the entries p
	from  plan.Index // j, as p and k have it
}

// exchangedOf returns the exchange of a nest, or nil where it has none.
func (e *emitter) exchangedOf(x *dependence.Nest) *exchanged {
	if x.HasGemm || x.Node == nil || len(x.Totals) > 0 || len(x.Writes) != 1 {
		return nil
	}
	var as []plan.Access
	for b := range x.Writes {
		as = x.Accesses[b]
	}
	loops := dependence.Chain(x.Node)
	for i, j := range loops {
		if i+1 >= len(loops) || !simple(j) || e.constant(dependence.BoxOf(j).Extent()) || !x.ScalarsIndependent(j) || x.OwnsAll(j.Var) {
			continue
		}
		k := loops[i+1]
		body := plan.WithoutNotes(j.Body)
		if len(body) != 1 || body[0] != plan.Node(k) || !simple(k) {
			continue
		}
		for p := range as[0].Buf.Dims {
			if s := exchange(x, j, k, as, p); s != nil {
				return s
			}
		}
	}
	return nil
}

// simple reports that a loop runs upwards over a range without variables.
func simple(l *plan.Loop) bool {
	return dependence.BoxOf(l).Known && len(l.Lo) == 1 && len(l.Hi) == 1 && !l.Down
}

// exchange exchanges j and k, which follow each other, where dimension p of all
// accesses is j + c·k and a constant, c being 1 or −1.
func exchange(x *dependence.Nest, j, k *plan.Loop, as []plan.Access, p int) *exchanged {
	index := as[0].Index[p]
	for _, a := range as {
		if a.Buf != as[0].Buf || !a.Index[p].Equal(index) {
			return nil
		}
	}
	one, minus := shape.Int(1), shape.Int(-1)
	c := index.Coef(k.Var)
	if len(index.Terms) != 2 || !index.Coef(j.Var).Equal(one) || !c.Equal(one) && !c.Equal(minus) {
		return nil
	}
	inner := *j
	inner.Body = k.Body
	outer := *k
	outer.Body, outer.Down = []plan.Node{&inner}, c.Equal(one)
	place := &plan.Loop{Kind: plan.Plain, Var: &plan.Var{Name: "entry"}, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(as[0].Buf.Dims[p])}}
	from := plan.At(place.Var).Add(index.Subst(j.Var, plan.Index{}), minus)
	return &exchanged{replaced(x.Node, j, &outer), &inner, place, from}
}

// replaced copies a nest with one node in place of another.
func replaced(n, old, by plan.Node) plan.Node {
	if n == old {
		return by
	}
	list := func(ns []plan.Node) []plan.Node {
		out := make([]plan.Node, len(ns))
		for i, m := range ns {
			out[i] = replaced(m, old, by)
		}
		return out
	}
	switch n := n.(type) {
	case *plan.Loop:
		c := *n
		c.Body = list(n.Body)
		return &c
	case *plan.If:
		c := *n
		c.Body = list(n.Body)
		return &c
	}
	return n
}

// inExchanged prints such a nest.
func (e *emitter) inExchanged(p *part, s *exchanged) {
	f := e.newFunction(gridThreads)
	x := dependence.Of(s.node)
	var loops []*plan.Loop
	for _, l := range dependence.Chain(s.node) {
		switch {
		case l.Var == s.loop.Var:
			s.loop = l // the copy that is in the nest
			loops = append(loops, s.place)
		case dependence.BoxOf(l).Known && x.OwnsAll(l.Var) && x.ScalarsIndependent(l):
			loops = append(loops, l)
		}
	}
	total := items(loops)
	f.item(total, f.points(loops))
	f.each(loops, "item")
	f.moved[s.loop] = s.from
	f.scalarsOf(p.nodes)
	f.node(s.node)
	f.finish(p.eqs, []string{"One thread for each " + tuple(loops) + ", the entry being what the nest adds to: " + s.loop.Var.Name + " comes from it."}, Factor{total, gridThreads})
}
