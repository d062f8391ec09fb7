// Package flow finds what is known before every block of a function: a state is
// carried along the edges of its control-flow graph, and joined where they meet,
// until nothing changes. So loops, goto, select and early returns need no rule of
// their own.
package flow

import "golang.org/x/tools/go/cfg"

// A State is what is known at a place.
type State[S any] interface {
	Clone() S
	// Join adds what is known on another way to the same place, and reports
	// whether that was news.
	Join(S) bool
}

// Solve calls visit for each block that can be reached from the start, in the order
// of the graph, with the state before it; at the start that is entry. transfer takes
// a state of its own through a block, and edge along the way to one of the blocks
// behind it. A function without a graph has no blocks.
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
