package notation

import (
	"iter"
	"reflect"
	"sync"

	"github.com/nl-hecate/hecate/gen/source"
)

// Inspect calls visit for n and, while visit returns true, for every node
// below it, in the order of the fields. Nodes are *File, *Unit, statements,
// expressions and the parts of these (*Binder, *Type, *Param, *Arm …), but not
// words and texts. Clauses that several names of a declaration share are
// visited with each name.
func Inspect(n any, visit func(any) bool) {
	if isNil(n) || !visit(n) {
		return
	}
	for _, c := range children(n) {
		Inspect(c, visit)
	}
}

// All iterates over the nodes of one kind in n, in the order of Inspect: All[*Call](x).
func All[N any](n any) iter.Seq[N] {
	return func(yield func(N) bool) {
		more := true
		Inspect(n, func(n any) bool {
			if x, ok := n.(N); ok && more {
				more = yield(x)
			}
			return more
		})
	}
}

// Idents iterates over the names in n.
func Idents(n any) iter.Seq[*Ident] { return All[*Ident](n) }

// Mentions reports whether a name that f accepts is in n.
func Mentions(n any, f func(*Ident) bool) bool {
	for id := range Idents(n) {
		if f(id) {
			return true
		}
	}
	return false
}

// Of iterates over the nodes of one kind in a list of statements or expressions:
// Of[*Define](body).
func Of[N, S any](list []S) iter.Seq[N] {
	return func(yield func(N) bool) {
		for _, s := range list {
			if n, ok := any(s).(N); ok && !yield(n) {
				return
			}
		}
	}
}

// Functions iterates over the definitions with parameters.
func Functions(body []Stmt) iter.Seq[*Define] {
	return func(yield func(*Define) bool) {
		for d := range Of[*Define](body) {
			if d.Target.IsFunc && !yield(d) {
				return
			}
		}
	}
}

// Declared iterates over the names that some lines declare with a keyword.
func Declared(body []Stmt, keyword string) iter.Seq[*DeclName] {
	return func(yield func(*DeclName) bool) {
		for d := range Of[*Declare](body) {
			for _, n := range d.Names {
				if d.Keyword.Text == keyword && !yield(n) {
					return
				}
			}
		}
	}
}

// isNil reports whether n is nil, or an interface with a nil pointer.
func isNil(n any) bool {
	v := reflect.ValueOf(n)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// children are the nodes directly below a node: its fields that are nodes or lists of
// nodes, in the order in which its type declares them.
func children(n any) []any {
	v := reflect.ValueOf(n).Elem()
	var out []any
	for _, i := range nodeFields(v.Type()) {
		f := v.Field(i)
		if f.Kind() != reflect.Slice {
			out = append(out, f.Interface())
			continue
		}
		for k := range f.Len() {
			out = append(out, f.Index(k).Interface())
		}
	}
	return out
}

// fieldsOf remembers nodeFields by type.
var fieldsOf sync.Map

// nodeFields are the numbers of the fields of a node type that hold nodes.
func nodeFields(t reflect.Type) []int {
	if known, ok := fieldsOf.Load(t); ok {
		return known.([]int)
	}
	var out []int
	for i := range t.NumField() {
		if holdsNodes(t.Field(i).Type) {
			out = append(out, i)
		}
	}
	fieldsOf.Store(t, out)
	return out
}

// holdsNodes reports whether a field of a type holds nodes: pointers to structs, expressions
// or statements. Words and texts are leaves.
func holdsNodes(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[*Word](), reflect.TypeFor[*Text](), reflect.TypeFor[*source.File]():
		return false
	}
	return t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface
}
