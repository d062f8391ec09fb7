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
		if k.v.Type().Field(i).Name == "Operands" {
			continue // with memory for them, operands are in bfloat16
		}
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

// A pass is one forward and backward of a pair of kernels, and of the pair of the
// function that computes the inputs of the first, where there is one: then the function's
// forward runs first and its backward last.
type pass struct {
	t        *testing.T
	ref      reference
	fwd, bwd any

	front, frontBack any // of the function, or nil

	sizes map[string]int
	in    map[string]string // oracle's name → the page's
	idle  []string          // inputs that only the windows which a frozen read passes on depend on
	bars  map[string]string // the page's result → the oracle's weights of it, or ""
	outs  map[string]string // the page's result → oracle's name
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

// compare runs all and compares every output and every gradient that the oracle has.
func (p pass) compare() {
	p.t.Helper()
	forwards, backwards := []kernel{newKernel(p.fwd, p.sizes)}, []kernel{newKernel(p.bwd, p.sizes)}
	if p.front != nil {
		forwards = append(forwards, newKernel(p.front, p.sizes))
		backwards = append(backwards, newKernel(p.frontBack, p.sizes))
	}
	given := map[string]bool{"Pos": true}
	for name, own := range p.in {
		given[field(own)] = true
		used := false
		for _, k := range forwards {
			switch {
			case !k.has(field(own)):
				continue
			case name == "pos":
				k.set("Pos", p.ref.ints("pos"))
			default:
				k.set(field(own), p.input(name))
			}
			used = true
		}
		if !used {
			p.t.Errorf("no kernel reads %s", own)
		}
	}
	for _, k := range forwards {
		for _, name := range p.idle {
			if k.has(field(name)) {
				k.set(field(name), make([]float64, room))
			}
		}
	}
	if p.front != nil {
		forwards[1].run()
	}
	series := forwards[0].from(forwards, backwards[0], given)
	forwards[0].run()
	for i, g := range backwards {
		g.follow(forwards[i])
		for result, weights := range p.bars {
			bar := field(result) + "Bar"
			switch {
			case weights != "" && i == 0:
				g.set(bar, p.ref.floats(weights))
			case g.has(bar):
				g.set(bar, make([]float64, room))
			}
		}
		for _, s := range series {
			if i > 0 && g.has(s+"Bar") {
				g.set(s+"Bar", backwards[0].written(s+"Bar", room))
			}
		}
		g.run()
	}
	for result, name := range p.outs {
		n := len(p.ref.floats(name))
		same(p.t, name, writer(forwards, field(result)).written(field(result), n), p.ref.floats(name), exact, exact)
	}
	for _, name := range p.ref.names("grad.") {
		own, ok := p.in[name]
		if !ok {
			p.t.Errorf("the oracle has a gradient of %s, the page does not", name)
			continue
		}
		want := p.ref.floats("grad." + name)
		got := make([]float64, len(want))
		for i, g := range backwards {
			if forwards[i].has(field(own)) && g.has(field(own)+"Bar") {
				for j, x := range g.written(field(own)+"Bar", len(want)) {
					got[j] += x
				}
			}
		}
		same(p.t, "gradient of "+name, got, want, exact, exact)
	}
}

// from gives a kernel the inputs that a function computed: what nobody else gave, both
// have, and the kernel's backward has an adjoint of. It returns their names.
func (k kernel) from(forwards []kernel, back kernel, given map[string]bool) []string {
	var out []string
	for _, f := range forwards[1:] {
		for i := range k.v.NumField() {
			name := k.v.Type().Field(i).Name
			if x := f.v.FieldByName(name); x.IsValid() && !given[name] && back.has(name+"Bar") {
				k.v.Field(i).Set(x)
				out = append(out, name)
			}
		}
	}
	return out
}

// writer is the kernel that writes a result: where two have it, it is the input of the
// other one.
func writer(forwards []kernel, name string) kernel {
	for _, k := range forwards {
		if k.has(name+"Out") || k.has(name) && len(forwards) == 1 {
			return k
		}
	}
	for _, k := range forwards {
		if k.has(name) {
			return k
		}
	}
	return forwards[0]
}

// written is what a kernel wrote under a name: where a parameter has it too,
// the result is called …Out.
func (k kernel) written(name string, n int) []float64 {
	if k.has(name + "Out") {
		name += "Out"
	}
	return k.get(name)[:n]
}
