package emitcuda

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/shape"
)

// List scheduling (horizontal fusion): functions that do not depend on each other become one launch,
// the blocks of one behind those of another. A function is in the first round in which all that it
// reads is there; one that only writes zeros may be in a later one, beside others.

// schedule puts the functions of the kernel into launches and prints those.
func (e *emitter) schedule() {
	rounds := e.rounds()
	for round := slices.Min(append(rounds, 0)); round <= slices.Max(append(rounds, -1)); round++ {
		var together [][]*function
		for i, f := range e.functions {
			if rounds[i] != round {
				continue
			}
			k := slices.IndexFunc(together, func(g []*function) bool { return fits(g, f) })
			if k < 0 {
				together = append(together, []*function{f})
			} else {
				together[k] = append(together[k], f)
			}
		}
		for _, g := range together {
			e.launch(g)
		}
	}
}

// rounds is the round of each function, its depth in the graph of dependences. Copies of operands have the odd
// rounds to themselves, so that without them, in float32, launches are the same.
func (e *emitter) rounds() []int {
	fs := e.functions
	out := make([]int, len(fs))
	for i, f := range fs {
		if f.narrows {
			out[i] = -1
		}
		for j, g := range fs[:i] {
			if f.dependsOn(g) {
				after := 2
				if f.narrows || g.narrows {
					after = 1
				}
				out[i] = max(out[i], out[j]+after)
			}
		}
	}
	for i, f := range fs {
		if f.zeros == nil {
			continue
		}
		last := 2 * len(fs)
		for j, g := range fs[i+1:] {
			if g.dependsOn(f) {
				last = min(last, out[i+1+j])
			}
		}
		if j := e.beside(out, out[i], last); j >= 0 {
			out[i] = out[j]
			if fs[j].threads != f.threads {
				fs[i] = e.clear(f.zeros, f.launch.Equations, fs[j].threads)
			}
		}
	}
	return out
}

// beside is a function, in a round from first to before last, whose launch can also clear a buffer:
// in the first round that has one, and rather one with blocks as large as those that clear; or -1.
func (e *emitter) beside(rounds []int, first, last int) int {
	best := -1
	better := func(j int) bool {
		return best < 0 || rounds[j] < rounds[best] || rounds[j] == rounds[best] && e.functions[best].threads != gridThreads && e.functions[j].threads == gridThreads
	}
	for j, g := range e.functions {
		if g.zeros == nil && !g.narrows && rounds[j] >= first && rounds[j] < last && better(j) {
			best = j
		}
	}
	return best
}

// dependsOn reports whether a function needs an earlier one to have ended.
func (f *function) dependsOn(g *function) bool {
	for b := range f.uses {
		if g.writes[b] || g.uses[b] && f.writes[b] {
			return true
		}
	}
	return false
}

// fits reports whether a function can be in a launch with others: blocks have one size, and one
// function has arrays at most.
func fits(g []*function, f *function) bool {
	arrays := func(f *function) bool { return len(f.launch.Arrays) > 0 }
	return g[0].threads == f.threads && !(arrays(f) && slices.ContainsFunc(g, arrays))
}

// launch prints functions as one: the one with arrays first, whose parts of workspace are by the
// number of the block.
func (e *emitter) launch(fs []*function) {
	slices.SortStableFunc(fs, func(f, g *function) int { return cmp.Compare(len(g.launch.Arrays), len(f.launch.Arrays)) })
	l := &Launch{Threads: fs[0].threads}
	l.Function = fmt.Sprintf("%s_%d", e.text.Name, len(e.text.Launches)+1)
	e.text.Launches = append(e.text.Launches, l)
	all := e.newText(l, fs[0].threads)
	var comments strings.Builder
	var arrays []sharedArray
	for _, f := range fs {
		l.Mapping = strings.TrimSpace(l.Mapping + " " + strings.Join(f.mapping, " "))
		l.Equations = union(l.Equations, f.launch.Equations)
		l.Grid = append(l.Grid, f.launch.Grid...)
		l.Arrays = append(l.Arrays, f.launch.Arrays...)
		for b := range f.uses {
			all.uses[b] = true
		}
		for b := range f.writes {
			all.writes[b] = true
		}
		for s := range f.taken {
			all.taken[s] = true
		}
		for _, a := range f.shared {
			if !slices.ContainsFunc(arrays, func(b sharedArray) bool { return a.name == b.name }) {
				arrays = append(arrays, a)
				if a.scratch == "" {
					n, _ := a.n.Const()
					l.Static += 4 * int(n)
				}
			}
		}
	}
	all.sharedMemory(arrays)
	if len(fs) == 1 {
		all.WriteString(fs[0].text)
	} else {
		e.sideBySide(all, fs)
	}
	if len(l.Equations) > 0 {
		fmt.Fprintf(&comments, "// %s\n", strings.Join(l.Equations, ", "))
	}
	for _, f := range fs {
		for _, m := range f.mapping {
			comments.WriteString(comment(m))
		}
	}
	e.parts = append(e.parts, comments.String()+signature(fmt.Sprintf("HECATE_KERNEL(%d) %s(", all.threads, l.Function), all.params())+all.String()+"}\n")
}

// sideBySide prints several functions of a launch: the blocks of the first, then those of the
// second, and so on.
func (e *emitter) sideBySide(all *function, fs []*function) {
	var counts, names []string
	for _, f := range fs[:len(fs)-1] {
		counts = append(counts, all.blocks(f.launch.Grid[0]))
		names = append(names, e.scope.Name("blocks"))
	}
	all.quotients()
	all.Line("unsigned block = blockIdx.x;")
	for i, f := range fs {
		text := strings.ReplaceAll(f.text, "blockIdx.x", "block")
		text = "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
		if i == len(counts) {
			all.Line("{")
			all.WriteString(text)
			all.Line("}")
			return
		}
		all.Line("const unsigned %s = %s;", names[i], counts[i])
		all.Line("if (block < %s) {", names[i])
		all.WriteString(text)
		all.Line("  return;")
		all.Line("}")
		all.Line("block -= %s;", names[i])
	}
}

// blocks prints the number of blocks of a grid.
func (f *function) blocks(g Grid) string {
	var parts []string
	for _, x := range g {
		if x.Items.Equal(shape.Int(1)) {
			continue
		}
		if x.Per == 1 {
			parts = append(parts, f.Atom(x.Items))
		} else {
			parts = append(parts, fmt.Sprintf("(unsigned)((%s + %d) / %d)", f.count(x.Items), x.Per-1, x.Per))
		}
	}
	return cmp.Or(strings.Join(parts, " * "), "1")
}
