package module

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
)

// A Memory is the context memory of all slots of one stream. It is moved through
// Process by the handle that owns it.
type Memory[F Float] struct {
	live, saved *block.Memory[F] // of all slots
	slots       []slot[F]
}

// A slot is the memory of one sequence, and a copy of it from the start of the chunk.
type slot[F Float] struct {
	live, saved *block.Memory[F]
	spans       []*block.Memory[F] // live of this slot and some after it, by their number less 2
}

// NewContext makes the context memory of a stream with the given batch, each slot at
// the beginning of a context, and returns the handle that owns it. It panics with
// device.NoMemory where a device has too little.
func (m *Module[F]) NewContext(batch int) context.Handle[*Memory[F]] {
	return context.New(m.newMemory(batch))
}

func (m *Module[F]) newMemory(batch int) *Memory[F] {
	return divide(m.placedMemory(batch), m.placedMemory(batch))
}

// oneMemory is a memory without a copy of it.
func (m *Module[F]) oneMemory(batch int) *Memory[F] {
	live := m.placedMemory(batch)
	return divide(live, live)
}

// placedMemory is a memory of the model where the module computes.
func (m *Module[F]) placedMemory(batch int) *block.Memory[F] {
	memory := m.model.NewMemory(batch)
	memory.Move(m.placed)
	return memory
}

// release gives back what a device has of a memory, which cannot be used any more.
func (m *Memory[F]) release() {
	m.live.Release()
	if m.saved != m.live {
		m.saved.Release()
	}
}

// divide makes the memories of the slots from those of all of them.
func divide[F Float](live, saved *block.Memory[F]) *Memory[F] {
	live.SetUnit("")
	m := &Memory[F]{live: live, saved: saved}
	for i := range live.Batch {
		m.slots = append(m.slots, slot[F]{live: live.Span(i, i+1), saved: saved.Span(i, i+1)})
	}
	return m
}

// span is the memory of consecutive slots, of which all calls have the same first one or
// none in common: it keeps what it makes.
func (m *Memory[F]) span(lo, hi int) *block.Memory[F] {
	s := &m.slots[lo]
	if hi == lo+1 {
		return s.live
	}
	for len(s.spans) < hi-lo-1 {
		s.spans = append(s.spans, nil)
	}
	at := &s.spans[hi-lo-2]
	if *at == nil {
		*at = m.live.Span(lo, hi)
	}
	return *at
}

// Batch returns the number of slots.
func (m *Memory[F]) Batch() int { return len(m.slots) }

// Reset begins a new context in every slot.
func (m *Memory[F]) Reset() {
	for _, s := range m.slots {
		s.live.Reset(0)
	}
}

// Clone returns a copy: with it, context.Handle.Fork makes a context for probes.
func (m *Memory[F]) Clone() *Memory[F] { return divide(m.live.Clone(), m.live.Clone()) }

// only is a copy of one slot.
func (m *Memory[F]) only(i int) *Memory[F] {
	live := m.slots[i].live
	return divide(live.Clone(), live.Clone())
}

// Each calls f for every tensor of every slot, [1, …], under the name that it has
// in a checkpoint, in a fixed order. The elements are to be read; those of a device are copies.
func (m *Memory[F]) Each(f func(name string, shape []int, data []F)) {
	m.each(func(name string, shape []int, data []F) { f(name, shape, device.Host(data)) })
}

// each is Each with the elements where they are.
func (m *Memory[F]) each(f func(name string, shape []int, data []F)) {
	for i, s := range m.slots {
		s.live.Each(prefix(i), f)
	}
}

// EachPos calls f for the positions of every slot's parts.
func (m *Memory[F]) EachPos(f func(name string, pos []int32)) {
	for i, s := range m.slots {
		s.live.EachPos(prefix(i), f)
	}
}

// prefix begins the names of a slot's tensors.
func prefix(slot int) string { return fmt.Sprintf("lane%d.", slot) }

// check refuses a memory with a row outside the set that its page declares.
func (m *Memory[F]) check() error {
	for i, s := range m.slots {
		if err := s.live.Check(fmt.Sprintf("lane%d", i)); err != nil {
			return err
		}
	}
	return nil
}

// copyFrom copies another memory of the same model and batch.
func (m *Memory[F]) copyFrom(from *Memory[F]) {
	for i, s := range m.slots {
		transfer(s.live, from.slots[i].live)
	}
}

// save copies the live memory of a slot, and restore copies it back.
func (s slot[F]) save()    { transfer(s.saved, s.live) }
func (s slot[F]) restore() { transfer(s.live, s.saved) }

// transfer copies one memory onto another one of the same model. Values that
// a call has left and nobody kept are not copied; the next call drops them.
func transfer[F Float](to, from *block.Memory[F]) {
	copy(to.Pos, from.Pos)
	for i := range to.Slots {
		device.Copy(to.Slots[i].Data, from.Slots[i].Data)
	}
	for i := range to.Parts {
		transfer(to.Parts[i].Memory, from.Parts[i].Memory)
	}
}
