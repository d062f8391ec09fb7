package emitasm

import "slices"

// Scalars lie in their slots between bodies. A register that was stored to a slot
// holds the same until one of them is written again, and what reads the slot
// meanwhile takes the register: a number that went to memory would come back some
// cycles later, and tokens wait for each other's scalars. The slots are always
// right, so whatever is not sure that a register holds may forget it.

// content says of which slots each register holds the number.
type content [][]string

func newContent(regs int) content { return make(content, regs) }

func (c content) clone() content {
	out := make(content, len(c))
	for r, slots := range c {
		out[r] = slices.Clone(slots)
	}
	return out
}

// held is a register that holds what a slot does, or −1.
func (c content) held(slot string) int {
	return slices.IndexFunc(c, func(slots []string) bool { return slices.Contains(slots, slot) })
}

// spoil notes that a register was written.
func (c content) spoil(reg int) { c[reg] = nil }

// stored notes that a slot was written: a register holds it, or none if it is −1.
func (c content) stored(slot string, reg int) {
	for r := range c {
		c[r] = slices.DeleteFunc(c[r], func(s string) bool { return s == slot })
	}
	if reg >= 0 {
		c[reg] = append(c[reg], slot)
	}
}

// forget notes that nothing is known.
func (c content) forget() { clear(c) }

// meet keeps what two ways to one place both know.
func (c content) meet(d content) {
	for r := range c {
		c[r] = slices.DeleteFunc(c[r], func(s string) bool { return !slices.Contains(d[r], s) })
	}
}

// fetch prints a move of what a slot holds into a register.
func (f *function) fetch(slot string, reg int) {
	from := f.content.held(slot)
	switch {
	case from == reg:
		return
	case from < 0:
		f.emit("VMOVUPS %s, %s", slot, f.t.reg(reg))
	default:
		f.emit("VMOVAPS %s, %s", f.t.reg(from), f.t.reg(reg))
	}
	f.content.spoil(reg)
	f.content[reg] = append(f.content[reg], slot)
}

// rejoin brings the registers to where another way to the same place has them.
func (f *function) rejoin(there content) {
	for reg, slots := range there {
		for _, slot := range slots {
			f.fetch(slot, reg)
		}
	}
	f.content.meet(there)
}

// pins loads the pinned homes, in front of the loop.
func (f *function) pins(a *allocation) {
	for _, v := range a.b.used() {
		r, ok := a.pinned[v]
		if !ok {
			continue
		}
		if h := *a.b.vals[v].home; h.spread {
			f.emit("%s", h.load(f.t.reg(r)))
			f.content.spoil(r)
		} else {
			f.fetch(h.text, r)
		}
	}
}

// takeKnown pins homes to the registers that hold them.
func (a *allocation) takeKnown(known content) {
	a.known = known.clone()
	for v, info := range a.b.vals {
		if info.home == nil || info.home.spread {
			continue
		}
		if r := known.held(info.home.text); r >= 0 {
			a.pinned[val(v)], a.free[r] = r, false
		}
	}
}

// wrote notes that a register gets another number.
func (a *allocation) wrote(reg int) {
	delete(a.masks, reg)
	if a.known != nil {
		a.known.spoil(reg)
	}
}

// note keeps known up to date behind an instruction.
func (a *allocation) note(in inst, regs []int, at int) {
	switch {
	case a.known == nil:
	case in.dst != none:
		a.wrote(at)
	case in.op == "STORE" && in.at.direct != "":
		a.known.stored(in.at.direct, regs[0])
	}
}
