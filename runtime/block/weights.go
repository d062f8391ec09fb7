package block

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Weights are the learned parameters of one call, as leaves of its tape. They
// are a range of the parameter table: that of a part is the smallest range
// with all names that start with the part's. Names are found by comparing them
// in place, so that nothing is put together and nothing allocated; a table
// keeps the parameters of a part side by side, so each range is short.
//
//hecate:noescape
//hecate:nozero
type Weights[F num.Float] struct {
	table  context.View[F]
	arena  *tape.Arena[F]
	bound  tape.Value[F]   // knows the scope of Bind
	vals   []tape.Value[F] // by parameter of the table
	prefix string          // of all names
	lo, hi int             // the range
}

// Bind records all parameters of a table for one call. The values are the table's own,
// and a backward after an update panics with tape.Updated. They are valid in r's scope;
// Value panics with tape.ForeignValue after it.
func Bind[F num.Float](r *tape.Run[F], v context.View[F]) Weights[F] {
	w := Weights[F]{table: v, arena: r.Arena, bound: r.Arena.Value(nil), vals: r.Arena.Values(v.Len()), hi: v.Len()}
	r.Reads(v)
	for i := range w.vals {
		w.vals[i] = r.Frozen(v.Name(i), v.Data(i))
	}
	return w
}

// Part returns the parameters of a part, whose names start with its own and a
// dot.
func (w Weights[F]) Part(name string) Weights[F] {
	part := w
	part.lo, part.hi = 0, 0
	for i := w.lo; i < w.hi; i++ {
		full := w.table.Name(i)
		rest, ok := strings.CutPrefix(full, w.prefix)
		if !ok || len(rest) <= len(name) || rest[:len(name)] != name || rest[len(name)] != '.' {
			continue
		}
		if part.hi == 0 {
			part.lo, part.prefix = i, full[:len(w.prefix)+len(name)+1]
		}
		part.hi = i + 1
	}
	return part
}

// Value returns the parameter of a name under the prefix. It panics when the
// block did not declare it: that is a fault of the generated code.
func (w Weights[F]) Value(name string) tape.Value[F] {
	w.arena.Data(w.bound)
	for i := w.lo; i < w.hi; i++ {
		if full := w.table.Name(i); len(full) == len(w.prefix)+len(name) && full[len(w.prefix):] == name && full[:len(w.prefix)] == w.prefix {
			return w.vals[i]
		}
	}
	panic(fmt.Sprintf("block: BUG: parameter %s%s was not declared", w.prefix, name))
}
