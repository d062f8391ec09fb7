package tape

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A node is named by its type: a generated one is called after the package of
// its page and the equation or kernel that it computes. Its numbers are the
// fields of its call, which are named after the symbols of the page. Nothing
// generated knows of this: it is read by reflection, when a run has failed.

// A view is the fields of a node.
type view[F num.Float] struct {
	name   string     // package.kernel
	values []Value[F] // that it reads, without its result
	labels []string   // their fields
	call   []field[F] // the tensors of its call
	tokens int        // of its call; 0: unknown
}

// A field is a tensor of a call.
type field[F num.Float] struct {
	name string
	data []F
}

// between reports whether a tensor is between tokens: what is left for the
// next call, and the states that a backward begins from.
func (f field[F]) between() bool {
	return strings.HasSuffix(f.name, "Out") || strings.HasSuffix(f.name, "Checkpoints")
}

// token is the token of an element of a tensor of n, -1 if it has none.
func (v view[F]) token(at, n int) int {
	if v.tokens == 0 || n%v.tokens != 0 {
		return -1
	}
	return at / (n / v.tokens)
}

// inspect reads the fields of a node by reflection. Of one that no generator made there is the name, and
// the values that it keeps.
func inspect[F num.Float](n Node[F]) (v view[F]) {
	s := reflect.Indirect(reflect.ValueOf(n))
	v.name = nodeName(s.Type())
	if s.Kind() != reflect.Struct {
		return v
	}
	for i := range s.NumField() {
		f, label := s.Field(i), s.Type().Field(i).Name
		switch {
		case f.Type() == reflect.TypeFor[Value[F]]() && !strings.HasPrefix(label, "out"):
			v.values = append(v.values, Value[F]{Data: numbers[F](f.Field(0)), id: int32(f.Field(1).Int())})
			v.labels = append(v.labels, label)
		case label == "call" && f.Kind() == reflect.Struct:
			v.read(f)
		}
	}
	return v
}

// read takes the tensors of a call, and how many tokens it has.
func (v *view[F]) read(call reflect.Value) {
	for i := range call.NumField() {
		switch x, name := call.Field(i), call.Type().Field(i).Name; {
		case name == "T" && x.Kind() == reflect.Int:
			v.tokens = int(x.Int())
		case x.Type() == reflect.TypeFor[[]F]() && x.Len() > 0:
			v.call = append(v.call, field[F]{name, numbers[F](x)})
		}
	}
}

// numbers is the slice in a field that is not exported.
func numbers[F num.Float](v reflect.Value) []F {
	return unsafe.Slice((*F)(v.UnsafePointer()), v.Len())
}
