package emitcuda_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/internal/cudashim"
)

// A trial is one program at one size with its inputs.
type trial struct {
	t        *testing.T
	p        *program
	sizes    map[string]int
	in       map[string]*interp.Tensor // parameters and adjoints by name
	fwd, bwd map[string]wanted
	shuffled bool    // run in another order, too
	empty    bool    // there is no index in a declared range
	calm     float64 // the deviation of numbers, as a part of the usual one
}

// A wanted is a result in the interpreter, in float64 and in float32.
type wanted struct{ exact, single []float64 }

// calmest is how often the deviation of a trial's numbers is halved at most.
const calmest = 4

// newTrial draws the inputs of a program. Where rounding to float32 alone moves a
// result by a good part of what is allowed, as where a state runs away, another
// trial with smaller numbers takes its place.
func newTrial(t *testing.T, p *program, tokens int) *trial {
	key := trialKey{p.f, p.sizeOf("d_k"), p.narrow, tokens}
	x, ok := trials.Load(key)
	if !ok {
		x, _ = trials.LoadOrStore(key, steadyTrial(t, p, tokens))
	}
	y := *x.(*trial)
	y.t, y.p = t, p
	return &y
}

// trials are those that were made, which several tests run.
var trials sync.Map

type trialKey struct {
	f      *ir.Func
	d_k    int // one of the sizes that a test may change
	narrow int
	tokens int
}

func steadyTrial(t *testing.T, p *program, tokens int) *trial {
	for n, calm := 0, 1.0; ; n, calm = n+1, calm/2 {
		x := drawTrial(t, p, tokens, calm)
		if n == calmest || x.empty {
			return x
		}
		x.oracle()
		if x.steady(x.fwd) && x.steady(x.bwd) {
			return x
		}
	}
}

// steady reports whether float32 comes near in the interpreter.
func (x *trial) steady(results map[string]wanted) bool {
	for _, w := range results {
		if !(distance(w.single, w.exact, 0) <= relTol/steady) {
			return false
		}
	}
	return true
}

func drawTrial(t *testing.T, p *program, tokens int, calm float64) *trial {
	x := &trial{t: t, p: p, sizes: p.union(trialLanes, tokens), in: map[string]*interp.Tensor{}, shuffled: tokens == positive, calm: calm}
	rng := rand.New(rand.NewPCG(3, uint64(tokens)))
	if p.front != nil {
		x.inputs(rng, p.front)
		for name, v := range interpret(p.front, x.sizes, x.in, false) {
			if x.in[name] == nil { // no window of the next call
				x.in[name] = rounded(v)
			}
		}
	}
	x.inputs(rng, p.f)
	if p.pair == nil {
		return x
	}
	for _, v := range p.pair.Bwd.Params {
		if v.Role == ir.Adjoint {
			x.in[v.Name] = x.draw(rng, v, nil)
		}
	}
	return x
}

// oracle runs the programs in the interpreter.
func (x *trial) oracle() {
	if x.p.pair == nil {
		x.fwd = want(interpret(x.p.f, x.sizes, x.in, false), interpret(x.p.f, x.sizes, x.in, true))
		return
	}
	var fwd, bwd [2]map[string]*interp.Tensor
	for i, single := range []bool{false, true} {
		fwd[i] = x.p.interpret(x.p.pair.Fwd, x.sizes, x.in, single)
		in := maps.Clone(x.in)
		for _, v := range x.p.pair.Bwd.Params {
			if v.Role == ir.Saved {
				in[v.Name] = fwd[i][v.Name]
			}
		}
		bwd[i] = x.p.interpret(x.p.pair.Bwd, x.sizes, in, single)
	}
	x.fwd, x.bwd = want(fwd[0], fwd[1]), want(bwd[0], bwd[1])
}

func want(exact, single map[string]*interp.Tensor) map[string]wanted {
	out := map[string]wanted{}
	for n, t := range exact {
		out[n] = wanted{t.Data, single[n].Data}
	}
	return out
}

// interpret is interpret with operands in bfloat16 where the program's kernels have them so.
func (p *program) interpret(f *ir.Func, sizes map[string]int, in map[string]*interp.Tensor, single bool) map[string]*interp.Tensor {
	c := interp.Compile(f)
	c.Float32 = single
	if p.narrow == 1 {
		c.Narrow = interp.BFloat16
	}
	return c.Run(sizes, only(f, in))
}

// interpret runs a program on those of the values that are its parameters.
func interpret(f *ir.Func, sizes map[string]int, in map[string]*interp.Tensor, single bool) map[string]*interp.Tensor {
	p := interp.Compile(f)
	p.Float32 = single
	return p.Run(sizes, only(f, in))
}

func only(f *ir.Func, all map[string]*interp.Tensor) map[string]*interp.Tensor {
	out := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		out[p.Name] = all[p.Name]
	}
	return out
}

// run runs the kernels and lists what is wrong: results that are not the
// interpreter's, and, with the threads and blocks in another order and every block
// alone, bits that are not the same.
func (x *trial) run(bin *cudashim.Binary, tape bool) []error {
	program, results := x.program(tape)
	out, err := bin.Run(program)
	if err != nil {
		return []error{fmt.Errorf("%v: %w", x.sizes, err)}
	}
	var errs []error
	for _, err := range x.compare(out, results) {
		errs = append(errs, fmt.Errorf("%v tape %v: %w", x.sizes, tape, err))
	}
	if !tape || !x.shuffled {
		return errs
	}
	program.Seed, program.Isolated = 5, true
	again, err := bin.Run(program)
	if err != nil {
		return append(errs, fmt.Errorf("%v: %w", x.sizes, err))
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if !slices.Equal(out.Float32(name), again.Float32(name)) {
			errs = append(errs, fmt.Errorf("%v: another order of threads and blocks gives another %s", x.sizes, x.label(name)))
		}
	}
	return errs
}

// compare lists the results that are not the interpreter's.
func (x *trial) compare(out cudashim.Result, results map[string]wanted) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(results)) {
		w := results[name]
		least := 0.0
		if x.p.random {
			least = 1 // of numbers that cancel nothing is known but their size
		}
		rough := distance(w.single, w.exact, least)
		if x.p.random && !(rough <= astray) {
			continue
		}
		tol := max(relTol, cancelled*rough)
		if err := distance(out.Float32(name), w.exact, least); !(err <= tol) {
			errs = append(errs, fmt.Errorf("%s is off by %.3g, may be by %.3g", x.label(name), err, tol))
		}
	}
	return errs
}

// program is the forward and, with a tape, the backward after it, and what
// comes out. Without a tape what only a backward needs has no buffer.
func (x *trial) program(tape bool) (*cudashim.Program, map[string]wanted) {
	x.t.Helper()
	r := &run{t: x.t, sizes: x.sizes}
	all := x.allSizes()
	results := map[string]wanted{}
	fwd := map[*plan.Buffer]string{}
	for i, b := range x.p.fwd.Kernel.Params {
		name := fmt.Sprintf("f%d", i)
		switch {
		case b.Role == plan.Read:
			r.buffer(name, b.Elem, x.in[b.Of].Data, false)
		case tape || !b.Optional:
			r.buffer(name, b.Elem, make([]float64, r.eval(b.Len(), all)), true)
			if b.Role == plan.Write {
				results[name] = x.fwd[b.Of]
			}
		default:
			name = ""
		}
		fwd[b] = name
	}
	r.add(x.p.fwd, fwd)
	if tape && x.p.bwd != nil {
		r.add(x.p.bwd, x.backward(r, all, fwd, results))
	}
	return &r.program, results
}

// backward makes the buffers of the backward, which reads what the forward
// wrote.
func (x *trial) backward(r *run, all map[string]int, fwd map[*plan.Buffer]string, results map[string]wanted) map[*plan.Buffer]string {
	byName, byResult := map[string]string{}, map[string]string{}
	for b, n := range fwd {
		byName[b.Name] = n
		if b.Role == plan.Write {
			byResult[b.Of] = n
		}
	}
	out := map[*plan.Buffer]string{}
	for i, b := range x.p.bwd.Kernel.Params {
		name := fmt.Sprintf("b%d", i)
		switch {
		case b.Role == plan.Write:
			r.buffer(name, b.Elem, make([]float64, r.eval(b.Len(), all)), true)
			results[name] = x.bwd[b.Of]
		case b.Role == plan.Checkpoint:
			name = byName[b.Name]
		case x.p.pair.Bwd.Param(b.Of).Role == ir.Saved:
			name = byResult[b.Of]
		default:
			r.buffer(name, b.Elem, x.in[b.Of].Data, false)
		}
		out[b] = name
	}
	return out
}

// label is the name of a result after the name of its buffer.
func (x *trial) label(name string) string {
	var i int
	fmt.Sscanf(name[1:], "%d", &i)
	if strings.HasPrefix(name, "f") {
		return "forward " + x.p.fwd.Kernel.Params[i].Name
	}
	return "backward " + x.p.bwd.Kernel.Params[i].Name
}

// distance is the norm of the difference over the norm of what is wanted; 0
// for equal ones. What is infinite must be equal.
func distance[F float32 | float64](got []F, want []float64, least float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	diff, norm := 0.0, 0.0
	for i, w := range want {
		g := float64(got[i])
		if math.IsInf(w, 0) && g == w {
			continue
		}
		diff += (g - w) * (g - w)
		norm += w * w
	}
	if diff == 0 {
		return 0
	}
	return math.Sqrt(diff) / max(math.Sqrt(norm), least)
}
