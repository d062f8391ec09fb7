package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// The law gives every retention the gates ρ and θ, and some retentions have no
// use for one of them. What nothing reads does not exist, so a gate that a
// function is given and does not read is not read by the equation either: a
// number stands in its place, and the gate and the parameters behind it are
// gone. Which parameters a function reads depends on the options: an arm of a
// case that is not taken reads nothing. What another equation reads anyway
// stays where it is.

// unread puts a number in the place of each argument that the function called
// does not read, where nothing else reads what stands there. A parameter that is
// declared as an array keeps its argument, which may give an axis its meaning.
func (in *instancer) unread() {
	read := in.readAnyway()
	kept := func(x notation.Expr) bool {
		all := true
		notation.Inspect(x, func(n any) bool {
			if id, ok := n.(*notation.Ident); ok {
				all = all && read[id.Name.Text]
			}
			return true
		})
		return all
	}
	for _, e := range in.defs {
		if e.Def != nil {
			e.Def = in.without(e.Def, kept)
		}
	}
}

// readAnyway are the names that equations and functions read when they give
// functions nothing that these do not read.
func (in *instancer) readAnyway() map[string]bool {
	read := map[string]bool{}
	note := func(local map[string]bool, xs ...notation.Expr) {
		for _, x := range xs {
			notation.Inspect(x, func(n any) bool {
				if id, ok := n.(*notation.Ident); ok && !local[id.Name.Text] {
					read[id.Name.Text] = true
				}
				return true
			})
		}
	}
	never := func(notation.Expr) bool { return false }
	for _, e := range in.defs {
		if e.Def == nil {
			note(nil, e.Value())
			if e.Iter != nil {
				note(nil, e.Iter.From, e.Iter.Count)
				for _, w := range e.Iter.With {
					note(nil, w.Value)
				}
			}
			continue
		}
		d := in.without(e.Def, never)
		note(nil, d.Value)
		for _, w := range d.With {
			note(nil, w.Value)
		}
	}
	for _, f := range in.b.Funcs {
		if f.Block == in.b {
			note(notation.Locals(f.Params, f.Def), f.Def.Value)
			for _, w := range f.Def.With {
				note(notation.Locals(f.Params, f.Def), w.Value)
			}
		}
	}
	return read
}

// without is a definition without the arguments that nothing reads.
func (in *instancer) without(e *notation.Define, kept func(notation.Expr) bool) *notation.Define {
	if e == nil {
		return nil
	}
	d := *e
	d.Value, d.With = in.spare(d.Value, kept), slices.Clone(d.With)
	for i, w := range d.With {
		c := *w
		c.Value = in.spare(w.Value, kept)
		d.With[i] = &c
	}
	return &d
}

// spare is an expression without the arguments that nothing reads.
func (in *instancer) spare(x notation.Expr, kept func(notation.Expr) bool) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		c, ok := n.(*notation.Call)
		if !ok {
			return nil
		}
		f := in.called(c)
		if f == nil {
			return nil
		}
		d := *c
		d.Args = nil
		for i, a := range c.Args {
			if t := f.Params[i].Type; t != nil && len(t.Shape) > 0 || in.needs(f, i, nil) || kept(a) {
				d.Args = append(d.Args, in.spare(a, kept))
			} else {
				d.Args = append(d.Args, &notation.Number{Span: a.Where(), Text: "0"})
			}
		}
		return &d
	})
}

// called is the function of a call that has its arguments, or nil.
func (in *instancer) called(c *notation.Call) *Function {
	f := in.b.Funcs[c.Fun.Text]
	if f == nil || len(f.Params) != len(c.Args) || in.b.known(c.Fun.Text) {
		return nil
	}
	return f
}

// needs reports whether a function reads its parameter i, itself or through
// the functions that it calls; way are the functions on the way there.
func (in *instancer) needs(f *Function, i int, way []*Function) bool {
	if slices.Contains(way, f) {
		return false
	}
	way = append(slices.Clone(way), f)
	name := f.Params[i].Name.Text
	return in.mentions(f.Def.Value, name, way) ||
		slices.ContainsFunc(f.Def.With, func(w *notation.Define) bool { return in.mentions(w.Value, name, way) })
}

// mentions reports whether an expression reads a name.
func (in *instancer) mentions(x notation.Expr, name string, way []*Function) bool {
	if x == nil {
		return false
	}
	found := false
	notation.Inspect(x, func(n any) bool {
		switch n := n.(type) {
		case *notation.Case:
			if arm := in.b.ChosenArm(n); arm != nil {
				found = found || in.mentions(arm, name, way)
				return false
			}
		case *notation.Call:
			f := in.called(n)
			if f == nil {
				break
			}
			for i, a := range n.Args {
				found = found || in.mentions(a, name, way) && in.needs(f, i, way)
			}
			return false
		case *notation.Ident:
			found = found || n.Name.Text == name
		}
		return !found
	})
	return found
}
