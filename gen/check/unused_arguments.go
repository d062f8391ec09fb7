package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// Dead arguments. The law gives every retention the gates ρ and θ, and some retentions read
// only one. What nothing reads does not exist, so an argument for a parameter that its
// function does not read is replaced by a number, and the gate and its parameters are
// dropped unless another equation reads them. Which parameters a function reads depends on
// the options: an arm of a case that is not chosen reads nothing.

// dropUnusedArguments replaces each argument that the called function does not read by a
// number, if nothing else reads the names in it. A parameter that is declared as an array
// keeps its argument, which may bind an axis.
func (r *resolver) dropUnusedArguments() {
	read := r.otherReads()
	kept := func(x notation.Expr) bool {
		return !notation.Mentions(x, func(id *notation.Ident) bool { return !read[id.Name.Text] })
	}
	for _, e := range r.defs {
		if e.Def != nil {
			e.Def = r.withoutArguments(e.Def, kept)
		}
	}
}

// otherReads are the names that equations and functions read without the arguments that
// functions do not read.
func (r *resolver) otherReads() map[string]bool {
	read := map[string]bool{}
	note := func(local map[string]bool, value notation.Expr, with []*notation.Define) {
		values := []notation.Expr{value}
		for _, w := range with {
			values = append(values, w.Value)
		}
		for _, x := range values {
			for id := range notation.Idents(x) {
				if !local[id.Name.Text] {
					read[id.Name.Text] = true
				}
			}
		}
	}
	never := func(notation.Expr) bool { return false }
	for _, e := range r.defs {
		switch {
		case e.Def != nil:
			d := r.withoutArguments(e.Def, never)
			note(nil, d.Value, d.With)
		case e.Iter != nil:
			note(nil, e.Iter.From, nil)
			note(nil, e.Iter.Count, nil)
			note(nil, e.Iter.Step, e.Iter.With)
		default:
			note(nil, e.Value(), nil)
		}
	}
	for _, f := range r.b.Funcs {
		if f.Block == r.b {
			note(notation.Locals(f.Params, f.Def), f.Def.Value, f.Def.With)
		}
	}
	return read
}

// withoutArguments is a definition with numbers for arguments that no function reads.
func (r *resolver) withoutArguments(e *notation.Define, kept func(notation.Expr) bool) *notation.Define {
	return notation.Copy(e, func(x notation.Expr) notation.Expr { return r.zeroUnused(x, kept) })
}

// zeroUnused is an expression with numbers for arguments that no function reads, except
// those to be kept.
func (r *resolver) zeroUnused(x notation.Expr, kept func(notation.Expr) bool) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		c, ok := n.(*notation.Call)
		if !ok {
			return nil
		}
		f := r.callee(c)
		if f == nil {
			return nil
		}
		d := *c
		d.Args = nil
		for i, a := range c.Args {
			if t := f.Params[i].Type; t != nil && len(t.Shape) > 0 || r.readsParameter(f, i, nil) || kept(a) {
				d.Args = append(d.Args, r.zeroUnused(a, kept))
			} else {
				d.Args = append(d.Args, &notation.Number{Span: a.Where(), Text: "0"})
			}
		}
		return &d
	})
}

// callee is the function of a call, or nil if there is none with this number of parameters.
func (r *resolver) callee(c *notation.Call) *Function {
	f := r.b.Funcs[c.Fun.Text]
	if f == nil || len(f.Params) != len(c.Args) || r.b.known(c.Fun.Text) {
		return nil
	}
	return f
}

// readsParameter reports whether a function reads its parameter i, directly or through the
// functions that it calls; way are the functions on the path there.
func (r *resolver) readsParameter(f *Function, i int, way []*Function) bool {
	if slices.Contains(way, f) {
		return false
	}
	way = append(slices.Clone(way), f)
	name := f.Params[i].Name.Text
	return r.reads(f.Def.Value, name, way) ||
		slices.ContainsFunc(f.Def.With, func(w *notation.Define) bool { return r.reads(w.Value, name, way) })
}

// reads reports whether an expression reads a name.
func (r *resolver) reads(x notation.Expr, name string, way []*Function) bool {
	found := false
	notation.Inspect(x, func(n any) bool {
		switch n := n.(type) {
		case *notation.Case:
			if arm := r.b.ChosenArm(n); arm != nil {
				found = found || r.reads(arm, name, way)
				return false
			}
		case *notation.Call:
			f := r.callee(n)
			if f == nil {
				break
			}
			for i, a := range n.Args {
				found = found || r.reads(a, name, way) && r.readsParameter(f, i, way)
			}
			return false
		case *notation.Ident:
			found = found || n.Name.Text == name
		}
		return !found
	})
	return found
}
