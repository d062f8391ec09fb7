package main

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/plan"
)

// The floor of a rule: the least time in which a core computes what its kernels compute and
// moves what they move, at the peaks of this run. Operations are those of the fused arithmetic,
// counted by the compiler; a function is as many as its steps (emitasm.Steps). Moved are the
// matrices that the passes of a token read and write, at the rate of the second-level cache;
// what belongs to a row stays in registers and the first.

// work is what both passes of a rule take.
type work struct{ operations, functions, bytes float64 }

func (m member) work(pair [2]*plan.Kernel, T, d int) (w work) {
	for _, k := range pair {
		if fused := fuse.Kernel(k); fused != nil {
			k = fused
		}
		sizes := map[string]int{}
		for _, s := range k.Sizes {
			sizes[s] = sizesOf(T, d, m.segment())(s)
		}
		o, t := k.Operations(sizes), k.Traffic(sizes)
		w.operations += float64(o.Arithmetic)
		for f, n := range o.Functions {
			w.functions += float64(n) * float64(emitasm.Steps(f))
		}
		w.bytes += float64(t.Total() + t.Private)
	}
	return w
}

const targetFloor = 0.9

// floors prints them, and the part of each that the time of the emitted code is.
func (r *report) floors(b *strings.Builder) {
	peak, loads := r.peak(r.rules, false), r.peak(r.rules, true)
	if peak.median == 0 || loads.median == 0 {
		return
	}
	fmt.Fprintf(b, "Floors, from %s and %s. Operations, steps of functions and bytes are for each token and each d² of a state.\n\n"+
		"| rule | d | operations | of functions | bytes | floor, µs | bound by | floor ÷ Go [%s] |\n|---|---|---|---|---|---|---|---|\n",
		peak, loads, figures(targetFloor))
	for _, m := range family {
		for _, d := range familyWidths {
			ns := r.rules.slices(m.what(d), goPrefix+inOrder)
			if len(ns) == 0 {
				continue
			}
			T := m.length(r.tokens, d)
			pair := r.kernels[m.name]
			w, entries := m.work([2]*plan.Kernel{pair.Fwd, pair.Bwd}, T, d), float64(T*d*d)
			compute, move := (w.operations+w.functions)/(peak.median/2), w.bytes/loads.median
			bound := "operations"
			if move > compute {
				bound = "bytes"
			}
			part := max(compute, move) / shortest(ns[0])
			fmt.Fprintf(b, "| %s | %d | %.1f | %.1f | %.0f | %s | %s | %s %s |\n", m.name, d, w.operations/entries, w.functions/entries,
				w.bytes/entries, micros(max(compute, move)), bound, figures(part), met(part, targetFloor))
		}
	}
	b.WriteString("\n")
}
