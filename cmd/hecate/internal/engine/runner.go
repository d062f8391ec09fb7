package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A runner is a Builder over attempts. Where it must save, it lets the attempt
// end, which writes a checkpoint, and goes on with another attempt from there,
// which is exact; it measures and samples with an attempt that has no step left
// to make.
type runner struct {
	present *Present
	opt     build.Options
	work    string   // a folder of our own
	tries   int      // attempts so far
	now     *attempt // nil: the state lies at saved
	saved   string
	info    Info
	bits    []float64
	before  []float64
	asked   asked
	sample  int
	look    *watch // of the first attempt: the model and its table
}

// asked is what an attempt without steps found.
type asked struct {
	done int // steps; 0: nothing was asked yet
	bits float64
	text []byte
}

// begin starts an attempt from what was saved last.
func (r *runner) begin(steps, sample int) (*attempt, error) {
	opt := r.opt
	r.tries++
	opt.Resume, opt.Steps, opt.Sample = r.saved, steps, sample
	opt.Out = filepath.Join(r.work, fmt.Sprint(r.tries))
	return r.present.begin(opt)
}

// file is what an attempt wrote.
func (r *runner) file(a *attempt, ext string) string {
	return filepath.Join(a.out, strings.ToLower(r.opt.Model)+ext)
}

// park ends the attempt, so that the state lies at saved.
func (r *runner) park() error {
	a := r.now
	if a == nil {
		return nil
	}
	r.now = nil
	err := a.end()
	if r.Done() == 0 && len(r.before) == 0 {
		return nil // nothing was computed: the next attempt begins where this one did
	}
	if err != nil {
		return err
	}
	r.saved = r.file(a, ".safetensors")
	return nil
}

// Info is what is known of the build.
func (r *runner) Info() Info { return r.info }

// Done is how many updates there have been.
func (r *runner) Done() int { return len(r.bits) }

// Bits are the losses of all of them.
func (r *runner) Bits() []float64 { return r.bits }

// Before is the held-out figure before the first step.
func (r *runner) Before() (bits float64, ok bool) {
	if len(r.before) == 0 {
		return 0, false
	}
	return r.before[0], true
}

// Step makes one update.
func (r *runner) Step() (Step, error) {
	if r.now == nil {
		var err error
		if r.now, err = r.begin(math.MaxInt, 0); err != nil {
			return Step{}, err
		}
	}
	for {
		e, ok := r.now.next()
		if !ok {
			err := r.now.err
			r.now = nil
			return Step{}, err
		}
		if e == measured {
			r.before = []float64{r.measured(r.now)}
		}
		if e == stepped {
			break
		}
	}
	w := &r.now.watch
	nats, valid := w.take()
	nats /= float64(max(valid, 1))
	r.bits = append(r.bits, nats/math.Ln2)
	s := Step{Step: len(r.bits), Tokens: len(r.bits) * r.opt.Lanes * r.opt.Chunk, Nats: nats, Bits: nats / math.Ln2, Rate: w.rate, Norms: w.norms, Fires: []int{len(r.bits)}}
	sum := 0.0
	for _, n := range w.norms {
		sum += float64(n * n)
	}
	s.Norm = math.Sqrt(sum)
	return s, nil
}

// measured is what an attempt found on the held-out part, in bits per byte.
func (r *runner) measured(a *attempt) float64 {
	x := total(a.watch.asked) / math.Ln2 / float64(max(r.info.HeldOut, 1))
	a.watch.asked = nil
	return x
}

// HeldOut measures the held-out part.
func (r *runner) HeldOut(ctx context.Context) (float64, error) {
	if r.Done() > 0 {
		err := r.ask(ctx)
		return r.asked.bits, err
	}
	if len(r.before) > 0 {
		return r.before[0], nil
	}
	if r.now == nil {
		var err error
		if r.now, err = r.begin(math.MaxInt, 0); err != nil {
			return 0, err
		}
	}
	a, ok := r.now, false
	if err := a.asking(ctx, func() { _, ok = a.next() }); err != nil {
		r.now = nil // it holds a figure that is none
		return 0, errors.Join(err, a.end())
	}
	if !ok {
		r.now = nil
		return 0, a.err
	}
	r.before = []float64{r.measured(a)}
	return r.before[0], nil
}

// Sample draws text.
func (r *runner) Sample(ctx context.Context, n int) ([]byte, error) {
	if r.Done() == 0 {
		return nil, errors.New("a sample needs a step")
	}
	if n != r.sample {
		r.sample, r.asked = n, asked{}
	}
	err := r.ask(ctx)
	return r.asked.text, err
}

// ask runs an attempt without steps, once after each step.
func (r *runner) ask(ctx context.Context) error {
	if r.asked.done == r.Done() {
		return nil
	}
	if err := r.park(); err != nil {
		return err
	}
	a, err := r.begin(r.Done(), r.sample)
	if err != nil {
		return err
	}
	if err := a.asking(ctx, func() { a.next() }); err != nil {
		return errors.Join(err, a.end())
	}
	if a.err != nil {
		return a.err
	}
	r.asked = asked{done: r.Done(), bits: r.measured(a)}
	if r.sample > 0 {
		r.asked.text, err = os.ReadFile(r.file(a, ".txt"))
	}
	return errors.Join(err, os.RemoveAll(a.out))
}

// Save writes the whole state.
func (r *runner) Save(path string) error {
	if err := r.park(); err != nil {
		return err
	}
	if r.saved == "" {
		return errors.New("there is nothing to save before the first measurement")
	}
	s, err := checkpoint.Read(r.saved)
	if err != nil {
		return err
	}
	return checkpoint.Write(path, s)
}

// Arena runs one lane's chunk.
func (r *runner) Arena() (int, error) {
	var a tape.Arena[float32]
	r.look.params.Fill(r.opt.Seed)
	ids := make([]int32, r.opt.Chunk)
	memory := r.look.model.NewMemory(1)
	err := tape.With(&a, pulse.First(pulse.Build), func(run *tape.Run[float32]) error {
		call := block.Call[float32]{Run: run, Pulse: run.Pulse, Lanes: 1, Steps: len(ids)}
		loss, _, err := r.look.model.Step(call, block.Bind(run, r.look.params.View()), memory, ids, ids)
		if err != nil {
			return err
		}
		run.Tape.Seed(loss, []float32{1})
		run.Tape.Reverse()
		return nil
	})
	return a.Bytes(), err
}

// Close ends the build.
func (r *runner) Close() error {
	if r.now != nil {
		_ = r.now.end() // what it says of its own saving is of no interest
		r.now = nil
	}
	return os.RemoveAll(r.work)
}
