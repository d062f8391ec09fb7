package block

import (
	"slices"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// Memory is the context memory of a block for all sequences of its batch: the states of its
// rule, the tails of its windows, how many tokens each context has seen, and
// the memories of its parts. It belongs to one stream. The gradient of one call ends at
// its edges; several_calls.go takes it across them.
type Memory[F num.Float] struct {
	Batch    int
	Chunk    int     // tokens that are computed together, 0 for none; the rest of a call is computed token by token
	Pos      []int32 // tokens of each sequence's context so far
	Slots    []Slot[F]
	Parts    []Part[F]
	first    []tape.Value[F] // by slot: the value that a call across edges began with, a leaf of its tape
	next     []tape.Value[F] // by slot: the values that a call left, without data if it left none
	arena    *tape.Arena[F]  // that the new values are in
	moved    int
	shut     []bool     // by sequence: the last call's states are not kept
	keptShut []bool     // shut when the last call was kept
	site     bool       // of a frozen call: states and positions are borrowed from the part's memory
	unit     string     // path of the block in its model, for profiles
	of       *Memory[F] // that they are borrowed from
}

// A Slot is one named tensor of a memory, [batch, Shape…].
type Slot[F num.Float] struct {
	Name   string
	Shape  []int // of one sequence
	Data   []F
	Rows   Rows   // the set of its rows
	Range  *Range // of its entries, or nil
	Window bool   // a window (the last inputs of a convolution or of attention), not a state
}

// A Part is the memory of a part of a composition.
type Part[F num.Float] struct {
	Name    string
	Memory  *Memory[F]
	Levels  bool  // it is a level
	Level   int   // which
	Gated   bool  // that a gate of the page opens
	Periods []int // that the page proposes for all levels of the list
}

// NewMemory returns the memory of new contexts: every slot zero.
func NewMemory[F num.Float](batch int, slots ...Slot[F]) *Memory[F] {
	m := &Memory[F]{Batch: batch, Pos: make([]int32, batch), Slots: slots, first: make([]tape.Value[F], len(slots)), next: make([]tape.Value[F], len(slots)),
		shut: make([]bool, batch), keptShut: make([]bool, batch)}
	for i := range m.Slots {
		m.Slots[i].Data = tensor.Make[F](batch * m.Slots[i].size())
	}
	return m
}

// SetUnit sets the path of the block in its model, and those of its parts: profiles
// name units by them.
func (m *Memory[F]) SetUnit(path string) {
	m.unit = path
	for _, p := range m.Parts {
		if path == "" {
			p.Memory.SetUnit(p.Name)
		} else {
			p.Memory.SetUnit(path + "." + p.Name)
		}
	}
}

// Span returns the memory of the sequences lo … hi−1: it shares states, windows and
// positions with m, and has calls of its own.
func (m *Memory[F]) Span(lo, hi int) *Memory[F] {
	s := &Memory[F]{Batch: hi - lo, Chunk: m.Chunk, Slots: slices.Clone(m.Slots), Parts: slices.Clone(m.Parts),
		first: make([]tape.Value[F], len(m.Slots)), next: make([]tape.Value[F], len(m.Slots)), shut: make([]bool, hi-lo), keptShut: slices.Clone(m.keptShut[lo:hi]), site: m.site, unit: m.unit}
	if m.Pos != nil {
		s.Pos = m.Pos[lo:hi:hi]
	}
	for i := range s.Slots {
		if n := s.Slots[i].size(); !m.borrowed(i) {
			s.Slots[i].Data = m.Slots[i].Data[lo*n : hi*n : hi*n]
		}
	}
	for i, p := range m.Parts {
		s.Parts[i].Memory = p.Memory.Span(lo, hi)
	}
	return s
}

func (s *Slot[F]) size() int {
	n := 1
	for _, d := range s.Shape {
		n *= d
	}
	return n
}

// Fresh reports whether a sequence is at the start of its context.
func (m *Memory[F]) Fresh(sequence int) bool { return m.Pos[sequence] == 0 }

// SetNext sets the new value of slot i, computed into the arena of a call, and returns it.
// Keep copies it into the memory; until then a backward finds the values that the call
// began with.
func (m *Memory[F]) SetNext(c Call[F], i int, data []F) tape.Value[F] {
	if m.arena = c.Run.Arena; c.Across {
		m.next[i] = c.Run.Output(data)
	} else {
		m.next[i] = m.arena.Value(data)
	}
	return m.next[i]
}

// forget drops what was given outside the present scope of a, and which sequences were
// shut for it.
func (m *Memory[F]) forget(a *tape.Arena[F]) {
	for i, v := range m.next {
		if v.Data != nil && !(m.arena == a && a.Computed(v)) {
			m.next[i], m.moved = tape.Value[F]{}, 0
			clear(m.shut)
		}
	}
}

// maxPosition is a position that float32 still counts. From there a context goes on at half of
// it, far beyond any window.
const maxPosition = 1 << 24

// Advance records how many tokens a call has seen.
func (m *Memory[F]) Advance(steps int) { m.moved = steps }

// Keep copies the new values of the last call into the memory, in all parts. Call it
// once after each call of Step, when its backward is done and before the next scope
// opens on the call's arena: then the new values are gone, and Keep panics with
// tape.ForeignValue.
func (m *Memory[F]) Keep() {
	for i, v := range m.next {
		if v.Data != nil {
			m.keep(&m.Slots[i], m.arena.Data(v))
			m.next[i] = tape.Value[F]{}
		}
	}
	m.keptShut, m.shut = m.shut, m.keptShut
	clear(m.shut)
	for l := range m.Pos {
		if !m.site {
			m.Pos[l] += int32(m.moved)
			if m.Pos[l] >= maxPosition {
				m.Pos[l] -= maxPosition / 2
			}
		}
	}
	m.moved = 0
	for _, p := range m.Parts {
		p.Memory.Keep()
	}
}

// keep copies data into a slot; of a state only the sequences that are open.
func (m *Memory[F]) keep(s *Slot[F], data []F) {
	if s.Window || !slices.Contains(m.shut, true) {
		device.Copy(s.Data, data)
		return
	}
	n := s.size()
	for l := range m.Batch {
		if !m.shut[l] {
			device.Copy(s.Data[l*n:(l+1)*n], data[l*n:(l+1)*n])
		}
	}
}

// Discard says that the states which the last call left of a sequence are not kept; its
// windows are.
func (m *Memory[F]) Discard(sequence int) {
	m.shut[sequence] = true
	for _, p := range m.Parts {
		p.Memory.Discard(sequence)
	}
}

// Opened calls f for every level that a gate of a page opens, in all parts: whether
// the last call that was kept found it open in a sequence.
func (m *Memory[F]) Opened(f func(level, sequence int, open bool)) {
	for _, p := range m.Parts {
		if p.Gated {
			for l, shut := range p.Memory.keptShut {
				f(p.Level, l, !shut)
			}
		}
		p.Memory.Opened(f)
	}
}

// Levels is how many levels the memory's parts are, and the periods that a page
// proposes for most of them; none where there is one level or no page says.
func (m *Memory[F]) Levels() (n int, periods []int) {
	n = 1
	for _, p := range m.Parts {
		k, ps := p.Memory.Levels()
		if p.Levels && p.Level+1 >= k {
			k, ps = p.Level+1, p.Periods
		}
		if k > n {
			n, periods = k, ps[:min(k, len(ps))]
		}
	}
	return n, periods
}

// Reset starts a new context of one sequence.
func (m *Memory[F]) Reset(sequence int) {
	if !m.site {
		m.Pos[sequence] = 0
	}
	for i := range m.Slots {
		if m.borrowed(i) {
			continue
		}
		n := m.Slots[i].size()
		device.Clear(m.Slots[i].Data[sequence*n : (sequence+1)*n])
	}
	for _, p := range m.Parts {
		p.Memory.Reset(sequence)
	}
}

// Clone returns a copy: probing and sampling work on one, so that they do not change
// the run.
func (m *Memory[F]) Clone() *Memory[F] {
	c := &Memory[F]{Batch: m.Batch, Chunk: m.Chunk, Pos: slices.Clone(m.Pos), Slots: slices.Clone(m.Slots), Parts: slices.Clone(m.Parts),
		first: make([]tape.Value[F], len(m.Slots)), next: make([]tape.Value[F], len(m.Slots)), shut: make([]bool, m.Batch), keptShut: slices.Clone(m.keptShut), site: m.site}
	for i, s := range m.Slots {
		c.Slots[i].Data = nil
		if !m.borrowed(i) {
			c.Slots[i].Data = device.Like(s.Data, len(s.Data))
			device.Copy(c.Slots[i].Data, s.Data)
		}
	}
	for i, p := range m.Parts {
		c.Parts[i].Memory = p.Memory.Clone()
	}
	return c
}

// Move replaces every slot, of the parts too, by what f returns for it: the same numbers in other
// memory.
func (m *Memory[F]) Move(f func(data []F) []F) {
	for i := range m.Slots {
		if !m.borrowed(i) {
			m.Slots[i].Data = f(m.Slots[i].Data)
		}
	}
	for _, p := range m.Parts {
		p.Memory.Move(f)
	}
}

// Release gives the slots back to the device that has them; the memory cannot be used any more. Of the host's
// memory nothing changes.
func (m *Memory[F]) Release() {
	m.Move(func(data []F) []F {
		if device.Of(data) == nil {
			return data
		}
		device.Release(data)
		return nil
	})
}

// Each calls f for every slot of the memory and its parts, under its full
// name, in a fixed order; pos is the positions of the slot's memory.
func (m *Memory[F]) Each(prefix string, f func(name string, shape []int, data []F)) {
	for i, s := range m.Slots {
		if !m.borrowed(i) {
			f(prefix+s.Name, append([]int{m.Batch}, s.Shape...), s.Data)
		}
	}
	for _, p := range m.Parts {
		p.Memory.Each(prefix+p.Name+".", f)
	}
}

// Ranges calls f for every slot of the memory and its parts that has a range, under
// its full name.
func (m *Memory[F]) Ranges(prefix string, f func(name string, r *Range)) {
	for i, s := range m.Slots {
		if s.Range != nil && !m.borrowed(i) {
			f(prefix+s.Name, s.Range)
		}
	}
	for _, p := range m.Parts {
		p.Memory.Ranges(prefix+p.Name+".", f)
	}
}

// EachPos calls f for the positions of the memory and of its parts.
func (m *Memory[F]) EachPos(prefix string, f func(name string, pos []int32)) {
	if !m.site {
		f(prefix+"pos", m.Pos)
	}
	for _, p := range m.Parts {
		p.Memory.EachPos(prefix+p.Name+".", f)
	}
}

// Chunks calls f for the memory and its parts where tokens are computed in
// chunks: the part's name under the prefix, and the tokens of a chunk.
func (m *Memory[F]) Chunks(prefix string, f func(part string, tokens int)) {
	if m.Chunk > 0 {
		f(prefix, m.Chunk)
	}
	for _, p := range m.Parts {
		p.Memory.Chunks(prefix+"."+p.Name, f)
	}
}

// PartOf returns the memory of a part. It panics when there is none: that is
// a fault of the generated code.
func (m *Memory[F]) PartOf(name string) *Memory[F] {
	for _, p := range m.Parts {
		if p.Name == name {
			return p.Memory
		}
	}
	panic("block: BUG: no memory of part " + name)
}
