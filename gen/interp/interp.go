// Package interp evaluates tensor programs plainly in float64.
//
// It is the oracle of the compiler: every gradient, claim, marker and emitted
// kernel is held to its numbers. So it does little that is clever: each
// instruction is its own loop nest over its box, in the order of the loops;
// sums run left to right, and no instruction is merged with another. What a
// scan's body needs is laid out once and used for every token, and the
// innermost loop of a nest runs over plain strides, so that long trajectories
// stay cheap.
//
// A gather outside its table reads zero and its scatter is dropped; the
// emitted wrappers refuse such input before it comes so far, except for the
// ignore id, for which this is the meaning.
package interp

import (
	"fmt"
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
	Float32 bool  // round every number to float32, as a machine with nothing else would
	Solved  Watch // when set before the first run: sees every root that is looked for
	Ties    *Ties // when set before the first run: what is compared, and what counts as equal
	After   After // when set before the first run: sees what every instruction gives
	f       *ir.Func
	sizes   map[string]int
	single  bool
	m       *machine
}

// A Watch receives a solve at one point: the residual as a function of the
// unknown, the range, and what was found, which is NaN where nothing was.
type Watch func(in *ir.Instr, residual func(x float64) float64, lo, hi, root float64)

// An After receives an instruction and what it has just given, in the order in
// which a program computes; those of a scan's body once a token. The residuals of
// searches are left out.
type After func(in *ir.Instr, out *Tensor)

// Compile prepares f, which must not change afterwards.
func Compile(f *ir.Func) *Program { return &Program{f: f} }

// Run evaluates the program like the function Run.
func (p *Program) Run(sizes map[string]int, params map[string]*Tensor) map[string]*Tensor {
	if p.m == nil || p.single != p.Float32 || !same(p.sizes, sizes) {
		p.sizes, p.single = map[string]int{}, p.Float32
		for k, v := range sizes {
			p.sizes[k] = v
		}
		p.m = link(p.f, p.sizes, p.single, hooks{p.Solved, p.Ties, p.After})
	}
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
			t.Data = rounded(given.Data)
		}
	}
	p.m.run()
	out := map[string]*Tensor{}
	for _, r := range p.f.Results {
		out[r.Name] = p.m.vals[r.Val].Clone()
	}
	return out
}

func same(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(float32(v))
	}
	return out
}

// A machine is a program or the body of a scan, laid out for given sizes: a
// tensor for every value, and one function per instruction.
type machine struct {
	sizes  map[string]int
	single bool
	hooks
	vals  map[*ir.Value]*Tensor
	scans map[*ir.Instr]*recurrence
	code  []func()
}

// hooks are what watches a program, nil where nobody does.
type hooks struct {
	solved Watch
	ties   *Ties
	after  After
}

func link(f *ir.Func, sizes map[string]int, single bool, h hooks) *machine {
	m := &machine{sizes: sizes, single: single, hooks: h, vals: map[*ir.Value]*Tensor{}, scans: map[*ir.Instr]*recurrence{}}
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
		if m.after != nil {
			m.code = append(m.code, func() { m.after(in, m.vals[in.Out]) })
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
