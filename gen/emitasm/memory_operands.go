package emitasm

import "slices"

// An instruction can read one operand from memory itself, which takes one micro-operation
// less than a load and the instruction, and no register: a vector that
// it alone needs or a home without a register, and with AVX-512 also a number for
// all lanes. That is lost where the address has an index.

// fromMemory is the argument that an instruction reads from memory, or −1.
func (a *allocation) fromMemory(in inst) int {
	for k := range in.args {
		if a.readsHome(in, k) || a.folded[in.args[k]] != nil {
			return k
		}
	}
	return -1
}

// memoryOperands says which of its arguments an instruction may read from memory.
var memoryOperands = map[string][]int{
	"FMA": {0, 1, 2}, "FNMA": {0, 1, 2}, "VMULPS": {0, 1}, "VADDPS": {0, 1}, "VSUBPS": {1}, "VDIVPS": {1}, "VMINPS": {1}, "VMAXPS": {1}, "COMPARE": {1},
	"VPADDD": {0, 1}, "VPSUBD": {1}, "VANDPS": {0, 1}, "VPANDD": {0, 1}, "VORPS": {0, 1}, "VPORD": {0, 1}, "VXORPS": {0, 1}, "VPXORD": {0, 1},
}

// readsHome reports whether an instruction reads argument k from its home, which is not
// pinned: a vector, or with AVX-512 a number for all lanes.
func (a *allocation) readsHome(in inst, k int) bool {
	h := a.b.vals[in.args[k]].home
	_, pinned := a.pinned[in.args[k]]
	return h != nil && !pinned && (!h.spread || a.b.t.wide()) && slices.Contains(memoryOperands[in.op], k) && !slices.Contains(in.args[:k], in.args[k]) && !slices.Contains(in.args[k+1:], in.args[k])
}

// memory is the operand of an argument that its instruction reads from memory, and the
// suffix of the instruction.
func (a *allocation) memory(v val) (operand, suffix string) {
	spread := false
	if from := a.folded[v]; from == nil {
		operand, spread = a.b.vals[v].home.text, a.b.vals[v].home.spread
	} else {
		operand, spread = a.operandOf(from.at), from.op == "SPREAD"
	}
	if spread {
		return operand, ".BCST"
	}
	return operand, ""
}

func (in inst) fused() bool { return in.op == "FMA" || in.op == "FNMA" }

// fold finds the loads that go into the instruction that needs them: of whole
// vectors that are needed once, by one in which either factor or summand may be
// in memory, before anything is stored.
func (a *allocation) fold() {
	a.folded = map[val]*inst{}
	uses := map[val]int{}
	for _, in := range a.b.insts {
		for _, x := range in.args {
			uses[x]++
		}
	}
	for _, x := range a.b.accOut {
		uses[x]++
	}
	loaded := map[val]*inst{}
	for i := range a.b.insts {
		in := &a.b.insts[i]
		switch {
		case in.op == "LOAD" && in.at.mask == "" && in.at.lanes == a.b.t.width:
			loaded[in.dst] = in
		case in.op == "SPREAD" && a.b.t.wide() && in.at.index == "":
			loaded[in.dst] = in
		case in.dst == none:
			clear(loaded)
		case in.fused() || in.op == "VMULPS" || in.op == "VADDPS":
			for k := range 2 {
				x, other := in.args[k], in.args[1-k]
				from := loaded[x]
				if from != nil && uses[x] == 1 && a.folded[other] == nil && !a.readsHome(*in, 1-k) {
					a.folded[x] = from
				}
			}
		}
	}
}

// factor prints x·m + z, argument k of an instruction being a factor m in memory:
// a vector, or one number for all lanes.
func (a *allocation) factor(in inst, k, x, z int, own map[int]bool, dst int) int {
	op := "VFMADD"
	if in.op == "FNMA" {
		op = "VFNMADD"
	}
	m, all := a.memory(in.args[k])
	switch {
	case dst == z || dst < 0 && own[z] && z != x:
		a.emit("%s231PS%s %s, %s, %s", op, all, m, a.r(x), a.r(z))
		return z
	case dst == x || dst < 0 && own[x] && z != x:
		a.emit("%s132PS%s %s, %s, %s", op, all, m, a.r(z), a.r(x))
		return x
	}
	if dst < 0 {
		dst = a.take()
	}
	a.emit("VMOVAPS %s, %s", a.r(z), a.r(dst))
	a.emit("%s231PS%s %s, %s, %s", op, all, m, a.r(x), a.r(dst))
	return dst
}

// summand prints x·y + m, m being in memory.
func (a *allocation) summand(in inst, x, y int, own map[int]bool, dst int) int {
	op := "VFMADD"
	if in.op == "FNMA" {
		op = "VFNMADD"
	}
	m, all := a.memory(in.args[2])
	switch {
	case dst == x || dst < 0 && own[x] && x != y:
		dst = x
	case dst == y || dst < 0 && own[y] && x != y:
		dst, y = y, x
	default:
		if dst < 0 {
			dst = a.take()
		}
		a.emit("VMOVAPS %s, %s", a.r(x), a.r(dst))
	}
	a.emit("%s213PS%s %s, %s, %s", op, all, m, a.r(y), a.r(dst))
	return dst
}
