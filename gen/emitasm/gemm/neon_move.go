package gemm

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/emitasm/neon"
)

// MovesNEON is the file move_arm64.s: what moves numbers around regions, as for amd64, but
// for strips, which have four rows.
func MovesNEON() []byte {
	var t text
	b := &t.b
	line := func(format string, args ...any) { t.line("\t" + fmt.Sprintf(format, args...)) }
	b.WriteString(head + "//go:build !purego\n\n#include \"textflag.h\"\n")

	b.WriteString("\n// transposeStrips: entry j of row r goes to lane r of vector j.\nTEXT ·transposeStrips(SB), NOSPLIT, $0-8\n")
	line("MOVD a+0(FP), R0")
	line("LDP (R0), (R1, R2)")
	line("LDP 16(R0), (R3, R4)")
	line("LDP 32(R0), (R5, R6)")
	b.WriteString("strip:\n")
	line("MOVD R1, R7")
	line("MOVD R2, R8")
	for r := 9; r < 12; r++ {
		line("ADD R4, R%d, R%d", r-1, r)
	}
	line("MOVD R5, R12")
	b.WriteString("quad:\n")
	for r := range 4 {
		line("FMOVQ.P 16(R%d), F%d", 8+r, r)
	}
	for i, pair := range [][2]int{{0, 1}, {2, 3}} {
		line("VZIP1 V%d.S4, V%d.S4, V%d.S4", pair[1], pair[0], 4+i)
		line("VZIP2 V%d.S4, V%d.S4, V%d.S4", pair[1], pair[0], 6+i)
	}
	for k := range 4 {
		p := 4 + 2*(k/2)
		line("VZIP%d V%d.D2, V%d.D2, V%d.D2", 1+k%2, p+1, p, k)
		line("FMOVQ F%d, (R7)", k)
		line("ADD R3, R7")
	}
	line("SUBS $1, R12")
	line("BNE quad")
	line("ADD $16, R1")
	line("ADD R4<<2, R2")
	line("SUBS $1, R6")
	line("BNE strip")
	line("RET")

	b.WriteString("\n// copyBlocks: row r of block b, 16 entries, goes from from + b·fromBlock + r·fromStep\n// to to + b·toBlock + r·toStep.\nTEXT ·copyBlocks(SB), NOSPLIT, $0-8\n")
	line("MOVD a+0(FP), R0")
	for i := range 4 {
		line("LDP %d(R0), (R%d, R%d)", 16*i, 1+2*i, 2+2*i)
	}
	b.WriteString("block:\n")
	line("MOVD R1, R9")
	line("MOVD R2, R10")
	line("MOVD R7, R11")
	b.WriteString("row:\n")
	line("FLDPQ (R10), (F0, F1)")
	line("FLDPQ 32(R10), (F2, F3)")
	line("FSTPQ (F0, F1), (R9)")
	line("FSTPQ (F2, F3), 32(R9)")
	line("ADD R3<<2, R9")
	line("ADD R4<<2, R10")
	line("SUBS $1, R11")
	line("BNE row")
	line("ADD R5<<2, R1")
	line("ADD R6<<2, R2")
	line("SUBS $1, R8")
	line("BNE block")
	line("RET")

	b.WriteString("\n// accumulate: to[i] += from[i].\nTEXT ·accumulate(SB), NOSPLIT, $0-24\n")
	line("MOVD to+0(FP), R0")
	line("MOVD from+8(FP), R1")
	line("MOVD n+16(FP), R2")
	line("SUBS $8, R2")
	line("BLT rest")
	b.WriteString("vectors:\n")
	line("FLDPQ (R0), (F0, F1)")
	line("FLDPQ.P 32(R1), (F2, F3)")
	line("%s", neon.Word("FADD", 2, 0, 0))
	line("%s", neon.Word("FADD", 3, 1, 1))
	line("FSTPQ.P (F0, F1), 32(R0)")
	line("SUBS $8, R2")
	line("BGE vectors")
	b.WriteString("rest:\n")
	line("ADDS $8, R2")
	line("BEQ done")
	b.WriteString("one:\n")
	line("FMOVS (R0), F0")
	line("FMOVS.P 4(R1), F1")
	line("FADDS F1, F0, F0")
	line("FMOVS.P F0, 4(R0)")
	line("SUBS $1, R2")
	line("BNE one")
	b.WriteString("done:\n")
	line("RET")
	return t.bytes()
}
