package emitasm

import (
	"fmt"
	"regexp"
)

// A target is a level of vector units.
type target struct {
	level  string // as package cpu names it
	suffix string // of functions
	arch   string // of its files, as Go names it
	width  int    // numbers in a register
	regs   int
	letter string // of a register of amd64
	stack  string // the register of the frame
	words  int    // bytes of it before the words of a function
	roles
	memoryOperands bool // an instruction may read one operand from memory
	indexed        bool // a memory operand may have an index, so that few pointers need to move
	machine        func(*code) machine

	// Of lines: the operands in the slots, stores of whole vectors there, instructions that
	// touch one number alone, how many bytes any other may touch, and what reads memory.
	slotAt, wholeStore, single *regexp.Regexp
	reads                      *regexp.Regexp
	bytes                      func(line string) int
}

// roles are the registers of whole numbers.
type roles struct {
	args     string // the arguments
	slots    string // scalars of the plan, 64 bytes each or more
	entry    string // of a vector loop
	length   string // of a vector loop, or what is left of it
	own      string // offset into rows' own buffers whose pointers have no register
	work     string // for pointers and counters in passing
	spare    string // for strides and distances in passing; may be entry
	temp     string // free outside of vector loops, and inside where a loop has Booleans
	pointers []string
}

// code is a text as it is printed, a line an instruction.
type code struct{ lines []string }

func (c *code) emit(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// here prints a label.
func (c *code) here(label string) { c.emit("%s:", label) }

// A machine prints the instructions of an architecture. Operands of whole numbers are
// registers, numbers after a dollar sign and words in memory, and the last one is the
// destination. Registers of vectors are numbers.
type machine interface {
	move(from, to string)
	zero(reg string)
	add(x, to string) // add, sub, inc and dec set the conditions of a jump
	sub(x, to string)
	inc(to string)
	dec(to string)
	mul(x, to string)
	scale(n int, x, reg string)                   // reg = n·x
	shiftRight(n int, reg string)                 //
	sum(n int, base, reg string)                  // reg = base + n
	entry(base, index, reg string)                // reg = base + 4·index
	loadInt(pointer, reg string)                  // an int32
	compare(x, y string)                          // x with y
	test(reg string)                              // with zero
	jump(condition, label string)                 // EQ, NE, LT, LE, GT, GE, or always
	moveIf(condition, x, reg string)              //
	arguments()                                   // loads their pointer
	frame()                                       // points at the scalars
	layout(words, slots int) (frame, scalars int) // bytes of the frame, and where its scalars begin
	rowMask(f *function)                          // makes the mask of the last vector of rows
	columnMasks()                                 // makes the masks of the last columns, whose number is the length
	ret()

	load(h home, reg, lanes int)
	loadFirst(from string, reg int) // one number, zeros in the other lanes
	keepFirst(from string, reg int) // the same of what the register holds, which is also in memory
	save(reg int, to string)        // all lanes
	copy(from, to int)
	clear(reg int)
	clearAbove(reg, lanes int)         // clears what an operation on fewer lanes may leave in the others
	plus(x, y, to, lanes int)          //
	larger(x, y, to, lanes int)        // one step of a maximum, see runningMax
	interleave(x, y, low, high, n int) // the low and the high halves of each four lanes, n bytes at a time
	quarters(x, y, low, high int)      // the low four lanes of y and x together, and the high ones
	upper(from, to, lanes int)         // the upper half of so many lanes
	spreadLane(from, lane, to int)     // one of the first four lanes to all

	// print prints an instruction of a body. The result goes to the register dst where that
	// is not −1, else to one of own, registers whose values end here, or a free one; print
	// returns where it is.
	print(a *allocation, in inst, x []int, own map[int]bool, dst int) int
}

func (t *target) wide() bool { return t.width == 16 }

// word is the operand of a word of the frame.
func (t *target) word(n int) string { return fmt.Sprintf("%d(%s)", t.words+8*n, t.stack) }

// columnMask is the mask of a group of columns in the last pass of a vector loop: a window
// of a table, to which the length points.
func (t *target) columnMask(group int) string { return fmt.Sprintf("%d(%s)", 32*group, t.length) }

// slot is the operand of a place among the scalars.
func (t *target) slot(at int) string { return fmt.Sprintf("%d(%s)", at, t.slots) }

// imm is the operand of a number.
func imm(n int) string { return fmt.Sprintf("$%d", n) }

// sumOf adds operands in a register.
func sumOf(m machine, xs []string, reg string) {
	m.move(xs[0], reg)
	for _, x := range xs[1:] {
		m.add(x, reg)
	}
}
