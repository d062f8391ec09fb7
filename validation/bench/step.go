package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// A whole step of training, forward, backward and AdamW over a batch of 8 chunks of 64
// bytes, of a stack of blocks beside PyTorch and JAX (torch/step.py, jax/step.py): attention with
// rotary positions beside a plain transformer, and attention gated by a delta rule beside the
// same model in the chunkwise form. Parameters are not the same numbers, sizes are; noise of
// another program slows a racer down, so least times of interleaved rounds are compared.
// Threads of PyTorch and JAX wait as they do by default: OMP_WAIT_POLICY=PASSIVE halves the pace
// of PyTorch on two.

const stepBatch, stepChunk = 8, 64

// stepKinds are the models: the formula of a block, and the kind that PyTorch and JAX have of it.
var stepKinds = []struct {
	name, block, peer string
}{
	{"attention", "PreNorm(AttentionOnly(RotaryWindow))", "transformer"},
	{"delta rule gates attention", "PreNorm(MAG(DeltaRule, SlidingWindow))", "magchunk"},
}

// stepThreads is the most threads of a step.
const stepThreads = 2

// A stepPeer is a program that takes steps of its own, on up to so many threads; 0 means any number.
type stepPeer struct {
	name    string
	threads int
	*peer[float32]
}

// startSteps starts PyTorch, and JAX once for each number of threads, where the interpreter has them.
func (o options) startSteps(r *report) (all []stepPeer, err error) {
	start := func(name, module string, threads int) error {
		if err := exec.Command(o.python, "-c", "import "+module).Run(); err != nil {
			r.lacks = append(r.lacks, fmt.Sprintf("%s cannot import %s (name an interpreter with -python)", o.python, module))
			return nil
		}
		script := filepath.Join("validation", "bench", module, "step.py")
		p, err := startPeer[float32](script, exec.Command(o.python, script, "serve", fmt.Sprint(threads)))
		if err == nil {
			all = append(all, stepPeer{name, threads, p})
		}
		return err
	}
	if err := start("PyTorch", "torch", 0); err != nil {
		return all, err
	}
	for threads := 1; threads <= min(stepThreads, runtime.NumCPU()); threads++ {
		if err := start("JAX", "jax", threads); err != nil {
			return all, err
		}
	}
	return all, nil
}

// steps measures all models at all sizes, on one thread and on two.
func (o options) steps(r *report) (err error) {
	peers, err := o.startSteps(r)
	defer func() {
		for _, p := range peers {
			err = errors.Join(err, p.close())
		}
	}()
	if err != nil {
		return err
	}
	defer workers.SetCount(0)
	random := rand.New(rand.NewPCG(o.seed, 7))
	for _, width := range []int{64, 128, 256} {
		for _, blocks := range []int{1, 4, 8} {
			for _, k := range stepKinds {
				for threads := 1; threads <= min(stepThreads, runtime.NumCPU()); threads++ {
					x := &stepRace{model: k.name, width: width, blocks: blocks, threads: threads}
					racers, err := x.racers(peers, k.block, k.peer, o.rounds, o.seed)
					if err != nil {
						return err
					}
					if x.rows, err = raceSteps(racers, o.rounds, random); err != nil {
						return err
					}
					fmt.Println(x)
					r.steps = append(r.steps, x)
				}
			}
		}
	}
	return nil
}

// A stepRace is one model at one size on a number of threads.
type stepRace struct {
	model                  string
	width, blocks, threads int
	rows                   []raced // emitted code first
}

// String is its row of the table.
func (x *stepRace) String() string {
	cells := make([]string, len(x.rows)-1)
	for i, row := range x.rows[1:] {
		cells[i] = fmt.Sprintf("%s %s (processor time %s)", row.name, leastRatio(row.wall, x.rows[0].wall), figures(shortest(row.cpu)/shortest(x.rows[0].cpu)))
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %.0f | %s |", x.model, x.width, x.blocks, x.threads,
		stepBatch*stepChunk/shortest(x.rows[0].wall)*1e9, strings.Join(cells, "; "))
}

// stepSize is the size of a part of a model of a width.
func stepSize(width int) func(name string) int {
	return func(name string) int {
		switch n := wholeSize(name); n {
		case modelWidth:
			if name[strings.LastIndex(name, ".")+1:] == "w" {
				return n
			}
			if strings.HasSuffix(name, "d_h") {
				return 4 * width
			}
			return width
		default:
			return n
		}
	}
}

// racers are the emitted code and the others' model of a kind.
func (x *stepRace) racers(peers []stepPeer, block, kind string, rounds int, seed uint64) (out []racer, err error) {
	ids, err := prose(stepBatch * ((2*rounds+8)*stepChunk + 1))
	if err != nil {
		return nil, err
	}
	one := block + ", PreNorm(ResidualMLP)"
	s, err := sized("StackLM(["+strings.Repeat(one+", ", x.blocks-1)+one+"])", stepSize(x.width), pulse.Build, stepBatch, 1, ids, seed)
	if err != nil {
		return nil, err
	}
	out = append(out, emittedRacer(s, stepChunk, x.threads))
	for _, p := range peers {
		if p.threads != 0 && p.threads != x.threads {
			continue
		}
		var parameters int
		if err := p.ask([]any{&parameters}, "new %s %d %d %d", kind, x.width, x.blocks, x.threads); err != nil {
			return nil, err
		}
		n := p.models
		p.models++
		out = append(out, racer{p.name, func(warm int) (t spent, nats float64, err error) {
			err = p.ask([]any{&t.cpu, &t.wall, &nats}, "step %d %d", n, warm)
			return t, nats, err
		}})
	}
	return out, nil
}

// raceSteps runs the rounds, one of them unmeasured.
func raceSteps(racers []racer, rounds int, random *rand.Rand) ([]raced, error) {
	rows := make([]raced, len(racers))
	runtime.GC()
	for round := -1; round < rounds; round++ {
		for _, i := range random.Perm(len(racers)) {
			t, _, err := racers[i].step(1)
			if err != nil {
				return nil, err
			}
			if row := &rows[i]; round >= 0 {
				row.name, row.wall, row.cpu = racers[i].name, append(row.wall, t.wall), append(row.cpu, t.cpu)
			}
		}
	}
	return rows, nil
}

// stepped prints the table of steps.
func (r *report) stepped(b *strings.Builder) {
	fmt.Fprintf(b, "Steps of training, %d × %d bytes, forward, backward and AdamW. Ratios are theirs ÷ Go by least times of all rounds, above\n"+
		"1 Go is faster; in brackets the quartiles of single rounds.\n\n| model | width | blocks | threads | tokens/s here | beside |\n|---|---|---|---|---|---|\n",
		stepBatch, stepChunk)
	for _, x := range r.steps {
		fmt.Fprintln(b, x)
	}
	b.WriteString("\n")
}
