package conformance

import (
	"math"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Sizes are the sizes of one case by the names of the page. L is the batch,
// T the tokens and C the tokens from checkpoint to checkpoint.
type Sizes map[string]int

// with returns a copy with more sizes.
func (z Sizes) with(more Sizes) Sizes {
	out := Sizes{}
	for n, v := range z {
		out[n] = v
	}
	for n, v := range more {
		out[n] = v
	}
	return out
}

// Split separates the width, under which a table of a composition gives the
// size of a token's vector, from the sizes that a constructor reads.
func (z Sizes) Split() (block.Sizes, int) {
	own := map[string]int{}
	for n, v := range z {
		if n != "width" && n != "L" && n != "T" && n != "C" {
			own[n] = v
		}
	}
	return block.NewSizes(own), z["width"]
}

// Args are the named arrays of one call of a kernel pair or a block. What a
// call asks for and nobody has set is drawn from the stream of its name.
type Args[F num.Float] struct {
	Sizes       Sizes
	In          map[string][]F     // inputs, parameters, states before the call
	Ints        map[string][]int32 // indices and positions
	Bars        map[string][]F     // adjoints that come in, by output
	Outs        map[string][]F     // outputs and states after the call
	Grads       map[string][]F     // adjoints of what was read, by name
	ForwardOnly bool               // a direct call leaves the backward out

	t       testing.TB
	seed    uint64
	consts  map[string]bool   // read without a gradient
	weights map[string]bool   // parameters of the block
	alias   map[string]string // inputs that are another one's leaf
	leaves  map[string]tape.Value[F]
	given   map[string]tape.Value[F]
	mem     *block.Memory[F]
	quiet   *[]tape.Value[F] // what a call gave, where nothing is copied (steady)
	room    func(n int) []F  // allocates arrays, or nil
	ranges  map[string]*block.Range
}

func newArgs[F num.Float](t testing.TB, z Sizes, seed uint64) *Args[F] {
	return &Args[F]{Sizes: z, In: map[string][]F{}, Ints: map[string][]int32{}, Bars: map[string][]F{}, Outs: map[string][]F{},
		Grads: map[string][]F{}, t: t, seed: seed, consts: map[string]bool{}, weights: map[string]bool{},
		leaves: map[string]tape.Value[F]{}, given: map[string]tape.Value[F]{}}
}

// Size returns a size. A missing one is a fault of the table.
func (a *Args[F]) Size(name string) int {
	if n, ok := a.Sizes[name]; ok {
		return n
	}
	if name == "C" {
		return block.Segment
	}
	a.t.Fatalf("no size %s", name)
	return 0
}

// Must ends the test when there is an error.
func (a *Args[F]) Must(err error) {
	if err != nil {
		a.t.Fatal(err)
	}
}

// array is room for n entries.
func (a *Args[F]) array(n int) []F {
	if a.room != nil {
		return a.room(n)
	}
	return make([]F, n)
}

// draw fills n entries between −1 and 1: large enough that no gradient is tiny.
func (a *Args[F]) draw(name string, n int) []F {
	d := a.array(n)
	num.FillUniform(d, num.NewStream(name, a.seed), -1, 1)
	if r := a.ranges[name]; r != nil {
		into(d, r)
	}
	return d
}

// Within says in which range the entries of a state are drawn.
func (a *Args[F]) Within(name string, r *block.Range) {
	if a.ranges == nil {
		a.ranges = map[string]*block.Range{}
	}
	a.ranges[name] = r
}

// into moves numbers between −1 and 1 into a range, a sixteenth from its ends at least.
func into[F num.Float](d []F, r *block.Range) {
	for i, x := range d {
		switch lo, hi, far := F(r.Lo), F(r.Hi), F(math.Abs(float64(x)))+0.0625; {
		case !math.IsInf(r.Lo, 0) && !math.IsInf(r.Hi, 0):
			d[i] = lo + (hi-lo)*(x+1.125)/2.25
		case math.IsInf(r.Lo, 0):
			d[i] = hi - far
		default:
			d[i] = lo + far
		}
	}
}

func (a *Args[F]) fits(name string, got, want int) {
	if got != want {
		a.t.Fatalf("%s has %d entries, the call wants %d", name, got, want)
	}
}

// Real returns an input, a parameter or a state of n entries.
func (a *Args[F]) Real(name string, n int) []F {
	if _, ok := a.In[name]; !ok {
		a.In[name] = a.draw(name, n)
	}
	a.fits(name, len(a.In[name]), n)
	return a.In[name]
}

// Const is Real for what has no gradient.
func (a *Args[F]) Const(name string, n int) []F {
	a.consts[name] = true
	return a.Real(name, n)
}

// Number is a constant number.
func (a *Args[F]) Number(name string) F { return a.Const(name, 1)[0] }

// Index returns indices from lo to hi, with extra allowed values in between.
func (a *Args[F]) Index(name string, n, lo, hi int, extra ...int32) []int32 {
	if _, ok := a.Ints[name]; !ok {
		s := num.NewStream(name, a.seed)
		d := make([]int32, n)
		for i := range d {
			d[i] = int32(lo + int(s.Next()>>33)%max(1, hi-lo+1))
			if len(extra) > 0 && i%4 == 3 {
				d[i] = extra[i/4%len(extra)]
			}
		}
		a.Ints[name] = d
	}
	a.fits(name, len(a.Ints[name]), n)
	return a.Ints[name]
}

// Int is a constant index.
func (a *Args[F]) Int(name string) int {
	a.consts[name] = true
	return int(a.Index(name, 1, 0, 0)[0])
}

// Pos returns how many tokens each sequence's context has seen: by turns none, more
// than any window, and two.
func (a *Args[F]) Pos(name string, batch int) []int32 {
	if _, ok := a.Ints[name]; !ok {
		d := make([]int32, batch)
		for l := range d {
			d[l] = []int32{0, 100, 2}[(uint64(l)+a.seed)%3]
		}
		a.Ints[name] = d
	}
	a.fits(name, len(a.Ints[name]), batch)
	return a.Ints[name]
}

// Fresh returns n entries that hold NaN until they are written.
func (a *Args[F]) Fresh(n int) []F {
	d := a.array(n)
	for i := range d {
		d[i] = F(math.NaN())
	}
	return d
}

// FreshFlags returns n truth values that are true until they are written.
func (a *Args[F]) FreshFlags(n int) []bool {
	d := make([]bool, n)
	for i := range d {
		d[i] = true
	}
	return d
}

// Out returns room for an output of n entries.
func (a *Args[F]) Out(name string, n int) []F {
	a.Bar(name, n)
	a.Outs[name] = a.Fresh(n)
	return a.Outs[name]
}

// Kept returns room for an output that no gradient goes back from.
func (a *Args[F]) Kept(name string, n int) []F {
	a.Outs[name] = a.Fresh(n)
	return a.Outs[name]
}

// Bar returns the adjoint of an output.
func (a *Args[F]) Bar(name string, n int) []F {
	if _, ok := a.Bars[name]; !ok {
		a.Bars[name] = a.draw(name+".bar", n)
	}
	a.fits(name+".bar", len(a.Bars[name]), n)
	return a.Bars[name]
}

// Grad returns room for the adjoint of what was read under a name.
func (a *Args[F]) Grad(name string, n int) []F {
	a.Grads[name] = a.Fresh(n)
	return a.Grads[name]
}

// Call is the call of a block under r.
//
//hecate:scoped
func (a *Args[F]) Call(r *tape.Run[F]) block.Call[F] {
	return block.Call[F]{Run: r, Pulse: r.Pulse, Batch: a.Size("L"), Tokens: a.Size("T")}
}

// Value is an input as a leaf of the tape.
func (a *Args[F]) Value(r *tape.Run[F], name string) tape.Value[F] {
	if _, ok := a.In[name]; !ok {
		a.t.Fatalf("input %s was not read by the kernel", name)
	}
	if a.quiet != nil {
		return r.Input(a.In[name])
	}
	if v, ok := a.leaves[a.alias[name]]; ok {
		return v
	}
	v := r.Input(a.In[name])
	a.leaves[name] = v
	return v
}

// A declarer is a block or a model.
type declarer[F num.Float] interface {
	Declare(s *context.ParamSet[F], prefix string) error
	NewMemory(batch int) *block.Memory[F]
}

// Weights binds the parameters of b, with the values of In.
//
//hecate:scoped
func (a *Args[F]) Weights(r *tape.Run[F], b declarer[F]) block.Weights[F] {
	var set context.ParamSet[F]
	a.Must(b.Declare(&set, ""))
	v := set.View()
	for i := range v.Len() {
		name := v.Param(i).Name
		a.weights[name] = true
		copy(v.Data(i), a.Real(name, len(v.Data(i)))) //hecate:allow outerwrite the set is the test's own
	}
	return block.Bind(r, v)
}

// Memory is the memory of b, with the values of In.
func (a *Args[F]) Memory(b declarer[F]) *block.Memory[F] {
	m := b.NewMemory(a.Size("L"))
	m.Ranges("", a.Within)
	m.Each("", func(name string, _ []int, data []F) { copy(data, a.Real(name, len(data))) })
	m.EachPos("", func(name string, pos []int32) { copy(pos, a.Pos(name, len(pos))) })
	a.mem = m
	return m
}

// SetOutput records an output of a call on the tape.
func (a *Args[F]) SetOutput(name string, v tape.Value[F]) {
	if a.quiet != nil {
		*a.quiet = append(*a.quiet, v)
		return
	}
	a.given[name] = v
	a.Outs[name] = append([]F(nil), v.Data...)
}

// first is the time of every test: all levels are active.
func first() pulse.Pulse { return pulse.First(pulse.Build, 1, 1, 1, 1, 1, 1, 1, 1) }

// Updated is a copy of what an update changes in place.
func (a *Args[F]) Updated(name string) []F {
	if _, ok := a.In[name]; !ok {
		a.t.Fatalf("no %s", name)
	}
	if a.quiet == nil {
		a.Outs[name] = append([]F(nil), a.In[name]...)
	}
	return a.Outs[name]
}
