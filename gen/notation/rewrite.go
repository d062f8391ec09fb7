package notation

import (
	"reflect"
)

// Rewrite copies an expression; f may replace a node before its parts are copied by
// returning something else than nil. Names are leaves, with their times; so are frozen
// calls, which read a part, and sets, whose members are words.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	if r := f(e); r != nil {
		return r
	}
	switch e.(type) {
	case *Number, *Ident, *Frozen, *Set:
		return e
	}
	return Copy(e, func(x Expr) Expr { return Rewrite(x, f) })
}

// Copy copies a node with in(e) for each expression e directly below it or below its parts
// that are no expressions, such as indices and arms. The name of a target stays.
func Copy[N any](n N, in func(Expr) Expr) N {
	return copyOf(reflect.ValueOf(n), in).Interface().(N)
}

// CopyAll copies several nodes as Copy does.
func CopyAll[N any](ns []N, in func(Expr) Expr) []N {
	var out []N
	for _, n := range ns {
		out = append(out, Copy(n, in))
	}
	return out
}

func copyOf(n reflect.Value, in func(Expr) Expr) reflect.Value {
	out := reflect.New(n.Type().Elem())
	out.Elem().Set(n.Elem())
	for _, i := range nodeFields(n.Type().Elem()) {
		f := out.Elem().Field(i)
		if f.Kind() != reflect.Slice {
			copyPart(f, in)
			continue
		}
		f.Set(reflect.AppendSlice(reflect.Zero(f.Type()), f)) // a list of its own; nil stays nil
		for k := range f.Len() {
			copyPart(f.Index(k), in)
		}
	}
	return out
}

// copyPart replaces a part of a node by its copy.
func copyPart(part reflect.Value, in func(Expr) Expr) {
	n := part.Interface()
	if isNil(n) || part.Type() == reflect.TypeFor[*Ident]() {
		return
	}
	if e, ok := n.(Expr); ok {
		part.Set(reflect.ValueOf(in(e)))
		return
	}
	part.Set(copyOf(reflect.ValueOf(n), in))
}

// Named returns the same read of another name.
func (e *Ident) Named(w Word) *Ident {
	id := *e
	id.Name = w
	return &id
}

// Named returns the same definition of another name.
func (d *Define) Named(w Word) *Define {
	c, t := *d, *d.Target
	t.Name = t.Name.Named(w)
	c.Target = &t
	return &c
}

// Rename returns a copy of an expression with names replaced.
func Rename(e Expr, names map[string]Word) Expr {
	return Rewrite(e, func(n Expr) Expr {
		switch n := n.(type) {
		case *Ident:
			if w, ok := names[n.Name.Text]; ok {
				return n.Named(w)
			}
		case *Grad: // what it names is a formal parameter of its function
			return Copy(n, func(x Expr) Expr { return Rename(x, names) })
		}
		return nil
	})
}
