package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gokernel"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A stage is a kernel pair as a node of the tape. Its forward fills one struct,
// the kernel's call, which the node keeps: so the cache of the backward is
// typed, and nothing is translated. The backward fills its own call from that
// one, from the adjoints of what the stage gave, and adds what it computes to
// the adjoints of what the stage read. Both calls lie in the node, and the node
// in a slot of the arena; so do results and what is saved. Workspace is scratch,
// given back when the kernel has run. A call allocates nothing.

// A stageEmitter prints one kernel pair of a unit.
type stageEmitter struct {
	u        *abi.Unit
	file     *jen.File
	fused    *jen.File // of the fused arithmetic
	recv     string    // type that the forward is a method of, or "" for a function
	fn       string    // name of the forward
	node     string    // type of the node
	kind     string    // constant of the node's kind
	fwd, bwd *plan.Kernel
	needs    map[string][]string // abi.Pair.Needs
	fn2      *gokernel.Names     // of fwd
	bn       *gokernel.Names     // of bwd
	sizeOf   func(size string) string
	start    bool // gives the first values of states: they are its outputs
	frozen   bool // writes no state
	checked  bool // its caller has compared all lengths
}

// A reading is a buffer of the forward that comes from a tape value.
type reading struct {
	buf   *plan.Buffer
	field string // node field of the value
	expr  string // where the value comes from
}

// field is the name of a value's field. W and w have one spelling with a
// capital; then each keeps its own first letter.
func (s *stageEmitter) field(name string) string {
	id := gotext.Identifier(name, true)
	if slices.ContainsFunc(s.fwd.Params, func(b *plan.Buffer) bool { return b.Of != name && gotext.Identifier(b.Of, true) == id }) {
		id = gotext.Identifier(name, false)
	}
	return "v" + id
}

// weight, input and state find what a parameter of the program is.
func (s *stageEmitter) weight(name string) bool {
	return slices.ContainsFunc(s.u.Weights, func(w abi.Weight) bool { return w.Name == name })
}

func (s *stageEmitter) state(name string) int {
	if s.start {
		return -1
	}
	return slices.IndexFunc(s.u.States, func(x abi.State) bool { return x.Name == name })
}

func (s *stageEmitter) constant(name string) bool {
	return slices.ContainsFunc(s.u.Consts, func(v abi.Value) bool { return v.Name == name })
}

// inputs are the forward's tape values and index inputs that are neither
// learned, nor states, nor constants, in the order of the program.
func (s *stageEmitter) inputs() []*plan.Buffer {
	var out []*plan.Buffer
	for _, b := range s.fwd.Params {
		if b.Role == plan.Read && !s.weight(b.Of) && s.state(b.Of) < 0 && !s.constant(b.Of) && !b.Position {
			out = append(out, b)
		}
	}
	return out
}

// values are all forward parameters that are values of the tape.
func (s *stageEmitter) values() []reading {
	var out []reading
	for _, b := range s.fwd.Params {
		switch {
		case b.Role != plan.Read || b.Elem != ir.Real || s.constant(b.Of) || s.state(b.Of) >= 0:
		case s.weight(b.Of):
			out = append(out, reading{b, s.field(b.Of), fmt.Sprintf("w.Value(%q)", b.Of)})
		default:
			out = append(out, reading{b, s.field(b.Of), argName(b.Of)})
		}
	}
	return out
}

// argName is the Go name of an input argument.
func argName(name string) string {
	n := gotext.Identifier(name, false)
	if reservedArg[n] {
		n += "In"
	}
	return n
}

var reservedArg = map[string]bool{"c": true, "w": true, "m": true, "n": true, "k": true, "r": true, "p": true, "z": true, "t": true,
	"b": true, "block": true, "tape": true, "num": true, "kern": true, "context": true, "tensor": true, "math": true, "func": true, "type": true, "range": true, "next": false}

// outputs are the forward's results that the stage gives: not saved values,
// not states.
func (s *stageEmitter) outputs() []*plan.Buffer {
	var out []*plan.Buffer
	for _, b := range s.fwd.Params {
		if b.Role == plan.Write && s.state(b.Of) < 0 && s.returns(b.Of) {
			out = append(out, b)
		}
	}
	return out
}

// returns reports whether a result is an output: of a function what its caller reads, and
// otherwise what has an adjoint.
func (s *stageEmitter) returns(result string) bool {
	if s.u.Kind == abi.FunctionUnit {
		return slices.ContainsFunc(s.u.Results, func(v abi.Value) bool { return v.Name == result })
	}
	return s.bwd == nil || s.adjoint(result) != nil
}

// adjoint is the backward's parameter for the adjoint of a result, or nil.
func (s *stageEmitter) adjoint(result string) *plan.Buffer {
	if s.bwd == nil {
		return nil
	}
	return s.bwd.AdjointParam(result)
}

// emit prints kernels, node, forward and backward.
func (s *stageEmitter) emit() {
	s.fn2 = gokernel.Print(s.file, s.fwd, s.fwd.Name)
	gokernel.PrintFused(s.fused, s.fwd, s.fn2)
	if s.bwd != nil {
		s.bn = gokernel.Print(s.file, s.bwd, s.bwd.Name)
		gokernel.PrintFused(s.fused, s.bwd, s.bn)
	}
	s.nodeType()
	s.forward()
	if s.bwd != nil {
		s.backward()
	}
}

func (s *stageEmitter) nodeType() {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is one call of %s on the tape.\ntype %s[F num.Float] struct {\n\tcall %s[F]\n", s.node, s.fwd.Name, s.node, s.fn2.Type)
	if s.bwd != nil {
		fmt.Fprintf(&b, "\tback %s[F]\n", s.bn.Type)
	}
	var names []string
	for _, v := range s.values() {
		names = append(names, v.field)
	}
	for _, o := range s.outputs() {
		names = append(names, "out"+gotext.Identifier(o.Of, true))
	}
	for _, buf := range s.fwd.Params {
		names = append(names, strings.Fields(s.from(buf)+" "+s.next(buf))...)
	}
	if len(names) > 0 {
		fmt.Fprintf(&b, "\t%s tape.Value[F]\n", strings.Join(names, ", "))
	}
	b.WriteString("}\n")
	s.file.Add(gotext.Code(b.String()))
}

// from is the field of a state's value before the call, whose adjoint the backward
// computes, and next that after the call, whose adjoint it reads; "" where it does not.
func (s *stageEmitter) from(buf *plan.Buffer) string {
	if s.bwd == nil || buf.Role != plan.Read || s.state(buf.Of) < 0 || s.bwd.AdjointResult(buf.Of) == nil {
		return ""
	}
	return "from" + gotext.Identifier(buf.Of, true)
}

func (s *stageEmitter) next(buf *plan.Buffer) string {
	if s.bwd == nil || buf.Role != plan.Write || s.state(buf.Of) < 0 || s.adjoint(buf.Of) == nil {
		return ""
	}
	return "next" + gotext.Identifier(buf.Of, true)
}

// starts reports whether the stage reads states whose first values are learned.
// A frozen read begins all of them.
func (s *stageEmitter) starts() bool {
	if s.recv == "" {
		return false
	}
	for _, st := range s.u.States {
		if st.Starts && (s.frozen || s.fwd.Param(st.Name) != nil) {
			return true
		}
	}
	return false
}
