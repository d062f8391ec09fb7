// Package ir is the tensor program between the page and every target.
//
// A program is a list of instructions in SSA form. Each instruction is one
// primitive in index notation: it has an iteration space of loops, reads its
// arguments at affine subscripts (or at entries of an integer tensor), and adds,
// or takes the maximum, into its output at such subscripts:
//
//	%e [d_v] = prod i:d_v j:d_k : [i] M[i,j] k[j]
//
// so transposition, broadcast, diagonal, gather, window and contraction need
// no primitives of their own, and the adjoint of an instruction runs over the
// same loops with output and argument exchanged. Entries of the output that
// nothing is added to are zero.
//
// A recurrence over time is one scan instruction with a body; the body sees
// one token of one element of the batch. Axes are nominal: two axes are the same only if they
// are the same *Axis.
package ir

import (
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/source"
)

// An Elem is the kind of a tensor's entries; the zero value is invalid.
type Elem int

const (
	_ Elem = iota
	Real
	Int
	Bool
)

func (e Elem) String() string { return [...]string{"invalid", "real", "int", "bool"}[e] }

// Bytes is the size of an entry in the buffers of a program in single precision.
func (e Elem) Bytes() int64 {
	if e == Bool {
		return 1
	}
	return 4
}

// ShortSum is the most terms of a sum that counts as one expression: a lowering writes it
// out, and it is computed again rather than kept.
const ShortSum = 8

// An Axis is a nominal axis. Its size is a polynomial in the program's free
// sizes; a free axis has its own name as size.
type Axis struct {
	Name string
	Size shape.Poly
}

// A Role says what a parameter of a program is; the zero value is invalid.
type Role int

const (
	_        Role = iota
	Input         // comes with every call
	Outer         // learned, changes only between calls
	State         // value before the call; a result of the same name is its value after
	Constant      // fixed attribute of the call, no gradient
	Carry         // scan body: state before the token
	Token         // scan body: this token's slice of a series
	Shared        // scan body: the same for all tokens
	Adjoint       // incoming adjoint of a result
	Saved         // kept by the forward for the backward
)

func (r Role) String() string {
	return [...]string{"invalid", "input", "outer", "state", "const", "carry", "token", "shared", "adjoint", "saved"}[r]
}

// A Value is a tensor in SSA form: a parameter or the output of one instruction.
type Value struct {
	Name   string // unique in its program
	Elem   Elem
	Axes   []*Axis
	Role   Role   // of a parameter, else 0
	Def    *Instr // nil for a parameter
	NoGrad bool   // a parameter that receives no gradient
}

// A Term is Coef times a loop of the instruction.
type Term struct {
	Loop int
	Coef int
}

// A Sub is one subscript: affine in the loops, plus a constant over the
// program's sizes and integers, or the value of an integer tensor.
type Sub struct {
	Terms    []Term
	Const    shape.Poly
	Indirect *Arg // non-nil: the subscript is this integer tensor's entry
}

// An Arg is a value read at subscripts.
type Arg struct {
	Val *Value
	Sub []Sub
}

// An Instr is one instruction.
type Instr struct {
	Op      Op
	Loops   []*Axis // the iteration space; loop l runs over axis Loops[l]
	Guard   []Sub   // the instruction runs only where all of these are ≥ 0
	Out     *Value  // nil for a scan
	To      []Sub   // subscripts of Out
	Args    []Arg
	Coef    []float64 // Prod: one factor; Lin: one per argument and a constant last; Const: the value
	Over    []int     // Max, Softmax, LogSumExp: the loops that are reduced or normalised; Solve: those of its arguments; TriSolve: see Triangle
	Eq      string    // stable id of the equation it came from
	AlsoEqs []string  // further equations that it computes; not printed
	Span    source.Span
	Scan    *Scan
	Solve   *Solve
	Poly    shape.Poly // SizeOf: the size
}

// A Scan runs Body once for every token and every element of the batch, tokens
// in order.
type Scan struct {
	Batch, Time *Axis
	Body        *Func
	Carry       []ScanState
	Tokens      []ScanInput // series, seen by the body one token at a time
	Shared      []SharedArg
	Outs        []ScanOutput // values of the body at every token
	Reverse     bool         // tokens run from last to first (backward)
	Primal      *Instr       // backward: the scan whose states it needs
	Replay      []Replayed   // backward: values of the primal body, by name
}

// A ScanState is one state of a scan. Init and Final have axes [batch, …].
type ScanState struct {
	Param *Value // of the body
	Next  *Value // of the body
	Init  *Value
	Final *Value // output of the scan, nil when nothing reads it
}

// A ScanInput is a series that the body reads at token t: Val[batch,
// t+offset(window)…]. A count is no series: Val is an integer for each element
// of the batch, and the body's subscripts and guards see Val[batch]+t.
type ScanInput struct {
	Param  *Value // of the body
	Val    *Value // axes [batch, time', …]
	Window *Axis  // nil, or the axis that runs back in time: body sees [window, …] with entry j = Val[t+base−j]
	Base   shape.Poly
	Count  bool // Val has axes [batch]
}

// A SharedArg is a value that all tokens see.
type SharedArg struct {
	Param    *Value
	Val      *Value
	PerBatch bool // Val has the batch axis first
}

// A ScanOutput is an output of a scan, with axes [batch, time, …].
type ScanOutput struct {
	Val      *Value // of the body
	Out      *Value // of the program
	Sum      bool   // backward: summed over tokens, and over the batch unless PerBatch
	PerBatch bool
}

// A Replayed value of the primal's body is a parameter of the backward body.
type Replayed struct {
	Param  *Value // of the backward body
	Primal *Value // of the primal's body: a carry, a token, a shared or a computed value
}

// A Solve finds the root of a residual between its first two arguments. The
// residual is named after the unknown on its page. The loops of the output
// come first, one root finding at each of their points; the loops in Over are
// the axes of the other arguments, one after another. The residual is a
// program for one point: its first parameter is the unknown, the others are
// the other arguments over their own loops in Over, and its one result is a
// number. Instructions may share a Solve, so it is immutable.
type Solve struct {
	Residual *Func
	Tol      float64 // how far the result may be from the root
}

// A Result is a named output of a program.
type Result struct {
	Name  string
	Val   *Value
	State bool   // the value of the state of this name after the call
	Eq    string // the equation that defines it, if not that of the value
}

// A Func is a program.
type Func struct {
	Name    string
	Axes    []*Axis
	Params  []*Value
	Body    []*Instr
	Results []Result
	names   map[string]int
}
