package emitcuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A tile holds what the rows of a block add to the entries of a buffer at one
// point of the text: an entry for each point of the loops around the sum and
// each row. When all rows have written theirs, each thread takes entries and
// adds what the rows have left, in row order, to the buffer. Nobody reads the
// buffer meanwhile, so this is done once, at the end of the body.
type tile struct {
	store *plan.Store
	over  []*plan.Loop // around the sum, inside the body
	name  string
}

// pitch is the distance between entries of a tile: one more than the rows, so
// that threads that write a column and threads that read a row touch different
// banks.
const pitch = rowThreads + 1

func (t *tile) entries() shape.Poly { return items(t.over) }

// findTiles looks for the sums of several rows into one entry; it reports
// whether each of them can go through a tile. common are the variables that all
// threads of a block have in common, over the loops since then.
func (r *rowRecurrence) findTiles(ns []plan.Node, common []*plan.Var, over []*plan.Loop) bool {
	common = append(slices.Clone(common), r.batch.Var)
	same := func(xs ...plan.Index) bool {
		for _, x := range xs {
			for _, t := range x.Terms {
				if !slices.Contains(common, t.Var) {
					return false
				}
			}
		}
		return true
	}
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Loop:
			if n.Kind == plan.Segment || n.Kind == plan.Time {
				if len(over) > 0 || !same(n.Lo...) || !same(n.Hi...) || !r.findTiles(n.Body, append(common, n.Var), nil) {
					return false
				}
				continue
			}
			if !r.findTiles(n.Body, common, append(slices.Clone(over), n)) {
				return false
			}
		case *plan.If:
			inside := r.sums(n.Body)
			if inside && (len(over) > 0 || !same(n.Cond...)) || !r.findTiles(n.Body, common, over) {
				return false
			}
		case *plan.Zero, *plan.Gemm, *plan.TriSolve:
			if w := plan.Written([]plan.Node{n}); slices.ContainsFunc(r.e.inOrder(w), func(*plan.Buffer) bool { return true }) {
				return false
			}
		case *plan.Store:
			if r.summed[n.To.Buf.Base()] && !r.addTile(n, common, over) {
				return false
			}
		}
	}
	return true
}

func (r *rowRecurrence) sums(ns []plan.Node) bool {
	for b := range plan.Written(ns) {
		if r.summed[b] {
			return true
		}
	}
	return false
}

// addTile gives a sum a tile: the loops around it run over fixed ranges, and
// each has an index of the entry for itself.
func (r *rowRecurrence) addTile(n *plan.Store, common []*plan.Var, over []*plan.Loop) bool {
	inside := map[*plan.Var]bool{r.row.Var: true}
	for _, l := range over {
		b := dependence.BoxOf(l)
		if !b.Known || len(l.Lo) > 1 || len(l.Hi) > 1 || !b.Lo.IsZero() || !r.e.constant(b.Hi) || l.Down {
			return false
		}
		inside[l.Var] = true
	}
	for _, l := range over {
		if !slices.ContainsFunc(n.To.Index, func(i plan.Index) bool { return !i.Coef(l.Var).IsZero() }) {
			return false
		}
		if !dependence.OwnsEntry(l.Var, n.To, inside) {
			return false
		}
	}
	for _, i := range n.To.Index {
		for _, t := range i.Terms {
			if !inside[t.Var] && !slices.Contains(common, t.Var) || t.Var == r.row.Var {
				return false
			}
		}
	}
	r.tiles = append(r.tiles, &tile{store: n, over: over})
	return true
}

// makeTile declares a tile.
func (f *function) makeTile(t *tile, blocks *shape.Poly) {
	note := "what each row adds to " + t.store.To.String()
	t.name = f.memory(t.store.To.Buf.Name+".rows", ir.Real, t.entries().Mul(shape.Int(pitch)), note, blocks)
	f.tiles[t.store] = t
}

// tilesIn lists the tiles that a node fills.
func (f *function) tilesIn(n plan.Node) []*tile {
	var out []*tile
	plan.Walk([]plan.Node{n}, func(n plan.Node) {
		if s, ok := n.(*plan.Store); ok && f.tiles[s] != nil {
			out = append(out, f.tiles[s])
		}
	})
	return out
}

// intoTile prints what the row adds, into its place.
func (f *function) intoTile(t *tile, n *plan.Store) {
	at := ""
	for _, l := range t.over {
		if at == "" {
			at = f.vars[l.Var]
			continue
		}
		at = fmt.Sprintf("(%s * %s + %s)", at, f.Factor(dependence.BoxOf(l).Hi), f.vars[l.Var])
	}
	if at != "" {
		at += fmt.Sprintf(" * %d + ", pitch)
	}
	var vals []string
	for _, v := range n.Vals {
		vals = append(vals, f.Top(v))
	}
	f.Line("%s[%srow] = %s;", t.name, at, strings.Join(vals, " + "))
}

// empty prints the sums over rows.
func (f *function) empty(ts []*tile) {
	f.Line("__syncthreads();")
	done := map[*plan.Buffer]bool{}
	for _, t := range ts {
		b := t.store.To.Buf.Base()
		if done[b] {
			f.Line("__syncthreads();")
		}
		done[b] = true
		n := t.entries()
		sum := func() {
			at := ""
			if len(t.over) > 0 {
				at = fmt.Sprintf("item * %d + ", pitch)
			}
			f.target(t.store.To.Buf)
			to := f.entry(t.store.To)
			f.Line("float dot = %s;", to)
			f.Line("#pragma unroll 4")
			f.Line("for (int kk = 0; kk < rows; ++kk) dot += %s[%skk];", t.name, at)
			f.Line("%s = dot;", to)
		}
		if len(t.over) == 0 {
			f.block("if (threadIdx.x == 0)", sum)
			continue
		}
		f.Line("#pragma unroll 1")
		f.block(fmt.Sprintf("for (int item = threadIdx.x; item < %s; item += %d)", f.Poly(n), f.threads), func() {
			f.each(t.over, "item")
			sum()
		})
		for _, l := range t.over {
			delete(f.fixed, l)
		}
	}
	f.Line("__syncthreads();")
}
