// Package neon has the instructions on vectors of four float32 that kernels for arm64
// need. Go's assembler has no name for most of them, so they are words of their bits.
//
// Regions write them as macros of a header, one for each instruction, which take pairs: Pn
// is the registers V(2n) and V(2n+1), eight numbers. The 32 registers are 16 pairs, as many
// as AVX2 has registers of eight numbers, and a line of text is an operation on eight
// numbers in both.
package neon

import (
	"fmt"
	"slices"
	"strings"
)

// An Instruction sets register D from registers N and M. In its text, in the syntax of the
// GNU assembler, these letters stand for their numbers; its bits are those of zeros. Where a
// source is one number for all lanes, its lane or w register is in the text.
type Instruction struct {
	Name, Text string
	Bits       uint32
}

// Instructions is the table of all.
var Instructions = []Instruction{
	{"FADD", "fadd vD.4s, vN.4s, vM.4s", 0x4e20d400},
	{"FSUB", "fsub vD.4s, vN.4s, vM.4s", 0x4ea0d400},
	{"FMUL", "fmul vD.4s, vN.4s, vM.4s", 0x6e20dc00},
	{"FDIV", "fdiv vD.4s, vN.4s, vM.4s", 0x6e20fc00},
	{"FMLA", "fmla vD.4s, vN.4s, vM.4s", 0x4e20cc00},
	{"FMLS", "fmls vD.4s, vN.4s, vM.4s", 0x4ea0cc00},
	{"FMULE", "fmul vD.4s, vN.4s, vM.s[0]", 0x4f809000},
	{"FMLAE", "fmla vD.4s, vN.4s, vM.s[0]", 0x4f801000},
	{"FMLSE", "fmls vD.4s, vN.4s, vM.s[0]", 0x4f805000},
	{"FCMGT", "fcmgt vD.4s, vN.4s, vM.4s", 0x6ea0e400},
	{"FCMGE", "fcmge vD.4s, vN.4s, vM.4s", 0x6e20e400},
	{"FCMEQ", "fcmeq vD.4s, vN.4s, vM.4s", 0x4e20e400},
	{"FSQRT", "fsqrt vD.4s, vN.4s", 0x6ea1f800},
	{"FRINTN", "frintn vD.4s, vN.4s", 0x4e218800},
	{"FRINTM", "frintm vD.4s, vN.4s", 0x4e219800},
	{"FCVTNS", "fcvtns vD.4s, vN.4s", 0x4e21a800},
	{"SCVTF", "scvtf vD.4s, vN.4s", 0x4e21d800},
	{"IADD", "add vD.4s, vN.4s, vM.4s", 0x4ea08400},
	{"ISUB", "sub vD.4s, vN.4s, vM.4s", 0x6ea08400},
	{"SHL", "shl vD.4s, vN.4s, #23", 0x4f375400},
	{"USHR", "ushr vD.4s, vN.4s, #23", 0x6f290400},
	{"AND", "and vD.16b, vN.16b, vM.16b", 0x4e201c00},
	{"ORR", "orr vD.16b, vN.16b, vM.16b", 0x4ea01c00},
	{"ORN", "orn vD.16b, vN.16b, vM.16b", 0x4ee01c00},
	{"EOR", "eor vD.16b, vN.16b, vM.16b", 0x6e201c00},
	{"BSL", "bsl vD.16b, vN.16b, vM.16b", 0x6e601c00},
	{"BIT", "bit vD.16b, vN.16b, vM.16b", 0x6ea01c00},
	{"BIF", "bif vD.16b, vN.16b, vM.16b", 0x6ee01c00},
	{"NOT", "mvn vD.16b, vN.16b", 0x6e205800},
	{"ZIP1S", "zip1 vD.4s, vN.4s, vM.4s", 0x4e803800},
	{"ZIP2S", "zip2 vD.4s, vN.4s, vM.4s", 0x4e807800},
	{"ZIP1D", "zip1 vD.2d, vN.2d, vM.2d", 0x4ec03800},
	{"ZIP2D", "zip2 vD.2d, vN.2d, vM.2d", 0x4ec07800},
	{"DUP0", "dup vD.4s, vN.s[0]", 0x4e040400},
	{"DUP1", "dup vD.4s, vN.s[1]", 0x4e0c0400},
	{"DUP2", "dup vD.4s, vN.s[2]", 0x4e140400},
	{"DUP3", "dup vD.4s, vN.s[3]", 0x4e1c0400},
	{"DUPW", "dup vD.4s, w16", 0x4e040e00},
	{"ZERO", "movi vD.2d, #0x0", 0x6f00e400},

	// Loads and stores at R16, which some move on.
	{"LD1W0", "ld1 {vD.s}[0], [x16], #4", 0x0ddf8200},
	{"LD1W1", "ld1 {vD.s}[1], [x16], #4", 0x0ddf9200},
	{"LD1W2", "ld1 {vD.s}[2], [x16], #4", 0x4ddf8200},
	{"ST1W0", "st1 {vD.s}[0], [x16], #4", 0x0d9f8200},
	{"ST1W1", "st1 {vD.s}[1], [x16], #4", 0x0d9f9200},
	{"ST1W2", "st1 {vD.s}[2], [x16], #4", 0x4d9f8200},
	{"LDRQ", "ldr qD, [x16], #16", 0x3cc10600},
	{"STRQ", "str qD, [x16], #16", 0x3c810600},
}

// Find returns an instruction of the table.
func Find(name string) Instruction {
	i := slices.IndexFunc(Instructions, func(x Instruction) bool { return x.Name == name })
	if i < 0 {
		panic("neon: BUG: no instruction " + name)
	}
	return Instructions[i]
}

func (x Instruction) has(operand string) bool { return strings.Contains(x.Text, operand) }

// Encode is the instruction with numbers of registers.
func (x Instruction) Encode(m, n, d int) uint32 {
	return x.Bits | uint32(m)<<16 | uint32(n)<<5 | uint32(d)
}

// Assembly is the instruction with numbers of registers in the syntax of the GNU assembler.
func (x Instruction) Assembly(m, n, d int) string {
	return strings.NewReplacer("vM", fmt.Sprint("v", m), "vN", fmt.Sprint("v", n), "vD", fmt.Sprint("v", d), "qD", fmt.Sprint("q", d)).Replace(x.Text)
}

// Word is a line of Go's assembler for an instruction.
func Word(name string, m, n, d int) string {
	x := Find(name)
	return fmt.Sprintf("WORD $0x%08x // %s", x.Encode(m, n, d), x.Assembly(m, n, d))
}

// half is the text of an instruction in a macro, on the first or the second registers of
// its pairs. A source that is one number for all lanes is in the first.
func half(name string, n string, second bool) string {
	x := Find(name)
	text := fmt.Sprintf("WORD $(0x%08x", x.Bits)
	add := func(operand, arg, shift string) {
		if !x.has(operand) {
			return
		}
		if second && !x.has(operand+".s[") {
			arg = "(" + arg + "+1)"
		}
		text += " | " + arg + shift
	}
	add("vM", "m", "<<16")
	add("vN", n, "<<5")
	add("vD", "d", "")
	add("qD", "d", "")
	return text + ")"
}

// A macro is the text of one, by instructions.
type macro struct {
	name, args string
	body       []string
}

// macros are all of the header.
func macros() []macro {
	var out []macro
	for _, x := range Instructions {
		if x.has("x16") {
			continue
		}
		var args []string
		for _, a := range []string{"m", "n", "d"} {
			if x.has("v" + strings.ToUpper(a)) {
				args = append(args, a)
			}
		}
		out = append(out, macro{"P" + x.Name, strings.Join(args, ", "), []string{half(x.Name, "n", false), half(x.Name, "n", true)}})
	}
	copies := func(first, second string) string {
		return fmt.Sprintf("WORD $(0x%08x | %s<<16 | %s<<5 | %s)", Find("ORR").Bits, first, first, second)
	}
	return append(out,
		macro{"PMOV", "n, d", []string{copies("n", "d"), copies("(n+1)", "(d+1)")}},
		macro{"PUPPER", "n, d", []string{copies("(n+1)", "d")}},
		macro{"PCLEARUPPER", "d", []string{half("ZERO", "", true)}},
		macro{"PNUM", "bits, d", []string{"MOVD $bits, R16", half("DUPW", "", false), half("DUPW", "", true)}},
		macro{"PLOADTAIL", "x, from, d", tail("LD", 0xad400200)},
		macro{"PSTORETAIL", "x, from, d", tail("ST", 0xad000200)},
		macro{"FROMWORD", "op, x, reg", []string{"MOVD x, R16", "op R16, reg"}},
		macro{"TOWORD", "op, x, word", []string{"MOVD word, R16", "op x, R16", "MOVD R16, word"}},
	)
}

// tail are the instructions that load or store, at x, entries from, from+1, … of a row of
// R17, at most eight. Lanes of a load beyond the last entry are zeros.
//
//	if R17 ≥ from+8 { all eight; goto end }
//	if R17 ≥ from+4 { the first four } else { up to three; goto end }
//	up to three of the last four
//	end:
func tail(op string, bits uint32) []string {
	b := []string{"MOVD $x, R16"}
	if op == "LD" {
		b = append(b, half("ZERO", "", false), half("ZERO", "", true))
	}
	lanes := func(from int, second bool, end int) {
		for k := range 3 {
			b = append(b, fmt.Sprintf("CMP $(from+%d), R17", from+k), "")
			b[len(b)-1] = fmt.Sprintf("BLE %d(PC)", end-(len(b)-1))
			b = append(b, half(fmt.Sprintf("%s1W%d", op, k), "", second))
		}
	}
	start := len(b)
	end := start + 4 + 4 + 9 + 1 + 9
	b = append(b, "CMP $(from+8), R17", "BLT 3(PC)", fmt.Sprintf("WORD $(0x%08x | (d+1)<<10 | d)", bits), "")
	b[len(b)-1] = fmt.Sprintf("JMP %d(PC)", end-(len(b)-1))
	b = append(b, "CMP $(from+4), R17", "BLT 3(PC)", half(op+"RQ", "", false), "JMP 11(PC)")
	lanes(0, false, end)
	b = append(b, fmt.Sprintf("JMP %d(PC)", end-len(b)))
	lanes(4, true, end)
	if len(b) != end {
		panic("neon: BUG: the length of a tail")
	}
	return b
}

// Header is the file of macros, without its constraint.
func Header() string {
	var b strings.Builder
	b.WriteString("\n// Pairs of registers: Pn is V(2n) and V(2n+1), eight numbers. A macro is an instruction of\n// arm64 on both; destinations are last.\n")
	for i := range 16 {
		fmt.Fprintf(&b, "#define P%d %d\n", i, 2*i)
	}
	for _, m := range macros() {
		switch m.name {
		case "PMOV":
			b.WriteString("\n// A copy; the upper four numbers; zeros in their place; a number, by its bits, in all lanes.\n")
		case "PLOADTAIL":
			b.WriteString("\n// Entries from, from+1, … of R17, at most eight, at x. What is beyond is zero, or not written.\n")
		case "FROMWORD":
			b.WriteString("\n// Operations with a word in memory, or a number that they cannot have.\n")
		case "P" + Instructions[0].Name:
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "#define %s(%s) %s\n", m.name, m.args, strings.Join(m.body, "; "))
	}
	return b.String()
}

// Count is the number of instructions of a macro; ok is false for what is not a macro.
func Count(name string) (instructions int, ok bool) {
	for _, m := range macros() {
		if m.name == name {
			return len(m.body), true
		}
	}
	return 0, false
}
