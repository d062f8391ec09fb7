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

// Twins lists the values of a program and of the steps in it that are the same
// function of what these have, and that are too dear to be computed again.
func Twins(f *ir.Func) []string {
	var out []string
	first, c := map[string]*ir.Value{}, newCanon(f)
	for _, in := range f.Body {
		if in.Scan != nil {
			out = append(out, Twins(in.Scan.Body)...)
			continue
		}
		if cheap(in) {
			continue
		}
		if old := first[c.key(in.Out)]; old != nil {
			out = append(out, f.Name+": "+old.Name+" and "+in.Out.Name)
		}
		first[c.key(in.Out)] = in.Out
	}
	return out
}

// Shared reports whether two values of a program would be computed once.
func Shared(f *ir.Func, a, b string) bool {
	c, key := newCanon(f), map[string]string{}
	for _, in := range f.Body {
		key[in.Out.Name] = c.key(in.Out)
	}
	return key[a] == key[b]
}
