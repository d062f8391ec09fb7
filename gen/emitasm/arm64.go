package emitasm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The target of arm64. Its vector registers are pairs, see package neon: as many as AVX2 has
// and as wide, so that forms, passes and sums are those of AVX2. Beside the registers below,
// R16 is a temporary inside of an instruction here, and R17 has the number of entries that a
// tail has. R18 and R26 to R30 are not ours.

var advancedSIMD = &target{level: "neon", suffix: "NEON", arch: "arm64", width: 8, regs: 16, stack: "RSP", words: 8,
	roles: roles{args: "R0", slots: "R1", entry: "R2", length: "R3", own: "R4", work: "R5", spare: "R2", temp: "R6",
		pointers: []string{"R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "R19", "R20", "R21", "R22", "R23", "R24", "R25", "R0"}},
	slotAt:     regexp.MustCompile(`\b(\d+)\(R1\)`),
	wholeStore: regexp.MustCompile(`^FSTPQ \(F\d+, F\d+\), (\d+)\(R1\)$`),
	single:     regexp.MustCompile(`^FMOVS `),
	reads:      regexp.MustCompile(`^(FLDPQ|PLOADTAIL|FMOV\w \S*\(R)`),
	bytes: func(line string) int {
		switch {
		case strings.HasPrefix(line, "FMOVD"):
			return 8
		case strings.HasPrefix(line, "FMOVQ"):
			return 16
		}
		return 32
	},
	machine: func(c *code) machine { return arm64{c} },
}

type arm64 struct{ *code }

// inMemory reports whether an operand is a word in memory.
func inMemory(x string) bool { return !strings.HasPrefix(x, "R") && !strings.HasPrefix(x, "$") }

// change prints an operation on a register or a word in memory.
func (m arm64) change(op, x, to string) {
	switch {
	case inMemory(to):
		m.emit("TOWORD(%s, %s, %s)", op, x, to)
	case inMemory(x) || op == "MUL" && x[0] == '$':
		m.emit("FROMWORD(%s, %s, %s)", op, x, to)
	default:
		m.emit("%s %s, %s", op, x, to)
	}
}

func (m arm64) move(from, to string) {
	switch {
	case from == "$0":
		from = "ZR"
	case inMemory(to):
		if !strings.HasPrefix(from, "R") {
			m.emit("MOVD %s, R16", from)
			from = "R16"
		}
	}
	m.emit("MOVD %s, %s", from, to)
}

func (m arm64) zero(reg string)  { m.emit("MOVD ZR, %s", reg) }
func (m arm64) add(x, to string) { m.change("ADDS", x, to) }
func (m arm64) sub(x, to string) { m.change("SUBS", x, to) }
func (m arm64) inc(to string)    { m.change("ADDS", "$1", to) }
func (m arm64) dec(to string)    { m.change("SUBS", "$1", to) }

func (m arm64) mul(x, reg string) { m.change("MUL", x, reg) }

func (m arm64) scale(n int, x, reg string) {
	m.move(x, reg)
	m.mul(imm(n), reg)
}

func (m arm64) shiftRight(n int, reg string)  { m.emit("LSR $%d, %s", n, reg) }
func (m arm64) sum(n int, base, reg string)   { m.emit("ADD $%d, %s, %s", n, base, reg) }
func (m arm64) entry(base, index, reg string) { m.emit("ADD %s<<2, %s, %s", index, base, reg) }
func (m arm64) loadInt(pointer, reg string)   { m.emit("MOVW (%s), %s", pointer, reg) }
func (m arm64) compare(x, y string)           { m.change("CMP", y, x) }
func (m arm64) test(reg string)               { m.emit("CMP $0, %s", reg) }

func (m arm64) moveIf(condition, x, reg string) {
	if inMemory(x) {
		m.emit("MOVD %s, R16", x)
		x = "R16"
	}
	m.emit("CSEL %s, %s, %s, %s", condition, x, reg, reg)
}

func (m arm64) jump(condition, label string) {
	if condition == "" {
		m.emit("JMP %s", label)
		return
	}
	m.emit("B%s %s", condition, label)
}

func (m arm64) arguments() { m.emit("MOVD a+0(FP), R0") }
func (m arm64) frame()     { m.emit("MOVD $SLOTS(RSP), R1") }

func (m arm64) layout(words, slots int) (frame, scalars int) {
	scalars = (8 + 8*words + 15) &^ 15
	return scalars - 8 + slots, scalars
}

func (m arm64) ret() { m.emit("RET") }

func (m arm64) rowMask(f *function) { m.emit("MOVD %s, R17", f.args.tail()) }

func (m arm64) columnMasks() {
	m.emit("MOVD R3, R17")
	m.emit("MOVD $·regionLanes+64(SB), R16")
	m.emit("SUB R3<<2, R16, R3")
}

// pair is a register as the two that its name stands for.
func pair(reg int) string { return fmt.Sprintf("(F%d, F%d)", 2*reg, 2*reg+1) }

// op prints a macro of package neon.
func (m arm64) op(name string, regs ...int) {
	var args []string
	for _, r := range regs {
		args = append(args, fmt.Sprint("P", r))
	}
	m.emit("P%s(%s)", name, strings.Join(args, ", "))
}

func (m arm64) load(h home, reg, lanes int) {
	switch bits, number := strings.CutSuffix(h.text, "<>(SB)"); {
	case number:
		m.emit("PNUM(0x%s, P%d)", bits[1:], reg)
	case h.spread:
		m.emit("FMOVS %s, F%d", h.text, 2*reg)
		m.op("DUP0", reg, reg)
	default:
		m.emit("FLDPQ %s, %s", h.text, pair(reg))
	}
}

func (m arm64) loadFirst(from string, reg int) {
	m.emit("FMOVS %s, F%d", from, 2*reg)
	m.op("CLEARUPPER", reg)
}

func (m arm64) keepFirst(from string, reg int) { m.loadFirst(from, reg) }

func (m arm64) save(reg int, to string) { m.emit("FSTPQ %s, %s", pair(reg), to) }
func (m arm64) copy(from, to int)       { m.op("MOV", from, to) }
func (m arm64) clear(reg int)           { m.op("ZERO", reg) }

func (m arm64) clearAbove(reg, lanes int) {
	if lanes <= 4 {
		m.op("CLEARUPPER", reg)
	}
}

func (m arm64) plus(x, y, to, lanes int) { m.op("FADD", y, x, to) }

func (m arm64) larger(x, y, to, lanes int) {
	const c, u = 15, 14
	m.op("FCMGT", x, y, c)
	m.op("FCMEQ", y, y, u)
	m.op("ORN", u, c, c)
	m.op("BSL", x, y, c)
	m.op("MOV", c, to)
}

func (m arm64) interleave(x, y, low, high, n int) {
	suffix := map[int]string{4: "S", 8: "D"}[n]
	m.op("ZIP1"+suffix, y, x, low)
	m.op("ZIP2"+suffix, y, x, high)
}

func (m arm64) quarters(x, y, low, high int) {
	panic("emitasm: BUG: more than four rows in a vector of arm64")
}

func (m arm64) upper(from, to, lanes int)     { m.op("UPPER", from, to) }
func (m arm64) spreadLane(from, lane, to int) { m.op("DUP"+strconv.Itoa(lane), from, to) }

// instructions are the macros of operations that are one instruction.
var instructions = map[string]string{"ADD": "FADD", "SUB": "FSUB", "MUL": "FMUL", "DIV": "FDIV", "SQRT": "FSQRT", "AND": "AND", "OR": "ORR", "XOR": "EOR",
	"NEAREST": "FRINTN", "FLOOR": "FRINTM", "TOINT": "FCVTNS", "FROMINT": "SCVTF", "IADD": "IADD", "ISUB": "ISUB", "SHL": "SHL", "SHR": "USHR"}

func (m arm64) print(a *allocation, in inst, x []int, own map[int]bool, dst int) int {
	switch in.op {
	case "FMA", "FNMA":
		op := map[string]string{"FMA": "FMLA", "FNMA": "FMLS"}[in.op]
		switch k := a.element(in); k {
		case 0, 1:
			return m.fused(a, op+"E", []int{x[1-k], x[k], x[2]}, own, dst)
		}
		return m.fused(a, op, x, own, dst)
	case "MIN", "MAX":
		return m.extreme(a, in.op == "MIN", x, own, dst)
	case "CHOOSE":
		return m.chosen(a, x, own, dst)
	case "COMPARE":
		return m.compared(a, in.imm, x, own, dst)
	case "LOAD", "SPREAD", "LOADBYTE":
		return m.loaded(a, in, dst)
	case "STORE", "STORELOW", "STOREBYTE":
		m.stored(a, in, x[0])
		return -1
	}
	if k := a.element(in); k >= 0 {
		d := a.result(x[1-k:2-k], own, dst)
		m.op("FMULE", x[k], x[1-k], d)
		return d
	}
	d := a.result(x, own, dst)
	switch name := instructions[in.op]; {
	case name == "":
		panic("emitasm: BUG: no instruction of arm64 for " + in.op)
	case len(x) == 1:
		m.op(name, x[0], d)
	default:
		m.op(name, x[1], x[0], d)
	}
	return d
}

// fused prints x·y + z or z − x·y, which overwrites z.
func (m arm64) fused(a *allocation, op string, x []int, own map[int]bool, dst int) int {
	p, q, z := x[0], x[1], x[2]
	switch {
	case z == dst || dst < 0 && own[z] && z != p && z != q:
		dst = z
	case dst < 0 || dst == p || dst == q:
		dst = a.take()
		fallthrough
	default:
		m.copy(z, dst)
	}
	m.op(op, q, p, dst)
	return dst
}

// extreme prints the smaller or the larger of x and y, which is y where there is none: FMIN and
// FMAX of arm64 differ from that for NaN and for zeros.
func (m arm64) extreme(a *allocation, smaller bool, x []int, own map[int]bool, dst int) int {
	if dst < 0 || dst == x[0] || dst == x[1] {
		dst = a.take()
	}
	if smaller {
		m.op("FCMGT", x[0], x[1], dst)
	} else {
		m.op("FCMGT", x[1], x[0], dst)
	}
	m.op("BSL", x[1], x[0], dst)
	return dst
}

// chosen prints c ? x : y.
func (m arm64) chosen(a *allocation, x []int, own map[int]bool, dst int) int {
	c, p, q := x[0], x[1], x[2]
	in := func(r int) bool { return dst == r || dst < 0 && own[r] }
	switch {
	case in(c):
		m.op("BSL", q, p, c)
		return c
	case in(q):
		m.op("BIT", c, p, q)
		return q
	case in(p):
		m.op("BIF", c, q, p)
		return p
	case dst < 0:
		dst = a.take()
	}
	m.copy(c, dst)
	m.op("BSL", q, p, dst)
	return dst
}

// compared prints a comparison as a mask of lanes.
func (m arm64) compared(a *allocation, op string, x []int, own map[int]bool, dst int) int {
	d := a.result(x, own, dst)
	switch op {
	case "<":
		m.op("FCMGT", x[0], x[1], d)
	case "<=":
		m.op("FCMGE", x[0], x[1], d)
	case ">":
		m.op("FCMGT", x[1], x[0], d)
	case ">=":
		m.op("FCMGE", x[1], x[0], d)
	default:
		m.op("FCMEQ", x[1], x[0], d)
		if op == "!=" {
			m.op("NOT", d, d)
		}
	}
	return d
}

// operand is the text of an address: there are no indices, so a sum is computed first.
func (m arm64) operand(a *allocation, at *address) string {
	if at.direct != "" {
		return at.direct
	}
	t := a.b.t
	reg := at.stream.reg
	if reg == "" {
		a.point(at.stream)
		reg = t.work
	}
	switch at.index {
	case byEntry:
		m.entry(reg, t.entry, "R16")
		reg = "R16"
	case byOwn:
		m.emit("ADD %s, %s, R16", t.own, reg)
		reg = "R16"
	}
	if at.disp == 0 {
		return "(" + reg + ")"
	}
	return fmt.Sprintf("%d(%s)", at.disp, reg)
}

// tail is where a tail is, and the number of its first entry.
func (m arm64) tail(a *allocation, at *address) (operand string, from int) {
	if operand = m.operand(a, at); operand[0] == '(' {
		operand = "0" + operand
	}
	return operand, a.b.t.width * at.group
}

func (m arm64) loaded(a *allocation, in inst, dst int) int {
	d := dst
	if d < 0 {
		d = a.take()
	}
	if in.at.mask != "" {
		at, from := m.tail(a, in.at)
		m.emit("PLOADTAIL(%s, %d, P%d)", at, from, d)
		return d
	}
	mem := m.operand(a, in.at)
	switch {
	case a.elements[in.dst]:
		m.emit("FMOVS %s, F%d", mem, 2*d)
	case in.op == "SPREAD":
		m.load(home{mem, true}, d, 8)
	case in.op == "LOADBYTE":
		m.emit("MOVBU %s, R16", mem)
		m.emit("NEG R16, R16")
		m.emit("PDUPW(P%d)", d)
	case in.at.lanes == 8:
		m.load(home{mem, false}, d, 8)
	default:
		m.emit("FMOV%s %s, F%d", moves[in.at.lanes], mem, 2*d)
		m.op("CLEARUPPER", d)
	}
	return d
}

// moves are the letters of moves of fewer lanes.
var moves = map[int]string{1: "S", 2: "D", 4: "Q"}

func (m arm64) stored(a *allocation, in inst, r int) {
	if in.at.mask != "" {
		at, from := m.tail(a, in.at)
		m.emit("PSTORETAIL(%s, %d, P%d)", at, from, r)
		return
	}
	mem := m.operand(a, in.at)
	switch {
	case in.op == "STOREBYTE":
		m.emit("FMOVS F%d, R6", 2*r)
		m.emit("AND $1, R6")
		m.emit("MOVB R6, %s", mem)
	case in.op == "STORELOW":
		m.emit("FMOVS F%d, %s", 2*r, mem)
	case in.at.lanes == 8:
		m.save(r, mem)
	default:
		m.emit("FMOV%s F%d, %s", moves[in.at.lanes], 2*r, mem)
	}
}
