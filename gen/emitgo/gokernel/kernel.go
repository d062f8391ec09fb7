// Package gokernel prints kernels as Go, in the portable and in the fused arithmetic.
//
// A kernel becomes a struct, one call of the kernel, with the methods
//
//	func (c *Delta[F]) WorkLen() int // entries of Work
//	func (c *Delta[F]) RowsLen() int // entries of Rows, when a recurrence has rows
//	func (c *Delta[F]) Run()
//
// Its fields are the sizes, a slice for each parameter and result, and the
// workspace. Run allocates nothing and checks nothing but what the language
// checks: the callers are generated too and have compared all shapes.
//
// Products are rounded by an explicit conversion, F(x*y), so that no compiler
// fuses them with a sum; rows of a recurrence run up to four at a time, with one
// at a time for the rest, which changes no bit.
package gokernel

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/loopopt"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// numPath is the package of portable arithmetic.
const numPath = "github.com/nl-hecate/hecate/runtime/num"

// devicePath is the package that knows where memory is.
const devicePath = "github.com/nl-hecate/hecate/runtime/device"

// RowBlock is the largest number of rows that run interleaved, and the number
// that the entries of Rows have room for.
const RowBlock = 4

// registers is the number of scalars that a loop can keep in registers on the
// machines that Go runs on most (amd64 has 15 for numbers), and temporaries
// what an expression needs beside them.
const (
	registers   = 15
	temporaries = 2
)

// rowsInFlight is the number of rows of a loop that run interleaved: as many
// as fit into registers, for loops that spill are slower than narrower ones.
func rowsInFlight(loop *plan.Loop) int {
	width := RowBlock
	for _, d := range loopopt.RegisterPressure(loop) {
		for width > 2 && width*d.PerIteration+d.Shared+temporaries > registers {
			width--
		}
	}
	return width
}

// Names are the Go names of an emitted kernel.
type Names struct {
	Type    string                  // the generic struct
	Sizes   map[string]string       // field of each free size
	Buffers map[*plan.Buffer]string // field of each parameter
	Work    []string                // workspace fields: Work, Rows, …; each X has a method XLen
}

// NamesOf are the names that Print gives the parts of a kernel.
func NamesOf(k *plan.Kernel, typeName string) *Names { return newKernelEmitter(k, typeName).names }

// Print prints a kernel into f as the type of the given exported name.
func Print(f *jen.File, k *plan.Kernel, typeName string) *Names {
	e := newKernelEmitter(k, typeName)
	e.structType(f)
	e.lengths(f)
	e.run(f)
	return e.names
}

// PrintFused prints the fused arithmetic of a kernel that Kernel has printed.
func PrintFused(f *jen.File, k *plan.Kernel, names *Names) {
	if k.Fused == nil {
		return
	}
	e := newKernelEmitter(k, names.Type)
	e.names = names
	e.fusedKernel(f)
}

type kernelEmitter struct {
	k       *plan.Kernel
	text    *clike.Printer
	names   *Names
	scope   *gotext.Scope
	sizes   map[string]string // local of each size
	vars    map[*plan.Var]string
	locals  map[*plan.Local]string
	bufs    map[*plan.Buffer]string // local slice of a workspace buffer
	width   map[*plan.Loop]int
	rows    map[*plan.Buffer]bool // private to a row: one entry for each row in flight
	jammed  map[*plan.Loop][]plan.Node
	views   map[string]string // slices in scope, by what they show
	bound   map[*plan.Var]bool
	loops   []*plan.Loop          // around the present point, innermost last
	counter map[*plan.Loop]string // what indexes the views of a loop
	depth   int
	fused   bool // print the fused arithmetic, for float32
	jobs    []*job
	inLoop  func(counter string) // what the next loop does once it has a counter
}

func newKernelEmitter(k *plan.Kernel, typeName string) *kernelEmitter {
	e := &kernelEmitter{k: k, scope: gotext.NewScope(), sizes: map[string]string{}, vars: map[*plan.Var]string{},
		locals: map[*plan.Local]string{}, bufs: map[*plan.Buffer]string{}, width: map[*plan.Loop]int{}, rows: map[*plan.Buffer]bool{},
		jammed: map[*plan.Loop][]plan.Node{}, views: map[string]string{}, bound: map[*plan.Var]bool{},
		counter: map[*plan.Loop]string{}}
	e.text = &clike.Printer{Language: language, Size: e.size, Var: e.variable, Entry: e.entry, Special: e.special,
		Local: func(l *plan.Local) string { return e.locals[l] }}
	e.names = &Names{Type: typeName, Sizes: map[string]string{}, Buffers: map[*plan.Buffer]string{}}
	fields := gotext.NewScope()
	fields.Reserve("Run", "Work", "WorkLen", "Rows", "RowsLen", "Flags", "FlagsLen", "RowFlags", "RowFlagsLen", "Counts", "CountsLen", "Operands", "OperandsLen", "NoRoot")
	for _, s := range k.Sizes {
		e.names.Sizes[s] = fields.Name(s, true)
	}
	for _, b := range k.Params {
		e.names.Buffers[b] = fields.Name(b.Name, true)
	}
	plan.Walk(k.Body, func(n plan.Node) {
		if loop, ok := n.(*plan.Loop); ok && loop.Kind == plan.Row && loop.Across == 0 {
			e.width[loop] = rowsInFlight(loop)
			e.jammed[loop] = loopopt.UnrollAndJam(loop, e.width[loop])
			for _, b := range loop.Private {
				e.rows[b] = true
			}
		}
	})
	for _, field := range workFields {
		if len(e.workspace(field)) > 0 || field.always {
			e.names.Work = append(e.names.Work, field.name)
		}
	}
	return e
}

// A workField is one of the fields that hold workspace. Rows has an entry for
// each row in flight, so that the rows of a block lie side by side.
type workField struct {
	name     string
	elem     ir.Elem
	rows     bool
	operands bool // copies in bfloat16, where the field is not nil
	always   bool
}

var workFields = []workField{
	{name: "Work", elem: ir.Real, always: true}, {name: "Rows", elem: ir.Real, rows: true},
	{name: "Flags", elem: ir.Bool}, {name: "RowFlags", elem: ir.Bool, rows: true},
	{name: "Counts", elem: ir.Int}, {name: "Operands", elem: ir.Real, operands: true},
}

var operandField = workFields[5]

// goType is the type of an entry of the field.
func (w workField) goType() *jen.Statement {
	if w.rows {
		return jen.Index(jen.Lit(RowBlock)).Add(elemType(w.elem))
	}
	return elemType(w.elem)
}

// workspace lists the buffers of the kernel's own that lie in a field.
func (e *kernelEmitter) workspace(w workField) []*plan.Buffer {
	var out []*plan.Buffer
	add := func(b *plan.Buffer) {
		if b.Role != plan.View && b.Elem == w.elem && e.rows[b] == w.rows && (b.Role == plan.Operand) == w.operands {
			out = append(out, b)
		}
	}
	for _, b := range e.k.Work {
		add(b)
	}
	plan.Walk(e.k.Body, func(n plan.Node) {
		if loop, ok := n.(*plan.Loop); ok {
			for _, b := range loop.Private {
				add(b)
			}
		}
	})
	return out
}

func elemType(e ir.Elem) *jen.Statement { return jen.Id(language.Types[e]) }

// structType prints
//
//	type Delta[F num.Float] struct {
//		L, T, DK, DV int
//		K []F // [L, T, d_k]
//		Work []F // WorkLen() entries
//	}
func (e *kernelEmitter) structType(f *jen.File) {
	f.Commentf("%s is one call of the kernel %s.", e.names.Type, e.k.Name)
	if m := e.k.Memory; !m.Saved.IsZero() || !m.Checkpoints.IsZero() {
		f.Comment("")
		f.Commentf("It keeps %s entries and checkpoints of %s entries.", m.Saved, m.Checkpoints)
	}
	f.Type().Id(e.names.Type).Types(jen.Id("F").Qual(numPath, "Float")).StructFunc(func(g *jen.Group) {
		for _, s := range e.k.Sizes {
			line := g.Id(e.names.Sizes[s]).Int()
			if s == e.k.Segment {
				line.Comment("tokens from checkpoint to checkpoint")
			}
		}
		for _, b := range e.k.Params {
			text := gotext.ShapeText(b)
			if b.Role == plan.Write || b.Role == plan.Checkpoint && b.Optional {
				text += ", written"
			}
			if b.Optional {
				text += "; may be nil"
			}
			g.Id(e.names.Buffers[b]).Index().Add(elemType(b.Elem)).Comment(text)
		}
		for _, w := range e.fields() {
			text := w.name + "Len() entries"
			if w.operands {
				text += ", or nil: operands of products are not rounded to bfloat16"
			}
			g.Id(w.name).Index().Add(w.goType()).Comment(text)
		}
		if len(e.k.Roots()) > 0 {
			g.Id("NoRoot").Int().Comment("the first of its searches that failed, from 1; 0 if none did")
		}
	}).Line()
}

func (e *kernelEmitter) method(f *jen.File, name string) *jen.Statement {
	return f.Func().Params(jen.Id("c").Op("*").Id(e.names.Type).Types(jen.Id("F"))).Id(name).Params()
}

// fields are the workspace fields that the kernel has.
func (e *kernelEmitter) fields() []workField {
	return slices.DeleteFunc(slices.Clone(workFields), func(w workField) bool { return !slices.Contains(e.names.Work, w.name) })
}

// lengths prints WorkLen and its like.
func (e *kernelEmitter) lengths(f *jen.File) {
	for _, w := range e.fields() {
		p := shape.Poly{}
		for _, b := range e.workspace(w) {
			p = p.Add(b.Len())
		}
		f.Commentf("%sLen is %s.", w.name, p)
		mark := e.scope.Mark()
		partial := e.partial(w)
		e.method(f, w.name+"Len").Int().BlockFunc(func(g *jen.Group) {
			used := p.Symbols()
			for _, j := range partial {
				used = append(append(used, j.sums().Symbols()...), j.row.Hi[0].Const.Symbols()...)
			}
			e.declareSizes(g, used)
			if len(partial) > 0 { // one recurrence after another uses the place
				g.If(jen.Qual(kernPath, "Fused").Call()).Block(jen.Return(e.poly(p).Op("+").Add(e.blockSums(partial)).Comment("and the sums of blocks of rows")))
			}
			g.Return(e.poly(p))
		}).Line()
		e.scope.Release(mark)
	}
}

// partial are the jobs whose blocks of rows have sums of their own in a field.
func (e *kernelEmitter) partial(w workField) []*job {
	if w.name != "Work" {
		return nil
	}
	return slices.DeleteFunc(jobs(e.k), func(j *job) bool { return len(j.shared) == 0 })
}

// blockSums is how many numbers the partial sums of any of these jobs are.
func (e *kernelEmitter) blockSums(partial []*job) jen.Code {
	var sums []jen.Code
	for _, j := range partial {
		blocks := jen.Parens(jen.Qual(kernPath, "Blocks").Call(e.poly(j.row.Hi[0].Const)).Op("-").Lit(1))
		sums = append(sums, blocks.Op("*").Parens(e.poly(j.sums())))
	}
	if len(sums) == 1 {
		return sums[0]
	}
	return jen.Id("max").Call(sums...)
}

// declareSizes makes locals of the sizes that are used.
func (e *kernelEmitter) declareSizes(g *jen.Group, used []string) {
	need := map[string]bool{}
	for _, s := range used {
		need[s] = true
	}
	for _, q := range e.k.Ceils {
		if need[q.Name] {
			for _, s := range append(q.Num.Symbols(), q.Den.Symbols()...) {
				need[s] = true
			}
		}
	}
	var names, vals []jen.Code
	for _, s := range e.k.Sizes {
		if need[s] {
			e.sizes[s] = e.scope.Name(s, false)
			names = append(names, jen.Id(e.sizes[s]))
			vals = append(vals, jen.Id("c").Dot(e.names.Sizes[s]))
		}
	}
	if len(names) > 0 {
		g.List(names...).Op(":=").List(vals...)
	}
	for _, q := range e.k.Ceils {
		if need[q.Name] {
			e.sizes[q.Name] = e.scope.Name(q.Name, false)
			top := q.Num.Add(q.Den).Sub(shape.Int(1))
			g.Id(e.sizes[q.Name]).Op(":=").Parens(e.poly(top)).Op("/").Add(e.operand(q.Den))
		}
	}
}
