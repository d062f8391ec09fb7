package emitcuda

import (
	"fmt"
	"maps"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A block in phases. All threads run the same statements:
//
//   - a scalar is computed by every thread, with the same bits;
//   - an entry outside of loops is written by thread 0;
//   - a loop is spread over the threads where its iterations own what they
//     write, and sums that it adds to scalars are added over the block;
//   - any other loop is run by all, with its inside treated in the same way.
//
// Between two statements of which one reads or writes what the other writes
// is a barrier. A statement of a loop follows the statements of the
// iteration before, so a body begins as if all that it does had been done.

// blockThreads is the number of threads of such a block.
const blockThreads = 128

// block prints what is outside of nests, or cannot be cut: one block.
func (e *emitter) block(p *part) {
	f := e.newFunction(blockThreads)
	f.scalarsOf(p.nodes)
	for _, b := range e.inOrder(p.fresh) {
		f.hazard(&plan.Zero{Buf: b})
		f.zero(&plan.Zero{Buf: b}, "threadIdx.x", fmt.Sprint(f.threads))
	}
	f.blockNodes(p.nodes)
	f.storeScalars(p.nodes)
	f.finish(p.eqs, []string{"One block; its threads share loops, and all of them compute the scalars."})
}

// storeScalars stores the scalars that other launches read.
func (f *function) storeScalars(ns []plan.Node) {
	begun := scalars(ns)
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Let:
			begun = append(begun, n.To)
		case *plan.FindRoot:
			begun = append(begun, n.To)
		}
	}
	gathered := scalarSet(ns)
	done := map[*plan.Local]bool{}
	for _, l := range begun {
		at, ok := f.e.kept[l]
		if !ok || done[l] || !gathered[l] {
			continue
		}
		done[l] = true
		f.uses[f.e.keep], f.writes[f.e.keep] = true, true
		f.Line("if (threadIdx.x == 0) %s[%d] = %s;", f.e.keep, at, f.Real(plan.Ref{To: l}))
	}
}

// scalarSet lists the scalars that nodes set or add to.
func scalarSet(ns []plan.Node) map[*plan.Local]bool {
	out := map[*plan.Local]bool{}
	plan.Walk(ns, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Let:
			out[n.To] = true
		case *plan.FindRoot:
			out[n.To] = true
		case *plan.Accumulate:
			out[n.To] = true
		}
	})
	return out
}

// hazard prints a barrier unless what nodes touch is up to date, and notes what
// they touch.
func (f *function) hazard(ns ...plan.Node) {
	reads, writes := touched(ns)
	wait := false
	for b := range reads {
		wait = wait || f.wrote[b]
	}
	for b := range writes {
		wait = wait || f.wrote[b] || f.read[b]
	}
	if wait {
		f.barrier()
	}
	maps.Copy(f.read, reads)
	maps.Copy(f.wrote, writes)
}

func (f *function) barrier() {
	f.Line("__syncthreads();")
	clear(f.read)
	clear(f.wrote)
}

// touched lists the buffers that nodes read and write.
func touched(ns []plan.Node) (reads, writes map[*plan.Buffer]bool) {
	x := dependence.Of(ns...)
	reads = map[*plan.Buffer]bool{}
	for b := range x.Accesses {
		reads[b] = true
	}
	return reads, x.Writes
}

// touchAll takes everything that nodes touch as touched since the last barrier.
func (f *function) touchAll(ns []plan.Node) {
	reads, writes := touched(ns)
	maps.Copy(f.read, reads)
	maps.Copy(f.wrote, writes)
}

// conditional prints nodes that may not run: barriers in them have no effect on
// what follows.
func (f *function) conditional(ns []plan.Node, body func()) {
	read, wrote := maps.Clone(f.read), maps.Clone(f.wrote)
	body()
	maps.Copy(f.read, read)
	maps.Copy(f.wrote, wrote)
	f.touchAll(ns)
}

// blockNodes prints statements of the block.
func (f *function) blockNodes(ns []plan.Node) {
	for _, n := range clike.Statements(ns) {
		switch n := n.(type) {
		case *plan.Note:
			f.node(n)
		case *plan.Store:
			f.hazard(n)
			f.byOneThread(n)
		case *plan.Zero:
			f.hazard(n)
			f.zero(n, "threadIdx.x", fmt.Sprint(f.threads))
		case *plan.Gemm:
			f.hazard(n)
			f.gemmEntries(n, "threadIdx.x", fmt.Sprint(f.threads))
		case *plan.TriSolve:
			f.hazard(n)
			f.triangleColumns(n, "threadIdx.x", fmt.Sprint(f.threads))
		case *plan.If:
			f.conditional(n.Body, func() { f.block("if ("+f.cond(n)+")", func() { f.blockNodes(n.Body) }) })
		case *plan.Loop:
			f.blockLoop(n)
		default:
			f.hazard(n)
			f.node(n)
		}
	}
}

// byOneThread prints a store by one thread.
func (f *function) byOneThread(n *plan.Store) {
	old := f.live
	f.live = "threadIdx.x == 0"
	if f.private[n.To.Buf.Base()] != nil {
		f.block("if (threadIdx.x == 0)", func() { f.store(n) })
	} else {
		f.store(n)
	}
	f.live = old
}

func (f *function) blockLoop(n *plan.Loop) {
	x := dependence.Of(n)
	if n.Kind != plan.Time && n.Kind != plan.Segment {
		if loops := x.Independent(); len(loops) > 0 {
			f.hazard(n)
			f.spreadOver(x, loops)
			return
		}
		if len(x.Writes) == 0 {
			f.hazard(n)
			f.node(n)
			return
		}
	}
	f.allocate(n)
	f.touchAll(n.Body)
	f.conditional(n.Body, func() { f.loop(n, f.blockNodes) })
}

// spreadOver prints a nest whose iterations are spread over the block. What it
// gathers is gathered by each thread and then added over the block.
func (f *function) spreadOver(x *dependence.Nest, loops []*plan.Loop) {
	total := items(loops)
	outer := map[*plan.Local]string{}
	var order []*plan.Accumulate
	plan.Walk([]plan.Node{x.Node}, func(n plan.Node) {
		if a, ok := n.(*plan.Accumulate); ok && x.Totals[a.To] != nil && outer[a.To] == "" {
			order = append(order, a)
			outer[a.To] = f.local(a.To)
		}
	})
	for _, a := range order {
		start := "0.0f"
		if a.Max {
			start = "-HECATE_INF"
		}
		part := f.e.scope.Name(a.To.Name + ".part")
		f.locals[a.To] = part
		f.Line("float %s = %s;", part, start)
	}
	f.Line("#pragma unroll 1")
	f.block(fmt.Sprintf("for (%s item = threadIdx.x; item < %s; item += %d)", f.itemType(total), f.points(loops), f.threads), func() {
		f.each(loops, "item")
		f.node(x.Node)
	})
	for _, l := range loops {
		delete(f.fixed, l)
	}
	for _, a := range order {
		f.reduceBlock(a, outer[a.To])
	}
}

// reduceBlock prints the sum, or the maximum, of a thread's part over the block.
func (f *function) reduceBlock(a *plan.Accumulate, whole string) {
	red := f.reduction()
	part := f.locals[a.To]
	f.locals[a.To] = whole
	if a.Max {
		f.Line("%s = hecate::max(%s, hecate::block_max(%s, %s));", whole, whole, part, red)
	} else {
		f.Line("%s += hecate::block_sum(%s, %s);", whole, part, red)
	}
	clear(f.read) // the sum has barriers of its own
	clear(f.wrote)
}

// reduction is the shared array of the sums over the block.
func (f *function) reduction() string {
	if f.warps == "" {
		f.warps = f.array("warps", maxWarps)
	}
	return f.warps
}
