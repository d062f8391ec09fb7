package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// prepare rewrites the program; every rewrite keeps its values up to rounding.
func (l *lowerer) prepare() {
	for n, in := range scansOf(l.f) {
		l.scans[in] = l.prepareScan(in, n)
	}
	factor(l.f)
	merge(l.f, l.replace)
	sortFactors(l.f.Body, nil)
	l.sweep()
}

// replace makes every reader of old in the program read new.
func (l *lowerer) replace(old, new *ir.Value) {
	l.f.Replace(old, new)
	for _, rec := range l.scans {
		rec.replace(old, new)
	}
}

// sweep is dead code elimination; recurrences lose outputs that nothing reads,
// but keep their prepared bodies.
func (l *lowerer) sweep() {
	live := map[*ir.Value]bool{}
	for _, r := range l.f.Results {
		live[r.Val] = true
	}
	var kept []*ir.Instr
	for i := len(l.f.Body) - 1; i >= 0; i-- {
		in := l.f.Body[i]
		needed := slices.ContainsFunc(in.Defines(), func(v *ir.Value) bool { return live[v] })
		if !needed {
			continue
		}
		for _, v := range l.reads(in) {
			live[v] = true
		}
		kept = append(kept, in)
	}
	slices.Reverse(kept)
	l.f.Body = kept
}

// reads is what an instruction reads, the replay of a recurrence included.
func (l *lowerer) reads(in *ir.Instr) []*ir.Value {
	rec := l.scans[in]
	if rec == nil {
		return in.Reads()
	}
	return rec.reads()
}
