package emitasm

import "slices"

// Scalars are in their slots between bodies. A register that was stored to a slot
// holds the same until one of them is written again, and what reads the slot
// meanwhile uses the register: a number that went to memory would come back some
// cycles later, and tokens wait for each other's scalars. The slots are always
// right, so whatever is not sure that a register holds may forget it.

// registerCache says of which slots each register holds the number.
type registerCache [][]string

func newRegisterCache(regs int) registerCache { return make(registerCache, regs) }

func (c registerCache) clone() registerCache {
	out := make(registerCache, len(c))
	for r, slots := range c {
		out[r] = slices.Clone(slots)
	}
	return out
}

// registerOf is a register that holds what a slot does, or −1.
func (c registerCache) registerOf(slot string) int {
	return slices.IndexFunc(c, func(slots []string) bool { return slices.Contains(slots, slot) })
}

// clobber notes that a register was written.
func (c registerCache) clobber(reg int) { c[reg] = nil }

// setSlot notes that a slot was written: a register holds it, or none if it is −1.
func (c registerCache) setSlot(slot string, reg int) {
	for r := range c {
		c[r] = slices.DeleteFunc(c[r], func(s string) bool { return s == slot })
	}
	if reg >= 0 {
		c[reg] = append(c[reg], slot)
	}
}

// invalidate notes that nothing is known.
func (c registerCache) invalidate() { clear(c) }

// intersect keeps what holds on two paths to one point.
func (c registerCache) intersect(d registerCache) {
	for r := range c {
		c[r] = slices.DeleteFunc(c[r], func(s string) bool { return !slices.Contains(d[r], s) })
	}
}

// fetch prints a move of what a slot holds into a register.
func (f *function) fetch(slot string, reg int) {
	from := f.cache.registerOf(slot)
	switch {
	case from == reg:
		return
	case from < 0:
		f.m.load(home{text: slot}, reg, f.t.width)
	default:
		f.m.copy(from, reg)
	}
	f.cache.clobber(reg)
	f.cache[reg] = append(f.cache[reg], slot)
}

// restore brings the registers to where another way to the same place has them.
func (f *function) restore(there registerCache) {
	for reg, slots := range there {
		for _, slot := range slots {
			f.fetch(slot, reg)
		}
	}
	f.cache.intersect(there)
}

// loadPinned loads the pinned homes, in front of the loop.
func (f *function) loadPinned(a *allocation) {
	for _, v := range a.b.used() {
		r, ok := a.pinned[v]
		if !ok {
			continue
		}
		if h := *a.b.vals[v].home; h.spread {
			f.m.load(h, r, f.t.width)
			f.cache.clobber(r)
		} else {
			f.fetch(h.text, r)
		}
	}
}

// inRegisters are the slots that pinned registers hold after the loop around a body.
func (a *allocation) inRegisters() registerCache {
	c := newRegisterCache(a.b.t.regs)
	for v, r := range a.pinned {
		if h := a.b.vals[v].home; !h.spread {
			c.setSlot(h.text, r)
		}
	}
	return c
}

// pinCached pins homes to the registers that hold them.
func (a *allocation) pinCached(known registerCache) {
	a.cached = known.clone()
	for v, info := range a.b.vals {
		if info.home == nil || info.home.spread {
			continue
		}
		if r := known.registerOf(info.home.text); r >= 0 {
			a.pinned[val(v)], a.free[r] = r, false
		}
	}
}

// clobber notes that a register gets another number.
func (a *allocation) clobber(reg int) {
	delete(a.masks, reg)
	if a.cached != nil {
		a.cached.clobber(reg)
	}
}

// record keeps cached up to date after an instruction.
func (a *allocation) record(in inst, regs []int, at int) {
	switch {
	case a.cached == nil:
	case in.dst != none:
		a.clobber(at)
	case in.op == "STORE" && in.at.direct != "":
		a.cached.setSlot(in.at.direct, regs[0])
	}
}
