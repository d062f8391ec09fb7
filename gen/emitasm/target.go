package emitasm

import "fmt"

// A target is a level of vector units.
type target struct {
	level  string // as package cpu names it
	suffix string // of functions
	width  int    // numbers in a register
	regs   int
	letter string // of a register
}

var (
	avx2   = &target{"avx2", "AVX2", 8, 16, "Y"}
	avx512 = &target{"avx512", "AVX512", 16, 32, "Z"}
)

func (t *target) wide() bool { return t.width == 16 }

// reg is the name of a register, of all its lanes.
func (t *target) reg(n int) string { return fmt.Sprintf("%s%d", t.letter, n) }

// part is the name of a register's first lanes.
func (t *target) part(n, lanes int) string {
	switch {
	case lanes > 8:
		return fmt.Sprintf("Z%d", n)
	case lanes > 4:
		return fmt.Sprintf("Y%d", n)
	}
	return fmt.Sprintf("X%d", n)
}

// pick is the mnemonic of an operation on integers or bits, whose names differ.
func (t *target) pick(narrow, wide string) string {
	if t.wide() {
		return wide
	}
	return narrow
}
