package emitasm

// An instruction can read one operand from memory itself, which takes one place
// less in a core than a load and the instruction, and no register: a vector that
// it alone needs, and of a fused multiply-add with AVX-512 also a number for all
// lanes. The place is lost where the address has an index.

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
				if from != nil && uses[x] == 1 && a.folded[other] == nil && !a.spreads(*in, 1-k) && (from.op == "LOAD" || in.fused()) {
					a.folded[x] = from
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
	switch from := a.folded[in.args[k]]; {
	case from == nil:
		m, all = a.b.vals[in.args[k]].home.text, ".BCST"
	case from.op == "SPREAD":
		m, all = a.operandOf(from.at), ".BCST"
	default:
		m = a.operandOf(from.at)
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
