// Package tape records what a forward did, so that its adjoints can be computed backwards.
//
// A tape is a list of nodes. A generated operation computes its output into
// the arena and pushes one node that keeps what its backward needs in typed
// fields. Without a tape the node is a slot that nobody reads; nothing else
// differs between a recorded and an unrecorded forward:
//
//	func Tanh[F num.Float](r *tape.Run[F], x tape.Value[F]) tape.Value[F] {
//		y := r.Arena.Alloc(len(x.Data))
//		kern.Tanh(y, r.Arena.Data(x))
//		n := tape.Push[F, tanhNode[F]](r, kindTanh)
//		n.x, n.out = x, r.Output(y)
//		return n.out
//	}
//
//	func (n *tanhNode[F]) Backward(t *tape.Tape[F]) {
//		if dy, dx := t.Adjoint(n.out), t.Grad(n.x); dy != nil && dx != nil {
//			kern.TanhAdjoint(dx, n.out.Data, dy) // dx += …
//		}
//	}
//
// Whole blocks, such as a rule over a chunk, are nodes as well: any struct with
// Backward is one.
//
// Backwards, nodes run in reverse order and add into the adjoints of their
// inputs. There is no way to set an adjoint: a value used twice sums both.
//
// All of it lives in an Arena, which is emptied for each chunk and grows to the
// most that one has needed: a step whose shapes have been seen allocates
// nothing. An arena and its tape are used by one goroutine at a time; see
// Arena.
package tape

import (
	"errors"
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
)

// Panic messages for misuse by the caller.
const (
	BadLength      = "tape: negative length"
	Closed         = "tape: used after its scope ended"
	DuplicateParam = "tape: parameter registered twice; use its Value again"
	ForeignValue   = "tape: value of another arena or of a scope that ended"
	KindTaken      = "tape: node kind belongs to another node type"
	Nested         = "tape: the arena already has an open scope"
	NoKinds        = "tape: too many node types"
	NotRecorded    = "tape: value was not recorded"
	NotReversed    = "tape: gradients are read after Backward"
	NotScalar      = "tape: a loss has one element"
	Overwritten    = "tape: a recorded value was changed in place"
	Reversed       = "tape: already run backwards"
	Updated        = "tape: parameters were updated between a forward and its backward"
	SeedLength     = "tape: seed and value differ in length"
)

// ErrLoss says that the loss is NaN or infinite, so no gradient exists.
var ErrLoss = errors.New("tape: loss is not finite")

// A Value is a tensor's elements, the scope in which they were computed and, if
// a tape recorded them, their place there. Data is read-only once recorded.
//
//hecate:value
type Value[F num.Float] struct {
	//hecate:readonly
	Data []F
	id   int32  // 0: not recorded
	gen  uint32 // of the arena; 0: the caller's own memory
}

// Const returns a value that no tape records; nothing flows back into it.
func Const[F num.Float](data []F) Value[F] { return Value[F]{Data: data} }

// Recorded reports whether a gradient can flow back into v.
func (v Value[F]) Recorded() bool { return v.id != 0 }

// A Node is one recorded operation. Backward reads the adjoint of its output
// and adds to the adjoints of its inputs.
type Node[F num.Float] interface{ Backward(t *Tape[F]) }

// A Tape is the record of one scope. A Run without one records nothing.
//
//hecate:noescape
//hecate:nozero
type Tape[F num.Float] struct {
	arena    *Arena[F]
	nodes    []Node[F]
	adjoints [][]F       // by id; 0 is no value, nil is nothing added yet
	tables   []table     // that the scope reads in place
	sealed   []seal[F]   // by id, under Arena.Debug
	traced   []traced[F] // by id, under Arena.Trace
	fault    Fault
	params   []param
	into     [][]F // by id: where a gradient is to be written, see Into
	adjoint  pool[F]
	profile  *Profile // nil: nothing is measured
	gen      uint32

	recording bool // in its scope, and not yet reversed
	reversed  bool
	debug     bool
	trace     bool
}

// A seal is what a recorded value was, to see that it still is.
type seal[F num.Float] struct {
	data []F
	sum  uint64
}

type param struct {
	name string
	id   int32
}

// seal remembers what a value is, by id.
func (t *Tape[F]) seal(data []F) {
	t.sealed = append(t.sealed, seal[F]{data, checksum(data)})
}

// Grad returns the adjoint of v to add into, with one element per element of
// v; zero when first asked for. It returns nil for a value that was not
// recorded: no gradient is wanted. It panics with ForeignValue if v belongs to
// another tape or an earlier scope.
func (t *Tape[F]) Grad(v Value[F]) []F {
	if v.id == 0 {
		return nil
	}
	if v.gen != t.gen {
		panic(ForeignValue)
	}
	g := t.adjoints[v.id]
	if g == nil {
		g = t.first(v, len(v.Data))
		device.Clear(g)
		t.adjoints[v.id] = g
	}
	return g
}

// Adjoint returns the adjoint of v to read, or nil if nothing was added to it:
// then the loss does not depend on v and its node has nothing to do.
func (t *Tape[F]) Adjoint(v Value[F]) []F {
	if v.id == 0 {
		return nil
	}
	if v.gen != t.gen {
		panic(ForeignValue)
	}
	return t.adjoints[v.id]
}

// Part returns n elements, contents unspecified, for what the running node adds to the
// adjoint of v. The node writes every one and passes them to Contribute once.
func (t *Tape[F]) Part(v Value[F], n int) []F {
	if v.id == 0 || t.Adjoint(v) != nil {
		return t.Scratch(n)
	}
	return t.first(v, n)
}

// first returns n elements that may become the adjoint of v.
func (t *Tape[F]) first(v Value[F], n int) []F {
	own := t.adjoint.take(n) // in any case, so that what a scope takes follows from its shapes
	if dst := t.into[v.id]; dst != nil && len(dst) == n {
		t.into[v.id] = nil // a node may ask twice before it contributes
		return dst
	}
	return own
}

// Into sets the destinations of gradients, before Reverse: dst returns as many elements as the k-th parameter
// has, in the order of registration, or nil; a slice of another length is not used. What was there is
// overwritten. The gradient that Params returns is there or elsewhere.
func (t *Tape[F]) Into(dst func(k int) []F) {
	for k, p := range t.params {
		t.into[p.id] = dst(k)
	}
}

// Contribute adds to the adjoint of v what the running node wrote into its Part for v:
// the first part of an adjoint becomes the adjoint.
func (t *Tape[F]) Contribute(v Value[F], part []F) {
	g := t.Adjoint(v)
	switch {
	case v.id == 0:
	case g == nil:
		t.adjoints[v.id] = part[:len(v.Data)]
	default:
		device.Add(g, part)
	}
}

// Scratch returns n elements at a cache line, contents unspecified, that live
// until the running node's Backward returns.
func (t *Tape[F]) Scratch(n int) []F { return t.arena.scratch.take(n) }

// Operands is Arena.Operands for the running node.
func (t *Tape[F]) Operands(n int) []F { return t.arena.Operands(n) }

// Ints is Scratch of integers.
func (t *Tape[F]) Ints(n int) []int32 { return t.arena.ints.take(n) }

// Flags is Scratch of truth values.
func (t *Tape[F]) Flags(n int) []bool { return t.arena.flags.take(n) }

// Seed adds grad to the adjoint of v, before Reverse: the gradient of
// something outside the tape by v.
func (t *Tape[F]) Seed(v Value[F], grad []F) {
	dst := t.Grad(v)
	switch {
	case v.id == 0:
		panic(NotRecorded)
	case len(dst) != len(grad):
		panic(SeedLength)
	}
	if device.Of(dst) != nil {
		own := t.Scratch(len(grad))
		device.Copy(own, grad)
		grad = own
	}
	device.Add(dst, grad)
}

// Backward seeds the loss, one element, with 1 and runs the tape backwards. It
// returns ErrLoss, and does nothing, if the loss is not finite.
func (t *Tape[F]) Backward(loss Value[F]) error {
	if len(loss.Data) != 1 {
		panic(NotScalar)
	}
	if x := device.Host(loss.Data)[0]; !num.IsFinite(x) {
		return fmt.Errorf("%w: %v", ErrLoss, x)
	}
	if loss.id == 0 {
		panic(NotRecorded)
	}
	t.Seed(loss, t.arena.Scalar(1))
	t.Reverse()
	return nil
}

// Reverse runs the tape backwards from the adjoints that were seeded. A tape
// runs backwards once.
func (t *Tape[F]) Reverse() {
	if !t.recording {
		t.refuse()
	}
	t.reversed, t.recording = true, false
	for _, x := range t.tables {
		if x.of.Version() != x.version {
			panic(Updated)
		}
	}
	if t.debug {
		t.verify()
	}
	if t.profile != nil {
		t.profile.end()
	}
	a := t.arena
	mark, used := a.Mark(), a.workspace()
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if t.profile != nil {
			reverse(t.profile, t, i)
		} else {
			t.nodes[i].Backward(t)
		}
		if t.trace {
			t.watch(t.nodes[i])
		}
		if a.workspace() != used {
			a.Release(mark)
		}
	}
}

// start opens the tape for a new scope.
func (t *Tape[F]) start(a *Arena[F]) {
	t.arena, t.gen, t.debug, t.trace = a, a.gen, a.Debug, a.Trace
	t.recording, t.reversed = true, false
	t.nodes = t.nodes[:0]
	t.adjoints, t.into = append(t.adjoints[:0], nil), append(t.into[:0], nil) // id 0 is no value
	t.sealed, t.traced, t.fault = t.sealed[:0], t.traced[:0], Fault{}
	t.params, t.tables = t.params[:0], t.tables[:0]
	if t.profile = a.Profile; t.profile != nil {
		t.profile.begin()
	}
}

// A Versioned counts the changes of its data.
type Versioned interface{ Version() uint64 }

type table struct {
	of      Versioned
	version uint64
}

// verify panics if a recorded value is no longer what it was.
func (t *Tape[F]) verify() {
	for _, s := range t.sealed {
		if s.sum != checksum(s.data) {
			panic(Overwritten)
		}
	}
}

// checksum is FNV-1a over the bits of the elements.
func checksum[F num.Float](data []F) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, x := range data {
		h = (h ^ math.Float64bits(float64(x))) * 0x100000001b3
	}
	return h
}

// GradOf returns the gradient of v after Backward, nil if the loss does not
// depend on it. It lives in the arena: copy it to keep it.
func (t *Tape[F]) GradOf(v Value[F]) []F {
	if !t.reversed {
		panic(NotReversed)
	}
	return t.Adjoint(v)
}

// Params calls f for every parameter in the order of registration, after
// Backward, with its gradient or nil if the loss does not depend on it.
func (t *Tape[F]) Params(f func(name string, grad []F)) {
	if !t.reversed {
		panic(NotReversed)
	}
	for _, p := range t.params {
		f(p.name, t.adjoints[p.id])
	}
}
