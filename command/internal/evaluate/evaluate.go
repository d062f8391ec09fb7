// Package evaluate builds a small model for each memory rule on tasks that need a memory, and measures how much
// of it is recalled, beside a model with attention alone.
//
//hecate:conductor
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/update"
)

// AttentionAlone is the name of the model without a memory.
const AttentionAlone = "attention alone"

// The sizes of a build: batch slots, tokens of each between two updates, and the window of the attentions, which is
// shorter than any distance that a task asks about but the first.
const (
	batch  = 4
	chunk  = 256
	window = 16
	width  = 64
)

// Options are what is compared, and how long each model is built. Text is what the task of lengths reads.
type Options struct {
	Catalog *catalog.Catalog
	Rules   []string // memory rules; each is a row beside attention alone
	Tasks   []string // names; none are all
	Steps   int      // updates of each model
	Seed    uint64
	Text    stream.Source
	Open    func() (m device.Memory, done func() error, err error) // the memory of a device for a model; nil: on the processor
	Report  func(task, model string, values []float64)             // after each model; may be nil
	Done    func(Table) error                                      // after each task
}

// A Table is a task with what each model reached.
type Table struct {
	Task
	Rows []Row
}

// A Row is a model: its parameters, and a value for each point of the task, NaN where nothing was measured.
type Row struct {
	Model    string
	Params   int
	Values   []float64
	Diverged bool
}

// Run builds and measures a model of every rule on every task. Tasks that follow one another and have one training set share the
// models. Its error names the task and the model, or is that of Done.
func Run(ctx context.Context, o Options) error {
	todo := slices.DeleteFunc(tasks(o), func(t Task) bool { return len(o.Tasks) > 0 && !slices.Contains(o.Tasks, t.Name) })
	for len(todo) > 0 {
		n := 1
		for n < len(todo) && todo[n].on == todo[0].on {
			n++
		}
		tables := make([]Table, n)
		for i, t := range todo[:n] {
			tables[i].Task = t
		}
		for _, rule := range append([]string{AttentionAlone}, o.Rules...) {
			if err := o.row(ctx, tables, rule); err != nil {
				return fmt.Errorf("%s, %s: %w", todo[0].Name, rule, err)
			}
		}
		for _, t := range tables {
			if err := o.Done(t); err != nil {
				return err
			}
		}
		todo = todo[n:]
	}
	return nil
}

// Formula is the model of a rule: an attention with a short window, the memory, and a network. The memory's place is
// taken by a second attention in the model without one.
func Formula(rule string) string {
	memory := fmt.Sprintf("MemoryMixer(%s)", rule)
	if rule == AttentionAlone {
		memory = fmt.Sprintf("AttentionOnly(RotaryWindow(w = %d))", window)
	}
	return fmt.Sprintf("TowerLM([PreRMSNorm(Convolved(AttentionOnly(RotaryWindow(w = %d)))), PreRMSNorm(%s), PreRMSNorm(SwiGLU)])", window, memory)
}

// row builds a model on the training set of the tables, and adds to each what it reached.
func (o Options) row(ctx context.Context, tables []Table, rule string) (err error) {
	source, err := tables[0].built(o.Seed)
	if err != nil {
		return err
	}
	var at device.Memory
	if o.Open != nil {
		var done func() error
		if at, done, err = o.Open(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	m, err := o.model(at, Formula(rule), source.Vocab())
	if err != nil {
		return err
	}
	params := 0
	for i, v := 0, m.Params(); i < v.Len(); i++ {
		params += len(v.Data(i))
	}
	diverged, err := o.build(ctx, m, source)
	if err != nil {
		return err
	}
	for i := range tables {
		t := &tables[i]
		row := Row{Model: rule, Params: params, Values: slices.Repeat([]float64{math.NaN()}, len(t.At)), Diverged: diverged}
		if !diverged {
			if row.Values, err = t.measure(ctx, m, o.Seed+1); err != nil {
				return err
			}
		}
		t.Rows = append(t.Rows, row)
		if o.Report != nil {
			o.Report(t.Name, rule, row.Values)
		}
	}
	return nil
}

// build updates a model, and reports whether a number became NaN or infinite.
func (o Options) build(ctx context.Context, m *module.Module[float32], source stream.Source) (diverged bool, err error) {
	in, err := stream.New(stream.Whole(source), batch)
	if err != nil {
		return false, err
	}
	s, err := module.NewSession(m, in, oneLevel, pulse.Build)
	if err != nil {
		return false, err
	}
	for range o.Steps {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if _, err := s.Step(chunk); err != nil {
			bad := (*module.BadNumber)(nil)
			if errors.As(err, &bad) {
				return true, nil
			}
			return false, err
		}
	}
	return false, nil
}

var oneLevel = pulse.Schedule{Unit: pulse.Chunks, Periods: []int{1}}

// model makes the module of a formula.
func (o Options) model(at device.Memory, formula string, vocab int) (*module.Module[float32], error) {
	sizes := block.NewSizes(map[string]int{"V": vocab, "d": width}).Else(func(name string) int {
		if strings.HasSuffix(name, "H") {
			return 4
		}
		return width
	})
	net, err := catalog.NewModel[float32](o.Catalog, formula, sizes)
	if err != nil {
		return nil, err
	}
	adam, err := catalog.NewUpdate[float32](o.Catalog, "AdamW")
	if err != nil {
		return nil, err
	}
	return module.New(module.Config[float32]{Memory: at, Model: net, Update: adam, Clip: 1, Seed: o.Seed,
		Schedule: update.Schedule{Shape: update.Cosine, Steps: o.Steps, WarmUp: min(50, o.Steps/10), Final: 0.1}})
}

// An answer is the prediction of one scored token.
type answer struct {
	slot, at int // the token that is predicted, counted from the start of the slot's range
	right    bool
	nats     float64
}

// ask reads a part in ranges of equal length, each in a fresh context, and calls f for each scored token.
func ask(ctx context.Context, m *module.Module[float32], part stream.Part, ranges int, f func(answer)) error {
	in, err := stream.NewSession(part, ranges)
	if err != nil {
		return err
	}
	h, p := m.NewContext(ranges), oneLevel.First(pulse.Test)
	vocab := part.Source().Vocab()
	var logits []float32
	for at := 0; !in.Ended(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := in.Read(min(chunk, in.Left(0)))
		if err != nil {
			return err
		}
		p = p.Of(c.Tokens)
		logits = slices.Grow(logits[:0], c.Batch*c.Tokens*vocab)[:c.Batch*c.Tokens*vocab]
		if _, h, err = m.ProcessInto(logits, c, h, p); err != nil {
			return err
		}
		for i, want := range c.Targets {
			if want != stream.Ignore {
				row := logits[i*vocab : (i+1)*vocab]
				right, nats := judge(row, int(want))
				f(answer{i / c.Tokens, at + i%c.Tokens + 1, right, nats})
			}
		}
		at, p = at+c.Tokens, p.Next(c.Tokens)
	}
	return nil
}

// judge reports whether an id has the largest logit, and the negative logarithm of its probability.
func judge(logits []float32, want int) (right bool, nats float64) {
	top := slices.Max(logits)
	sum := 0.0
	for _, z := range logits {
		sum += math.Exp(float64(z - top))
	}
	return logits[want] == top, math.Log(sum) + float64(top-logits[want])
}
