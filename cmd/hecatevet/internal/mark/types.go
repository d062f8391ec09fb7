package mark

import (
	"go/ast"
	"go/types"
	"iter"
	"maps"
	"slices"

	"golang.org/x/tools/go/analysis"
)

var sortedWords = slices.Sorted(maps.Keys(words))

// Package returns the marks of the package itself.
func (m *Marks) Package() Set { return m.self }

// Of returns the marks of an object, whatever package declares it.
func (m *Marks) Of(obj types.Object) Set {
	switch o := obj.(type) {
	case *types.Func:
		obj = o.Origin()
	case *types.Var:
		obj = o.Origin()
	}
	return m.byObj[obj]
}

// Func returns the marks of a function of another package.
func (m *Marks) Func(f *types.Func) Set {
	if f == nil || f.Pkg() == m.pkg {
		return 0
	}
	return m.Of(f)
}

// OwnFunc returns the marks of a function, of this package too.
func (m *Marks) OwnFunc(f *types.Func) Set {
	if f == nil {
		return 0
	}
	return m.Of(f)
}

// Type returns the marks of a named type of another package: a package is not
// held to the marks of its own types.
func (m *Marks) Type(t types.Type) Set {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == m.pkg {
		return 0
	}
	return m.Of(n.Origin().Obj())
}

// AnyType returns the marks of a named type, of this package too.
func (m *Marks) AnyType(t types.Type) Set {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return m.Of(n.Origin().Obj())
	}
	return 0
}

// Holds reports whether a value of the type is one with the mark or has one
// inside it, not through a pointer.
func (m *Marks) Holds(t types.Type, mark Set) bool {
	if m.Type(t)&mark != 0 {
		return true
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() == m.pkg && m.Of(n.Origin().Obj())&mark != 0 {
		return false // ours to implement
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if m.Holds(f.Type(), mark) {
				return true
			}
		}
	case *types.Array:
		return m.Holds(u.Elem(), mark)
	}
	return false
}

// Carries reports whether a value with the mark can be reached through a value of
// the type: through pointers, in lists, maps and channels, and as a type argument. The
// fields of a named struct are not checked: the struct is checked where it is
// declared.
func (m *Marks) Carries(t types.Type, mark Set) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if m.Type(t)&mark != 0 {
			return true
		}
		for arg := range t.TypeArgs().Types() {
			if m.Carries(arg, mark) {
				return true
			}
		}
	case *types.Pointer:
		return m.Carries(t.Elem(), mark)
	case *types.Slice:
		return m.Carries(t.Elem(), mark)
	case *types.Array:
		return m.Carries(t.Elem(), mark)
	case *types.Chan:
		return m.Carries(t.Elem(), mark)
	case *types.Map:
		return m.Carries(t.Key(), mark) || m.Carries(t.Elem(), mark)
	case *types.Struct:
		for f := range t.Fields() {
			if m.Carries(f.Type(), mark) {
				return true
			}
		}
	}
	return false
}

// Name is the name of the first marked type that Carries finds.
func (m *Marks) Name(t types.Type, mark Set) string {
	name := ""
	var walk func(t types.Type)
	walk = func(t types.Type) {
		if name != "" {
			return
		}
		if n, ok := types.Unalias(t).(*types.Named); ok {
			if m.AnyType(t)&mark != 0 {
				name = n.Obj().Name()
				return
			}
			for arg := range n.TypeArgs().Types() {
				walk(arg)
			}
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			if _, named := types.Unalias(u.Elem()).(*types.Named); !named || m.Carries(u.Elem(), mark) {
				walk(u.Elem())
			}
		case *types.Slice:
			walk(u.Elem())
		case *types.Array:
			walk(u.Elem())
		case *types.Chan:
			walk(u.Elem())
		case *types.Map:
			walk(u.Key())
			walk(u.Elem())
		case *types.Struct:
			for f := range u.Fields() {
				if m.Holds(f.Type(), mark) || m.Carries(f.Type(), mark) {
					walk(f.Type())
				}
			}
		}
	}
	walk(t)
	return name
}

// Pointerish reports whether a copy of a value shares memory with it.
func Pointerish(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		for f := range u.Fields() {
			if Pointerish(f.Type()) {
				return true
			}
		}
		return false
	case *types.Array:
		return Pointerish(u.Elem())
	case *types.Tuple:
		return false
	case *types.Interface:
		_, param := types.Unalias(t).(*types.TypeParam)
		return !param
	}
	return true
}

// Foreign reports whether another package declares an object.
func (m *Marks) Foreign(obj types.Object) bool { return obj.Pkg() != m.pkg }

// Forward reports whether a function is shaped like a forward: it takes what is
// marked run, by itself or as a field, and returns what is marked value.
func (m *Marks) Forward(sig *types.Signature) bool {
	return m.some(sig.Params(), Run, m.reaches) && m.some(sig.Results(), Value, m.is)
}

func (m *Marks) some(list *types.Tuple, mark Set, has func(types.Type, Set) bool) bool {
	for v := range list.Variables() {
		if has(v.Type(), mark) {
			return true
		}
	}
	return false
}

func (m *Marks) is(t types.Type, mark Set) bool { return m.Type(t)&mark != 0 }

// reaches is Holds, and through pointers.
func (m *Marks) reaches(t types.Type, mark Set) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return m.Type(p.Elem())&mark != 0
	}
	if m.Holds(t, mark) {
		return true
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if p, ok := f.Type().Underlying().(*types.Pointer); ok && m.Type(p.Elem())&mark != 0 {
			return true
		}
	}
	return false
}

// Parameter returns the type of the parameter that argument i of a call is for,
// nil where there is none. Spread says that the last argument ends in dots.
func Parameter(sig *types.Signature, i int, spread bool) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 && !spread {
		if list, ok := sig.Params().At(n - 1).Type().Underlying().(*types.Slice); ok {
			return list.Elem()
		}
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}

// Any reports whether something in the package, or in what it imports, has one of
// the marks.
func (m *Marks) Any(marks Set) bool { return m.all&marks != 0 }

// PackageVars iterates over the package-level variables of a declaration.
func PackageVars(pass *analysis.Pass, d *ast.GenDecl) iter.Seq2[*ast.Ident, *types.Var] {
	return func(yield func(*ast.Ident, *types.Var) bool) {
		for _, s := range d.Specs {
			s, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for _, name := range s.Names {
				if v, ok := pass.TypesInfo.Defs[name].(*types.Var); ok && v.Parent() == pass.Pkg.Scope() && !yield(name, v) {
					return
				}
			}
		}
	}
}
