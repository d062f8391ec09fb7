// Package abi is the contract of a compiled unit: what a caller sees of it. A unit has
// sizes, parameters, context memory, inputs and results, and stages, each a pair of
// kernels of package plan. The compiler fills a Unit, and the emitters print it.
package abi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A UnitKind says how a unit is called; the zero value is invalid.
type UnitKind int

const (
	_            UnitKind = iota
	OpUnit                // a typed operation of the tape
	RuleUnit              // a block with memory and a frozen read
	ComposeUnit           // a block of stages and parts
	ModelUnit             // ids in, loss and logits out
	UpdateUnit            // one parameter, its gradient and its slots
	FunctionUnit          // what the front of a rule computes from inputs and parameters, for the rule's own kernels
)

// A Unit is one unit of a page as the emitters see it: kernels, and what their
// buffers are to a caller.
type Unit struct {
	Kind      UnitKind
	Name      string // as the page writes it
	ID        string // stable id
	Page      string // path of the page under the root of the module
	Home      Home
	Header    []Field
	Equations []Equation
	Sizes     []Size
	Weights   []Weight
	States    []State
	Inputs    []Value
	Consts    []Value
	Stages    []Stage
	Parts     []Part
	Outputs   []string
	Results   []Value  // of a function: what it computes for its caller
	Matrix    []string // update of matrices: the sizes of its rows and columns
	Entrywise bool     // update: each entry of a parameter is updated by itself
	Else      *Other   // and what moves the parameters that are none
	Cut       []string // in what ways results depend on how tokens are cut into calls
	Hash      string   // of its programs: it changes with every equation, and with no word of prose
	Schedule  bool     // a composition that is used as a rule
	Chunk     int      // tokens of a chunk where the unit is computed in chunks, else 0
}

// A Home is where the package of a unit is: in a folder of its own under the
// folder of the generated code, or, emitted alone, in just the folder.
type Home struct {
	Path    string // import path of the folder
	Folder  string // under the root of the module, such as generated
	Package string // of a unit that is emitted alone: the name of its package
}

// Import is the import path of a package in the folder, given its path under the root
// of the module.
func (h Home) Import(dir string) string { return h.Path + strings.TrimPrefix(dir, h.Folder) }

// Shaped gives the sizes of a parameter, rows r and columns c, the names that
// an update of matrices has for them.
func (u *Unit) Shaped(sizes map[string]int) map[string]int {
	out := map[string]int{}
	for name, n := range sizes {
		if i := strings.Index("rc", name); i >= 0 && len(u.Matrix) == 2 {
			name = u.Matrix[i]
		}
		out[name] = n
	}
	return out
}

// FileOf is the file of an update's stage i in its package: the second stage is
// for tall matrices.
func (u *Unit) FileOf(i int, pkg string) string {
	if i == 0 {
		return pkg
	}
	return pkg + "_tall"
}

// Kernels lists the kernels of a unit in order.
func (u *Unit) Kernels() []*plan.Kernel {
	var out []*plan.Kernel
	for _, s := range u.Stages {
		for _, p := range []Pair{s.Pair, s.Frozen, s.Start} {
			for _, k := range []*plan.Kernel{p.Fwd, p.Bwd} {
				if k != nil {
					out = append(out, k)
				}
			}
		}
	}
	return out
}

// A Field is one field of the page's contract header.
type Field struct{ Name, Text string }

// An Equation is a line of the page with its stable id.
type Equation struct{ ID, Text, Cite string }

// A Size is a free size of a unit, or one that others make.
type Size struct {
	Name    string
	Value   shape.Poly // the size itself when free
	Free    bool
	Default int      // −1: must be given
	Least   int      // smallest value that makes sense
	Counts  string   // the list of parts that it counts
	Product []string // of d = H × d_h: the factors
}

// A Weight is a learned parameter.
type Weight struct {
	Name    string
	Dims    []shape.Poly
	NoDecay bool
	Entries bool // its rows are not those of a map: updates of matrices leave it alone
	Fixed   bool // no gradient, and no update moves it
	Init    Init
}

// An InitKind says how a parameter begins; the zero value is invalid.
type InitKind int

const (
	_       InitKind = iota
	Fixed0           // every entry A
	Levels           // every entry the number of its level
	Uniform          // uniform in [A, B)
	Normal           // normal with mean A and deviation B
)

// An Init is the first value of a parameter; A and B may depend on sizes.
type Init struct {
	Kind   InitKind
	A, B   SizeExpr
	Levels []float64
	Stream string // of one that is drawn from a seed of its own: its name on the page
	Seed   uint64
}

// A SizeExpr is a number that depends on sizes, as a small tree. Op is one of
// "num", "size", "add", "sub", "mul", "div", "neg", "sqrt".
type SizeExpr struct {
	Op   string
	Num  float64
	Size shape.Poly
	Args []SizeExpr
}

// A State is a tensor of the context memory; Starts says that its first value
// is computed from learned parameters.
type State struct {
	Name   string
	Dims   []shape.Poly // of one slot
	Starts bool
	Rows   RowSet  // the set that its rows stay in
	Domain *Domain // the range that its entries stay in, or nil
	Tail   bool    // what a window looks back at
}

// RowSet is a set of rows that a state may be declared to stay in.
type RowSet int

// The sets of rows.
const (
	AnyRows RowSet = iota
	UnitRows
	Distributions
)

// A Value is an input or a constant of a call.
type Value struct {
	Name       string
	Elem       ir.Elem
	Dims       []shape.Poly // without the batch axis
	Lo, Hi     shape.Poly   // Int: the first and last index
	Extra      []int        // Int: further allowed values
	Setting    float64      // option of an update: the default
	Domain     *Domain      // and where it may lie; nil: anywhere
	HasSetting bool
	HasRange   bool
}

// A Domain is a range of numbers; an infinite end is no bound.
type Domain struct {
	Lo, Hi         float64
	LoOpen, HiOpen bool
	Whole          bool   // whole numbers only
	Text           string // as the page has it
}

// An Other is the update of entries that follows an update of matrices, with the
// settings that the page changes.
type Other struct {
	Unit     string
	Settings []Setting
}

// A Setting is an option of an update with a value.
type Setting struct {
	Name  string
	Value float64
}

// A Stage is one kernel pair, or the call of a part.
type Stage struct {
	Name string // of the stage: what it makes
	Pair
	Frozen Pair // rules: the read
	Start  Pair // rules: the first states, when they are learned
	Part   string
	Call   PartCall
	Apart  bool // the part reads its memory and writes nothing, whatever the caller does
	Arg    string
	Out    string
	Gate   string // of Opens: 1 where a level is open
	Eq     string // the equation that is the call
}

// PartCall is what a stage does with a part or a list of parts; the zero value is no
// call.
type PartCall int

// The calls.
const (
	NoCall PartCall = iota
	OnePart
	EachPart      // every part of a list with the same value
	ChainParts    // one part of a list after the other
	ResidualChain // the same, with the input of each part added to its result
	OpensLevels   // says which parts of a list keep what they wrote
)

// A Pair is a forward and its backward; Bwd is nil where nothing has a
// gradient. Needs has, for each value that Bwd returns an adjoint of, the results of Fwd
// whose adjoints it depends on: without one of those it has no gradient. Function computes
// the inputs of Fwd that are none of the unit's own; it is nil where there are none.
type Pair struct {
	Fwd, Bwd *plan.Kernel
	Needs    map[string][]string
	Function *Unit
}

// WithFunctions lists units, and before each the functions that it calls: everything that
// has kernels, each once.
func WithFunctions(units []*Unit) []*Unit {
	var out []*Unit
	for _, u := range units {
		for _, f := range u.Functions() {
			if !slices.ContainsFunc(out, func(g *Unit) bool { return g.Kind == FunctionUnit && g.Hash == f.Hash }) {
				out = append(out, f)
			}
		}
		out = append(out, u)
	}
	return out
}

// Functions lists the functions that the kernels of a unit call, each once.
func (u *Unit) Functions() []*Unit {
	var out []*Unit
	for _, s := range u.Stages {
		for _, p := range []Pair{s.Pair, s.Frozen} {
			if f := p.Function; f != nil && !slices.ContainsFunc(out, func(g *Unit) bool { return g.Hash == f.Hash }) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Operands are the values on the page that the unit's kernels and its functions may store in bfloat16, as
// operands of products, in the order of the equations.
func (u *Unit) Operands() (out []string) {
	for _, x := range append(u.Functions(), u) {
		for _, s := range x.Stages {
			for _, p := range []Pair{s.Pair, s.Frozen} {
				if p.Fwd == nil {
					continue
				}
				for _, b := range p.Fwd.Work {
					if b.Role == plan.Operand && !slices.Contains(out, b.Of) {
						out = append(out, b.Of)
					}
				}
			}
		}
	}
	return out
}

// Version tells the functions of one front apart.
func (u *Unit) Version() string { return fmt.Sprintf("v%.12s", u.Hash) }

// RowsApart reports whether a backward replays its states row by row, or has none.
func (p Pair) RowsApart() bool {
	apart, segments := false, false
	if p.Bwd != nil {
		plan.Walk(p.Bwd.Body, func(n plan.Node) {
			if l, ok := n.(*plan.Loop); ok {
				apart, segments = apart || l.Kind == plan.Row, segments || l.Kind == plan.Segment
			}
		})
	}
	return apart || !segments
}

// A Part is a place in a composition for another block, or for a list of them.
type Part struct {
	Name, Kind string
	Count      string // the size that counts the parts of a list; "": one part
	Levels     bool   // part l of the list is level l
	Gated      bool   // which a gate opens, not the pulse
	Periods    []int  // that the page proposes
	Site       bool   // it is called frozen beside its step
}

// Named reports whether a part's parameters, sizes and memories have its name in
// front. The one block of a model has none: attention.W_Q, not block.attention.W_Q.
func (u *Unit) Named(p Part) bool { return u.Kind != ModelUnit || p.Count != "" }

// PartOf is the place that a page of a formula has.
func (u *Unit) PartOf(a Applied) Part {
	for _, p := range u.Parts {
		if a.Part == p.Name || p.Count != "" && strings.HasPrefix(a.Part, p.Name+".") {
			return p
		}
	}
	panic("abi: BUG: " + u.Name + " has no part " + a.Part)
}

// Collects reports whether an update does not read what it changes: it makes
// something of gradients and moves nothing.
func (u *Unit) Collects() bool {
	k := u.Stages[0].Fwd
	for _, b := range k.Params {
		if b.Role == plan.Write && k.Result(b.Of) == b && !slices.ContainsFunc(u.States, func(s State) bool { return s.Name == b.Of }) {
			return k.Param(b.Of) == nil || k.Param(b.Of).Role != plan.Read
		}
	}
	return false
}

// An Applied is a unit in a formula, with its parts and the sizes it sets.
type Applied struct {
	Unit  string
	Part  string
	Sizes map[string]int
	Parts []Applied
}

// Names are the names of the units of a formula, in order.
func (a Applied) Names() []string {
	out := []string{a.Unit}
	for _, p := range a.Parts {
		out = append(out, p.Names()...)
	}
	return out
}

// Alone reports whether the unit is emitted alone, and no registry knows it.
func (u *Unit) Alone() bool { return u.Home.Package != "" }
