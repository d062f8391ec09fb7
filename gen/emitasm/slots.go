package emitasm

import (
	"slices"
	"strconv"
)

// A body that needs more registers than there are lays some of its values down
// in slots, in the form that has the fewest rows; those with more rows are left
// to functions with fewer. Where no register is free, the value that is needed
// last of all goes: it is stored after its instruction, and is in its
// slot from there on, so that what needs it loads it.

// spill gives a slot to a value of a body that an allocation without pinned
// homes found not to fit. It reports false where there is none.
func (a *allocation) spill(at home) bool {
	b := a.b
	v, found := a.victim()
	if !found {
		return false
	}
	there := b.value(valueInfo{home: &at, spilled: true})
	for i := a.now + 1; i < len(b.insts); i++ {
		b.insts[i].args = slices.Clone(b.insts[i].args)
		for k, x := range b.insts[i].args {
			if x == v {
				b.insts[i].args[k] = there
			}
		}
	}
	for i, x := range b.accOut {
		if x == v {
			b.accOut[i] = there
		}
	}
	set := slices.IndexFunc(b.insts, func(in inst) bool { return in.dst == v })
	down := inst{op: "STORE", dst: none, args: []val{v}, at: &address{direct: at.text, lanes: b.t.width}}
	b.insts = slices.Insert(b.insts, set+1, down)
	return true
}

// victim is the value in a register, other than those that the instruction that
// found none free reads or sets, that is needed last.
func (a *allocation) victim() (v val, found bool) {
	here := a.b.insts[a.now]
	last := a.now
	for x, reg := range a.reg {
		if reg < len(a.acc) || x == here.dst || slices.Contains(here.args, x) || a.lastOf(x) <= a.now {
			continue
		}
		next := a.next(x)
		if next > last || next == last && found && x < v {
			v, last, found = x, next, true
		}
	}
	return v, found
}

// next is the first instruction after the present one that needs a value.
func (a *allocation) next(v val) int {
	for i := a.now + 1; i < len(a.b.insts); i++ {
		if slices.Contains(a.b.insts[i].args, v) {
			return i
		}
	}
	return len(a.b.insts)
}

// Most scalars are read from the register that they were computed in. A slot that
// no instruction of a function reads need not be written.

// dropDeadStores drops the stores to slots that nothing reads.
func dropDeadStores(t *target, lines []string) []string {
	read := map[int]bool{} // by each fourth byte
	for _, l := range lines {
		if t.wholeStore.MatchString(l) {
			continue
		}
		for _, m := range t.slotAt.FindAllStringSubmatch(l, -1) {
			at, _ := strconv.Atoi(m[1])
			n := 64
			if t.single.MatchString(l) {
				n = 4
			}
			for i := at / 4; i < (at+n)/4; i++ {
				read[i] = true
			}
		}
	}
	var out []string
	for _, l := range lines {
		if m := t.wholeStore.FindStringSubmatch(l); m != nil {
			at, _ := strconv.Atoi(m[1])
			needed := false
			for i := at / 4; i < at/4+t.width; i++ {
				needed = needed || read[i]
			}
			if !needed {
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

// outOfFrame finds an instruction that reads or writes beyond the slots.
func outOfFrame(t *target, lines []string, slots int) string {
	for _, l := range lines {
		for _, m := range t.slotAt.FindAllStringSubmatch(l, -1) {
			n := 4
			if !t.single.MatchString(l) {
				n = t.bytes(l)
			}
			if at, _ := strconv.Atoi(m[1]); at+n > slots {
				return l
			}
		}
	}
	return ""
}
