package interp

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// The scans of the plain evaluator, forward and backward.

// A history is what a backward scan needs of its primal: the states before
// every token of every slot.
type history struct {
	before [][]map[*ir.Value]*Tensor // [slot][token][carry parameter]
}

func (e *Env) scan(in *ir.Instr) {
	s := in.Scan
	slots, steps := e.size(s.Batch.Size), e.size(s.Time.Size)
	finals := e.allot(s)
	var hist *history
	if s.Reverse {
		hist = e.replay(s.Primal)
	} else {
		hist = &history{}
		e.scans[in] = hist
	}
	for l := 0; l < slots; l++ {
		state := e.initial(s, l)
		if !s.Reverse {
			hist.before = append(hist.before, nil)
		}
		for i := 0; i < steps; i++ {
			t := i
			if s.Reverse {
				t = steps - 1 - i
			}
			step := e.step(s, l, t, state)
			if s.Reverse {
				e.replayed(s, step, hist, l, t)
			} else {
				hist.before[l] = append(hist.before[l], state)
			}
			step.body(s.Body)
			state = e.advance(s, step, l, t)
		}
		for _, c := range s.Carry {
			if c.Final != nil {
				copy(slice(finals[c.Final], l), state[c.Param].Data)
			}
		}
	}
}

// allot makes room for the outputs of a scan.
func (e *Env) allot(s *ir.Scan) map[*ir.Value]*Tensor {
	out := map[*ir.Value]*Tensor{}
	for _, c := range s.Carry {
		if c.Final != nil {
			e.vals[c.Final] = NewTensor(e.shape(c.Final.Axes)...)
			out[c.Final] = e.vals[c.Final]
		}
	}
	for _, o := range s.Outs {
		e.vals[o.Out] = NewTensor(e.shape(o.Out.Axes)...)
	}
	return out
}

func (e *Env) initial(s *ir.Scan, slot int) map[*ir.Value]*Tensor {
	state := map[*ir.Value]*Tensor{}
	for _, c := range s.Carry {
		t := NewTensor(e.shape(c.Param.Axes)...)
		if c.Init != nil {
			copy(t.Data, slice(e.vals[c.Init], slot))
		}
		state[c.Param] = t
	}
	return state
}

// step makes the environment of one token: its body's parameters.
func (e *Env) step(s *ir.Scan, slot, t int, state map[*ir.Value]*Tensor) *Env {
	in := &Env{Sizes: e.Sizes, vals: map[*ir.Value]*Tensor{}, scans: map[*ir.Instr]*history{}}
	for p, v := range state {
		in.vals[p] = v
	}
	for _, k := range s.Tokens {
		in.vals[k.Param] = e.token(k, slot, t)
	}
	for _, v := range s.Shared {
		in.vals[v.Param] = e.vals[v.Val]
		if v.PerBatch {
			in.vals[v.Param] = view(e.vals[v.Val], slot)
		}
	}
	return in
}

// token is a series' slice at token t: one row, or a window of rows.
func (e *Env) token(k ir.ScanInput, slot, t int) *Tensor {
	series := view(e.vals[k.Val], slot)
	if k.Count {
		return &Tensor{Data: []float64{series.Data[0] + float64(t)}}
	}
	at := t + e.size(k.Base)
	if k.Window == nil {
		return view(series, at)
	}
	out := NewTensor(e.shape(k.Param.Axes)...)
	for j := 0; j < out.Shape[0]; j++ {
		copy(slice(out, j), slice(series, at-j))
	}
	return out
}

// replayed gives a backward body what the primal step saw.
func (e *Env) replayed(s *ir.Scan, step *Env, h *history, slot, t int) {
	primal := e.step(s.Primal.Scan, slot, t, h.before[slot][t])
	for _, r := range s.Replay {
		if primal.vals[r.Primal] == nil {
			primal.body(s.Primal.Scan.Body)
		}
		step.vals[r.Param] = primal.vals[r.Primal]
	}
}

// replay returns the primal's states, running it again when it ran elsewhere.
func (e *Env) replay(primal *ir.Instr) *history {
	if h := e.scans[primal]; h != nil {
		return h
	}
	again := &Env{Sizes: e.Sizes, vals: map[*ir.Value]*Tensor{}, scans: map[*ir.Instr]*history{}}
	for _, v := range primal.Reads() {
		again.vals[v] = e.vals[v]
	}
	again.scan(primal)
	return again.scans[primal]
}

// advance stores what a step gave and returns the state after it.
func (e *Env) advance(s *ir.Scan, step *Env, slot, t int) map[*ir.Value]*Tensor {
	for _, o := range s.Outs {
		val, out := step.vals[o.Val], e.vals[o.Out]
		switch {
		case o.Sum && o.PerBatch:
			accumulate(slice(out, slot), val.Data)
		case o.Sum:
			accumulate(out.Data, val.Data)
		default:
			copy(slice(view(out, slot), t), val.Data)
		}
	}
	state := map[*ir.Value]*Tensor{}
	for _, c := range s.Carry {
		state[c.Param] = step.vals[c.Next]
	}
	return state
}

func accumulate(dst, src []float64) {
	for i, x := range src {
		dst[i] += x
	}
}

// view is entry i of a tensor's first axis.
func view(t *Tensor, i int) *Tensor {
	return &Tensor{t.Shape[1:], slice(t, i)}
}
