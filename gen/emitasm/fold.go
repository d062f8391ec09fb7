package emitasm

// An instruction can read one operand from memory itself, which takes one place
// less in a core than a load and the instruction, and no register: a vector that
// it alone needs, and of a fused multiply-add with AVX-512 also a number for all
// lanes.

// fromMemory is the argument that an instruction reads from memory, or −1.
func (a *allocation) fromMemory(in inst) int {
	for k := range min(2, len(in.args)) {
		if a.spreads(in, k) || a.folded[in.args[k]] != nil {
			return k
		}
	}
	return -1
}

// spreads reports whether a fused multiply-add spreads its factor k from memory:
// a home that is not pinned.
func (a *allocation) spreads(in inst, k int) bool {
	h := a.b.vals[in.args[k]].home
	_, pinned := a.pinned[in.args[k]]
	return a.b.t.wide() && in.fused() && h != nil && h.spread && !pinned && in.args[1-k] != in.args[k]
}

func (in inst) fused() bool { return in.op == "FMA" || in.op == "FNMA" }

// fold finds the loads that go into the instruction that needs them: of whole
// vectors that are needed once, by one in which either factor or summand may be
// in memory, before anything is stored.
func (a *allocation) fold() {
	a.folded = map[val]*address{}
	uses := map[val]int{}
	for _, in := range a.b.insts {
		for _, x := range in.args {
			uses[x]++
		}
	}
	for _, x := range a.b.accOut {
		uses[x]++
	}
	loaded := map[val]*address{}
	for _, in := range a.b.insts {
		switch {
		case in.op == "LOAD" && in.at.mask == "" && in.at.lanes == a.b.t.width:
			loaded[in.dst] = in.at
		case in.dst == none:
			clear(loaded)
		case in.fused() || in.op == "VMULPS" || in.op == "VADDPS":
			for k := range 2 {
				x, other := in.args[k], in.args[1-k]
				if loaded[x] != nil && uses[x] == 1 && a.folded[other] == nil && !a.spreads(in, 1-k) {
					a.folded[x] = loaded[x]
				}
			}
		}
	}
}

// factor prints x·m + z, argument k of an instruction being a factor m in memory:
// a vector, or one number for all lanes.
func (a *allocation) factor(in inst, k, x, z int, own map[int]bool, dst int) int {
	op, m, all := "VFMADD", "", ""
	if in.op == "FNMA" {
		op = "VFNMADD"
	}
	if at := a.folded[in.args[k]]; at != nil {
		m = a.operandOf(at)
	} else {
		m, all = a.b.vals[in.args[k]].home.text, ".BCST"
	}
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
