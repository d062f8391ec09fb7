package gemm

import (
	"bytes"
	"fmt"
	"strings"
)

// A text is Go assembly as it is printed.
type text struct{ b bytes.Buffer }

func (t *text) bytes() []byte { return t.b.Bytes() }

func (t *text) line(s string) { t.b.WriteString(s + "\n") }

// op prints an instruction, operands in the order of the Go assembler: the
// destination last.
func (t *text) op(name string, operands ...string) {
	t.line(strings.TrimRight("\t"+name+" "+strings.Join(operands, ", "), " "))
}

func (t *text) label(name string) { t.line(name + ":") }

// function opens a function of one pointer, which it puts into DI.
func (t *text) function(name, doc string) {
	t.line("")
	t.line("// func " + name + "(p *" + pointee(name) + ")")
	for l := range strings.Lines(doc) {
		t.line("// " + strings.TrimSpace(l))
	}
	t.line("TEXT ·" + name + "(SB), NOSPLIT, $0-8")
	t.op("MOVQ", "p+0(FP)", "DI")
}

// pointee is the type of a function's argument.
func pointee(name string) string {
	for _, s := range []string{"gemmBlock", "triangleBlock"} {
		if strings.HasPrefix(name, s) {
			return s
		}
	}
	return "gemmPack"
}

// ret ends a function. The upper halves are cleared first: Go computes with
// legacy instructions, which are slow while they are dirty.
func (t *text) ret() {
	t.op("VZEROUPPER")
	t.op("RET")
}

func imm(n int) string { return fmt.Sprintf("$%d", n) }

// at is a memory operand: a displacement, a base, and an index with a scale.
func at(disp int, base string, index ...any) string {
	s := "(" + base + ")"
	if disp != 0 {
		s = fmt.Sprint(disp) + s
	}
	if len(index) == 2 {
		s += fmt.Sprintf("(%v*%d)", index[0], index[1])
	}
	return s
}

// field is a field of the structure in DI.
func field(structure, name string) string { return structure + "_" + name + "(DI)" }

// multiples loads a distance and its odd multiples 3, 5 and 7, as far as they
// are wanted, so that row(base, i) reaches rows 0 to 7 (0 to 6 without the 7).
func (t *text) multiples(from string, upTo int) {
	t.op("MOVQ", from, "R8")
	t.op("LEAQ", at(0, "R8", "R8", 2), "R9")
	t.op("LEAQ", at(0, "R8", "R8", 4), "R10")
	if upTo == 7 {
		t.op("LEAQ", at(0, "R9", "R8", 4), "R12")
	}
}

// row is the memory operand i distances after a base.
func row(base string, i int) string {
	switch i {
	case 0:
		return at(0, base)
	case 1, 2, 4:
		return at(0, base, "R8", i)
	case 3, 6:
		return at(0, base, "R9", i/3)
	case 5:
		return at(0, base, "R10", 1)
	case 7:
		return at(0, base, "R12", 1)
	}
	panic(fmt.Sprintf("gemm: BUG: row %d", i))
}
