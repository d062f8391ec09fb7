package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The body of a recurrence for one token.

// region is the body for one token: its inputs are addressed by batch and
// time.
func (w *scanWriter) region(s *ir.Scan, rows *independentRows) *region {
	r := w.l.region(s.Body.Body, rows)
	r.row, r.step = w.row, true
	r.alwaysInline = w.rec.inline
	r.wholeProducts = w.rec.chunks
	r.alloc = func(v *ir.Value) *plan.Buffer { return w.keep(v, rows, v.Name, nil) }
	for _, t := range s.Tokens {
		w.l.places[t.Param] = w.series(t)
	}
	for _, v := range s.Shared {
		from, lead := w.l.places[v.Val], []plan.Index(nil)
		if v.PerBatch {
			lead = append(lead, plan.At(w.batch))
		}
		w.l.places[v.Param] = func(idx []plan.Index) plan.Access { return from(slices.Concat(lead, idx)) }
	}
	return r
}

// series addresses a token's slice of a series, or its window, or the integer
// that a token counts from.
func (w *scanWriter) series(t ir.ScanInput) place {
	from := w.l.places[t.Val]
	if from == nil {
		panic("lower: BUG: the series " + t.Val.Name + " is not in memory")
	}
	if t.Count {
		w.l.counts[t.Param] = w.time
		return func([]plan.Index) plan.Access { return from([]plan.Index{plan.At(w.batch)}) }
	}
	now := w.time.Add(plan.Fixed(t.Base), shape.Int(1))
	return func(idx []plan.Index) plan.Access {
		at := now
		if t.Window != nil {
			at, idx = now.Add(idx[0], shape.Int(-1)), idx[1:]
		}
		return from(slices.Concat([]plan.Index{plan.At(w.batch), at}, idx))
	}
}

// step writes the body for one token.
func (w *scanWriter) step() []plan.Node {
	rec := w.rec
	r := w.region(rec.s, rec.rows)
	for p, i := range rec.before {
		w.l.places[p] = w.before(i)
	}
	for p, i := range rec.after {
		w.l.places[p] = w.after(i)
	}
	for _, c := range rec.s.Carry {
		w.l.places[c.Param] = w.current(c)
		r.inMemory[c.Next] = true
	}
	for _, o := range rec.s.Outs {
		r.inMemory[o.Val] = true
	}
	for _, o := range w.afterStep {
		if w.l.places[o.val] == nil {
			w.l.places[o.val] = r.local(o.val, r.alloc(o.val))
		}
	}
	var late []plan.Node
	r.scheduled = func() {
		for _, c := range rec.s.Carry {
			if r.inPlace(c) {
				w.l.places[c.Next] = w.l.places[c.Param]
				continue
			}
			w.l.places[c.Next] = r.local(c.Next, r.alloc(c.Next))
			late = append(late, w.copy(c.Param, rec.rows, w.l.places[c.Param], w.l.places[c.Next])...)
		}
	}
	return append(append(r.write(), late...), w.copyAfterStep()...)
}

// A stepCopy is an output that is copied when the whole step is computed.
type stepCopy struct {
	val *ir.Value
	to  target
}

// copyAfterStep copies it.
func (w *scanWriter) copyAfterStep() []plan.Node {
	var out []plan.Node
	for _, o := range w.afterStep {
		nodes := w.copy(o.val, nil, o.to.at, w.l.places[o.val])
		if o.to.opt != nil {
			nodes = []plan.Node{&plan.If{Present: o.to.opt, Body: nodes}}
		}
		out = append(out, nodes...)
	}
	return out
}

// inPlace reports whether a state can be overwritten in place: nothing reads
// its old value after the nest that computes the new one, and that nest reads
// only the entry that it writes.
func (r *region) inPlace(c ir.ScanState) bool {
	n, ok := r.def[c.Next]
	if begun, sum := r.firstGroup[c.Next]; sum {
		n = begun
	}
	if !ok {
		return false
	}
	for k, g := range r.groups {
		if k < n {
			continue
		}
		for _, m := range g.members {
			if m.special != nil && slices.Contains(r.valuesRead(m.in), c.Param) {
				return false
			}
			if m.special == nil && !r.readsOnly(m, c, r.groups[n], k == n) {
				return false
			}
		}
	}
	return true
}

// readsOnly reports whether a member reads of a state only the entry that the
// group writes, if anything.
func (r *region) readsOnly(m *member, c ir.ScanState, g *group, here bool) bool {
	for _, x := range r.reads(m.in, m.loops) {
		if x.val != c.Param {
			continue
		}
		if !here || !r.same(read{c.Next, x.idx}, g) && !r.scalar(c) {
			return false
		}
	}
	return true
}

// scalar reports whether a state has no axes but the row.
func (r *region) scalar(c ir.ScanState) bool { return r.rowless(c.Param) == 0 }
