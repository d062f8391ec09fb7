package random_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// The distance ‖a − b‖/‖b‖ that a kernel may keep from the interpreter: relTol64
// and relTol32 for a few hundred roundings, or, where rounding every number to
// float32 leads the interpreter itself astray, so many times as far.
const (
	relTol64 = 1e-12
	relTol32 = 2e-5
	astray   = 30
	// ulp32 and ulp64 are what one rounding may do.
	ulp32 = 0x1p-24
	ulp64 = 0x1p-53
	// steady is how far float32 may lead a result before smaller numbers are drawn.
	steady = 1e-4
	// functionOff is how many roundings a function of a kernel may be off.
	functionOff = 4
	// twinRuns is how many runs in float32 say how far it leads a result.
	twinRuns = 3
	// calmest is how often numbers are halved at most.
	calmest = 5
	// small64 and small32 are the norms below which a result is compared absolutely:
	// a gradient that is zero but for rounding has terms that are not.
	small64 = 1e-3
	small32 = 0.1
)

// A trial is a program at one size with its inputs.
type trial struct {
	p     *program
	h     *harness
	sizes map[string]int
	in    map[string]*interp.Tensor
	want  [2]results // of the forward and the backward
}

// A result is that of the interpreter, with the largest distance of its float32 twins,
// measured as results in float32 and in float64 are.
type result struct {
	exact          []float64
	twin, twinFine float64
}

type results map[string]result

// trialSizes are the sizes at which a page is run: on both sides of rows that
// run four at a time, of vectors of eight and sixteen, and of blocks of 32 rows.
var trialSizes = [][]int{{5, 3, 7, 2, 9, 6}, {1, 2, 1, 3, 1, 2}, {3, 33, 17, 1, 4, 5}, {7, 4, 31, 5, 2, 3}, {17, 9, 8, 4, 5, 1}, {2, 48, 3, 2, 1, 7}}

// trialTimes are the tokens and how many lie between checkpoints, of the first trial and
// of the second: the first one has several segments, and a last one that is short.
var trialTimes = [trials][]struct{ tokens, segment int }{
	{{5, 2}, {7, 3}, {9, 2}, {8, 5}},
	{{1, 64}, {2, 1}, {3, 64}, {1, 2}, {4, 1}, {9, 64}, {6, 3}},
}

// draw makes the trial n of a page, with numbers as small as needed: nil where
// even small ones are led astray.
func (p *program) draw(h *harness, n int) *trial {
	i := n + int(p.of.seed()%1000)
	rng := rand.New(rand.NewPCG(p.of.seed(), uint64(i)))
	time := trialTimes[n][i%len(trialTimes[n])]
	x := &trial{p: p, h: h, sizes: map[string]int{"L": 1 + (i+1)%3%2, "T": time.tokens, "C": time.segment}}
	order := trialSizes[i%len(trialSizes)]
	for k, s := range p.freeSizes() {
		if _, ok := x.sizes[s]; !ok {
			x.sizes[s] = order[k%len(order)]
		}
	}
	for k, calm := 0, 1.0; k <= calmest; k, calm = k+1, calm/2 {
		x.inputs(rng, calm)
		if x.oracle() {
			return x
		}
	}
	return nil
}

// freeSizes are the sizes of both kernels but those of a call.
func (p *program) freeSizes() []string {
	var out []string
	for _, k := range p.kernels() {
		for _, s := range k.Sizes {
			if s != "L" && s != "T" && s != "C" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return out
}

// inputs draws what the programs read. The norm of a matrix is that of its result.
func (x *trial) inputs(rng *rand.Rand, calm float64) {
	x.in = map[string]*interp.Tensor{}
	for _, f := range []*ir.Func{x.p.pair.Fwd, x.p.pair.Bwd} {
		for _, v := range f.Params {
			if v.Role == ir.Saved || x.in[v.Name] != nil {
				continue
			}
			n := interp.NewTensor(interp.Shape(v.Axes, x.sizes)...)
			scale := calm
			if v.Role == ir.Outer && len(n.Shape) > 1 {
				scale /= math.Sqrt(float64(n.Shape[len(n.Shape)-1]))
			}
			for i := range n.Data {
				n.Data[i] = x.number(rng, v, scale)
			}
			x.in[v.Name] = n
		}
	}
}

func (x *trial) number(rng *rand.Rand, v *ir.Value, scale float64) float64 {
	switch {
	case v.Elem == ir.Int && strings.HasPrefix(v.Name, "ids"):
		return float64(rng.IntN(max(1, x.sizes["V"])))
	case v.Elem == ir.Int:
		return []float64{0, 2, 100}[rng.IntN(3)]
	case v.Elem == ir.Bool:
		return float64(rng.IntN(2))
	}
	return float64(float32(scale * rng.NormFloat64()))
}

// oracle runs the interpreter, and reports whether float32 comes near. How far float32
// leads a result is the largest distance of a few runs: one alone may be lucky.
func (x *trial) oracle() bool {
	rng := rand.New(rand.NewPCG(1, 2))
	for run := range 1 + twinRuns {
		fwd := interpret(x.p.pair.Fwd, x.sizes, x.in, run, rng)
		got := [2]map[string]*interp.Tensor{fwd}
		if x.p.bwd != nil {
			in := maps.Clone(x.in)
			for _, v := range x.p.pair.Bwd.Params {
				if v.Role == ir.Saved {
					in[v.Name] = fwd[v.Name]
				}
			}
			got[1] = interpret(x.p.pair.Bwd, x.sizes, in, run, rng)
		}
		for i := range got {
			if run == 0 {
				x.want[i] = results{}
			}
			for name, t := range got[i] {
				r := result{exact: t.Data}
				if run > 0 {
					r = x.want[i][name]
					r.twin = max(r.twin, distance(t.Data, r.exact, small32))
					r.twinFine = max(r.twinFine, distance(t.Data, r.exact, small64))
				}
				if !(r.twin <= steady) {
					return false
				}
				x.want[i][name] = r
			}
		}
	}
	return true
}

// interpret runs a program in float64, from run 1 on in float32, and from run 2 on with
// functions that are off by a few roundings, as those of kernels are, and all else by
// one more, as fused arithmetic and sums in another order are.
func interpret(f *ir.Func, sizes map[string]int, in map[string]*interp.Tensor, run int, rng *rand.Rand) map[string]*interp.Tensor {
	p := interp.Compile(f)
	p.Float32 = run > 0
	if run > 1 {
		p.ObserveInstr = func(in *ir.Instr, out *interp.Tensor) {
			off := maxRoundings(in)
			if off == 0 {
				return
			}
			for i := range out.Data {
				out.Data[i] *= 1 + off*ulp32*(2*rng.Float64()-1)
			}
		}
	}
	own := map[string]*interp.Tensor{}
	for _, v := range f.Params {
		own[v.Name] = in[v.Name]
	}
	return p.Run(sizes, own)
}

// maxRoundings is how many maxRoundings two results of an instruction may be apart: none where
// it chooses or moves numbers, functionOff where it is a function, and two where it adds
// and multiplies, as each of them is one rounding away from what is exact.
func maxRoundings(in *ir.Instr) float64 {
	switch in.Op {
	case ir.Abs, ir.Sign, ir.Floor, ir.Stop:
		return 0
	case ir.Prod:
		if len(in.Args) == 1 && len(in.Reduced()) == 0 {
			return 0
		}
		return 2
	case ir.Lin, ir.Div, ir.TriSolve:
		return 2
	case ir.Softmax, ir.LogSumExp, ir.Pow:
		return functionOff
	}
	if in.Op.Unary() == nil {
		return 0
	}
	return functionOff
}

// distance is ‖a − b‖/‖b‖, or by small where b is smaller.
func distance(got, want []float64, small float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var diff, norm float64
	for i, w := range want {
		diff += (got[i] - w) * (got[i] - w)
		norm += w * w
	}
	return math.Sqrt(diff) / max(small, math.Sqrt(norm))
}

// A variant is how a kernel is run.
type variant struct {
	single bool
	level  string
	cores  int
	tape   bool
	c      int // tokens from checkpoint to checkpoint, or 0 for the trial's
}

func (w variant) String() string {
	s := w.level
	if !w.single {
		s += " float64"
	}
	if w.cores > 1 {
		s += fmt.Sprintf(" on %d cores", w.cores)
	}
	if !w.tape {
		s += " without a tape"
	}
	if w.c > 0 {
		s += fmt.Sprintf(", a checkpoint every %d tokens", w.c)
	}
	return s
}

// check runs the kernels in every way and lists what is wrong.
func (x *trial) check(t testing.TB) (bad []string) {
	say := func(format string, args ...any) {
		if len(bad) < 6 {
			bad = append(bad, fmt.Sprintf("%s %v: %s", x.p.name, x.sizes, fmt.Sprintf(format, args...)))
		}
	}
	portable := x.run(t, variant{level: "portable", tape: true, cores: 1}, say)
	x.nearOracle(portable, false, "portable float64", say)
	x.sameBits(x.run(t, variant{level: "portable", cores: 1}, say), portable, "portable float64 without a tape", say)
	if x.p.fwd.Segment != "" && x.p.bwd != nil {
		x.sameBits(x.run(t, variant{level: "portable", tape: true, cores: 1, c: 1 + x.sizes["C"]%3}, say), portable, "other checkpoints", say)
	}
	x.nearOracle(x.run(t, variant{single: true, level: "portable", tape: true, cores: 1}, say), true, "portable", say)
	var first [2]map[string][]float64
	for i, l := range x.h.levels {
		for cores := 1; cores <= 1+i%2; cores++ {
			w := variant{single: true, level: l, tape: true, cores: cores}
			got := x.run(t, w, say)
			if first[0] == nil {
				first = got
				x.nearOracle(got, true, w.String(), say)
			}
			x.sameBits(got, first, w.String(), say)
		}
	}
	return bad
}

// nearOracle compares with the interpreter.
func (x *trial) nearOracle(got [2]map[string][]float64, single bool, what string, say func(string, ...any)) {
	for i, k := range x.p.kernels() {
		for _, b := range k.Params {
			if b.Role != plan.Write || b.Elem != ir.Real || got[i] == nil {
				continue
			}
			w := x.want[i][b.Of]
			tol, small := max(relTol64, astray*w.twinFine/ulp32*ulp64), small64
			if single {
				tol, small = max(relTol32, astray*w.twin), small32
			}
			if d := distance(got[i][b.Name], w.exact, small); !(d <= tol) {
				say("%s: %s of the %s is off by %.3g, may be by %.3g", what, b.Name, []string{"forward", "backward"}[i], d, tol)
			}
		}
	}
}

// sameBits compares bits of what both have.
func (x *trial) sameBits(got, want [2]map[string][]float64, what string, say func(string, ...any)) {
	for i := range got {
		for _, name := range slices.Sorted(maps.Keys(want[i])) {
			y, ok := got[i][name]
			if !ok || strings.HasSuffix(name, ".checkpoints") {
				continue
			}
			if !slices.EqualFunc(y, want[i][name], func(a, b float64) bool {
				return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
			}) {
				say("%s: %s has other bits, off by %.3g", what, name, distance(y, want[i][name], small32))
			}
		}
	}
}

// run runs the forward and then the backward.
func (x *trial) run(t testing.TB, w variant, say func(string, ...any)) (out [2]map[string][]float64) {
	sizes := maps.Clone(x.sizes)
	if w.c > 0 {
		sizes["C"] = w.c
	}
	k := x.p.fwd
	r := x.request(k, w, sizes)
	n := x.h.names[k]
	for _, b := range k.Params {
		switch {
		case b.Role == plan.Read:
			r.give(n.Buffers[b], b.Elem, x.in[b.Of].Data)
		case w.tape || !b.Optional:
			r.Made[n.Buffers[b]] = length(b, k, sizes)
		}
	}
	got := x.h.run(t, r)
	if got.Err != "" {
		say("%v: the forward: %s", w, got.Err)
		return out
	}
	out[0] = got.named(k, n)
	if !w.tape || x.p.bwd == nil {
		return out
	}
	back := x.p.bwd
	r, nb := x.request(back, w, sizes), x.h.names[back]
	for _, b := range back.Params {
		switch {
		case b.Role == plan.Write:
			r.Made[nb.Buffers[b]] = length(b, back, sizes)
		case b.Role == plan.Checkpoint:
			r.take(nb.Buffers[b], b.Elem, got, n.Buffers[checkpoint(k, b.Name)])
		case x.p.pair.Bwd.Param(b.Of).Role == ir.Saved:
			r.take(nb.Buffers[b], b.Elem, got, n.Buffers[k.Result(b.Of)])
		default:
			r.give(nb.Buffers[b], b.Elem, x.in[b.Of].Data)
		}
	}
	got = x.h.run(t, r)
	if got.Err != "" {
		say("%v: the backward: %s", w, got.Err)
		return out
	}
	out[1] = got.named(back, nb)
	return out
}
