package block

import (
	"slices"

	"github.com/nl-hecate/hecate/runtime/tape"
)

// Backpropagation through several calls goes from the last call to the first. Each runs
// forward on a tape of its own, from the memory that it began with, and between two calls
// there are the adjoints of that memory: a memory of the same model, whose slots hold them.
//
//	…                             // Step with Call.Across
//	m.SeedNext(t, bars)           // the adjoints of what the call left become seeds
//	t.Reverse()
//	m.TakeInitial(t, bars)        // now they are those of what the call began with
//
// A state that a call only reads, and one whose gate is shut, is what it was: its adjoint
// goes on, with that of the read. In a sequence whose context starts with the call nothing
// goes on: the gradient of a computed initial state is that of its parameters.

// SeedNext seeds a tape with the adjoints of what the last call leaves, before Reverse and
// Keep, and takes them out of bars.
func (m *Memory[F]) SeedNext(t *tape.Tape[F], bars *Memory[F]) {
	m.shareSites()
	bars.shareSites()
	for i := range slices.Backward(m.Parts) { // a part before its site: what both write is the part's
		m.Parts[i].Memory.SeedNext(t, bars.Parts[i].Memory)
	}
	for i, v := range m.next {
		if v.Data == nil {
			continue
		}
		n := m.Slots[i].size()
		for l := range m.Batch {
			bar := bars.Slots[i].Data[l*n : (l+1)*n]
			if m.shut[l] && !m.Slots[i].Window || zero(bar) {
				continue
			}
			g := t.Grad(v)[l*n : (l+1)*n]
			for j, x := range bar {
				g[j] += x
			}
			clear(bar)
		}
	}
}

// TakeInitial adds to bars the adjoints of what the last call began with, after Reverse
// and before Keep.
func (m *Memory[F]) TakeInitial(t *tape.Tape[F], bars *Memory[F]) {
	for i, s := range bars.Slots {
		if m.borrowed(i) {
			continue
		}
		if v := m.first[i]; m.arena != nil && m.arena.Computed(v) {
			for j, x := range t.Adjoint(v) {
				s.Data[j] += x
			}
		}
		m.first[i] = tape.Value[F]{}
		for l := range m.Batch {
			if m.Fresh(l) {
				clear(s.Data[l*s.size() : (l+1)*s.size()])
			}
		}
	}
	for i, p := range m.Parts {
		p.Memory.TakeInitial(t, bars.Parts[i].Memory)
	}
}

func zero[F comparable](x []F) bool {
	var none F
	return !slices.ContainsFunc(x, func(v F) bool { return v != none })
}
