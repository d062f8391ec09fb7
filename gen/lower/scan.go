package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The loops of a recurrence: the batch outside, then rows where they are
// independent, then segments where there are checkpoints, then time. States
// are in private buffers of the row, or of the batch where rows are not
// independent.

// A scanWriter writes one recurrence. A backward runs over the segments in
// reverse: it recomputes the states of a segment from its checkpoint and runs
// over its tokens in reverse. A step over a chunk of tokens is its own
// segment: its states are stored before each step, and nothing is recomputed.
type scanWriter struct {
	l         *lowerer
	rec       *recurrence
	batch     *plan.Var
	row       *plan.Var // nil when rows are not independent
	time      plan.Index
	token     *plan.Var // within its segment
	segment   *plan.Var // nil without checkpoints
	private   []*plan.Buffer
	state     map[*ir.Value]*plan.Buffer // of a carry's parameter
	replayed  []*plan.Buffer             // backward: states of the segment, by carry of the replay
	saved     []*plan.Buffer             // checkpoints, by carry
	afterStep []stepCopy                 // copied when the step is done
}

func (l *lowerer) recurrence(in *ir.Instr) []plan.Node {
	rec := l.scans[in]
	if rec == nil {
		fail("a recurrence inside of a recurrence")
	}
	w := &scanWriter{l: l, rec: rec, batch: &plan.Var{Name: "l"}, state: map[*ir.Value]*plan.Buffer{}}
	if rec.rows != nil {
		w.row = &plan.Var{Name: "i"}
	}
	s := rec.s
	w.checkpoints()
	w.token = &plan.Var{Name: "t"}
	w.time = plan.At(w.token)
	if w.segment != nil {
		w.token.Name = "a"
		w.time = w.time.Add(plan.At(w.segment), shape.Sym(l.segmentSize()))
	}
	zero := w.outputs()
	for _, c := range s.Carry {
		w.state[c.Param] = w.keep(c.Param, rec.rows, c.Param.Name+".state", nil)
	}
	body := slices.Concat(w.start(), w.run(), w.end())
	if w.row != nil {
		body = []plan.Node{&plan.Loop{Kind: plan.Row, Var: w.row, Lo: []plan.Index{{}},
			Hi: []plan.Index{plan.Fixed(rec.rows.axis.Size)}, Private: w.private, Body: body}}
	}
	batch := full(w.batch, s.Batch.Size, plan.Batch, body)
	if w.row == nil {
		batch.Private = w.private
	}
	return append(zero, batch)
}

// keep makes a private buffer for a value, with leading sizes in front.
func (w *scanWriter) keep(v *ir.Value, rows *independentRows, name string, lead []shape.Poly) *plan.Buffer {
	d := dims(v.Axes)
	if p := rows.posOf(v); p >= 0 {
		d = slices.Delete(d, p, p+1)
	}
	b := &plan.Buffer{Name: w.l.fresh(name), Elem: v.Elem, Dims: append(slices.Clone(lead), d...), Role: plan.Private}
	w.private = append(w.private, b)
	return b
}

// checkpoints finds or makes the checkpoint buffers.
func (w *scanWriter) checkpoints() {
	l, rec := w.l, w.rec
	m := rec.link
	if !rec.s.Reverse && l.links != nil && l.links.forward {
		m = l.links.find(rec.index)
	}
	if m == nil || len(m.states) == 0 {
		return
	}
	var states []*ir.Value
	steps := rec.s.Time.Size
	switch {
	case rec.chunks && rec.s.Reverse:
		states = rec.storedStates
	case rec.replay != nil:
		states = params(rec.replay)
	default:
		states = params(rec.s)
	}
	if !rec.chunks {
		w.segment = &plan.Var{Name: "s"}
		steps = shape.Sym(l.segments(steps))
	}
	for _, v := range states {
		name := m.states[v.Name]
		if name == "" {
			w.saved = append(w.saved, nil)
			continue
		}
		d := append([]shape.Poly{rec.s.Batch.Size, steps}, dims(v.Axes)...)
		b := &plan.Buffer{Name: name, Of: name, Elem: ir.Real, Dims: d, Role: plan.Checkpoint, Optional: !rec.s.Reverse}
		l.names[name] = true
		l.k.Params = append(l.k.Params, b)
		w.saved = append(w.saved, b)
	}
}

// params are the states of a recurrence as its step sees them.
func params(s *ir.Scan) []*ir.Value {
	var out []*ir.Value
	for _, c := range s.Carry {
		out = append(out, c.Param)
	}
	return out
}

// outputs addresses the body's outputs and returns the statements that clear
// those that are accumulated.
func (w *scanWriter) outputs() []plan.Node {
	var zero []plan.Node
	for _, o := range w.rec.s.Outs {
		to := w.l.places[o.Out]
		rowSum := w.rec.rows != nil && w.rec.rows.sum[o.Val]
		t := target{add: o.Sum}
		lead := []plan.Index{plan.At(w.batch), w.time}
		if o.Sum {
			lead = lead[:0]
			if o.PerBatch {
				lead = append(lead, plan.At(w.batch))
			}
		}
		t.at = func(idx []plan.Index) plan.Access { return to(slices.Concat(lead, idx)) }
		buf := to(make([]plan.Index, len(o.Out.Axes))).Buf
		if o.Sum || rowSum {
			zero = append(zero, &plan.Zero{Buf: buf})
		}
		if w.l.links != nil && w.l.links.forward && w.l.onlySaved(o.Out) {
			buf.Optional, t.opt = true, buf
		}
		switch whole := w.rec.chunks && writesWhole(o.Val.Def); {
		case w.rec.chunks && t.opt != nil || whole && w.l.places[o.Val] != nil:
			w.afterStep = append(w.afterStep, stepCopy{o.Val, t})
		case whole:
			w.l.places[o.Val] = t.at
		default:
			w.l.alsoTo[o.Val] = append(w.l.alsoTo[o.Val], t)
		}
	}
	return zero
}

// writesWhole reports whether an instruction writes its output as a whole.
func writesWhole(in *ir.Instr) bool {
	return in != nil && (in.Op == ir.TriSolve || asMatmul(in) != nil)
}

// onlySaved reports whether a value is only kept for the backward.
func (l *lowerer) onlySaved(v *ir.Value) bool {
	for _, in := range l.f.Body {
		if slices.Contains(l.reads(in), v) {
			return false
		}
	}
	n := 0
	for _, r := range l.f.Results {
		if r.Val == v {
			n++
			if !slices.Contains(l.links.saved, r.Name) {
				return false
			}
		}
	}
	return n == 1
}

// each is a nest over the axes of a value without the row; f receives the
// value's subscripts. Where products are whole so are their matrices: one loop
// runs over the entries contiguously, by the last subscript alone.
func (w *scanWriter) each(v *ir.Value, rows *independentRows, f func(idx []plan.Index) plan.Node) []plan.Node {
	idx := make([]plan.Index, len(v.Axes))
	if n := len(idx) - 1; w.rec.chunks && n > 0 {
		x := w.l.loopVar(0, &region{})
		idx[n] = plan.At(x)
		size := shape.Int(1)
		for _, a := range v.Axes {
			size = size.Mul(a.Size)
		}
		return []plan.Node{full(x, size, plan.Plain, []plan.Node{f(idx)})}
	}
	row, n := rows.posOf(v), 0
	vars := make([]*plan.Var, len(idx))
	for i := range idx {
		if i == row {
			idx[i] = plan.At(w.row)
			continue
		}
		vars[i] = w.l.loopVar(n, &region{row: w.row})
		idx[i] = plan.At(vars[i])
		n++
	}
	return around(loopNumbers(len(idx)), vars, v.Axes, []plan.Node{f(idx)})
}

// copy is a nest that copies a value from place to place.
func (w *scanWriter) copy(v *ir.Value, rows *independentRows, to, from place) []plan.Node {
	return w.each(v, rows, func(idx []plan.Index) plan.Node {
		return &plan.Store{To: to(idx), Vals: []plan.Expr{plan.Load{Access: from(idx)}}}
	})
}

// current addresses a state of the batch slot, or of the row, at the present token.
func (w *scanWriter) current(c ir.ScanState) place {
	return inside(w.state[c.Param], w.rec.rows.posOf(c.Param))
}

// ofSlot addresses a value of the program that has the batch as its first axis.
func (w *scanWriter) ofSlot(v *ir.Value) place {
	at := w.l.places[v]
	return func(idx []plan.Index) plan.Access { return at(append([]plan.Index{plan.At(w.batch)}, idx...)) }
}

// inside addresses a private buffer with a value's subscripts without the row,
// after leading subscripts.
func inside(b *plan.Buffer, row int, lead ...plan.Index) place {
	return func(idx []plan.Index) plan.Access {
		rest := slices.Clone(idx)
		if row >= 0 {
			rest = slices.Delete(rest, row, row+1)
		}
		return plan.Access{Buf: b, Index: append(slices.Clone(lead), rest...)}
	}
}

// start sets the states to their values before the first token.
func (w *scanWriter) start() []plan.Node {
	var out []plan.Node
	for _, c := range w.rec.s.Carry {
		to := w.current(c)
		if c.Init != nil {
			out = append(out, w.copy(c.Param, w.rec.rows, to, w.ofSlot(c.Init))...)
			continue
		}
		out = append(out, w.each(c.Param, w.rec.rows, func(idx []plan.Index) plan.Node {
			return &plan.Store{To: to(idx), Vals: []plan.Expr{plan.Num{}}}
		})...)
	}
	return out
}

// end stores the states after the last token.
func (w *scanWriter) end() []plan.Node {
	var out []plan.Node
	for _, c := range w.rec.s.Carry {
		if c.Final != nil && w.l.places[c.Final] != nil {
			out = append(out, w.copy(c.Param, w.rec.rows, w.ofSlot(c.Final), w.current(c))...)
		}
	}
	return out
}

// run writes all tokens.
func (w *scanWriter) run() []plan.Node {
	s := w.rec.s
	if w.segment == nil {
		body := w.step()
		if !s.Reverse {
			body = append(w.storeCheckpoint(), body...)
		}
		loop := full(w.token, s.Time.Size, plan.Time, body)
		loop.Down = s.Reverse
		return []plan.Node{loop}
	}
	var body []plan.Node
	if s.Reverse {
		body = append(w.loadCheckpoint(), w.tokens(w.replaySegment(), false), w.tokens(w.step(), true))
	} else {
		body = append(w.storeCheckpoint(), w.tokens(w.step(), false))
	}
	loop := full(w.segment, shape.Sym(w.l.segments(s.Time.Size)), plan.Segment, body)
	loop.Down = s.Reverse
	return []plan.Node{loop}
}

// tokens is the loop over the tokens of a segment; the last one may be short.
func (w *scanWriter) tokens(body []plan.Node, down bool) plan.Node {
	c := shape.Sym(w.l.segmentSize())
	rest := plan.Fixed(w.rec.s.Time.Size).Add(plan.At(w.segment), c.Mul(shape.Int(-1)))
	return &plan.Loop{Kind: plan.Time, Var: w.token, Lo: []plan.Index{{}},
		Hi: []plan.Index{plan.Fixed(c), rest}, Down: down, Body: body}
}

// storeCheckpoint stores the states before a segment, when the caller wants
// them.
func (w *scanWriter) storeCheckpoint() []plan.Node {
	var out []plan.Node
	for i, c := range w.rec.s.Carry {
		if i >= len(w.saved) || w.saved[i] == nil {
			continue
		}
		nodes := w.copy(c.Param, w.rec.rows, w.checkpoint(i), w.current(c))
		out = append(out, &plan.If{Present: w.saved[i], Body: nodes})
	}
	return out
}

// checkpoint addresses the checkpoint of a carry at the present segment, or token.
func (w *scanWriter) checkpoint(i int) place {
	step := w.time
	if w.segment != nil {
		step = plan.At(w.segment)
	}
	return inside(w.saved[i], -1, plan.At(w.batch), step)
}

// loadCheckpoint loads the states before a segment into the first entry of the
// replayed states.
func (w *scanWriter) loadCheckpoint() []plan.Node {
	var out []plan.Node
	length := shape.Sym(w.l.segmentSize()).Add(shape.Int(1))
	for i, c := range w.rec.replay.Carry {
		b := w.keep(c.Param, w.rec.replayRows, c.Param.Name+".trail", []shape.Poly{length})
		w.replayed = append(w.replayed, b)
		to := inside(b, w.rec.replayRows.posOf(c.Param), plan.Index{})
		out = append(out, w.copy(c.Param, w.rec.replayRows, to, w.checkpoint(i))...)
	}
	return out
}

// replaySegment computes the states of a segment from the first one.
func (w *scanWriter) replaySegment() []plan.Node {
	s := w.rec.replay
	r := w.region(s, w.rec.replayRows)
	for i, c := range s.Carry {
		w.l.places[c.Param] = w.before(i)
		w.l.places[c.Next] = w.after(i)
	}
	return r.write()
}

// before and after address a replayed state before and after the token, or one
// that the forward stored before each step.
func (w *scanWriter) before(i int) place {
	if w.rec.chunks {
		return w.checkpoint(i)
	}
	row := w.rec.replayRows.posOf(w.rec.replay.Carry[i].Param)
	return inside(w.replayed[i], row, plan.At(w.token))
}

func (w *scanWriter) after(i int) place {
	row := w.rec.replayRows.posOf(w.rec.replay.Carry[i].Param)
	return inside(w.replayed[i], row, plan.At(w.token).Add(plan.Fixed(shape.Int(1)), shape.Int(1)))
}
