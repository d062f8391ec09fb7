package emitcuda

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Sizes are 32-bit, addresses 64-bit: the first product of an address in a
// buffer of no fixed length is made in i64, so that a buffer may have more than
// 2³¹ entries although no axis has.

func (f *function) wide(b *plan.Buffer) bool { return !f.e.constant(b.Len()) }

// count prints a number of entries, in 64 bits unless it is fixed.
func (f *function) count(p shape.Poly) string {
	if _, ok := p.Symbol(); ok || f.e.constant(p) {
		return f.Poly(p)
	}
	for _, m := range p.Monomials() {
		if !m.Coef.IsInt() {
			return "(i64)(" + f.Poly(p) + ")"
		}
	}
	text, terms := f.Monomials(p, func(text string) string { return "(i64)" + text })
	if terms > 1 {
		return "(" + text + ")"
	}
	return text
}

func (f *function) variable(v *plan.Var) string {
	if s, ok := f.vars[v]; ok {
		return s
	}
	panic(fmt.Sprintf("emitcuda: BUG: variable %s of %s is not in scope", v.Name, f.e.k.Name))
}

// entry prints an entry of a buffer.
func (f *function) entry(a plan.Access) string {
	at := f.Address(a)
	b := a.Buf.Base()
	name := f.buffer(b)
	if p := f.private[b]; p != nil && p.each {
		// One column for each row of the block, entries of a row apart.
		if at == "0" {
			return fmt.Sprintf("%s[row]", name)
		}
		if strings.ContainsAny(at, "+-") {
			at = "(" + at + ")"
		}
		return fmt.Sprintf("%s[%s * %d + row]", name, at, f.threads)
	}
	return name + "[" + at + "]"
}
