// Package emitcuda prints plans as CUDA C++.
//
// A kernel of a plan becomes one file: a head that says what is computed, and
// __global__ functions, which are launched in order. Each loop nest of the kernel's
// body becomes a function in one of four forms:
//
//   - Where no iteration touches what another one writes (package dependence), each
//     thread has its own iterations and runs what is inside them in the plan's
//     order (grid.go). A loop that sums into one entry is inside the thread, and
//     the sum in a register (register_sum.go). Nests over the same points, of which a
//     thread reads only what it has written itself, are fused.
//   - A matrix product is cut into tiles, one entry a thread, one chain of sums
//     over k for each entry (matrix.go).
//   - A recurrence whose rows are independent runs one row a thread, a
//     block of rows a block; what rows add together is laid side by side in
//     shared memory and added in row order, and what blocks add together is
//     added in block order by a launch of its own (row_recurrence.go, tile.go).
//   - Any other recurrence is one block for each batch, and what is outside
//     of loops is one block: all threads compute the same scalars, loops are
//     spread over them, and there is a barrier wherever one reads what another
//     wrote (block_phases.go).
//
// Functions that do not depend on each other are one launch (schedule.go), and buffers that
// begin as zeros are cleared where they are first used (zeros.go).
//
// There are no atomic operations and every order is fixed, so the same text on
// the same device gives the same bits. It need not be the bits of another
// target: a device may fuse a product with the sum that it enters, and a sum
// over a block, or over blocks, has an order of its own.
//
// The sizes of a model are constants of the text, with the values that the macro
// HECATE_SIZES gives them or, without it, default values; batches and tokens are int
// parameters. Whether operands of products are in bfloat16 is one more constant
// (narrow.go). One text serves all sizes: what follows from them, how many blocks
// there are and which arrays are in shared memory, is constexpr in the text and a
// formula in the manifest. A size is below 2³¹; a buffer may be longer.
package emitcuda

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// About is what the head of a file says beside the kernel itself.
type About struct {
	Unit, Page string
	Equations  []abi.Equation
}

// A Text is a printed kernel and what a caller needs to run it: launches in
// order, each after the end of the one before.
type Text struct {
	Name     string // the functions' names begin with it
	Kernel   *plan.Kernel
	Code     string
	Defaults map[string]int // of the sizes that are constants of the text
	Buffers  []Buffer       // parameters of the kernel, then its workspace
	Launches []*Launch
	names    map[string]string // of sizes, in the text
	ceils    []plan.Ceil       // sizes that are quotients rounded up, of the plan and of the text
}

// A Buffer is memory on the device. Workspace holds nothing at first.
type Buffer struct {
	Name string // in the text
	Elem ir.Elem
	Len  shape.Poly
	Of   *plan.Buffer // nil for workspace that only the text has
}

// typeName is the type of its entries in the text.
func (b *Buffer) typeName() string {
	if isOperand(b.Of) {
		return operandType
	}
	return language.Types[b.Elem]
}

// nameOf is the name of a buffer in the text.
func (x *Text) nameOf(of *plan.Buffer) string {
	i := slices.IndexFunc(x.Buffers, func(b Buffer) bool { return b.Of == of })
	return x.Buffers[i].Name
}

// A Launch is one function with its shape. A grid without blocks is left out.
type Launch struct {
	Function  string
	Equations []string
	Mapping   string // of iterations to threads, in words
	Grid      []Grid // the blocks are those of all, one behind the other
	Threads   int    // of a block
	Static    int    // bytes of shared memory of arrays of fixed length
	Arrays    []Array
	Args      []Arg
}

// An Array of a block is in shared memory if it fits behind those before it, else in
// a workspace buffer.
type Array struct {
	Name    string
	Bytes   shape.Poly
	Scratch string // the buffer
}

// Room is the shared memory of a block for its arrays, in bytes: what all devices from
// compute capability 8.0 on give to a block that asks for it, rounded down, less what a
// sum over the block takes. hecate.cuh has the same number, and the same rule.
const Room = 96<<10 - 4*maxWarps

// Shared is the dynamic shared memory of a launch in bytes, and the arrays that do
// not fit into it. It panics where a size is missing.
func (l *Launch) Shared(sizes map[string]int) (bytes int, outside map[string]bool) {
	outside = map[string]bool{}
	for _, a := range l.Arrays {
		n, err := a.Bytes.Eval(sizes)
		if err != nil {
			panic("emitcuda: " + err.Error())
		}
		n = (n + 15) / 16 * 16
		if bytes+n > Room {
			outside[a.Scratch] = true
		} else {
			bytes += n
		}
	}
	return bytes, outside
}

// Blocks is the number of blocks at some sizes; 0 says that there is nothing to
// launch. It panics where a size is missing.
func (l *Launch) Blocks(sizes map[string]int) int {
	all := 0
	for _, g := range l.Grid {
		n := 1
		for _, f := range g {
			items, err := f.Items.Eval(sizes)
			if err != nil {
				panic("emitcuda: " + err.Error())
			}
			n *= (items + f.Per - 1) / f.Per
		}
		all += n
	}
	return all
}

// Open reports whether a size of a unit is an int parameter of its kernels:
// batches and tokens, and every size of what meets tensors of all shapes, the
// operations and updates. All others are sizes of the model, and constants.
func Open(u *abi.Unit, size string) bool {
	return u.Kind == abi.OpUnit || u.Kind == abi.UpdateUnit || size == "L" || size == "T"
}

// A Grid is a number of blocks: the product of the factors.
type Grid []Factor

// A Factor is ⌈Items/Per⌉.
type Factor struct {
	Items shape.Poly
	Per   int
}

// An Arg is a pointer to a buffer, or the size of a name of the plan.
type Arg struct {
	Name string // in the text
	Size string // of the plan, or "" for a buffer
}

// Kernel prints a kernel of a unit. Sizes in defaults become constants.
func Kernel(k *plan.Kernel, about About, defaults map[string]int) *Text {
	e := &emitter{about: about, defaults: defaults, ceils: slices.Clone(k.Ceils), scope: clike.NewScope(reserved), sizes: map[string]string{},
		bufs: map[*plan.Buffer]string{}, gathers: map[*plan.Local]bool{}, again: map[*plan.Local]*plan.Let{}, kept: map[*plan.Local]int{}}
	name := fileName(k.Name)
	if unit := fileName(about.Unit); name != unit && !strings.HasPrefix(name, unit+"_") {
		name = unit + "_" + name
	}
	e.text = &Text{Name: name, Kernel: k, Defaults: map[string]int{}, names: e.sizes}
	for _, s := range k.Sizes {
		e.sizes[s] = e.scope.Name(s)
		if n, ok := defaults[s]; ok {
			e.text.Defaults[s] = n
		}
	}
	for _, q := range e.ceils {
		e.sizes[q.Name] = e.scope.Name(q.Name)
	}
	e.k = k
	e.operands()
	e.written = plan.Written(k.Body)
	for _, b := range slices.Concat(k.Params, k.Work) {
		if b.Role != plan.View {
			e.bufs[b] = e.scope.Name(b.Name)
			e.text.Buffers = append(e.text.Buffers, Buffer{e.bufs[b], b.Elem, b.Len(), b})
		}
	}
	body := *k
	body.Body = pulled(k.Body)
	e.k = &body
	plan.Walk(body.Body, func(n plan.Node) {
		if a, ok := n.(*plan.Accumulate); ok {
			e.gathers[a.To] = true
		}
	})
	e.launches()
	e.text.ceils = e.ceils
	e.text.Code = e.file()
	return e.text
}

// An emitter prints one kernel.
type emitter struct {
	k         *plan.Kernel
	about     About
	defaults  map[string]int
	text      *Text
	scope     *clike.Scope
	sizes     map[string]string
	ceils     []plan.Ceil
	bufs      map[*plan.Buffer]string
	written   map[*plan.Buffer]bool
	gathers   map[*plan.Local]bool
	functions []*function // in the order of the plan
	parts     []string    // launches, in order
	again     map[*plan.Local]*plan.Let
	kept      map[*plan.Local]int
	keep      string // the buffer of scalars that a later launch reads
	noRoot    string // the buffer that says which searches failed
}

// addWork adds a workspace buffer of the text's own.
func (e *emitter) addWork(name string, elem ir.Elem, n shape.Poly) string {
	name = e.scope.Keep(name)
	e.text.Buffers = append(e.text.Buffers, Buffer{Name: name, Elem: elem, Len: n})
	return name
}

func (e *emitter) ceil(name string) *plan.Ceil {
	for i := range e.ceils {
		if e.ceils[i].Name == name {
			return &e.ceils[i]
		}
	}
	return nil
}

// quotient is ⌈num/den⌉ as a size of the text under a name.
func (e *emitter) quotient(name string, num shape.Poly, den int64) shape.Poly {
	if n, ok := num.Const(); ok {
		return shape.Int((n + den - 1) / den)
	}
	for _, q := range e.ceils {
		if q.Num.Equal(num) && q.Den.Equal(shape.Int(den)) {
			return shape.Sym(q.Name)
		}
	}
	id := e.scope.Keep(name)
	e.sizes[id] = id
	e.ceils = append(e.ceils, plan.Ceil{Name: id, Num: num, Den: shape.Int(den)})
	return shape.Sym(id)
}

// constant reports whether a size depends on sizes of the model only.
func (e *emitter) constant(p shape.Poly) bool {
	for _, s := range p.Symbols() {
		if q := e.ceil(s); q != nil {
			if !e.constant(q.Num) || !e.constant(q.Den) {
				return false
			}
		} else if _, ok := e.defaults[s]; !ok {
			return false
		}
	}
	return true
}

// Sizes adds to sizes those that are quotients of them.
func (x *Text) Sizes(free map[string]int) map[string]int { return plan.WithCeils(x.ceils, free) }

// Lengths are the entries of all buffers at some sizes: none of workspace for arrays
// that are in shared memory. It panics where a size is missing.
func (x *Text) Lengths(sizes map[string]int) map[string]int {
	unused := map[string]bool{}
	for _, l := range x.Launches {
		_, outside := l.Shared(sizes)
		for _, a := range l.Arrays {
			unused[a.Scratch] = !outside[a.Scratch]
		}
	}
	out := map[string]int{}
	for _, b := range x.Buffers {
		n, err := b.Len.Eval(sizes)
		if err != nil {
			panic("emitcuda: " + err.Error())
		}
		if !unused[b.Name] {
			out[b.Name] = n
		}
	}
	return out
}
