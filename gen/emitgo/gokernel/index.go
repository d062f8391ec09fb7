package gokernel

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

func (e *kernelEmitter) poly(p shape.Poly) *jen.Statement    { return jen.Id(e.text.Poly(p)) }
func (e *kernelEmitter) operand(p shape.Poly) *jen.Statement { return jen.Id(e.text.Factor(p)) }
func (e *kernelEmitter) index(x plan.Index) *jen.Statement   { return jen.Id(e.text.Plain(x)) }

func (e *kernelEmitter) size(name string) string {
	if s := e.sizes[name]; s != "" {
		return s
	}
	panic(fmt.Sprintf("gokernel: BUG: size %s of %s is not declared", name, e.k.Name))
}

func (e *kernelEmitter) variable(v *plan.Var) string {
	if s := e.vars[v]; s != "" {
		return s
	}
	panic(fmt.Sprintf("gokernel: BUG: variable %s of %s is not in scope", v.Name, e.k.Name))
}

// storage is the buffer that holds a buffer's entries.
func storage(b *plan.Buffer) *plan.Buffer {
	b = b.Base()
	if b.CopyOf != nil {
		return b.CopyOf
	}
	return b
}

// inRow selects the present row of an entry that holds all rows in flight.
func (e *kernelEmitter) inRow(b *plan.Buffer, entry string) string {
	if e.rows[storage(b)] && !e.fused {
		return fmt.Sprintf("%s[%d]", entry, b.Base().Iteration)
	}
	return entry
}

// slice prints the slice that holds a buffer's entries.
func (e *kernelEmitter) slice(b *plan.Buffer) *jen.Statement { return jen.Id(e.sliceName(b)) }

func (e *kernelEmitter) sliceName(b *plan.Buffer) string {
	b = storage(b)
	if name, ok := e.bufs[b]; ok {
		return name
	}
	if name, ok := e.names.Buffers[b]; ok {
		return "c." + name
	}
	panic(fmt.Sprintf("gokernel: BUG: buffer %s of %s has no slice", b.Name, e.k.Name))
}
