// Package flow is forward data-flow analysis: the state before every block of a
// function is propagated along the edges of its control-flow graph, and joined where
// they meet, until a fixed point. So loops, goto, select and early returns need no
// special cases.
package flow

import "golang.org/x/tools/go/cfg"

// A State is the knowledge at a point of a function.
type State[S any] interface {
	Clone() S
	// Join adds the state of another path to the same point, and reports whether
	// that changed it.
	Join(S) bool
}

// Solve calls visit for each block that can be reached from the start, in the order
// of the graph, with the state before it; at the start that is entry. transfer takes
// a copy of the state through a block, and edge along the edge to one of its
// successors. A function without a graph has no blocks.
func Solve[S State[S]](g *cfg.CFG, entry S, transfer func(*cfg.Block, S), edge func(b *cfg.Block, succ int, s S), visit func(*cfg.Block, S)) {
	if g == nil || len(g.Blocks) == 0 {
		return
	}
	before := map[*cfg.Block]S{g.Blocks[0]: entry.Clone()}
	work := []*cfg.Block{g.Blocks[0]}
	for len(work) > 0 {
		b := work[0]
		work = work[1:]
		after := before[b].Clone()
		transfer(b, after)
		for i, next := range b.Succs {
			after := after.Clone()
			edge(b, i, after)
			if old, seen := before[next]; !seen {
				before[next] = after
			} else if !old.Join(after) {
				continue
			}
			work = append(work, next)
		}
	}
	for _, b := range g.Blocks {
		if s, ok := before[b]; ok {
			visit(b, s)
		}
	}
}
