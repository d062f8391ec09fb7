package emitasm

import "slices"

// On amd64 an instruction can read one operand from memory itself, which takes one micro-operation
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
	"FMA": {0, 1, 2}, "FNMA": {0, 1, 2}, "MUL": {0, 1}, "ADD": {0, 1}, "SUB": {1}, "DIV": {1}, "MIN": {1}, "MAX": {1}, "COMPARE": {1},
	"IADD": {0, 1}, "ISUB": {1}, "AND": {0, 1}, "OR": {0, 1}, "XOR": {0, 1},
}

// readsHome reports whether an instruction reads argument k from its home, which is not
// pinned: a vector, or with AVX-512 a number for all lanes.
func (a *allocation) readsHome(in inst, k int) bool {
	h := a.b.vals[in.args[k]].home
	_, pinned := a.pinned[in.args[k]]
	return a.b.t.memoryOperands && h != nil && !pinned && (!h.spread || a.b.t.wide()) && slices.Contains(memoryOperands[in.op], k) && !slices.Contains(in.args[:k], in.args[k]) && !slices.Contains(in.args[k+1:], in.args[k])
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
		case in.fused() || in.op == "MUL" || in.op == "ADD":
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

// On arm64 a product can have a factor that is one number for all lanes, in a lane of a
// register. So a number that is loaded for factors alone need not go to the other lanes.

// factors counts the arguments that are factors of an instruction.
func (in inst) factors() int {
	if in.fused() || in.op == "MUL" {
		return 2
	}
	return 0
}

// elements are the numbers for all lanes that are needed as factors alone, of products
// with another factor that is none.
func elements(b *body) map[val]bool {
	out := map[val]bool{}
	for _, in := range b.insts {
		if in.op == "SPREAD" {
			out[in.dst] = true
		}
	}
	for _, in := range b.insts {
		for k, x := range in.args {
			if k >= in.factors() || k == 1 && out[in.args[0]] {
				delete(out, x)
			}
		}
	}
	for _, x := range b.accOut {
		delete(out, x)
	}
	return out
}

// element is the argument of an instruction that is one of the elements, or −1.
func (a *allocation) element(in inst) int {
	for k := range in.factors() {
		if a.elements[in.args[k]] {
			return k
		}
	}
	return -1
}
