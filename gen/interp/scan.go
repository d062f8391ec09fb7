package interp

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A recurrence is a scan laid out once: its body is a machine whose parameters
// are pointed to the token's data before every step. A scan that a backward
// scan replays keeps its states before every token.
type recurrence struct {
	m      *machine // of the program around it
	s      *ir.Scan
	body   *machine
	lanes  int
	steps  int
	state  [][]float64 // per carry: the state while the scan runs
	next   [][]float64 // per carry: room for next states that are parameters
	keep   bool
	before [][]float64 // per carry: [lane][token] states before the token
	tokens []*series
	primal *recurrence
	again  bool // the primal does not run in this program by itself
	replay bool // some replayed value is computed by the primal's body
}

// A series is a token parameter with where it reads.
type series struct {
	ir.ScanInput
	base int
	room []float64 // for a window, or a count
}

func (m *machine) scan(in *ir.Instr, keep bool) *recurrence {
	s := in.Scan
	r := &recurrence{m: m, s: s, lanes: m.size(s.Batch.Size), steps: m.size(s.Time.Size), keep: keep}
	r.body = link(s.Body, m.sizes, m.single, hooks{solved: m.solved, after: m.after})
	for _, c := range s.Carry {
		n := len(NewTensor(r.body.vals[c.Param].Shape...).Data)
		r.state, r.next = append(r.state, make([]float64, n)), append(r.next, make([]float64, n))
		if keep {
			r.before = append(r.before, make([]float64, r.lanes*r.steps*n))
		}
	}
	for _, t := range s.Tokens {
		x := &series{ScanInput: t, base: m.size(t.Base)}
		if t.Window != nil || t.Count {
			x.room = NewTensor(r.body.vals[t.Param].Shape...).Data
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
		r.primal, r.again = r.m.scan(r.s.Primal, true), true
	}
	params := r.s.Primal.Scan.Body.Params
	for _, x := range r.s.Replay {
		r.replay = r.replay || !slices.Contains(params, x.Primal)
	}
}

func (r *recurrence) run() {
	if r.again {
		r.primal.run()
	}
	for _, o := range r.s.Outs {
		clear(r.m.vals[o.Out].Data)
	}
	for l := range r.lanes {
		r.start(l)
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

// start sets the states of a lane and binds what all tokens share.
func (r *recurrence) start(lane int) {
	for i, c := range r.s.Carry {
		clear(r.state[i])
		if c.Init != nil {
			copy(r.state[i], slice(r.m.vals[c.Init], lane))
		}
	}
	r.share(lane)
}

func (r *recurrence) share(lane int) {
	for _, v := range r.s.Shared {
		x := r.m.vals[v.Val]
		if v.PerBatch {
			r.body.vals[v.Param].Data = slice(x, lane)
		} else {
			r.body.vals[v.Param].Data = x.Data
		}
	}
}

func (r *recurrence) step(lane, t int) {
	for i, c := range r.s.Carry {
		r.body.vals[c.Param].Data = r.state[i]
		if r.keep {
			copy(r.kept(i, lane, t), r.state[i])
		}
	}
	r.bind(lane, t)
	if r.primal != nil {
		r.recall(lane, t)
	}
	r.body.run()
	r.give(lane, t)
	r.advance()
}

func (r *recurrence) kept(carry, lane, t int) []float64 {
	n := len(r.state[carry])
	at := (lane*r.steps + t) * n
	return r.before[carry][at : at+n]
}

// bind points the token parameters to their slices at token t.
func (r *recurrence) bind(lane, t int) {
	for _, k := range r.tokens {
		x := r.m.vals[k.Val]
		if k.Count {
			k.room[0] = x.Data[lane] + float64(t)
			r.body.vals[k.Param].Data = k.room
			continue
		}
		at := lane*x.Shape[1] + t + k.base
		n := len(x.Data) / max(1, x.Shape[0]*x.Shape[1])
		p := r.body.vals[k.Param]
		if k.Window == nil {
			p.Data = x.Data[at*n : (at+1)*n]
			continue
		}
		for j := range p.Shape[0] {
			copy(k.room[j*n:(j+1)*n], x.Data[(at-j)*n:(at-j+1)*n])
		}
		p.Data = k.room
	}
}

// recall gives a backward body what the primal step saw.
func (r *recurrence) recall(lane, t int) {
	p := r.primal
	for i, c := range p.s.Carry {
		p.body.vals[c.Param].Data = p.kept(i, lane, t)
	}
	p.bind(lane, t)
	p.share(lane)
	if r.replay {
		if p.primal != nil {
			p.recall(lane, t)
		}
		p.body.run()
	}
	for _, x := range r.s.Replay {
		r.body.vals[x.Param].Data = p.body.vals[x.Primal].Data
	}
}

// give stores what a step gave.
func (r *recurrence) give(lane, t int) {
	for _, o := range r.s.Outs {
		val, out := r.body.vals[o.Val], r.m.vals[o.Out]
		switch {
		case o.Sum && o.PerBatch:
			r.accumulate(slice(out, lane), val.Data)
		case o.Sum:
			r.accumulate(out.Data, val.Data)
		default:
			n := len(val.Data)
			copy(out.Data[(lane*r.steps+t)*n:], val.Data)
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
