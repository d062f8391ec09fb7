package emitasm

import (
	"fmt"
	"math"
)

// A body is a stretch of instructions on vectors without a jump, in SSA: every
// value is set once. Its values are computed by an instruction, or have a home
// in memory (scalars of the plan, constants, masks), or are accumulators, which
// live in a register of their own around the body.

// A val is a value of a body.
type val int

const none val = -1

// A home is where a value is stored that no instruction of the body computes.
type home struct {
	text   string // operand
	spread bool   // one number, for all lanes
}

type valueInfo struct {
	home    *home
	acc     int  // number of the accumulator + 1, or 0
	spilled bool // stored in a slot that the body itself writes
}

// An inst is an instruction, or a few that are inseparable.
type inst struct {
	op   string
	dst  val
	args []val
	imm  string
	at   *address // of loads and stores
}

// An address is where a load or store finds its numbers.
type address struct {
	direct string // an operand as it is, or "" for one by way of a stream
	stream *stream
	disp   int
	index  string // "", byEntry or byOwn
	mask   string // "", "column", "row"
	group  int    // of columns, for their mask with AVX2
	lanes  int    // that are loaded or stored
}

// Indices of addresses: four times the entry of the loop, and the offset into rows' own buffers.
const (
	byEntry = "entry"
	byOwn   = "own"
)

type body struct {
	t      *target
	label  func(word string) string // a new one of the function
	vals   []valueInfo
	insts  []inst
	homes  map[home]val
	accs   int
	keep   int   // registers from 0 on that the body must leave alone
	accIn  []val // value of an accumulator as the body begins
	accOut []val // and as it ends
}

func newBody(t *target) *body { return &body{t: t, homes: map[home]val{}} }

func (b *body) value(v valueInfo) val {
	b.vals = append(b.vals, v)
	return val(len(b.vals) - 1)
}

// do appends an instruction with a result.
func (b *body) do(op, imm string, args ...val) val {
	v := b.value(valueInfo{})
	b.insts = append(b.insts, inst{op: op, dst: v, args: args, imm: imm})
	return v
}

// at is a value stored in memory.
func (b *body) at(h home) val {
	if v, ok := b.homes[h]; ok {
		return v
	}
	v := b.value(valueInfo{home: &h})
	b.homes[h] = v
	return v
}

// accumulator adds an accumulator and returns its value as the body begins.
func (b *body) accumulator() (number int, in val) {
	b.accs++
	in = b.value(valueInfo{acc: b.accs})
	b.accIn, b.accOut = append(b.accIn, in), append(b.accOut, in)
	return b.accs - 1, in
}

func (b *body) load(op string, a *address) val {
	v := b.value(valueInfo{})
	b.insts = append(b.insts, inst{op: op, dst: v, at: a})
	return v
}

func (b *body) store(op string, a *address, v val) {
	b.insts = append(b.insts, inst{op: op, dst: none, args: []val{v}, at: a})
}

// The steps of package kern's functions.

func (b *body) number(x float32) val { return b.bits(math.Float32bits(x)) }

// constant is the operand of a number of the file's table. With AVX2, whose instructions
// cannot read one number for all lanes, it is a vector.
func constant(bits uint32) string { return fmt.Sprintf("k%08x<>(SB)", bits) }

func (b *body) add(x, y val) val { return b.do("ADD", "", x, y) }
func (b *body) sub(x, y val) val { return b.do("SUB", "", x, y) }
func (b *body) mul(x, y val) val { return b.do("MUL", "", x, y) }
func (b *body) div(x, y val) val { return b.do("DIV", "", x, y) }
func (b *body) fma(neg bool, x, y, z val) val {
	if neg {
		return b.do("FNMA", "", x, y, z)
	}
	return b.do("FMA", "", x, y, z)
}
func (b *body) sqrt(x val) val    { return b.do("SQRT", "", x) }
func (b *body) low(x, y val) val  { return b.do("MIN", "", x, y) }
func (b *body) high(x, y val) val { return b.do("MAX", "", x, y) }

func (b *body) compare(op string, x, y val) val { return b.do("COMPARE", op, x, y) }
func (b *body) and(x, y val) val                { return b.do("AND", "", x, y) }
func (b *body) or(x, y val) val                 { return b.do("OR", "", x, y) }
func (b *body) xor(x, y val) val                { return b.do("XOR", "", x, y) }
func (b *body) not(x val) val                   { return b.xor(x, b.bits(0xffffffff)) }
func (b *body) choose(c, x, y val) val          { return b.do("CHOOSE", "", c, x, y) }
func (b *body) neg(x val) val                   { return b.xor(x, b.bits(1<<31)) }
func (b *body) bits(u uint32) val               { return b.at(home{constant(u), b.t.wide()}) }
func (b *body) abs(x val) val                   { return b.and(x, b.bits(1<<31-1)) }
func (b *body) nearest(x val) val               { return b.do("NEAREST", "", x) }
func (b *body) floor(x val) val                 { return b.do("FLOOR", "", x) }
func (b *body) power(n val) val {
	i := b.do("IADD", "", b.do("TOINT", "", n), b.bits(127))
	return b.do("SHL", "$23", i)
}
func (b *body) exponent(x val) val {
	i := b.do("ISUB", "", b.do("SHR", "$23", x), b.bits(127))
	return b.do("FROMINT", "", i)
}
func (b *body) mantissa(x val) val {
	return b.or(b.and(x, b.bits(1<<23-1)), b.bits(127<<23))
}
func (b *body) copysign(x, y val) val {
	return b.or(b.and(x, b.bits(1<<31-1)), b.and(y, b.bits(1<<31)))
}
