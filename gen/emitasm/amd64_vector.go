package emitasm

import "fmt"

// The instructions of bodies on amd64.

// mnemonics are those of AVX2 and of AVX-512 for an operation, where it is one instruction.
var mnemonics = map[string][2]string{
	"ADD": {"VADDPS", "VADDPS"}, "SUB": {"VSUBPS", "VSUBPS"}, "MUL": {"VMULPS", "VMULPS"}, "DIV": {"VDIVPS", "VDIVPS"},
	"SQRT": {"VSQRTPS", "VSQRTPS"}, "MIN": {"VMINPS", "VMINPS"}, "MAX": {"VMAXPS", "VMAXPS"},
	"AND": {"VANDPS", "VPANDD"}, "OR": {"VORPS", "VPORD"}, "XOR": {"VXORPS", "VPXORD"},
	"NEAREST": {"VROUNDPS $8,", "VRNDSCALEPS $8,"}, "FLOOR": {"VROUNDPS $9,", "VRNDSCALEPS $9,"},
	"TOINT": {"VCVTPS2DQ", "VCVTPS2DQ"}, "FROMINT": {"VCVTDQ2PS", "VCVTDQ2PS"},
	"IADD": {"VPADDD", "VPADDD"}, "ISUB": {"VPSUBD", "VPSUBD"}, "SHL": {"VPSLLD", "VPSLLD"}, "SHR": {"VPSRLD", "VPSRLD"},
}

func (m amd64) mnemonic(op string) string {
	if m.t.wide() {
		return mnemonics[op][1]
	}
	return mnemonics[op][0]
}

// predicates are the immediates of comparisons: ordered, but for != .
var predicates = map[string]string{"<": "$17", "<=": "$18", "==": "$0", "!=": "$4", ">": "$30", ">=": "$29"}

// print prints an instruction and returns the register of its result.
func (m amd64) print(a *allocation, in inst, x []int, own map[int]bool, dst int) int {
	switch in.op {
	case "FMA", "FNMA":
		for k := range 2 {
			if x[k] < 0 {
				return m.factor(a, in, k, x[1-k], x[2], own, dst)
			}
		}
		if x[2] < 0 {
			return m.summand(a, in, x[0], x[1], own, dst)
		}
		return m.fused(a, in.op == "FNMA", x, own, dst)
	case "CHOOSE":
		return m.chosen(a, x, own, dst)
	case "COMPARE":
		return m.compared(a, in, x, own, dst)
	case "MERGE":
		return m.merged(a, x, own, dst)
	case "LOAD", "SPREAD", "LOADBYTE":
		return m.loaded(a, in, dst)
	case "STORE", "STORELOW", "STOREBYTE":
		m.stored(a, in, x[0])
		return -1
	}
	if k := a.fromMemory(in); k >= 0 {
		from, all := m.memory(a, in.args[k])
		d := a.result(x[1-k:2-k], own, dst)
		m.emit("%s%s %s, %s, %s", m.mnemonic(in.op), all, from, m.t.reg(x[1-k]), m.t.reg(d))
		return d
	}
	d := a.result(x, own, dst)
	op := m.mnemonic(in.op)
	switch {
	case len(x) == 1 && in.imm != "":
		m.emit("%s %s, %s, %s", op, in.imm, m.t.reg(x[0]), m.t.reg(d))
	case len(x) == 1:
		m.emit("%s %s, %s", op, m.t.reg(x[0]), m.t.reg(d))
	default:
		m.emit("%s %s, %s, %s", op, m.t.reg(x[1]), m.t.reg(x[0]), m.t.reg(d))
	}
	return d
}

// fused prints x·y + z in the form that overwrites an operand that ends.
func (m amd64) fused(a *allocation, neg bool, x []int, own map[int]bool, dst int) int {
	op := "VFMADD"
	if neg {
		op = "VFNMADD"
	}
	p, q, z := x[0], x[1], x[2]
	switch {
	case dst == z || dst < 0 && own[z] && z != p && z != q:
		m.emit("%s231PS %s, %s, %s", op, m.t.reg(q), m.t.reg(p), m.t.reg(z))
		return z
	case dst == p || dst < 0 && own[p] && p != q && p != z:
		m.emit("%s213PS %s, %s, %s", op, m.t.reg(z), m.t.reg(q), m.t.reg(p))
		return p
	case dst == q || dst < 0 && own[q] && p != q && q != z:
		m.emit("%s213PS %s, %s, %s", op, m.t.reg(z), m.t.reg(p), m.t.reg(q))
		return q
	}
	if dst < 0 {
		dst = a.take()
	}
	m.emit("VMOVAPS %s, %s", m.t.reg(z), m.t.reg(dst))
	m.emit("%s231PS %s, %s, %s", op, m.t.reg(q), m.t.reg(p), m.t.reg(dst))
	return dst
}

// chosen prints c ? x : y.
func (m amd64) chosen(a *allocation, x []int, own map[int]bool, dst int) int {
	c, p, q := x[0], x[1], x[2]
	if !m.t.wide() {
		d := a.result(x, own, dst)
		m.emit("VBLENDVPS %s, %s, %s, %s", m.t.reg(c), m.t.reg(p), m.t.reg(q), m.t.reg(d))
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
		m.emit("VPMOVD2M %s, K3", m.t.reg(c))
		m.emit("VBLENDMPS %s, %s, K3, %s", m.t.reg(p), m.t.reg(q), m.t.reg(d))
		return d
	case q:
		m.emit("VPMOVD2M %s, K3", m.t.reg(c))
		m.emit("VMOVAPS %s, K3, %s", m.t.reg(p), m.t.reg(d))
		return d
	case c:
	default:
		m.emit("VMOVAPS %s, %s", m.t.reg(c), m.t.reg(d))
	}
	m.emit("VPTERNLOGD $0xCA, %s, %s, %s", m.t.reg(q), m.t.reg(p), m.t.reg(d))
	return d
}

// merged prints x under the mask of columns, else y.
func (m amd64) merged(a *allocation, x []int, own map[int]bool, dst int) int {
	if dst == x[1] || dst < 0 && own[x[1]] && x[0] != x[1] {
		m.emit("VMOVAPS %s, K1, %s", m.t.reg(x[0]), m.t.reg(x[1]))
		return x[1]
	}
	if dst < 0 {
		dst = a.take()
	}
	m.emit("VBLENDMPS %s, %s, K1, %s", m.t.reg(x[0]), m.t.reg(x[1]), m.t.reg(dst))
	return dst
}

// compared prints a comparison as a mask of lanes.
func (m amd64) compared(a *allocation, in inst, x []int, own map[int]bool, dst int) int {
	with, all := "", ""
	if x[1] < 0 {
		with, all = m.memory(a, in.args[1])
		x = x[:1]
	} else {
		with = m.t.reg(x[1])
	}
	d := a.result(x, own, dst)
	if !m.t.wide() {
		m.emit("VCMPPS %s, %s, %s, %s", predicates[in.imm], with, m.t.reg(x[0]), m.t.reg(d))
		return d
	}
	m.emit("VCMPPS%s %s, %s, %s, K3", all, predicates[in.imm], with, m.t.reg(x[0]))
	m.emit("VPMOVM2D K3, %s", m.t.reg(d))
	return d
}

// operandOf is the text of an address; a pointer without a register is computed
// in AX first.
func (m amd64) operandOf(a *allocation, at *address) string {
	if at.direct != "" {
		return at.direct
	}
	reg, disp := at.stream.reg, at.disp
	if reg == "" {
		disp += a.near(at.stream)
		reg = m.t.work
	}
	text := "(" + reg + ")"
	if disp != 0 {
		text = fmt.Sprintf("%d(%s)", disp, reg)
	}
	switch at.index {
	case byEntry:
		text += "(CX*4)"
	case byOwn:
		text += "(BX*1)"
	}
	return text
}

// loaded prints a load: of adjacent entries, or of one number or Boolean
// for all lanes. A Boolean is a byte in memory and all ones in a lane.
func (m amd64) loaded(a *allocation, in inst, dst int) int {
	d := dst
	if d < 0 {
		d = a.take()
	}
	mem := m.operandOf(a, in.at)
	t := m.t
	switch {
	case in.op == "SPREAD":
		m.emit("VBROADCASTSS %s, %s", mem, m.t.reg(d))
	case in.op == "LOADBYTE":
		m.emit("MOVBLZX %s, R12", mem)
		m.emit("NEGL R12")
		m.emit("VMOVD R12, X%d", d)
		m.emit("VPBROADCASTD X%d, %s", d, m.t.reg(d))
	case in.at.mask != "" && t.wide():
		m.emit("VMOVUPS.Z %s, %s, %s", mem, maskRegister(in.at.mask), m.t.reg(d))
	case in.at.mask != "":
		m.emit("VMASKMOVPS %s, %s, %s", mem, m.t.reg(m.mask(a, m.maskAt(in.at))), m.t.reg(d))
	case in.at.lanes == 1:
		m.emit("VMOVSS %s, X%d", mem, d)
	case in.at.lanes == 2:
		m.emit("VMOVSD %s, X%d", mem, d)
	default:
		m.emit("VMOVUPS %s, %s", mem, m.part(d, in.at.lanes))
	}
	return d
}

// storedRows stores the last vector of rows, which nearly always is full: a store under a mask
// of AVX2 is some forty operations on processors of AMD.
func (m amd64) storedRows(a *allocation, at *address, r int, mem string) {
	mask, some, done := m.mask(a, m.maskAt(at)), a.b.label("some"), a.b.label("stored")
	m.emit("CMPL %d(R13), $0", 4*(m.t.width-1))
	m.emit("JEQ %s", some)
	m.emit("VMOVUPS %s, %s", m.t.reg(r), mem)
	m.emit("JMP %s", done)
	m.here(some)
	m.emit("VMASKMOVPS %s, %s, %s", m.t.reg(r), m.t.reg(mask), mem)
	m.here(done)
}

func (m amd64) stored(a *allocation, in inst, r int) {
	mem := m.operandOf(a, in.at)
	t := m.t
	switch {
	case in.op == "STOREBYTE":
		m.emit("VMOVD X%d, R12", r)
		m.emit("ANDL $1, R12")
		m.emit("MOVB R12, %s", mem)
	case in.op == "STORELOW" || in.at.lanes == 1:
		m.emit("VMOVSS X%d, %s", r, mem)
	case in.at.mask != "" && t.wide():
		m.emit("VMOVUPS %s, %s, %s", m.t.reg(r), maskRegister(in.at.mask), mem)
	case in.at.mask == "row":
		m.storedRows(a, in.at, r, mem)
	case in.at.mask != "":
		m.emit("VMASKMOVPS %s, %s, %s", m.t.reg(r), m.t.reg(m.mask(a, m.maskAt(in.at))), mem)
	case in.at.lanes == 2:
		m.emit("VMOVSD X%d, %s", r, mem)
	default:
		m.emit("VMOVUPS %s, %s", m.part(r, in.at.lanes), mem)
	}
}

// mask is a free register that holds a mask of AVX2: one that still does, or the
// last that is free, which is taken last.
func (m amd64) mask(a *allocation, from string) int {
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
	m.emit("VMOVUPS %s, %s", from, m.t.reg(last))
	return last
}

// maskRegister is the AVX-512 register of a mask.
func maskRegister(mask string) string {
	if mask == "row" {
		return "K2"
	}
	return "K1"
}

// memory is the operand of an argument that its instruction reads from memory, and the
// suffix of the instruction.
func (m amd64) memory(a *allocation, v val) (operand, suffix string) {
	spread := false
	if from := a.folded[v]; from == nil {
		operand, spread = a.b.vals[v].home.text, a.b.vals[v].home.spread
	} else {
		operand, spread = m.operandOf(a, from.at), from.op == "SPREAD"
	}
	if spread {
		return operand, ".BCST"
	}
	return operand, ""
}

// factor prints x·m + z, argument k of an instruction being a factor m in memory:
// a vector, or one number for all lanes.
func (m amd64) factor(a *allocation, in inst, k, x, z int, own map[int]bool, dst int) int {
	op := "VFMADD"
	if in.op == "FNMA" {
		op = "VFNMADD"
	}
	from, all := m.memory(a, in.args[k])
	switch {
	case dst == z || dst < 0 && own[z] && z != x:
		m.emit("%s231PS%s %s, %s, %s", op, all, from, m.t.reg(x), m.t.reg(z))
		return z
	case dst == x || dst < 0 && own[x] && z != x:
		m.emit("%s132PS%s %s, %s, %s", op, all, from, m.t.reg(z), m.t.reg(x))
		return x
	}
	if dst < 0 {
		dst = a.take()
	}
	m.emit("VMOVAPS %s, %s", m.t.reg(z), m.t.reg(dst))
	m.emit("%s231PS%s %s, %s, %s", op, all, from, m.t.reg(x), m.t.reg(dst))
	return dst
}

// summand prints x·y + m, m being in memory.
func (m amd64) summand(a *allocation, in inst, x, y int, own map[int]bool, dst int) int {
	op := "VFMADD"
	if in.op == "FNMA" {
		op = "VFNMADD"
	}
	from, all := m.memory(a, in.args[2])
	switch {
	case dst == x || dst < 0 && own[x] && x != y:
		dst = x
	case dst == y || dst < 0 && own[y] && x != y:
		dst, y = y, x
	default:
		if dst < 0 {
			dst = a.take()
		}
		m.emit("VMOVAPS %s, %s", m.t.reg(x), m.t.reg(dst))
	}
	m.emit("%s213PS%s %s, %s, %s", op, all, from, m.t.reg(y), m.t.reg(dst))
	return dst
}
