package emitasm

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
