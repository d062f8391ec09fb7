package emitasm

import (
	"fmt"
	"regexp"
	"strings"
)

// The targets of amd64. Operands are in the order of Go's assembler, the last source first.

var amd64Roles = roles{args: "DI", slots: "R13", entry: "CX", length: "DX", own: "BX", work: "AX", spare: "CX", temp: "R12",
	pointers: []string{"SI", "R8", "R9", "R10", "R11", "R12", "R14", "R15", "DI"}}

var (
	avx2   = &target{level: "avx2", suffix: "AVX2", arch: "amd64", width: 8, regs: 16, letter: "Y", roles: amd64Roles, memoryOperands: true, indexed: true}
	avx512 = &target{level: "avx512", suffix: "AVX512", arch: "amd64", width: 16, regs: 32, letter: "Z", roles: amd64Roles, memoryOperands: true, indexed: true}
)

func init() {
	for _, t := range []*target{avx2, avx512} {
		t.stack = "SP"
		t.slotAt = regexp.MustCompile(`\b(\d+)\(R13\)`)
		t.wholeStore = regexp.MustCompile(`^VMOVUPS ` + t.letter + `\d+, (\d+)\(R13\)$`)
		t.single = regexp.MustCompile(`^VBROADCASTSS |^VMOVSS |\.BCST `)
		t.reads = regexp.MustCompile(`\(.*, `)
		t.bytes = func(line string) int {
			switch {
			case strings.Contains(line, "Z"):
				return 64
			case strings.Contains(line, "Y"):
				return 32
			}
			return 4
		}
		t.machine = func(c *code) machine { return amd64{c, t} }
	}
}

type amd64 struct {
	*code
	t *target
}

// reg is the name of a register, of all its lanes.
func (t *target) reg(n int) string { return fmt.Sprintf("%s%d", t.letter, n) }

// part is the name of a register's first lanes.
func (m amd64) part(n, lanes int) string {
	switch {
	case lanes > 8:
		return fmt.Sprintf("Z%d", n)
	case lanes > 4:
		return fmt.Sprintf("Y%d", n)
	}
	return fmt.Sprintf("X%d", n)
}

// pick is the mnemonic of an operation on integers or bits, whose names differ.
func (m amd64) pick(narrow, wide string) string {
	if m.t.wide() {
		return wide
	}
	return narrow
}

func (m amd64) move(from, to string) { m.emit("MOVQ %s, %s", from, to) }
func (m amd64) zero(reg string)      { m.emit("XORL %s, %s", reg, reg) }
func (m amd64) add(x, to string)     { m.emit("ADDQ %s, %s", x, to) }
func (m amd64) sub(x, to string)     { m.emit("SUBQ %s, %s", x, to) }
func (m amd64) inc(to string)        { m.emit("INCQ %s", to) }
func (m amd64) dec(to string)        { m.emit("DECQ %s", to) }
func (m amd64) mul(x, to string)     { m.emit("IMULQ %s, %s", x, to) }

func (m amd64) scale(n int, x, reg string)      { m.emit("IMUL3Q $%d, %s, %s", n, x, reg) }
func (m amd64) shiftRight(n int, reg string)    { m.emit("SHRQ $%d, %s", n, reg) }
func (m amd64) sum(n int, base, reg string)     { m.emit("LEAQ %d(%s), %s", n, base, reg) }
func (m amd64) entry(base, index, reg string)   { m.emit("LEAQ (%s)(%s*4), %s", base, index, reg) }
func (m amd64) loadInt(pointer, reg string)     { m.emit("MOVLQSX (%s), %s", pointer, reg) }
func (m amd64) compare(x, y string)             { m.emit("CMPQ %s, %s", x, y) }
func (m amd64) test(reg string)                 { m.emit("TESTQ %s, %s", reg, reg) }
func (m amd64) moveIf(condition, x, reg string) { m.emit("CMOVQ%s %s, %s", condition, x, reg) }

func (m amd64) jump(condition, label string) {
	if condition == "" {
		condition = "MP"
	}
	m.emit("J%s %s", condition, label)
}

func (m amd64) arguments() { m.emit("MOVQ a+0(FP), DI") }

// frame aligns the scalars to lines of the cache.
func (m amd64) frame() {
	m.emit("LEAQ SLOTS(SP), R13")
	m.emit("ANDQ $~63, R13")
}

func (m amd64) layout(words, slots int) (frame, scalars int) {
	return 8*words + slots + 64, 8*words + 63
}

func (m amd64) ret() {
	m.emit("VZEROUPPER")
	m.emit("RET")
}

func (m amd64) rowMask(f *function) {
	m.emit("MOVQ %s, CX", f.args.tail())
	if m.t.wide() {
		m.emit("LEAQ ·regionMasks(SB), AX")
		m.emit("KMOVW (AX)(CX*2), K2")
		return
	}
	f.slots += 64
	m.emit("LEAQ ·regionLanes+64(SB), AX")
	m.emit("NEGQ CX")
	m.emit("VMOVUPS (AX)(CX*4), Y0")
	m.emit("VMOVUPS Y0, (R13)")
}

// maskAt is where AVX2 finds a mask.
func (m amd64) maskAt(at *address) string {
	if at.mask == "row" {
		return m.t.slot(0)
	}
	return m.t.columnMask(at.group)
}

func (m amd64) columnMasks() {
	if m.t.wide() {
		m.emit("LEAQ ·regionMasks(SB), AX")
		m.emit("KMOVW (AX)(DX*2), K1")
		return
	}
	m.emit("LEAQ ·regionLanes+64(SB), AX")
	m.emit("NEGQ DX")
	m.emit("LEAQ (AX)(DX*4), DX")
}

func (m amd64) load(h home, reg, lanes int) {
	op := "VMOVUPS"
	if h.spread {
		op = "VBROADCASTSS"
	}
	m.emit("%s %s, %s", op, h.text, m.part(reg, lanes))
}

func (m amd64) loadFirst(from string, reg int) { m.emit("VMOVSS %s, X%d", from, reg) }
func (m amd64) keepFirst(_ string, reg int)    { m.emit("VINSERTPS $14, X%d, X%d, X%d", reg, reg, reg) }
func (m amd64) save(reg int, to string)        { m.emit("VMOVUPS %s, %s", m.t.reg(reg), to) }
func (m amd64) copy(from, to int)              { m.emit("VMOVAPS %s, %s", m.t.reg(from), m.t.reg(to)) }
func (m amd64) clearAbove(reg, lanes int)      {} // VEX instructions clear

func (m amd64) clear(r int) {
	m.emit("%s %s, %s, %s", m.pick("VXORPS", "VPXORD"), m.t.reg(r), m.t.reg(r), m.t.reg(r))
}

func (m amd64) plus(x, y, to, lanes int) {
	m.emit("VADDPS %s, %s, %s", m.part(y, lanes), m.part(x, lanes), m.part(to, lanes))
}

func (m amd64) larger(x, y, to, lanes int) {
	p := func(r int) string { return m.part(r, lanes) }
	if m.t.wide() {
		m.emit("VCMPPS $30, %s, %s, K3", p(x), p(y))
		m.emit("VCMPPS $4, %s, %s, K4", p(y), p(y))
		m.emit("KORW K3, K4, K3")
		m.emit("VBLENDMPS %s, %s, K3, %s", p(y), p(x), p(to))
		return
	}
	c, u := m.t.regs-1, m.t.regs-2
	m.emit("VCMPPS $30, %s, %s, %s", p(x), p(y), p(c))
	m.emit("VCMPPS $4, %s, %s, %s", p(y), p(y), p(u))
	m.emit("VORPS %s, %s, %s", p(c), p(u), p(c))
	m.emit("VBLENDVPS %s, %s, %s, %s", p(c), p(y), p(x), p(to))
}

func (m amd64) interleave(x, y, low, high, n int) {
	suffix := map[int]string{4: "PS", 8: "PD"}[n]
	m.emit("VUNPCKL%s %s, %s, %s", suffix, m.t.reg(y), m.t.reg(x), m.t.reg(low))
	m.emit("VUNPCKH%s %s, %s, %s", suffix, m.t.reg(y), m.t.reg(x), m.t.reg(high))
}

func (m amd64) quarters(x, y, low, high int) {
	m.emit("%s, Y%d, Y%d, Y%d", m.pick("VPERM2F128 $0x20", "VSHUFF64X2 $0"), x, y, low)
	m.emit("%s, Y%d, Y%d, Y%d", m.pick("VPERM2F128 $0x31", "VSHUFF64X2 $3"), x, y, high)
}

func (m amd64) upper(from, to, lanes int) {
	if lanes > 8 {
		m.emit("VEXTRACTF64X4 $1, Z%d, Y%d", from, to)
		return
	}
	m.emit("%s $1, Y%d, X%d", m.pick("VEXTRACTF128", "VEXTRACTF32X4"), from, to)
}

func (m amd64) spreadLane(from, lane, to int) {
	if lane > 0 {
		m.emit("VPERMILPS $%d, X%d, X%d", lane, from, to)
		from = to
	}
	m.emit("VBROADCASTSS X%d, %s", from, m.t.reg(to))
}
