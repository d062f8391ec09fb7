package autodiff

import "github.com/nl-hecate/hecate/gen/ir"

// HasRow reports whether the table has a row for op that gives anything.
func HasRow(op ir.Op) bool { return vjp[op] != nil }

// ScaleRow multiplies what the row of op gives until undo is called.
func ScaleRow(op ir.Op, by float64) (undo func()) {
	row := vjp[op]
	vjp[op] = func(l *local, k int) *ir.Value {
		part := row(l, k)
		if part == nil {
			return nil
		}
		return l.r.b.Prod(part.Axes, part.Axes, ir.Ls(len(part.Axes)), by, ir.All(part))
	}
	return func() { vjp[op] = row }
}
