//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A call of a generated kernel is a pointer to a struct of its sizes and its parameters, in the order of the plan.

// callKey is the kernel and the type of its calls.
type callKey struct {
	kernel string
	typ    reflect.Type
}

// boundCalls are the calls that were seen, by kernel and type.
type boundCalls map[callKey]*boundCall

// bind finds the fields of a call, and reads its sizes. base is the address of the struct.
func (c boundCalls) bind(l *Library, kernel string, call any) (b *boundCall, base unsafe.Pointer, err error) {
	v := reflect.ValueOf(call)
	key := callKey{kernel, v.Type().Elem()}
	if b = c[key]; b == nil {
		if b, err = l.bind(kernel, key.typ); err != nil {
			return nil, nil, err
		}
		c[key] = b
	}
	base = v.UnsafePointer()
	b.read(base)
	return b, base, nil
}

// A boundCall is the type of the calls of a kernel: where its sizes and slices are.
type boundCall struct {
	kernel *Kernel
	sizes  []field
	slices []field // of the buffers that are no workspace
	roots  int     // the workspace in which searches say that they have failed, -1 for none,
	failed uintptr // and the offset of the field that gets the first of them
	narrow *field  // its length says whether operands are in bfloat16; nil where there are none
	shapes map[string]*sizedCall
	key    []byte
	values map[string]int
	to     []Address
	host   []argument
}

// An argument is what a call has in the host's memory.
type argument struct {
	buffer int
	data   []byte
}

// A sizedCall is what follows from the sizes of a call.
type sizedCall struct {
	*Shape
	loaded *Loaded
	work   int // bytes of workspace
}

type field struct {
	name   string // of the size, or of the buffer
	offset uintptr
	bytes  int // of an element
	buffer int // index
}

// noRoot is the workspace in which a kernel says which of its searches for a root have failed, numbers of
// 32 bits, and rootField the field of a call with the first of them, from 1.
const (
	noRoot    = "no_root"
	rootField = "NoRoot"
)

// bind finds the fields of a call: sizes, then parameters, in the order of the plan.
func (l *Library) bind(kernel string, t reflect.Type) (*boundCall, error) {
	k, err := l.Kernel(kernel)
	if err != nil {
		return nil, err
	}
	b := &boundCall{kernel: k, shapes: map[string]*sizedCall{}, values: map[string]int{}, to: make([]Address, len(k.Buffers)), roots: -1}
	at := 0
	next := func(kind reflect.Kind, name string) (reflect.StructField, error) {
		if at >= t.NumField() || t.Field(at).Type.Kind() != kind {
			return reflect.StructField{}, fmt.Errorf("cuda: BUG: %s has no field for %s of kernel %s", t, name, kernel)
		}
		at++
		return t.Field(at - 1), nil
	}
	for _, s := range k.Sizes {
		f, err := next(reflect.Int, s)
		if err != nil {
			return nil, err
		}
		b.sizes = append(b.sizes, field{name: s, offset: f.Offset})
	}
	for i, buffer := range k.Buffers {
		if buffer.Own() {
			if buffer.Name == noRoot {
				f, ok := t.FieldByName(rootField)
				if !ok || f.Type.Kind() != reflect.Int {
					return nil, fmt.Errorf("cuda: BUG: %s has no field %s", t, rootField)
				}
				b.roots, b.failed = i, f.Offset
			}
			continue
		}
		f, err := next(reflect.Slice, buffer.Name)
		if err != nil {
			return nil, err
		}
		size := int(f.Type.Elem().Size())
		if size != buffer.Size() {
			return nil, fmt.Errorf("cuda: BUG: field %s of %s has elements of %d bytes, %s of kernel %s of %d", f.Name, t, size, buffer.Name, kernel, buffer.Size())
		}
		b.slices = append(b.slices, field{buffer.Name, f.Offset, size, i})
	}
	if _, ok := k.Defaults[BFloat16]; ok {
		f, ok := t.FieldByName(operandsField)
		if !ok || f.Type.Kind() != reflect.Slice {
			return nil, fmt.Errorf("cuda: BUG: %s has no field %s", t, operandsField)
		}
		b.narrow = &field{name: BFloat16, offset: f.Offset}
	}
	return b, nil
}

// read reads the sizes of a call.
func (b *boundCall) read(base unsafe.Pointer) {
	b.key = b.key[:0]
	for _, f := range b.sizes {
		n := *(*int)(unsafe.Add(base, f.offset))
		b.values[f.name] = n
		b.key = fmt.Appendf(b.key, "%d ", n)
	}
	if f := b.narrow; f != nil {
		n := min(1, len(*(*[]byte)(unsafe.Add(base, f.offset)))) // its length counts elements
		b.values[f.name] = n
		b.key = fmt.Appendf(b.key, "%d", n)
	}
}

// workBytes is the workspace of a call, in bytes.
func (k *Kernel) workBytes(s *Shape) (n int) {
	for i, buffer := range k.Buffers {
		if buffer.Own() {
			n += whole(s.Lengths[i] * buffer.Size())
		}
	}
	return n
}
