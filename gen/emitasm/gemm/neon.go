package gemm

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/emitasm/neon"
)

// The kernels of arm64 have the blocks of AVX2: a row of a block is two pairs of registers.
// In them R0 is the argument, R9 to R14 are rows of A, R15 is how far these are, and R16 and
// R17 belong to tails.

const neonRows = 6

// AssemblyNEON is the file gemm_arm64.s.
func AssemblyNEON() []byte {
	var t text
	t.b.WriteString(head)
	t.line("//go:build !purego")
	t.line("")
	t.line("#include \"go_asm.h\"")
	t.line("#include \"textflag.h\"")
	t.line("#include \"neon.h\"")
	neonBlock(&t)
	neonPackColumns(&t)
	neonPackRows(&t)
	neonTriangle(&t)
	return t.bytes()
}

func p(n int) string { return fmt.Sprint("P", n) }

// pair are the registers of a pair.
func pair(n int) string { return fmt.Sprintf("(F%d, F%d)", 2*n, 2*n+1) }

// macro prints a macro of package neon.
func (t *text) macro(name string, args ...any) {
	words := make([]string, len(args))
	for i, x := range args {
		words[i] = fmt.Sprint(x)
	}
	t.line("\t" + name + "(" + strings.Join(words, ", ") + ")")
}

func (t *text) neonFunction(name, structure string, fields ...string) {
	t.line("")
	t.line("// func " + name + "(p *" + structure + ")")
	t.line("TEXT ·" + name + "(SB), NOSPLIT, $0-8")
	t.op("MOVD", "p+0(FP)", "R0")
	for i, f := range fields {
		t.op("MOVD", structure+"_"+f+"(R0)", fmt.Sprint("R", 1+i))
	}
}

// rowsOfA points R9, R10, … at rows of A, and R15 at their beginnings.
func (t *text) rowsOfA(rows int) {
	t.op("MOVD", "R1", "R9")
	for r := 1; r < rows; r++ {
		t.op("ADD", "R2", fmt.Sprint("R", 8+r), fmt.Sprint("R", 9+r))
	}
	t.op("MOVD", "ZR", "R15")
}

// choose goes to the variant of a number of rows, which R8 is.
func (t *text) choose(most int) {
	for r := most; r > 1; r-- {
		t.op("CMP", imm(r), "R8")
		t.op("BEQ", fmt.Sprint("rows", r))
	}
}

func neonBlock(t *text) {
	t.neonFunction("gemmBlockNEON", "gemmBlock", "a", "aRow", "aCol", "b", "bRow", "depth", "mode", "rows")
	t.rowsOfA(neonRows)
	t.choose(neonRows)
	for rows := 1; rows <= neonRows; rows++ {
		neonVariant(t, rows)
	}
}

// neonVariant prints the kernel of one number of rows: sums in pairs from 0 on, B in 12
// and 13, entries of A in the four registers after them.
func neonVariant(t *text, rows int) {
	label := func(s string) string { return fmt.Sprint(s, rows) }
	entry := func(r int) int { return 28 + r%4 }
	sums := func(visit func(at string, n int)) {
		t.op("MOVD", "gemmBlock_sums(R0)", "R1")
		for i := range 2 * rows {
			visit(at(32*i, "R1"), i)
		}
	}
	t.line("")
	t.label(label("rows"))
	t.op("TST", modeBegun, "R7")
	t.op("BEQ", label("zero"))
	sums(func(at string, n int) { t.op("FLDPQ", at, pair(n)) })
	t.op("JMP", label("step"))
	t.label(label("zero"))
	for i := range 2 * rows {
		t.macro("PZERO", p(i))
	}
	t.label(label("step"))
	t.op("FLDPQ", "(R4)", pair(12))
	t.op("FLDPQ", "32(R4)", pair(13))
	for r := range rows {
		t.op("FMOVS", fmt.Sprintf("(R%d)(R15)", 9+r), fmt.Sprint("F", entry(r)))
		for v := range 2 {
			t.macro("PFMLAE", entry(r), p(12+v), p(2*r+v))
		}
	}
	t.op("ADD", "R3", "R15")
	t.op("ADD", "R5", "R4")
	t.op("SUBS", imm(1), "R6")
	t.op("BNE", label("step"))
	t.op("TST", modeUnfinished, "R7")
	t.op("BEQ", label("finish"))
	sums(func(at string, n int) { t.op("FSTPQ", pair(n), at) })
	t.op("RET")
	t.label(label("finish"))
	t.op("FMOVS", "gemmBlock_coef(R0)", fmt.Sprint("F", entry(0)))
	t.op("MOVD", "gemmBlock_c(R0)", "R1")
	t.op("MOVD", "gemmBlock_cRow(R0)", "R2")
	t.op("MOVD", "gemmBlock_columns(R0)", "R17")
	t.op("TST", modeAdd, "R7")
	t.op("BNE", label("add"))
	for r := range rows {
		for v := range 2 {
			t.macro("PFMULE", entry(0), p(2*r+v), p(2*r+v))
			t.macro("PSTORETAIL", fmt.Sprintf("%d(R1)", 32*v), 8*v, p(2*r+v))
		}
		t.op("ADD", "R2", "R1")
	}
	t.op("RET")
	t.label(label("add"))
	for r := range rows {
		for v := range 2 {
			at := fmt.Sprintf("%d(R1)", 32*v)
			t.macro("PLOADTAIL", at, 8*v, p(12))
			t.macro("PFMLAE", entry(0), p(2*r+v), p(12))
			t.macro("PSTORETAIL", at, 8*v, p(12))
		}
		t.op("ADD", "R2", "R1")
	}
	t.op("RET")
}

// neonPackColumns prints the packing of eight columns of B that are contiguous: two
// transpositions of 4 by 4 for each four entries.
func neonPackColumns(t *text) {
	t.neonFunction("gemmPackColumnsNEON", "gemmPack", "dst", "src", "from", "depth")
	column := func(c int) string { return fmt.Sprint("R", []int{2, 9, 10, 11, 12, 13, 14, 15}[c]) }
	for c := 1; c < 8; c++ {
		t.op("ADD", "R3", column(c-1), column(c))
	}
	t.label("quad")
	for half := range 2 {
		v := func(i int) string { return fmt.Sprint("V", 8*half+i) }
		for i := range 4 {
			t.op("FMOVQ.P", fmt.Sprintf("16(%s)", column(4*half+i)), fmt.Sprint("F", 8*half+i))
		}
		for i := range 2 {
			t.op("VZIP1", v(2*i+1)+".S4", v(2*i)+".S4", v(4+i)+".S4")
			t.op("VZIP2", v(2*i+1)+".S4", v(2*i)+".S4", v(6+i)+".S4")
		}
		for k := range 4 {
			t.op(fmt.Sprint("VZIP", 1+k%2), v(5+k/2*2)+".D2", v(4+k/2*2)+".D2", v(k)+".D2")
		}
	}
	for k := range 4 {
		t.op("FSTPQ", fmt.Sprintf("(F%d, F%d)", k, 8+k), at(64*k, "R1"))
	}
	t.op("ADD", imm(256), "R1")
	t.op("SUBS", imm(4), "R4")
	t.op("BNE", "quad")
	t.op("RET")
}

// neonPackRows prints the packing of rows that are contiguous, with zeros beyond the
// entries that there are: rows of B of two pairs, and of columns of A of one.
func neonPackRows(t *text) {
	for _, pairs := range []int{2, 1} {
		t.neonFunction(map[int]string{1: "gemmPackRowNEON", 2: "gemmPackRowsNEON"}[pairs], "gemmPack", "dst", "src", "from", "depth")
		t.op("MOVD", "gemmPack_columns(R0)", "R17")
		t.label("row")
		for v := range pairs {
			t.macro("PLOADTAIL", fmt.Sprintf("%d(R2)", 32*v), 8*v, p(v))
		}
		for v := range pairs {
			t.op("FSTPQ", pair(v), at(32*v, "R1"))
		}
		t.op("ADD", "R3", "R2")
		t.op("ADD", imm(32*pairs), "R1")
		t.op("SUBS", imm(1), "R4")
		t.op("BNE", "row")
		t.op("RET")
	}
}

func neonTriangle(t *text) {
	t.neonFunction("triangleBlockNEON", "triangleBlock", "a", "aRow", "aCol", "done", "x", "xRow", "before", "rows")
	t.op("MOVD", "triangleBlock_columns(R0)", "R17")
	t.rowsOfA(triangleRows)
	t.choose(triangleRows)
	for rows := 1; rows <= triangleRows; rows++ {
		neonTriangleVariant(t, rows)
	}
}

// neonTriangleVariant prints the kernel of one number of rows: chains in pairs from 0 on, a
// row that is done in 8 and 9, entries of A after them.
func neonTriangleVariant(t *text, rows int) {
	label := func(s string) string { return fmt.Sprint(s, rows) }
	take := func(r int, from func(v int) int) {
		t.op("FMOVS", fmt.Sprintf("(R%d)(R15)", 9+r), fmt.Sprint("F", 20+r))
		for v := range 2 {
			t.macro("PFMLSE", 20+r, p(from(v)), p(2*r+v))
		}
	}
	x := func(visit func(at string, r, v int)) {
		t.op("MOVD", "R5", "R8")
		for r := range rows {
			for v := range 2 {
				visit(fmt.Sprintf("%d(R8)", 32*v), r, v)
			}
			t.op("ADD", "R6", "R8")
		}
	}
	t.line("")
	t.label(label("rows"))
	x(func(at string, r, v int) { t.macro("PLOADTAIL", at, 8*v, p(2*r+v)) })
	t.op("CBZ", "R7", label("among"))
	t.label(label("before"))
	for v := range 2 {
		t.macro("PLOADTAIL", fmt.Sprintf("%d(R4)", 32*v), 8*v, p(8+v))
	}
	for r := range rows {
		take(r, func(v int) int { return 8 + v })
	}
	t.op("ADD", "R3", "R15")
	t.op("ADD", "R6", "R4")
	t.op("SUBS", imm(1), "R7")
	t.op("BNE", label("before"))
	t.label(label("among"))
	for s := range rows - 1 {
		for r := s + 1; r < rows; r++ {
			take(r, func(v int) int { return 2*s + v })
		}
		t.op("ADD", "R3", "R15")
	}
	x(func(at string, r, v int) { t.macro("PSTORETAIL", at, 8*v, p(2*r+v)) })
	t.op("RET")
}

// Header is the file of the macros.
func Header() []byte { return []byte(head + neon.Header()) }
