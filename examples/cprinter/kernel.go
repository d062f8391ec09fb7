package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Step 2 of a target: a kernel becomes a function. Its parameters are the sizes and
// then the buffers, in the order of the plan; an absent buffer is NULL. Workspace
// and the private buffers of loops are allocated at the start, for one iteration at
// a time runs.

// A Function is a kernel as C.
type Function struct {
	Name    string
	Kernel  *plan.Kernel
	Sizes   []string // names of the parameters that are sizes, as in Kernel.Sizes
	Buffers []string // names of the other parameters, as in Kernel.Params
	Text    string
}

// Print prints a kernel as a C function with a name that begins with prefix. It
// returns 0, or the number of the first of its root searches that failed.
func Print(k *plan.Kernel, prefix string) *Function {
	e := &emitter{k: k, scope: clike.NewScope(reserved), sizes: map[string]string{}, vars: map[*plan.Var]string{},
		locals: map[*plan.Local]string{}, bufs: map[*plan.Buffer]string{}}
	e.Printer = &clike.Printer{Language: language, Size: e.size, Var: func(v *plan.Var) string { return e.vars[v] },
		Local: func(l *plan.Local) string { return e.locals[l] }, Entry: e.entry, Wide: func(*plan.Buffer) bool { return true }}
	f := &Function{Name: clike.Underscored(prefix + "_" + k.Name), Kernel: k}
	f.Sizes, f.Buffers = e.names(k)
	for _, line := range k.Doc {
		e.Line("// %s", line)
	}
	e.Block(e.scope, fmt.Sprintf("int %s(%s)", f.Name, strings.Join(e.params(k), ", ")), func() {
		for _, q := range k.Ceils {
			e.sizes[q.Name] = e.scope.Name(q.Name)
			e.Line("const int %s = (%s) / %s;", e.sizes[q.Name], e.Poly(q.Num.Add(q.Den).Sub(shape.Int(1))), e.Factor(q.Den))
		}
		e.Line("int no_root = 0;")
		work := e.workspace(k)
		e.nodes(k.Body)
		for _, b := range work {
			e.Line("free(%s);", e.bufs[b])
		}
		e.Line("return no_root;")
	})
	f.Text = e.String()
	return f
}

// An emitter prints one kernel: the shared printers of expressions and of lines, and
// the names that C has for sizes, variables, scalars and buffers.
type emitter struct {
	*clike.Printer
	clike.Lines
	k      *plan.Kernel
	scope  *clike.Scope
	sizes  map[string]string
	vars   map[*plan.Var]string
	locals map[*plan.Local]string
	bufs   map[*plan.Buffer]string
}

// names takes the names of the parameters.
func (e *emitter) names(k *plan.Kernel) (sizes, buffers []string) {
	for _, s := range k.Sizes {
		e.sizes[s] = e.scope.Name(s)
		sizes = append(sizes, e.sizes[s])
	}
	for _, b := range k.Params {
		e.bufs[b] = e.scope.Name(b.Name)
		buffers = append(buffers, e.bufs[b])
	}
	return sizes, buffers
}

func (e *emitter) params(k *plan.Kernel) []string {
	var out []string
	for _, s := range k.Sizes {
		out = append(out, "int "+e.sizes[s])
	}
	for _, b := range k.Params {
		typ := e.Types[b.Elem]
		if b.Role == plan.Read {
			typ = "const " + typ
		}
		out = append(out, typ+" *"+e.bufs[b])
	}
	return out
}

// workspace allocates the buffers that are not parameters; a view has the entries of
// another buffer, and so has an operand.
func (e *emitter) workspace(k *plan.Kernel) []*plan.Buffer {
	work := slices.Clone(k.Work)
	plan.Walk(k.Body, func(n plan.Node) {
		if loop, ok := n.(*plan.Loop); ok {
			work = append(work, loop.Private...)
		}
	})
	work = slices.DeleteFunc(work, func(b *plan.Buffer) bool { return b.Role == plan.View || b.Role == plan.Operand })
	for _, b := range work {
		e.bufs[b] = e.scope.Name(b.Name)
		e.Line("%s *%s = hecate_new(%s, sizeof *%s);", e.Types[b.Elem], e.bufs[b], e.count(b), e.bufs[b])
	}
	return work
}

// count prints the number of entries of a buffer in 64 bits.
func (e *emitter) count(b *plan.Buffer) string {
	out := "(int64_t)1"
	for _, d := range b.Dims {
		out += " * " + e.Atom(d)
	}
	return out
}

func (e *emitter) size(name string) string {
	if s := e.sizes[name]; s != "" {
		return s
	}
	panic(fmt.Sprintf("cprinter: BUG: size %s of %s has no name", name, e.k.Name))
}

// entry prints an entry of a buffer, at its row-major address.
func (e *emitter) entry(a plan.Access) string {
	return fmt.Sprintf("%s[%s]", e.buffer(a.Buf), e.Address(a))
}

func (e *emitter) buffer(b *plan.Buffer) string {
	b = b.Base()
	if b.Role == plan.Operand {
		return e.buffer(b.NarrowOf)
	}
	if s := e.bufs[b]; s != "" {
		return s
	}
	panic(fmt.Sprintf("cprinter: BUG: buffer %s of %s has no name", b.Name, e.k.Name))
}
