// Package interp is the reference interpreter of tensor programs, in float64.
//
// Every gradient, claim, marker and emitted kernel is compared with its numbers, so it
// does no optimisation that changes a result: each instruction is its own loop nest over
// its iteration space, in the order of the loops; sums run left to right, and no
// instruction is fused with another. The body of a scan is laid out once and run for
// every token, and the innermost loop of a nest has constant strides, so that long
// trajectories are affordable.
//
// A gather outside its table reads zero, and its scatter is dropped. The emitted wrappers
// refuse such input, except for the ignore id, for which this is the definition.
package interp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Tensor is a dense array in row-major order; integers and truth values are
// stored as float64 too.
type Tensor struct {
	Shape []int
	Data  []float64
}

// NewTensor returns a zero tensor.
func NewTensor(shape ...int) *Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return &Tensor{shape, make([]float64, n)}
}

// Clone returns a copy of t.
func (t *Tensor) Clone() *Tensor {
	return &Tensor{t.Shape, append([]float64(nil), t.Data...)}
}

// Run evaluates f for the given sizes and parameters, by name, and returns its
// results by name. It panics when a parameter is missing or has the wrong
// shape: its callers are the compiler's own tests.
func Run(f *ir.Func, sizes map[string]int, params map[string]*Tensor) map[string]*Tensor {
	return Compile(f).Run(sizes, params)
}

// A Program is a compiled program. Runs with the sizes of the run before reuse
// its buffers, so a Program belongs to one goroutine.
type Program struct {
	Float32 bool                    // round every number to float32, as float32 hardware does
	Narrow  func(x float64) float64 // what ir.Narrow does to a number; nil: nothing
	// The observers are set before the first run.
	ObserveRoot  RootObserver
	Comparisons  *Comparisons
	ObserveInstr InstrObserver

	f      *ir.Func
	sizes  map[string]int
	single bool
	m      *machine
}

// A RootObserver receives each root search at one point: the residual as a function of
// the unknown, the range, and the root, NaN where there is none.
type RootObserver func(in *ir.Instr, residual func(x float64) float64, lo, hi, root float64)

// An InstrObserver receives each instruction and its output in the order of execution,
// those of a scan's body once a token. It does not see the residuals of root searches.
type InstrObserver func(in *ir.Instr, out *Tensor)

// Compile prepares f, which must not change afterwards.
func Compile(f *ir.Func) *Program { return &Program{f: f} }

// Run evaluates the program like the function Run.
func (p *Program) Run(sizes map[string]int, params map[string]*Tensor) map[string]*Tensor {
	if p.m == nil || p.single != p.Float32 || !maps.Equal(p.sizes, sizes) {
		p.sizes, p.single = maps.Clone(sizes), p.Float32
		p.m = layOut(p.f, p.sizes, p.single, observers{p.ObserveRoot, p.Comparisons, p.ObserveInstr})
	}
	p.m.narrow = p.Narrow
	for _, v := range p.f.Params {
		given, t := params[v.Name], p.m.vals[v]
		if given == nil {
			panic(fmt.Sprintf("interp: BUG: parameter %s of %s is missing", v.Name, p.f.Name))
		}
		if !slices.Equal(given.Shape, t.Shape) {
			panic(fmt.Sprintf("interp: BUG: parameter %s of %s has shape %v, want %v", v.Name, p.f.Name, given.Shape, t.Shape))
		}
		t.Data = given.Data
		if p.single {
			t.Data = slices.Clone(given.Data)
			for i, x := range t.Data {
				t.Data[i] = r32(x)
			}
		}
	}
	p.m.run()
	out := map[string]*Tensor{}
	for _, r := range p.f.Results {
		out[r.Name] = p.m.vals[r.Val].Clone()
	}
	return out
}

// A machine is a program or the body of a scan, laid out for given sizes: a
// tensor for every value, and one function per instruction.
type machine struct {
	sizes  map[string]int
	single bool
	narrow func(x float64) float64
	observers
	vals  map[*ir.Value]*Tensor
	scans map[*ir.Instr]*recurrence
	code  []func()
}

// observers are the hooks of a program, each nil where it has none.
type observers struct {
	onRoot      RootObserver
	comparisons *Comparisons
	onInstr     InstrObserver
}

// layOut allocates a tensor for every value and compiles every instruction to a closure.
func layOut(f *ir.Func, sizes map[string]int, single bool, o observers) *machine {
	m := &machine{sizes: sizes, single: single, observers: o, vals: map[*ir.Value]*Tensor{}, scans: map[*ir.Instr]*recurrence{}}
	for _, p := range f.Params {
		m.vals[p] = &Tensor{Shape: m.shape(p.Axes)} // its data come with every run
	}
	replayed := f.Replayed()
	for _, in := range f.Body {
		if in.Scan != nil {
			m.code = append(m.code, m.scan(in, len(replayed[in]) > 0).run)
			continue
		}
		m.vals[in.Out] = NewTensor(m.shape(in.Out.Axes)...)
		m.code = append(m.code, m.instr(in))
		if m.onInstr != nil {
			m.code = append(m.code, func() { m.onInstr(in, m.vals[in.Out]) })
		}
	}
	return m
}

func (m *machine) run() {
	for _, f := range m.code {
		f()
	}
}

// Shape returns the sizes of axes for the given free sizes.
func Shape(axes []*ir.Axis, sizes map[string]int) []int {
	return (&machine{sizes: sizes}).shape(axes)
}

func (m *machine) shape(axes []*ir.Axis) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = m.size(a.Size)
	}
	return out
}

func (m *machine) size(p shape.Poly) int {
	n, err := p.Eval(m.sizes)
	if err != nil {
		panic("interp: BUG: " + err.Error())
	}
	return n
}
