package emitasm

import (
	"fmt"
	"strings"
)

// Printing of instructions: the result goes to the register dst where that is
// not −1, else to one of own, registers whose values end here, or a free one.
// Operands are in the order of Go's assembler, the last source first.

// print prints an instruction and returns the register of its result.
func (a *allocation) print(in inst, x []int, own map[int]bool, dst int) int {
	switch in.op {
	case "FMA", "FNMA":
		for k := range 2 {
			if x[k] < 0 {
				return a.factor(in, k, x[1-k], x[2], own, dst)
			}
		}
		if x[2] < 0 {
			return a.summand(in, x[0], x[1], own, dst)
		}
		return a.fused(in.op == "FNMA", x, own, dst)
	case "CHOOSE":
		return a.chosen(x, own, dst)
	case "COMPARE":
		return a.compared(in, x, own, dst)
	case "MERGE":
		return a.merged(x, own, dst)
	case "LOAD", "SPREAD", "LOADBYTE":
		return a.loaded(in, dst)
	case "STORE", "STORELOW", "STOREBYTE":
		a.stored(in, x[0])
		return -1
	}
	if k := a.fromMemory(in); k >= 0 {
		m, all := a.memory(in.args[k])
		d := a.result(x[1-k:2-k], own, dst)
		a.emit("%s%s %s, %s, %s", in.op, all, m, a.r(x[1-k]), a.r(d))
		return d
	}
	d := a.result(x, own, dst)
	switch {
	case len(x) == 1 && in.imm != "":
		a.emit("%s %s, %s, %s", in.op, in.imm, a.r(x[0]), a.r(d))
	case len(x) == 1:
		a.emit("%s %s, %s", in.op, a.r(x[0]), a.r(d))
	default:
		a.emit("%s %s, %s, %s", in.op, a.r(x[1]), a.r(x[0]), a.r(d))
	}
	return d
}

// result is where a result may go when all operands are read before it is set.
func (a *allocation) result(x []int, own map[int]bool, dst int) int {
	if dst >= 0 {
		return dst
	}
	for _, r := range x {
		if own[r] {
			return r
		}
	}
	return a.take()
}

// fused prints x·y + z in the form that overwrites an operand that ends.
func (a *allocation) fused(neg bool, x []int, own map[int]bool, dst int) int {
	op := "VFMADD"
	if neg {
		op = "VFNMADD"
	}
	p, q, z := x[0], x[1], x[2]
	switch {
	case dst == z || dst < 0 && own[z] && z != p && z != q:
		a.emit("%s231PS %s, %s, %s", op, a.r(q), a.r(p), a.r(z))
		return z
	case dst == p || dst < 0 && own[p] && p != q && p != z:
		a.emit("%s213PS %s, %s, %s", op, a.r(z), a.r(q), a.r(p))
		return p
	case dst == q || dst < 0 && own[q] && p != q && q != z:
		a.emit("%s213PS %s, %s, %s", op, a.r(z), a.r(p), a.r(q))
		return q
	}
	if dst < 0 {
		dst = a.take()
	}
	a.emit("VMOVAPS %s, %s", a.r(z), a.r(dst))
	a.emit("%s231PS %s, %s, %s", op, a.r(q), a.r(p), a.r(dst))
	return dst
}

// chosen prints c ? x : y.
func (a *allocation) chosen(x []int, own map[int]bool, dst int) int {
	c, p, q := x[0], x[1], x[2]
	if !a.b.t.wide() {
		d := a.result(x, own, dst)
		a.emit("VBLENDVPS %s, %s, %s, %s", a.r(c), a.r(p), a.r(q), a.r(d))
		return d
	}
	d := dst
	if d < 0 && own[c] && c != p && c != q {
		d = c
	}
	if d < 0 {
		d = a.take()
	}
	switch d {
	case p: // c in place of p would be lost
		a.emit("VPMOVD2M %s, K3", a.r(c))
		a.emit("VBLENDMPS %s, %s, K3, %s", a.r(p), a.r(q), a.r(d))
		return d
	case q:
		a.emit("VPMOVD2M %s, K3", a.r(c))
		a.emit("VMOVAPS %s, K3, %s", a.r(p), a.r(d))
		return d
	case c:
	default:
		a.emit("VMOVAPS %s, %s", a.r(c), a.r(d))
	}
	a.emit("VPTERNLOGD $0xCA, %s, %s, %s", a.r(q), a.r(p), a.r(d))
	return d
}

// merged prints x under the mask of columns, else y.
func (a *allocation) merged(x []int, own map[int]bool, dst int) int {
	if dst == x[1] || dst < 0 && own[x[1]] && x[0] != x[1] {
		a.emit("VMOVAPS %s, K1, %s", a.r(x[0]), a.r(x[1]))
		return x[1]
	}
	if dst < 0 {
		dst = a.take()
	}
	a.emit("VBLENDMPS %s, %s, K1, %s", a.r(x[0]), a.r(x[1]), a.r(dst))
	return dst
}

// compared prints a comparison as a mask of lanes.
func (a *allocation) compared(in inst, x []int, own map[int]bool, dst int) int {
	with, all := "", ""
	if x[1] < 0 {
		with, all = a.memory(in.args[1])
		x = x[:1]
	} else {
		with = a.r(x[1])
	}
	d := a.result(x, own, dst)
	if !a.b.t.wide() {
		a.emit("VCMPPS %s, %s, %s, %s", in.imm, with, a.r(x[0]), a.r(d))
		return d
	}
	a.emit("VCMPPS%s %s, %s, %s, K3", all, in.imm, with, a.r(x[0]))
	a.emit("VPMOVM2D K3, %s", a.r(d))
	return d
}

// operandOf is the text of an address; a pointer without a register is computed
// in AX first.
func (a *allocation) operandOf(at *address) string {
	if at.direct != "" {
		return at.direct
	}
	reg := at.stream.reg
	if reg == "" {
		a.point(at.stream)
		reg = "AX"
	}
	text := "(" + reg + ")"
	if at.disp != 0 {
		text = fmt.Sprintf("%d(%s)", at.disp, reg)
	}
	if at.index != "" {
		text += "(" + at.index + ")"
	}
	return text
}

// point computes the pointer of a stream in AX, unless it is there.
func (a *allocation) point(s *stream) {
	sum := s.now()
	if there := strings.Join(sum, " "); a.inAX != there {
		a.inAX = there
		for i, x := range sum {
			a.emit("%s %s, AX", [...]string{"MOVQ", "ADDQ"}[min(i, 1)], x)
		}
	}
}

// loaded prints a load: of adjacent entries, or of one number or Boolean
// for all lanes. A Boolean is a byte in memory and all ones in a lane.
func (a *allocation) loaded(in inst, dst int) int {
	d := dst
	if d < 0 {
		d = a.take()
	}
	mem := a.operandOf(in.at)
	t := a.b.t
	switch {
	case in.op == "SPREAD":
		a.emit("VBROADCASTSS %s, %s", mem, a.r(d))
	case in.op == "LOADBYTE":
		a.emit("MOVBLZX %s, R12", mem)
		a.emit("NEGL R12")
		a.emit("VMOVD R12, X%d", d)
		a.emit("VPBROADCASTD X%d, %s", d, a.r(d))
	case in.at.mask != "" && t.wide():
		a.emit("VMOVUPS.Z %s, %s, %s", mem, maskRegister(in.at.mask), a.r(d))
	case in.at.mask != "":
		a.emit("VMASKMOVPS %s, %s, %s", mem, a.r(a.mask(maskAt(in.at))), a.r(d))
	case in.at.lanes == 1:
		a.emit("VMOVSS %s, X%d", mem, d)
	case in.at.lanes == 2:
		a.emit("VMOVSD %s, X%d", mem, d)
	default:
		a.emit("VMOVUPS %s, %s", mem, t.part(d, in.at.lanes))
	}
	return d
}

func (a *allocation) stored(in inst, r int) {
	mem := a.operandOf(in.at)
	t := a.b.t
	switch {
	case in.op == "STOREBYTE":
		a.emit("VMOVD X%d, R12", r)
		a.emit("ANDL $1, R12")
		a.emit("MOVB R12, %s", mem)
	case in.op == "STORELOW" || in.at.lanes == 1:
		a.emit("VMOVSS X%d, %s", r, mem)
	case in.at.mask != "" && t.wide():
		a.emit("VMOVUPS %s, %s, %s", a.r(r), maskRegister(in.at.mask), mem)
	case in.at.mask != "":
		a.emit("VMASKMOVPS %s, %s, %s", a.r(r), a.r(a.mask(maskAt(in.at))), mem)
	case in.at.lanes == 2:
		a.emit("VMOVSD X%d, %s", r, mem)
	default:
		a.emit("VMOVUPS %s, %s", t.part(r, in.at.lanes), mem)
	}
}

// mask is a free register that holds a mask of AVX2: one that still does, or the
// last that is free, which is taken last.
func (a *allocation) mask(from string) int {
	last := -1
	for r, free := range a.free {
		if free && a.masks[r] == from {
			return r
		}
		if free {
			last = r
		}
	}
	if last < 0 {
		a.failed = true
		return 0
	}
	a.clobber(last)
	a.masks[last] = from
	a.emit("VMOVUPS %s, %s", from, a.r(last))
	return last
}

// maskRegister is the AVX-512 register of a mask.
func maskRegister(mask string) string {
	if mask == "row" {
		return "K2"
	}
	return "K1"
}
