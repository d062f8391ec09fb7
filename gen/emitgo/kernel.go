package emitgo

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A kernel becomes a struct, one call of the kernel, with the methods
//
//	func (c *Delta[F]) WorkLen() int   // entries of Work
//	func (c *Delta[F]) FlagsLen() int  // entries of Flags, only when truth values are kept
//	func (c *Delta[F]) Run()
//
// Its fields are the sizes, a slice for each parameter and result, and the
// workspace. Run allocates nothing and checks nothing but what the language
// checks: the callers are generated too and have compared all shapes.
//
// Products are rounded by an explicit conversion, F(x*y), so that no compiler
// fuses them with a sum; rows of a recurrence run four at a time, with one at
// a time for the rest, which changes no bit.

// numPath is the package of portable arithmetic.
const numPath = "github.com/nl-hecate/hecate/runtime/num"

// rowBlock is the number of rows that run interleaved.
const rowBlock = 4

// KernelNames are the Go names of an emitted kernel.
type KernelNames struct {
	Type    string                  // the generic struct
	Sizes   map[string]string       // field of each free size
	Buffers map[*plan.Buffer]string // field of each parameter
	Flags   bool                    // has Flags and FlagsLen
}

// Kernel prints a kernel into f as the type of the given exported name.
func Kernel(f *jen.File, k *plan.Kernel, typeName string) *KernelNames {
	e := newKernelEmitter(k, typeName)
	e.structType(f)
	e.lengths(f)
	e.run(f)
	return e.names
}

type kernelEmitter struct {
	k       *plan.Kernel
	names   *KernelNames
	scope   *scope
	sizes   map[string]string // local of each size
	vars    map[*plan.Var]*jen.Statement
	locals  map[*plan.Local]string
	bufs    map[*plan.Buffer]string // local slice of a workspace buffer
	private map[*plan.Loop][]*plan.Buffer
	jammed  map[*plan.Loop][]plan.Node
	views   map[string]string // slices in scope, by what they show
	bound   map[*plan.Var]bool
	loops   []*plan.Loop                  // around the present point, innermost last
	counter map[*plan.Loop]*jen.Statement // what indexes the views of a loop
	depth   int
}

func newKernelEmitter(k *plan.Kernel, typeName string) *kernelEmitter {
	e := &kernelEmitter{k: k, scope: newScope(), sizes: map[string]string{}, vars: map[*plan.Var]*jen.Statement{},
		locals: map[*plan.Local]string{}, bufs: map[*plan.Buffer]string{}, private: map[*plan.Loop][]*plan.Buffer{},
		jammed: map[*plan.Loop][]plan.Node{}, views: map[string]string{}, bound: map[*plan.Var]bool{},
		counter: map[*plan.Loop]*jen.Statement{}}
	e.names = &KernelNames{Type: typeName, Sizes: map[string]string{}, Buffers: map[*plan.Buffer]string{}}
	fields := newScope()
	for _, n := range []string{"Run", "WorkLen", "FlagsLen", "Work", "Flags"} {
		fields.used[n] = true
	}
	for _, s := range k.Sizes {
		e.names.Sizes[s] = fields.name(s, true)
	}
	for _, b := range k.Params {
		e.names.Buffers[b] = fields.name(b.Name, true)
	}
	plan.Walk(k.Body, func(n plan.Node) {
		loop, ok := n.(*plan.Loop)
		if !ok || len(loop.Private) == 0 && loop.Kind != plan.Row {
			return
		}
		if loop.Kind == plan.Row {
			e.jammed[loop], e.private[loop] = plan.Jam(loop, rowBlock)
		} else {
			e.private[loop] = loop.Private
		}
	})
	for _, b := range e.workspace() {
		e.names.Flags = e.names.Flags || b.Elem == ir.Bool
	}
	return e
}

// workspace lists all buffers of the kernel's own.
func (e *kernelEmitter) workspace() []*plan.Buffer {
	var out []*plan.Buffer
	for _, b := range e.k.Work {
		if b.Role == plan.Work {
			out = append(out, b)
		}
	}
	plan.Walk(e.k.Body, func(n plan.Node) {
		if loop, ok := n.(*plan.Loop); ok {
			out = append(out, e.private[loop]...)
		}
	})
	return out
}

func elemType(e ir.Elem) *jen.Statement {
	switch e {
	case ir.Real:
		return jen.Id("F")
	case ir.Int:
		return jen.Int()
	case ir.Bool:
		return jen.Bool()
	}
	panic(fmt.Sprintf("emitgo: BUG: no type for %v", e))
}

// dimsText is a buffer's shape as a comment.
func dimsText(b *plan.Buffer) string {
	s := make([]string, len(b.Dims))
	for i, d := range b.Dims {
		s[i] = d.String()
	}
	return "[" + strings.Join(s, ", ") + "]"
}

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
			text := dimsText(b)
			if b.Role == plan.Write || b.Role == plan.Checkpoint && b.Optional {
				text += ", written"
			}
			if b.Optional {
				text += "; may be nil"
			}
			g.Id(e.names.Buffers[b]).Index().Add(elemType(b.Elem)).Comment(text)
		}
		g.Id("Work").Index().Id("F").Comment("WorkLen() entries")
		if e.names.Flags {
			g.Id("Flags").Index().Bool().Comment("FlagsLen() entries")
		}
	}).Line()
}

func (e *kernelEmitter) method(f *jen.File, name string) *jen.Statement {
	return f.Func().Params(jen.Id("c").Op("*").Id(e.names.Type).Types(jen.Id("F"))).Id(name).Params()
}

// lengths prints WorkLen and FlagsLen.
func (e *kernelEmitter) lengths(f *jen.File) {
	total := map[ir.Elem]shape.Poly{}
	for _, b := range e.workspace() {
		total[b.Elem] = total[b.Elem].Add(b.Len())
	}
	one := func(name string, p shape.Poly) {
		f.Commentf("%s is %s.", name, p)
		mark := e.scope.mark()
		e.method(f, name).Int().BlockFunc(func(g *jen.Group) {
			e.declareSizes(g, p.Symbols())
			g.Return(e.poly(p))
		}).Line()
		e.scope.release(mark)
	}
	one("WorkLen", total[ir.Real])
	if e.names.Flags {
		one("FlagsLen", total[ir.Bool])
	}
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
			e.sizes[s] = e.scope.name(s, false)
			names = append(names, jen.Id(e.sizes[s]))
			vals = append(vals, jen.Id("c").Dot(e.names.Sizes[s]))
		}
	}
	if len(names) > 0 {
		g.List(names...).Op(":=").List(vals...)
	}
	for _, q := range e.k.Ceils {
		if need[q.Name] {
			e.sizes[q.Name] = e.scope.name(q.Name, false)
			top := q.Num.Add(q.Den).Sub(shape.Int(1))
			g.Id(e.sizes[q.Name]).Op(":=").Parens(e.poly(top)).Op("/").Add(e.operand(q.Den))
		}
	}
}
