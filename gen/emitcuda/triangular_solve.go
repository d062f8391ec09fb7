package emitcuda

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/plan"
)

// triangleColumns prints a triangular solve whose columns are shared out: from
// one in steps. A thread has a column to itself and does its rows one after
// another.
func (f *function) triangleColumns(n *plan.TriSolve, from, step string) {
	rows := f.Poly(n.M)
	f.block(fmt.Sprintf("for (%s col = %s; col < %s; col += %s)", f.itemType(n.N), from, f.count(n.N), step), func() {
		f.target(n.X.At.Buf)
		rest := "int before = 0; before < row; ++before"
		head := fmt.Sprintf("for (int row = 0; row < %s; ++row)", rows)
		if n.Down {
			head = fmt.Sprintf("for (int row = %s - 1; row >= 0; --row)", f.Atom(n.M))
			rest = fmt.Sprintf("int before = %s - 1; before > row; --before", f.Atom(n.M))
		}
		f.Line("#pragma unroll 1")
		f.block(head, func() {
			at := f.cell(n.X, "row", "col")
			f.Line("float left = %s;", at)
			f.Line("for (%s) left -= %s * %s;", rest, f.cell(n.A, "row", "before"), f.cell(n.X, "before", "col"))
			f.Line("%s = left;", at)
		})
	})
}
