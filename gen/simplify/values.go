package simplify

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// Values is a value numbering of a program by canonical form: two values are
// equal where they are made by one kind of operation and have one form, however
// each was written.
type Values struct{ c *canon }

// NewValues numbers the values of f.
func NewValues(f *ir.Func) *Values { return &Values{newCanon(f)} }

// Equal reports whether two values are provably the same function of the
// program's parameters; false means that it does not know.
func (n *Values) Equal(v, w *ir.Value) bool { return kind(v) == kind(w) && n.c.key(v) == n.c.key(w) }

// Define makes v, a value of another program, equal to w.
func (n *Values) Define(v, w *ir.Value) { n.c.forms[v] = n.c.form(w) }
