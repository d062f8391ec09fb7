package interp

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A recurrence is a scan laid out once: its body is a machine whose parameters are
// bound to the token's data before every step. A scan that a backward scan replays
// saves its states before every token.
type recurrence struct {
	m          *machine // of the enclosing program
	s          *ir.Scan
	body       *machine
	batch      int
	steps      int
	state      [][]float64 // per carried state
	next       [][]float64 // per carried state: a buffer for next states that are parameters
	saves      bool
	saved      [][]float64 // per carried state: [slot][token] its value before the token
	tokens     []*scanInput
	primal     *recurrence
	runsPrimal bool // the primal scan does not run in this program by itself
	replay     bool // some replayed value is computed by the primal scan's body
}

// A scanInput is a token parameter with the offset at which it reads.
type scanInput struct {
	ir.ScanInput
	base   int
	buffer []float64 // of a window, or a count
}

func (m *machine) scan(in *ir.Instr, keep bool) *recurrence {
	s := in.Scan
	r := &recurrence{m: m, s: s, batch: m.size(s.Batch.Size), steps: m.size(s.Time.Size), saves: keep}
	r.body = layOut(s.Body, m.sizes, m.single, observers{onRoot: m.onRoot, onInstr: m.onInstr})
	for _, c := range s.Carry {
		n := len(NewTensor(r.body.vals[c.Param].Shape...).Data)
		r.state, r.next = append(r.state, make([]float64, n)), append(r.next, make([]float64, n))
		if keep {
			r.saved = append(r.saved, make([]float64, r.batch*r.steps*n))
		}
	}
	for _, t := range s.Tokens {
		x := &scanInput{ScanInput: t, base: m.size(t.Base)}
		if t.Window != nil || t.Count {
			x.buffer = NewTensor(r.body.vals[t.Param].Shape...).Data
		}
		r.tokens = append(r.tokens, x)
	}
	for _, v := range in.Defines() {
		m.vals[v] = NewTensor(m.shape(v.Axes)...)
	}
	r.linkPrimal()
	m.scans[in] = r
	return r
}

func (r *recurrence) linkPrimal() {
	if r.s.Primal == nil {
		return
	}
	if r.primal = r.m.scans[r.s.Primal]; r.primal == nil {
		r.primal, r.runsPrimal = r.m.scan(r.s.Primal, true), true
	}
	params := r.s.Primal.Scan.Body.Params
	for _, x := range r.s.Replay {
		r.replay = r.replay || !slices.Contains(params, x.Primal)
	}
}

func (r *recurrence) run() {
	if r.runsPrimal {
		r.primal.run()
	}
	for _, o := range r.s.Outs {
		clear(r.m.vals[o.Out].Data)
	}
	for l := range r.batch {
		r.startStates(l)
		for i := range r.steps {
			t := i
			if r.s.Reverse {
				t = r.steps - 1 - i
			}
			r.step(l, t)
		}
		for i, c := range r.s.Carry {
			if c.Final != nil {
				copy(slice(r.m.vals[c.Final], l), r.state[i])
			}
		}
	}
}

// startStates sets the first states of a batch slot and binds the values that all tokens share.
func (r *recurrence) startStates(slot int) {
	for i, c := range r.s.Carry {
		clear(r.state[i])
		if c.Init != nil {
			copy(r.state[i], slice(r.m.vals[c.Init], slot))
		}
	}
	r.bindShared(slot)
}

func (r *recurrence) bindShared(slot int) {
	for _, v := range r.s.Shared {
		x := r.m.vals[v.Val]
		if v.PerBatch {
			r.body.vals[v.Param].Data = slice(x, slot)
		} else {
			r.body.vals[v.Param].Data = x.Data
		}
	}
}

func (r *recurrence) step(slot, t int) {
	for i, c := range r.s.Carry {
		r.body.vals[c.Param].Data = r.state[i]
		if r.saves {
			copy(r.savedState(i, slot, t), r.state[i])
		}
	}
	r.bind(slot, t)
	if r.primal != nil {
		r.replayStep(slot, t)
	}
	r.body.run()
	r.storeOutputs(slot, t)
	r.advance()
}

func (r *recurrence) savedState(carry, slot, t int) []float64 {
	n := len(r.state[carry])
	at := (slot*r.steps + t) * n
	return r.saved[carry][at : at+n]
}

// bind points the token parameters to their slices at token t.
func (r *recurrence) bind(slot, t int) {
	for _, k := range r.tokens {
		x := r.m.vals[k.Val]
		if k.Count {
			k.buffer[0] = x.Data[slot] + float64(t)
			r.body.vals[k.Param].Data = k.buffer
			continue
		}
		at := slot*x.Shape[1] + t + k.base
		n := len(x.Data) / max(1, x.Shape[0]*x.Shape[1])
		p := r.body.vals[k.Param]
		if k.Window == nil {
			p.Data = x.Data[at*n : (at+1)*n]
			continue
		}
		for j := range p.Shape[0] {
			copy(k.buffer[j*n:(j+1)*n], x.Data[(at-j)*n:(at-j+1)*n])
		}
		p.Data = k.buffer
	}
}

// replayStep binds a backward body to the values of the primal step.
func (r *recurrence) replayStep(slot, t int) {
	p := r.primal
	for i, c := range p.s.Carry {
		p.body.vals[c.Param].Data = p.savedState(i, slot, t)
	}
	p.bind(slot, t)
	p.bindShared(slot)
	if r.replay {
		if p.primal != nil {
			p.replayStep(slot, t)
		}
		p.body.run()
	}
	for _, x := range r.s.Replay {
		r.body.vals[x.Param].Data = p.body.vals[x.Primal].Data
	}
}

// storeOutputs stores the outputs of a step.
func (r *recurrence) storeOutputs(slot, t int) {
	for _, o := range r.s.Outs {
		val, out := r.body.vals[o.Val], r.m.vals[o.Out]
		switch {
		case o.Sum && o.PerBatch:
			r.accumulate(slice(out, slot), val.Data)
		case o.Sum:
			r.accumulate(out.Data, val.Data)
		default:
			n := len(val.Data)
			copy(out.Data[(slot*r.steps+t)*n:], val.Data)
		}
	}
}

// advance makes the next states the states. A next state that is a parameter
// may be another state, so those are read before any is written.
func (r *recurrence) advance() {
	for i, c := range r.s.Carry {
		if c.Next.Def == nil {
			copy(r.next[i], r.body.vals[c.Next].Data)
		}
	}
	for i, c := range r.s.Carry {
		if c.Next.Def == nil {
			copy(r.state[i], r.next[i])
		} else {
			copy(r.state[i], r.body.vals[c.Next].Data)
		}
	}
}

func (r *recurrence) accumulate(dst, src []float64) {
	for i, x := range src {
		dst[i] = r.m.round(dst[i] + x)
	}
}

// slice is the data of entry i of a tensor's first axis.
func slice(t *Tensor, i int) []float64 {
	n := len(t.Data) / max(1, t.Shape[0])
	return t.Data[i*n : (i+1)*n]
}
