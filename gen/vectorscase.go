package gen

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
	"github.com/nl-hecate/hecate/internal/vectors"
)

type tensors = map[string]*interp.Tensor

// An evaluated is a program with its backward, ready to run.
type evaluated struct {
	f        *ir.Func
	pair     *ir.Pair
	fwd, bwd *interp.Program
	rough    *evaluated // the same in float32
}

func newEvaluated(f *ir.Func) *evaluated {
	p := autodiff.NewPair(f)
	e := &evaluated{f: f, pair: p, fwd: interp.Compile(p.Fwd), bwd: interp.Compile(p.Bwd)}
	e.rough = &evaluated{f: f, pair: p, fwd: interp.Compile(p.Fwd), bwd: interp.Compile(p.Bwd)}
	e.rough.fwd.Float32, e.rough.bwd.Float32 = true, true
	return e
}

// run evaluates forward and backward; bar gives the adjoint of each result.
func (e *evaluated) run(sizes map[string]int, in tensors, bar func(r ir.Result, out *interp.Tensor) *interp.Tensor) (out, grads tensors) {
	out = e.fwd.Run(sizes, only(e.pair.Fwd, in))
	all := maps.Clone(out)
	maps.Copy(all, in) // a state before the call, not the one after it
	for _, r := range e.f.Results {
		if r.Val.Elem == ir.Real {
			all[ir.AdjointName(r.Name)] = bar(r, out[r.Name])
		}
	}
	for _, v := range e.pair.Bwd.Params {
		if v.Role == ir.Saved {
			all[v.Name] = out[v.Name]
		}
	}
	return out, e.bwd.Run(sizes, only(e.pair.Bwd, all))
}

func only(f *ir.Func, from tensors) tensors {
	out := tensors{}
	for _, v := range f.Params {
		out[v.Name] = from[v.Name]
	}
	return out
}

// An evaluator writes the vectors of one program: of a whole unit as the tape
// sees it, which ends gradients at the memory, or of a pair of kernels, which
// has an adjoint for every state.
type evaluator struct {
	trial  *emitgo.Trial
	out    *vectors.File
	kind   string
	pair   *evaluated
	kernel bool
	starts []learned
	frees  map[string]irbuild.Free // the declared names behind the parameters
}

// run writes one case for each size of the trial.
func (e *evaluator) run(steps []int) {
	for i := range e.trial.Sizes {
		z := maps.Clone(e.trial.Program[i])
		z["L"], z["T"] = vectorLanes, stepsOf(e.trial.Unit, steps, i)
		c := e.newCase(i, z)
		shown := maps.Clone(e.trial.Sizes[i])
		shown["L"], shown["T"] = z["L"], z["T"]
		c.writeSizes(shown)
		c.evaluate()
	}
}

// A vectorCase is a program at one size.
type vectorCase struct {
	*evaluator
	name     string
	sizes    map[string]int
	in, bars tensors
	again    string // what makes this draw another than the first
	drawn    int    // tensors so far
	halved   int    // how often what is drawn is halved
}

func (e *evaluator) newCase(i int, sizes map[string]int) *vectorCase {
	return &vectorCase{evaluator: e, name: fmt.Sprintf("%s.%d", e.kind, i), sizes: sizes, in: tensors{}, bars: tensors{}}
}

// draw fills the parameters of the program.
func (c *vectorCase) draw() {
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
	c.ages()
}

func base(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// indices draws from the declared range, the extra values included.
func (c *vectorCase) indices(p *ir.Value, t *interp.Tensor) {
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
func (c *vectorCase) fill(t *interp.Tensor) {
	next := c.next()
	for i := range t.Data {
		t.Data[i] = math.Ldexp(float64(int(next()>>40)%2049-1024)/1024, -c.halved)
	}
}

// next is the stream of the next tensor of the case: it follows from the kind and
// the number of the case and from how many tensors came before, and from no name
// of a page.
func (c *vectorCase) next() func() uint64 {
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

// roughTol is how far float32 may lead a case away from float64, relative to
// roughFloor at least, and draws how often a case is drawn at each of the sizes of
// halvings: where rounding alone moves a gradient by more, as behind the norm of a
// vector that is nearly zero, its numbers test nothing.
const (
	roughTol   = 2e-5
	roughFloor = 1e-3
	draws      = 8
	// singleFloor is the floor of package conformance, which holds float32 to the vectors.
	singleFloor = 0.1
)

// halvings are the sizes that numbers are drawn at, one after another.
var halvings = []int{0, 2, 4}

// A drawing is one draw of a case with what came of it.
type drawing struct {
	in, bars, out, grads tensors
	started              []tensors
	rough                float64         // how far float32 is away, by the worst tensor
	loose                map[string]bool // what float32 does not reach in that draw
}

// evaluate runs the program where it is well conditioned, or where it is best so
// if no draw is, and writes what it read and gave.
func (c *vectorCase) evaluate() {
	var best *drawing
	for n := range draws * len(halvings) {
		if n > 0 {
			c.again = fmt.Sprintf(", again %d", n)
		}
		c.halved = halvings[n/draws]
		d := c.attempt()
		if best == nil || d.rough < best.rough {
			best = d
		}
		if d.rough <= roughTol {
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

// attempt draws a case once and evaluates it in float64 and in float32.
func (c *vectorCase) attempt() *drawing {
	c.in, c.bars, c.drawn = tensors{}, tensors{}, 0
	c.draw()
	in, started := c.begin()
	out, grads := c.pair.run(c.sizes, in, c.bar)
	d := &drawing{in: c.in, bars: c.bars, out: out, grads: grads, started: started, loose: map[string]bool{}}
	bar := func(r ir.Result, _ *interp.Tensor) *interp.Tensor { return c.bars[r.Name] }
	rough, slopes := c.pair.rough.run(c.sizes, in, bar)
	compare := func(x, y *interp.Tensor, name string) {
		far := apart(x.Data, y.Data, roughFloor)
		if math.IsNaN(far) {
			far = math.Inf(1)
		}
		d.rough = max(d.rough, far)
		if !(apart(x.Data, y.Data, singleFloor) <= roughTol) {
			d.loose[name] = true
		}
	}
	for _, r := range c.pair.f.Results {
		compare(out[r.Name], rough[r.Name], "out."+c.result(r))
	}
	for _, p := range c.pair.f.Params {
		if g := grads[ir.AdjointName(p.Name)]; g != nil {
			compare(g, slopes[ir.AdjointName(p.Name)], "grad."+c.show(p.Name, p.Role))
		}
	}
	return d
}

// apart is ‖a − b‖ relative to ‖a‖, or to floor where that is less.
func apart(a, b []float64, floor float64) float64 {
	var d, n float64
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
		n += a[i] * a[i]
	}
	return math.Sqrt(d) / max(floor, math.Sqrt(n))
}

// bar draws the adjoint of a result; on the tape the memory has none.
func (c *vectorCase) bar(r ir.Result, out *interp.Tensor) *interp.Tensor {
	t := interp.NewTensor(out.Shape...)
	if c.kernel || !r.State {
		c.fill(t)
	}
	c.bars[r.Name] = t
	return t
}

// store writes a case: first what is read, then adjoints, results, gradients.
func (c *vectorCase) store(out, grads tensors) {
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
		if g := grads[ir.AdjointName(p.Name)]; g != nil && (c.kernel || p.Role != ir.State) {
			c.write("grad."+c.show(p.Name, p.Role), g, ir.Real)
		}
	}
}

// show is a parameter's name to the tests: inputs of blocks are x, those of
// models ids and next, and a model's block gives its parameters no name.
func (c *vectorCase) show(name string, role ir.Role) string {
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

// result is a result's name to the tests.
func (c *vectorCase) result(r ir.Result) string {
	switch {
	case c.kernel || r.State || r.Name == "loss":
		return r.Name
	case c.trial.Unit.Kind == abi.ModelUnit:
		return "logits"
	}
	return "y"
}

func (c *vectorCase) writeSizes(sizes map[string]int) {
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		c.add("size."+n, &vectors.Tensor{Kind: vectors.Int, Ints: []int64{int64(sizes[n])}})
	}
}

func (c *vectorCase) write(name string, t *interp.Tensor, elem ir.Elem) {
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

func (c *vectorCase) add(name string, v *vectors.Tensor) {
	v.Name = c.name + "." + name
	if err := c.out.Add(v); err != nil {
		panic("gen: BUG: " + err.Error())
	}
}
