package zero

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// The oracle's losses of the rules weigh the memory after the call too, and it
// has gradients for the memory before it. On the tape neither exists: a
// gradient ends at the edge of a chunk. So the kernels themselves are called
// here. Their inputs and outputs have the names of the page; what they keep for
// each other is passed on under whatever names it has.

// A kernel is a call of a generated kernel.
type kernel struct{ v reflect.Value }

// room is more than any buffer of the oracle's cases needs.
const room = 1 << 15

// newKernel gives every buffer of a call its place, filled with NaN; sizes are
// by field.
func newKernel(call any, sizes map[string]int) kernel {
	k := kernel{reflect.ValueOf(call).Elem()}
	for i := range k.v.NumField() {
		f := k.v.Field(i)
		switch x := f.Addr().Interface().(type) {
		case *int:
			n, ok := sizes[k.v.Type().Field(i).Name]
			if !ok {
				panic("no size " + k.v.Type().Field(i).Name)
			}
			*x = n
		case *[]float64:
			*x = nans(room)
		case *[]int32:
			*x = make([]int32, room)
		case *[]bool:
			*x = make([]bool, room)
		default: // rows side by side
			f.Set(reflect.MakeSlice(f.Type(), room, room))
		}
	}
	return k
}

func nans(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

// field is the Go name of a page's: W_K is WK, b_rho BRho, k0.tail K0Tail.
func field(name string) string {
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '.' }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// set puts values into a buffer; the kernel must have it.
func (k kernel) set(name string, x any) {
	f := k.v.FieldByName(name)
	if !f.IsValid() {
		panic(fmt.Sprintf("%v has no buffer %s", k.v.Type(), name))
	}
	f.Set(reflect.ValueOf(x))
}

func (k kernel) has(name string) bool { return k.v.FieldByName(name).IsValid() }

func (k kernel) get(name string) []float64 { return k.v.FieldByName(name).Interface().([]float64) }

func (k kernel) run() { k.v.Addr().Interface().(interface{ Run() }).Run() }

// workspace are the fields that belong to one call alone.
var workspace = map[string]bool{"Work": true, "Rows": true, "Flags": true, "RowFlags": true}

// follow gives a backward what its forward read and kept.
func (k kernel) follow(forward kernel) {
	for i := range k.v.NumField() {
		f := k.v.Type().Field(i)
		if x := forward.v.FieldByName(f.Name); x.IsValid() && f.Type.Kind() == reflect.Slice && !workspace[f.Name] {
			k.v.Field(i).Set(x)
		}
	}
}

// A pass is one forward and backward of a pair of kernels.
type pass struct {
	t        *testing.T
	ref      reference
	fwd, bwd any
	sizes    map[string]int
	in       map[string]string // oracle's name → the page's
	bars     map[string]string // the page's result → the oracle's weights of it, or ""
	outs     map[string]string // the page's result → oracle's name
}

// input is a tensor of the oracle. The rows of a tail that a young context does
// not have yet are noise there and written back as zeros; a real memory begins
// with zeros, and the generated code moves them on as they are.
func (p pass) input(name string) []float64 {
	x := append([]float64(nil), p.ref.floats(name)...)
	if !strings.HasPrefix(name, "tail_") {
		return x
	}
	shape := p.ref.get(name).Shape // sequences, rows, width
	for l, pos := range p.ref.ints("pos") {
		for row := range shape[1] - int(pos) {
			clear(x[(l*shape[1]+row)*shape[2]:][:shape[2]])
		}
	}
	return x
}

// compare runs both and compares every output and every gradient that the
// oracle has.
func (p pass) compare() {
	p.t.Helper()
	k, g := newKernel(p.fwd, p.sizes), newKernel(p.bwd, p.sizes)
	for name, own := range p.in {
		if name == "pos" {
			k.set("Pos", p.ref.ints("pos"))
		} else {
			k.set(field(own), p.input(name))
		}
	}
	k.run()
	g.follow(k)
	for result, weights := range p.bars {
		bar := field(result) + "Bar"
		switch {
		case weights != "":
			g.set(bar, p.ref.floats(weights))
		case g.has(bar):
			g.set(bar, make([]float64, room))
		}
	}
	g.run()
	for result, name := range p.outs {
		same(p.t, name, k.written(field(result), len(p.ref.floats(name))), p.ref.floats(name), exact, exact)
	}
	for _, name := range p.ref.names("grad.") {
		own, ok := p.in[name]
		if !ok {
			p.t.Errorf("the oracle has a gradient of %s, the page does not", name)
			continue
		}
		want := p.ref.floats("grad." + name)
		same(p.t, "gradient of "+name, g.written(field(own)+"Bar", len(want)), want, exact, exact)
	}
}

// written is what a kernel wrote under a name: where a parameter has it too,
// the result is called …Out.
func (k kernel) written(name string, n int) []float64 {
	if k.has(name + "Out") {
		name += "Out"
	}
	return k.get(name)[:n]
}
