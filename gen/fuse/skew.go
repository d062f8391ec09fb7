package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// skewed turns scatters over a window into sums (loop skewing and interchange; Wolfe 1986), so
// that an entry is added to by one loop, in the order in which it was:
//
//	for j in [0, T)                      for k in [c−w+1, T+c)
//	    for k in [0, w)                      sum j in [max(0, k−c), min(T, k−c+w))
//	        for p                                for p
//	            y[j−k+c, p] += a[j, k]·…             y[k, p] += a[j, j−k+c]·…
func skewed(ns []plan.Node) []plan.Node {
	out := slices.Clone(ns)
	for i, n := range out {
		switch n := n.(type) {
		case *plan.If:
			n.Body = skewed(n.Body)
		case *plan.Loop:
			if s := skew(n); s != nil {
				out[i] = s
			} else {
				n.Body = skewed(n.Body)
			}
		}
	}
	return out
}

// skew is a perfect nest with its scatter turned into a sum, or nil.
func skew(outer *plan.Loop) *plan.Loop {
	chain, lets, store := scatter(outer)
	if store == nil {
		return nil
	}
	at, token, offset := -1, -1, -1 // the subscript that two loops move, and these
	for d, x := range store.To.Index {
		switch {
		case len(x.Terms) == 1 && x.Terms[0].Coef.Equal(shape.Int(1)):
		case len(x.Terms) == 2 && at < 0:
			at = d
		default:
			return nil
		}
	}
	if at < 0 {
		return nil
	}
	x := store.To.Index[at]
	for i, l := range chain {
		switch k := x.Coef(l.Var); {
		case k.Equal(shape.Int(1)) && token < 0:
			token = i
		case k.Equal(shape.Int(-1)) && offset < 0:
			offset = i
		case !k.IsZero() || !store.To.Mentions(l.Var):
			return nil
		}
	}
	if token < 0 || offset < token || offset == len(chain)-1 {
		return nil
	}
	for _, l := range chain {
		if len(l.Lo) != 1 || !l.Lo[0].Equal(plan.Index{}) || len(l.Hi) != 1 || len(l.Hi[0].Terms) > 0 || l.Down {
			return nil
		}
	}
	c, width, tokens := x.Const, chain[offset].Hi[0].Const, chain[token].Hi[0].Const
	entry := &plan.Var{Name: chain[offset].Var.Name}
	k, j := plan.At(entry), plan.At(chain[token].Var)
	back := k.Add(plan.Fixed(c), shape.Int(-1)) // k − c
	copied := plan.Substitute(nil, map[*plan.Var]plan.Index{chain[offset].Var: j.Add(back, shape.Int(-1))})
	body := copied.Nodes(append(slices.Clone(lets), chain[len(chain)-1]))
	body = []plan.Node{&plan.Loop{Kind: plan.Reduction, Var: chain[token].Var, Lo: []plan.Index{{}, back},
		Hi: []plan.Index{plan.Fixed(tokens), back.Add(plan.Fixed(width), shape.Int(1))}, Body: body}}
	for i := len(chain) - 2; i >= 0; i-- {
		l := *chain[i]
		switch i {
		case offset:
			continue
		case token:
			first := c.Sub(width).Add(shape.Int(1))
			l.Var, l.Lo, l.Hi = entry, []plan.Index{plan.Fixed(first)}, []plan.Index{plan.Fixed(tokens.Add(c))}
		}
		l.Body = body
		body = []plan.Node{&l}
	}
	return body[0].(*plan.Loop)
}

// scatter takes a perfect nest apart whose innermost loop adds to entries of one buffer: its
// loops, the scalars in front of the innermost one, and the store, or nil.
func scatter(n *plan.Loop) (chain []*plan.Loop, lets []plan.Node, store *plan.Store) {
	for {
		chain = append(chain, n)
		inner, alone := n.Body[len(n.Body)-1].(*plan.Loop)
		if !alone {
			break
		}
		if len(lets) > 0 || n.Kind != plan.Plain && n.Kind != plan.Reduction {
			return nil, nil, nil
		}
		for _, x := range n.Body[:len(n.Body)-1] {
			if _, ok := x.(*plan.Let); !ok {
				return nil, nil, nil
			}
			lets = append(lets, x)
		}
		n = inner
	}
	if len(chain) < 3 || len(n.Body) != 1 {
		return nil, nil, nil
	}
	s, ok := n.Body[0].(*plan.Store)
	if !ok || len(s.To.Gathered()) > 0 || !plan.AddsTo(s.Vals[0], s.To) {
		return nil, nil, nil
	}
	uses := 0
	for a := range plan.Accesses([]plan.Node{chain[0]}) {
		if a.Buf.Base() == s.To.Buf.Base() {
			uses++
		}
	}
	if uses != 2 {
		return nil, nil, nil
	}
	return chain, lets, s
}
