// Package plan is the loop program between the tensor program and every target.
//
// A kernel reads and writes buffers, dense row-major arrays of symbolic sizes.
// Its body is a tree of statements: loops over symbolic ranges, scalars that are
// set once, accumulators of sums and maxima, loads and stores at affine
// addresses (or at gathered ones), matrix products, triangular solves and root
// findings. The order of every sum is the order of its loop, and no target may
// change it: the bits of a result are part of the plan.
//
// A recurrence is a nest of loops of kinds Batch, Row, Segment and Time around
// its phases, the loops over columns. Where rows are independent the Row loop is
// outside Time; the buffers of one row are private to it, so a target can run
// several rows at once, in registers, warps or blocks, and no bit changes. A
// private buffer exists once for each iteration of its loop.
package plan

import (
	"maps"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Kernel is one function of a target.
type Kernel struct {
	Name    string
	Archive string    // its name among the CUDA kernels of a program, UNIT/NAME, or ""
	Doc     []string  // the program it came from, one line an instruction
	Params  []*Buffer // in the order of the program: parameters, then results, then checkpoints
	Work    []*Buffer // workspace of the whole kernel
	Sizes   []string  // free sizes, sorted
	Ceils   []Ceil    // sizes that are quotients rounded up
	Segment string    // the size that counts tokens from checkpoint to checkpoint, or ""
	Body    []Node
	Memory  Memory
	Cells   []*Buffer // of a fused kernel: entries in which regions leave totals for others
	Fused   *Kernel   // the same in fused arithmetic, or nil
}

// A Ceil is the size Name = ⌈Num/Den⌉.
type Ceil struct {
	Name     string
	Num, Den shape.Poly
}

// WithCeils adds to sizes those of ceils, in order, whose sizes are there.
func WithCeils(ceils []Ceil, sizes map[string]int) map[string]int {
	out := maps.Clone(sizes)
	for _, q := range ceils {
		num, err1 := q.Num.Eval(out)
		den, err2 := q.Den.Eval(out)
		if err1 == nil && err2 == nil && den > 0 {
			out[q.Name] = (num + den - 1) / den
		}
	}
	return out
}

// Memory counts entries: saved tensors, checkpoints, and workspace, which
// includes private buffers once for each row that runs at once and no copies of operands.
type Memory struct {
	Saved, Checkpoints, Workspace shape.Poly
}

// A Role is the use that a kernel makes of a buffer; the zero value is
// invalid.
type Role int

const (
	_          Role = iota
	Read            // a parameter
	Write           // a result; the kernel writes every entry
	Checkpoint      // states the forward keeps for the backward; may be absent in the forward
	Work            // workspace of the kernel
	Private         // workspace of one iteration of a loop
	View            // the entries of another buffer under other sizes
	Operand         // the entries of another buffer as operands of products; see Narrow
)

func (r Role) String() string {
	return [...]string{"invalid", "read", "write", "checkpoint", "work", "private", "view", "operand"}[r]
}

// A Buffer is a dense row-major array.
type Buffer struct {
	Name      string // unique in its kernel
	Of        string // name of the program's parameter or result; of an operand, of the value on the page
	Primal    string // of an adjoint: the parameter or result whose adjoint it is, else \"\"
	Position  bool   // counts the tokens before a call
	Elem      ir.Elem
	Dims      []shape.Poly
	Role      Role
	Optional  bool    // may be absent; the kernel tests If.Present
	ViewOf    *Buffer // of a view: the buffer whose entries it has
	NarrowOf  *Buffer // of an operand: the buffer whose entries it has
	CopyOf    *Buffer // of a private buffer in a jammed loop: the buffer of the loop,
	Iteration int     // and the number of the iteration
}

// Len is the number of entries of a buffer.
func (b *Buffer) Len() shape.Poly {
	n := shape.Int(1)
	for _, d := range b.Dims {
		n = n.Mul(d)
	}
	return n
}

// Base is the buffer whose entries b shows.
func (b *Buffer) Base() *Buffer {
	for b.ViewOf != nil {
		b = b.ViewOf
	}
	return b
}

// Param returns the buffer of a parameter of the program, or nil.
func (k *Kernel) Param(name string) *Buffer { return k.find(name, Read) }

// Result returns the buffer of a result of the program, or nil.
func (k *Kernel) Result(name string) *Buffer { return k.find(name, Write) }

// AdjointParam returns the buffer of the incoming adjoint of a result, or nil.
func (k *Kernel) AdjointParam(result string) *Buffer { return k.find(ir.AdjointName(result), Read) }

// AdjointResult returns the buffer of the adjoint of a parameter, or nil.
func (k *Kernel) AdjointResult(param string) *Buffer { return k.find(ir.AdjointName(param), Write) }

func (k *Kernel) find(name string, role Role) *Buffer {
	for _, b := range k.Params {
		if b.Of == name && b.Role == role {
			return b
		}
	}
	return nil
}

// A Node is a statement.
type Node interface{ node() }

// A LoopKind is the meaning of a loop; the zero value is invalid.
type LoopKind int

const (
	_         LoopKind = iota
	Plain              // iterations are independent, but may add to the same entry
	Reduction          // iterations add to the same entries in order
	Batch              // elements of the batch of a recurrence; independent but for sums
	Row                // rows of a state; independent but for sums, which run in row order
	Segment            // spans of tokens between checkpoints, in order
	Time               // tokens, in order
)

func (k LoopKind) String() string {
	return [...]string{"invalid", "for", "sum", "batch", "row", "segment", "time"}[k]
}

// A Loop runs Var from the largest of Lo to below the smallest of Hi, or from
// there down when Down is set.
type Loop struct {
	Kind    LoopKind
	Var     *Var
	Lo, Hi  []Index
	Down    bool
	Sums    int // partial sums of every accumulator in it; 0 is one. See package fuse
	Across  Across
	Shared  []*Buffer // of rows in regions: what all rows add to
	Private []*Buffer
	Body    []Node
}

// An If runs Body where all of Cond are at least zero and Present, if not nil,
// was given.
type If struct {
	Cond    []Index
	Present *Buffer
	Body    []Node
}

// A Let sets a scalar; for an accumulator it is the initial value.
type Let struct {
	To  *Local
	Val Expr
}

// A Gather sets a variable to an entry of an integer buffer plus an index: an
// indirect subscript. Where the variable may be outside the table, see
// Access.Gathered.
type Gather struct {
	To   *Var
	From Access
	Plus Index
}

// An Accumulate updates a scalar: it adds, or with Max takes the larger (NaN
// wins), or with Set, in the fused arithmetic, becomes Val, a sum that starts
// from the scalar itself.
type Accumulate struct {
	To  *Local
	Max bool
	Set bool
	Val Expr
}

// A Store writes an entry or adds to it. Several values are added one after
// another. A store at a gathered index out of range is dropped.
type Store struct {
	To   Access
	Add  bool
	Vals []Expr
}

// A Zero fills a buffer with zeros.
type Zero struct{ Buf *Buffer }

// A Narrow makes an operand: Buf has from here on the entries that Buf.NarrowOf has now. It is that
// buffer itself, or a copy in bfloat16 where the caller of the kernel gives memory for it.
type Narrow struct{ Buf *Buffer }

// A Note lists the equations that the following nodes compute.
type Note struct {
	Eqs  []string
	Text string
}

// A Gemm is C[m,n] = Coef·Σ_k A[m,k]·B[k,n], or += when Add is set. Each entry
// is one sum over k in order, from zero, multiplied by Coef at its end.
type Gemm struct {
	M, N, K shape.Poly
	C, A, B Matrix
	Coef    float64
	Add     bool
}

// A TriSolve solves a triangular system in place, for N columns of X at once:
//
//	X[t, j] −= Σ_{i<t} A[t, i]·X[i, j]    for t = 0 … M−1
//
// or with Down from the last row to the first, over i > t. Each entry is one
// sum over i, from its old value, in the order in which rows are done.
type TriSolve struct {
	M, N shape.Poly
	X, A Matrix
	Down bool
}

// A Matrix is a two-dimensional part of a buffer: its first entry and the
// distances between rows and columns.
type Matrix struct {
	At       Access
	Row, Col shape.Poly
}

func (*Loop) node()       {}
func (*If) node()         {}
func (*Let) node()        {}
func (*Gather) node()     {}
func (*Accumulate) node() {}
func (*Store) node()      {}
func (*Zero) node()       {}
func (*Note) node()       {}
func (*Narrow) node()     {}
func (*Gemm) node()       {}

func (*TriSolve) node() {}
