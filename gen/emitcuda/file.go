package emitcuda

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/templates"
)

var fileTemplate = template.Must(template.New("kernel.cu").Parse(templates.Kernel))

// file prints the whole file.
func (e *emitter) file() string {
	data := struct {
		Page, Unit, Kernel, Sizes, Operands      string
		Equations, Quotients, Buffers, Functions []string
	}{Page: e.about.Page, Unit: e.about.Unit, Kernel: e.k.Name, Functions: e.parts, Buffers: e.bufferTable()}
	for _, q := range e.equations() {
		for i, l := range strings.Split(q.Text, "\n") {
			if i == 0 {
				l += "    " + q.ID
			}
			data.Equations = append(data.Equations, l)
		}
	}
	f := e.newText(nil, 0)
	var sizes []string
	for _, s := range e.k.Sizes {
		if n, ok := e.defaults[s]; ok {
			sizes = append(sizes, fmt.Sprintf("%s = %d", e.sizes[s], n))
		}
	}
	if n, ok := e.text.Defaults[BFloat16]; ok {
		sizes = append(sizes, fmt.Sprintf("%s = %d", bfloat16Name, n))
		data.Operands = operandType
	}
	data.Sizes = strings.Join(sizes, ", ")
	for _, q := range e.ceils {
		if e.constant(shape.Sym(q.Name)) {
			data.Quotients = append(data.Quotients, fmt.Sprintf("%s = (%s) / %s", e.sizes[q.Name], f.Poly(q.Num.Add(q.Den).Sub(shape.Int(1))), f.Atom(q.Den)))
		}
	}
	var b bytes.Buffer
	if err := fileTemplate.Execute(&b, data); err != nil {
		panic("emitcuda: BUG: " + err.Error())
	}
	return b.String()
}

// bufferTable lists the buffers with element, sizes and role in columns.
func (e *emitter) bufferTable() []string {
	var names, dims, out []string
	wide, long := 0, 0
	for _, b := range e.text.Buffers {
		d := "[" + b.Len.String() + "]"
		if b.Of != nil {
			d = dimsText(b.Of)
		}
		names, dims = append(names, b.Name), append(dims, d)
		wide, long = max(wide, len(b.Name)), max(long, utf8.RuneCountInString(d))
	}
	for i, b := range e.text.Buffers {
		role := "work"
		if b.Of != nil {
			role = b.Of.Role.String()
			if isOperand(b.Of) {
				role += " of " + e.bufs[b.Of.NarrowOf.Base()]
			}
			if b.Of.Optional {
				role += ", may be null"
			}
		}
		out = append(out, fmt.Sprintf("%-*s  %-*s  %-5s  %s", wide, names[i], long, dims[i], b.typeName(), role))
	}
	return out
}

// equations are those of the unit that the kernel's text names.
func (e *emitter) equations() []abi.Equation {
	named := map[string]bool{}
	plan.Walk(e.k.Body, func(n plan.Node) {
		if n, ok := n.(*plan.Note); ok {
			for _, id := range n.Eqs {
				named[id] = true
			}
		}
	})
	return slices.DeleteFunc(slices.Clone(e.about.Equations), func(q abi.Equation) bool { return !named[q.ID] })
}

// dimsText is a buffer's shape.
func dimsText(b *plan.Buffer) string {
	s := make([]string, len(b.Dims))
	for i, d := range b.Dims {
		s[i] = d.String()
	}
	return "[" + strings.Join(s, ", ") + "]"
}
