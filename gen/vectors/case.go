package vectors

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/internal/vectors"
)

type tensors = numeric.Tensors

// An evaluated is a program with its backward, compiled for the interpreter.
type evaluated struct {
	f *ir.Func
	*numeric.CompiledPair
	single *numeric.CompiledPair // the same in float32
}

func newEvaluated(f *ir.Func) *evaluated {
	p := autodiff.NewPair(f)
	e := &evaluated{f, numeric.CompilePair(f, p), numeric.CompilePair(f, p)}
	e.single.Fwd.Float32, e.single.Bwd.Float32 = true, true
	return e
}

// An evaluator writes the vectors of one program: of a whole unit as on the tape, where
// gradients end at the memory, or of a pair of kernels, which have an adjoint for every
// state.
type evaluator struct {
	trial  *emitgo.Trial
	out    *vectors.File
	kind   string
	pair   *evaluated
	kernel bool
	starts []learned
	frees  map[string]irbuild.Free // the declarations of the parameters
}

// run writes one case for each size of the trial.
func (e *evaluator) run(steps []int) {
	for i := range e.trial.Sizes {
		z := maps.Clone(e.trial.Program[i])
		z["L"], z["T"] = batchSize, tokensOf(e.trial.Unit, steps, i)
		c := e.newCase(i, z)
		shown := maps.Clone(e.trial.Sizes[i])
		shown["L"], shown["T"] = z["L"], z["T"]
		c.writeSizes(shown)
		c.evaluate()
	}
}

// A testCase is a program at one size.
type testCase struct {
	*evaluator
	name     string
	sizes    map[string]int
	in, bars tensors
	again    string // distinguishes the stream of a repeated draw
	drawn    int    // tensors so far
	halved   int    // the binary exponent that numbers are reduced by
}

func (e *evaluator) newCase(i int, sizes map[string]int) *testCase {
	return &testCase{evaluator: e, name: fmt.Sprintf("%s.%d", e.kind, i), sizes: sizes, in: tensors{}, bars: tensors{}}
}

// draw fills the parameters of the program.
func (c *testCase) draw() {
	for _, p := range c.pair.f.Params {
		t := interp.NewTensor(interp.Shape(p.Axes, c.sizes)...)
		switch {
		case p.IsPosition():
			for l := range t.Data {
				t.Data[l] = []float64{100, 0, 2}[(l+c.sizes["T"])%3]
			}
		case p.Elem == ir.Int:
			c.indices(p, t)
		default:
			c.fill(t)
			if p.Role == ir.State || p.Role == ir.Input { // a gate is an input where the function of the front computes it
				intoDomain(c.frees[p.Name].Type, t)
			}
		}
		c.in[p.Name] = t
	}
	c.setPositions()
}

// indices draws from the declared range, the extra values included.
func (c *testCase) indices(p *ir.Value, t *interp.Tensor) {
	lo, hi := 0, 0
	var extra []int
	for _, v := range slices.Concat(c.trial.Unit.Inputs, c.trial.Unit.Consts) {
		if v.Name == p.Name && v.HasRange {
			lo, _ = v.Lo.Eval(c.sizes)
			hi, _ = v.Hi.Eval(c.sizes)
			extra = v.Extra
		}
	}
	next := c.next()
	for i := range t.Data {
		t.Data[i] = float64(lo + int(next()>>33)%max(1, hi-lo+1))
		if len(extra) > 0 && i%4 == 3 {
			t.Data[i] = float64(extra[i/4%len(extra)])
		}
	}
}

// fill draws numbers between −1 and 1 with ten binary digits: exact in float32
// too, and short in hexadecimal.
func (c *testCase) fill(t *interp.Tensor) {
	next := c.next()
	for i := range t.Data {
		t.Data[i] = math.Ldexp(float64(int(next()>>40)%2049-1024)/1024, -c.halved)
	}
}

// next is the stream of the next tensor of the case. It depends on the kind and the number
// of the case and on the number of tensors before, and on no name of a page.
func (c *testCase) next() func() uint64 {
	c.drawn++
	return stream(fmt.Sprint(c.name, c.again, ".", c.drawn))
}

// stream is splitmix64 from the hash of a text.
func stream(text string) func() uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	state := h.Sum64()
	return func() uint64 {
		state += 0x9E3779B97F4A7C15
		z := state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return z ^ z>>31
	}
}

// singleTol bounds the distance of a case in float32 from float64, relative to
// singleFloor at least, and samplesAtScale is the number of samples at each scale of
// halvings. Where rounding alone changes a gradient by more, as after the norm of a
// vector that is nearly zero, a case tests nothing.
const (
	singleTol      = 2e-5
	singleFloor    = 1e-3
	samplesAtScale = 8
	// testFloor is the floor of package conformance, which compares float32 with the vectors.
	testFloor = 0.1
)

// halvings are the scales of the samples, as negative powers of two, in the order tried.
var halvings = []int{0, 2, 4}

// A sample is one draw of the inputs of a case with the results.
type sample struct {
	in, bars, out, grads tensors
	started              []tensors
	distance             float64         // of float32 from float64, the largest of all tensors
	loose                map[string]bool // tensors that float32 does not reach in this sample
}

// evaluate draws samples until one is well conditioned, takes the best where none is, and
// writes its inputs and results.
func (c *testCase) evaluate() {
	var best *sample
	for n := range samplesAtScale * len(halvings) {
		if n > 0 {
			c.again = fmt.Sprintf(", again %d", n)
		}
		c.halved = halvings[n/samplesAtScale]
		d := c.attempt()
		if best == nil || d.distance < best.distance {
			best = d
		}
		if d.distance <= singleTol {
			break
		}
	}
	c.in, c.bars = best.in, best.bars
	c.learn(best.started, best.grads)
	c.store(best.out, best.grads)
	for _, name := range slices.Sorted(maps.Keys(best.loose)) {
		c.add("loose."+name, &vectors.Tensor{Kind: vectors.Int, Ints: []int64{1}})
	}
}

// attempt draws one sample and evaluates it in float64 and in float32.
func (c *testCase) attempt() *sample {
	c.in, c.bars, c.drawn = tensors{}, tensors{}, 0
	c.draw()
	in, started := c.begin()
	out, grads := c.pair.Run(c.sizes, in, c.bar)
	d := &sample{in: c.in, bars: c.bars, out: out, grads: grads, started: started, loose: map[string]bool{}}
	bar := func(r ir.Result, _ *interp.Tensor) *interp.Tensor { return c.bars[r.Name] }
	rough, slopes := c.pair.single.Run(c.sizes, in, bar)
	compare := func(x, y *interp.Tensor, name string) {
		far := relativeDistance(x.Data, y.Data, singleFloor)
		if math.IsNaN(far) {
			far = math.Inf(1)
		}
		d.distance = max(d.distance, far)
		if !(relativeDistance(x.Data, y.Data, testFloor) <= singleTol) {
			d.loose[name] = true
		}
	}
	for _, r := range c.pair.f.Results {
		compare(out[r.Name], rough[r.Name], "out."+c.result(r))
	}
	for _, p := range c.pair.f.Params {
		if g := grads[p.Name]; g != nil {
			name := "grad." + c.show(p.Name, p.Role)
			compare(g, slopes[p.Name], name)
			if vectors.Noise(g.Data) {
				d.loose[name] = true
			}
		}
	}
	return d
}

// relativeDistance is ‖a − b‖ relative to ‖a‖, or to floor where that is less.
func relativeDistance(a, b []float64, floor float64) float64 {
	var d, n float64
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
		n += a[i] * a[i]
	}
	return math.Sqrt(d) / max(floor, math.Sqrt(n))
}

// bar draws the adjoint of a result; on the tape the memory has no adjoint.
func (c *testCase) bar(r ir.Result, out *interp.Tensor) *interp.Tensor {
	t := interp.NewTensor(out.Shape...)
	if c.kernel || !r.State {
		c.fill(t)
	}
	c.bars[r.Name] = t
	return t
}

// store writes a case: inputs, adjoints, results, gradients.
func (c *testCase) store(out, grads tensors) {
	more := c.learnedParams()
	for _, p := range slices.Concat(c.pair.f.Params, more) {
		c.write("in."+c.show(p.Name, p.Role), c.in[p.Name], p.Elem)
	}
	for _, r := range c.pair.f.Results {
		if r.Val.Elem == ir.Real && (c.kernel || !r.State) {
			c.write("bar."+c.result(r), c.bars[r.Name], ir.Real)
		}
	}
	for _, r := range c.pair.f.Results {
		c.write("out."+c.result(r), out[r.Name], r.Val.Elem)
	}
	for _, p := range slices.Concat(c.pair.f.Params, more) {
		if g := grads[p.Name]; g != nil && (c.kernel || p.Role != ir.State) {
			c.write("grad."+c.show(p.Name, p.Role), g, ir.Real)
		}
	}
}

// show is the name of a parameter in the tests: inputs of blocks are x, those of models
// ids and next, and the parameters of a model's block have no prefix.
func (c *testCase) show(name string, role ir.Role) string {
	u := c.trial.Unit
	if c.kernel {
		return name
	}
	switch {
	case role == ir.Input && u.Kind == abi.ModelUnit:
		i := slices.IndexFunc(u.Inputs, func(v abi.Value) bool { return v.Name == name })
		return []string{"ids", "next"}[i]
	case role == ir.Input:
		return "x"
	case role == ir.Outer && u.Kind == abi.ModelUnit && len(u.Parts) > 0 && u.Parts[0].Count == "":
		return strings.TrimPrefix(name, u.Parts[0].Name+".")
	}
	return name
}

// result is the name of a result in the tests.
func (c *testCase) result(r ir.Result) string {
	switch {
	case c.kernel || r.State || r.Name == "loss":
		return r.Name
	case c.trial.Unit.Kind == abi.ModelUnit:
		return "logits"
	}
	return "y"
}

func (c *testCase) writeSizes(sizes map[string]int) {
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		c.add("size."+n, &vectors.Tensor{Kind: vectors.Int, Ints: []int64{int64(sizes[n])}})
	}
}

func (c *testCase) write(name string, t *interp.Tensor, elem ir.Elem) {
	v := &vectors.Tensor{Shape: t.Shape, Floats: t.Data}
	if elem != ir.Real {
		v = &vectors.Tensor{Kind: vectors.Int, Shape: t.Shape}
		for _, x := range t.Data {
			v.Ints = append(v.Ints, int64(x))
		}
	}
	if !finite(t) {
		panic(notFinite(fmt.Sprintf("%s of %s", name, c.trial.Name)))
	}
	c.add(name, v)
}

func finite(t *interp.Tensor) bool {
	return !slices.ContainsFunc(t.Data, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

func (c *testCase) add(name string, v *vectors.Tensor) {
	v.Name = c.name + "." + name
	if err := c.out.Add(v); err != nil {
		panic("vectors: BUG: " + err.Error())
	}
}
