package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/nl-hecate/hecate/runtime/update"
	"github.com/nl-hecate/hecate/validation/opticks"
	"gonum.org/v1/gonum/stat"
)

// Question: is a model with memory better than a transformer of the same size, and is either
// better here than in PyTorch? The yardstick is not ours: validation/bench/torch.
//
// Alike in all: parameters to one part in fifty, text, order of bytes, batch, chunk, window,
// updates; AdamW with β 0.9 and 0.99 and decay 0.1 on matrices and tables, a warm-up of a
// twentieth, a cosine to a tenth, a gradient of norm 1 at most; one thread. Context is
// carried from chunk to chunk as values in all of them, built and held out: the keys and values of the window, and
// the state of a memory. The figure is bits per byte of the last tenth of the text, read in eight
// ranges that begin with nothing carried. Each rate is tried with the first seed (with -all,
// with every seed), and the best with all; the rate is thus chosen by the figure that is
// reported, for every model alike.
const (
	baselineBatch, baselineChunk, baselineWindow = 8, 64, 64
	baselineHeads                                = 4
	baselineSeeds                                = 3
	baselineMarks                                = 4
	sameSize                                     = 0.02
)

// A size is the models of one size.
type size struct {
	title      string
	parameters int
	steps      int
	rates      []float64
	rivals     []*rival
}

// A rival is a model of PyTorch, or a formula here.
type rival struct {
	name    string
	torch   map[string]any // the fields of a request that say what the model is
	formula string
	sizes   map[string]int

	runs []outcome
}

// An outcome is what came of a rival at a rate with a seed.
type outcome struct {
	rate       float64
	seed       int
	parameters int
	marks      []mark
	perSecond  float64
}

func (r outcome) figure() mark { return r.marks[len(r.marks)-1] }

// pair is a layer of attention or of attention gated by a memory, and one of a network.
func pair(mixer string) string { return "PreRMSNorm(" + mixer + "), PreRMSNorm(GELUMLP)" }

// tower is two layers of width d; hidden is the width of the networks.
func tower(name, mixer string, d, hidden int) *rival {
	sizes := map[string]int{"d": d}
	for _, layer := range []string{"block.0.block.", "block.2.block."} {
		maps.Copy(sizes, map[string]int{layer + "attention.H": baselineHeads, layer + "attention.w": baselineWindow})
		if strings.Contains(mixer, "GatedDeltaHeads") {
			maps.Copy(sizes, map[string]int{layer + "memory.heads": baselineHeads, layer + "memory.d_k": d / baselineHeads})
		}
	}
	sizes["block.1.block.d_h"], sizes["block.3.block.d_h"] = hidden, hidden
	return &rival{name: "Hecate, " + name, formula: "TiedLM([" + pair(mixer) + ", " + pair(mixer) + "])", sizes: sizes}
}

// torchTower is the same in PyTorch.
func torchTower(name, model string, d, hidden int) *rival {
	return &rival{name: "PyTorch, " + name, torch: map[string]any{"model": model, "layers": 2, "width": d, "heads": baselineHeads, "hidden": hidden, "tied": true}}
}

// towers are the models of width d, each with its hidden width, in this order. A formula can be exchanged here.
func towers(d int, hidden [5]int) []*rival {
	return []*rival{
		torchTower("transformer", "transformer", d, hidden[0]),
		torchTower("gated delta rule as the gate of attention", "mag", d, hidden[1]),
		tower("transformer", "AttentionOnly(RotaryWindow)", d, hidden[2]),
		tower("delta rule as the gate of attention", "MAG(DeltaRule, RotaryWindow)", d, hidden[3]),
		tower("gated delta rule as the gate of attention", "MAG(GatedDeltaHeads, RotaryWindow)", d, hidden[4]),
	}
}

// layered is the form of the presets: a memory, an attention, and a network after each.
func layered(d, hidden int) *rival {
	return &rival{name: "Hecate, gated delta rule as a layer, then attention",
		formula: "TiedLM([PreRMSNorm(MemoryMixer(GatedDeltaHeads)), PreRMSNorm(SwiGLU), PreRMSNorm(Convolved(AttentionOnly(RotaryWindow))), PreRMSNorm(SwiGLU)])",
		sizes: map[string]int{"d": d, "block.0.block.memory.heads": baselineHeads, "block.0.block.memory.d_k": d / baselineHeads, "block.1.block.d_h": hidden,
			"block.2.block.block.attention.H": baselineHeads, "block.2.block.block.attention.w": baselineWindow, "block.2.block.n": 4, "block.3.block.d_h": hidden}}
}

// baselineSizes are the models.
func baselineSizes() []*size {
	small := &size{title: "62,000 parameters", parameters: 62_000, steps: 2600, rates: []float64{3e-3, 6e-3, 1e-2}, rivals: towers(48, [5]int{160, 84, 161, 82, 82})}
	small.rivals = append(small.rivals, layered(56, 56),
		&rival{name: "Hecate, ZeroB", formula: "ZeroB", sizes: map[string]int{"d": 64, "attention.H": baselineHeads, "attention.w": baselineWindow}})
	large := &size{title: "460,000 parameters", parameters: 460_000, steps: 3125, rates: []float64{2e-3, 4e-3}, rivals: towers(128, [5]int{575, 379, 577, 380, 380})}
	large.rivals = append(large.rivals, layered(128, 360))
	return []*size{small, large}
}

// baseline builds all of them, two at a time where there are two cores.
func baseline(ctx context.Context, a asked) (r report, err error) {
	d, err := text()
	if err != nil {
		return r, err
	}
	runtime.GOMAXPROCS(max(a.jobs, 1)) // a job of one thread each
	t, err := startTorch(ctx, a.python, opticks.Path(), max(a.jobs, 1), 1)
	if err != nil {
		return r, err
	}
	defer t.close()
	sizes := baselineSizes()
	if a.quick || a.small {
		sizes = sizes[:1]
	}
	if a.seeds == 0 {
		a.seeds = baselineSeeds
	}
	r.baselineHead(d, a)
	for _, s := range sizes {
		if a.steps > 0 {
			s.steps = a.steps
		}
		if a.quick {
			s.steps, s.rates, a.seeds = s.steps/8, s.rates[1:2], 1
		}
		if a.rate > 0 {
			s.rates = []float64{a.rate}
		}
		if err := s.contest(ctx, d, t, a); err != nil {
			return r, err
		}
		svg, err := s.plot()
		if err != nil {
			return r, err
		}
		name := fmt.Sprintf("baseline-%dk.svg", s.parameters/1000)
		if err := os.MkdirAll(a.out, 0o755); err != nil {
			return r, err
		}
		if err := os.WriteFile(filepath.Join(a.out, name), svg, 0o644); err != nil {
			return r, err
		}
		r.contest(s, name)
	}
	r.library(t)
	return r, nil
}

// contest runs every rival at every rate, and the best rate with every seed.
func (s *size) contest(ctx context.Context, d data, t *torch, a asked) error {
	first := 1
	if a.all {
		first = a.seeds
	}
	var jobs []job
	for _, x := range s.rivals {
		for _, rate := range s.rates {
			for seed := 1; seed <= first; seed++ {
				jobs = append(jobs, job{x, rate, seed})
			}
		}
	}
	if err := s.each(ctx, d, t, a, jobs); err != nil {
		return err
	}
	jobs = nil
	for _, x := range s.rivals {
		for seed := first + 1; seed <= a.seeds; seed++ {
			jobs = append(jobs, job{x, x.best(), seed})
		}
	}
	return s.each(ctx, d, t, a, jobs)
}

// A job is one run to make.
type job struct {
	rival *rival
	rate  float64
	seed  int
}

// each makes the runs, as many at a time as there are jobs.
func (s *size) each(ctx context.Context, d data, t *torch, a asked, jobs []job) error {
	work := make(chan job)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	for worker := range max(a.jobs, 1) {
		wg.Go(func() {
			for j := range work {
				mu.Lock()
				over := failed != nil
				mu.Unlock()
				if over {
					continue
				}
				got, err := s.run(ctx, d, t, worker, j)
				if err == nil && !(math.Abs(float64(got.parameters)/float64(s.parameters)-1) <= sameSize) {
					err = fmt.Errorf("%s has %d parameters, not %d", j.rival.name, got.parameters, s.parameters)
				}
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				} else if err == nil {
					j.rival.runs = append(j.rival.runs, got)
					progress("%-44s rate %-6g seed %d: %s bits per byte, %.0f tokens/s", j.rival.name, j.rate, j.seed, figure(got.figure()), got.perSecond)
				}
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		work <- j
	}
	close(work)
	wg.Wait()
	return failed
}

// run makes one run.
func (s *size) run(ctx context.Context, d data, t *torch, worker int, j job) (outcome, error) {
	at := s.marks()
	if j.rival.torch != nil {
		return t.run(worker, j, s.steps, at)
	}
	b := build{formula: j.rival.formula, sizes: j.rival.sizes, periods: []int{1}, batch: baselineBatch, chunk: baselineChunk,
		rate: j.rate, clip: 1, seed: uint64(j.seed), marks: at, settings: map[string]float64{"beta_2": 0.99, "lambda": 0.1},
		noDecay: update.Vectors, falling: update.Schedule{Shape: update.Cosine, Steps: s.steps, WarmUp: max(s.steps/20, 1), Final: 0.1}}
	m, marks, err := b.run(ctx, d)
	if err != nil {
		return outcome{}, err
	}
	seconds := 0.0
	for _, x := range marks {
		seconds += x.duration.Seconds()
	}
	if err := marks[len(marks)-1].bad; err != nil {
		return outcome{}, errors.Join(fmt.Errorf("%s at %g", j.rival.name, j.rate), err)
	}
	return outcome{j.rate, j.seed, m.params, marks, float64(s.steps*baselineBatch*baselineChunk) / seconds}, nil
}

// marks are where the curves have points.
func (s *size) marks() (out []int) {
	for i := range baselineMarks {
		out = append(out, max(s.steps*(i+1)/baselineMarks, i+1))
	}
	return out
}

// best is the rate with the lowest figure, in the mean of its seeds, among the rates with most seeds.
func (x *rival) best() float64 {
	best, least, most := 0.0, math.Inf(1), 0
	for _, r := range x.runs {
		if mean, _, n := x.at(r.rate); n > most || n == most && mean < least {
			best, least, most = r.rate, mean, n
		}
	}
	return best
}

// at is the mean of the figures at a rate, their standard deviation and their number.
func (x *rival) at(rate float64) (mean, deviation float64, n int) {
	var all []float64
	for _, r := range x.runs {
		if r.rate == rate {
			all = append(all, r.figure().heldOut)
		}
	}
	mean, deviation = stat.MeanStdDev(all, nil)
	return mean, deviation, len(all)
}

// speed is the median of the tokens per second.
func (x *rival) speed() float64 {
	var all []float64
	for _, r := range x.runs {
		all = append(all, r.perSecond)
	}
	slices.Sort(all)
	return stat.Quantile(0.5, stat.Empirical, all, nil)
}
