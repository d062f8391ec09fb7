package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/generated/updates/adamw"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

const (
	modelName  = "ZeroB"
	modelWidth = 64
	modelChunk = 128 // tokens of a slice: a slice of all would be longer than the pauses between two stalls
)

// modelSizes are those of the first command of the project.
var modelSizes = map[string]int{"V": 256, "d": modelWidth, "attention.H": 4, "attention.w": 64, "attention.n_p": 0,
	"memory.d_k": modelWidth}

const (
	modelStep   = "model, forward and backward"
	modelUpdate = "model, update"
)

// modelTasks is what building the model takes at every level for the same number
// of tokens as the recurrence: chunks forwards and backwards, the memory carried
// from one to the next, and one update. The twin is too slow to be timed.
func modelTasks(seed uint64) (out []task, matrices int64, err error) {
	all, _ := levels(modelLevels)
	for _, l := range all {
		if l.Target == cpu.FMA {
			continue
		}
		restore, err := cpu.Force(l.Target)
		if err != nil {
			return nil, 0, err
		}
		var tasks []task
		tasks, matrices, err = modelAt(l, seed)
		restore()
		if err != nil {
			return nil, 0, err
		}
		out = append(out, tasks...)
	}
	return out, matrices, nil
}

// modelProducts is the number of matrices, of width and height modelWidth, with which a token
// is multiplied forwards, and twice that backwards: all but the embedding, which is gathered.
func modelProducts(params context.View[float32]) int64 {
	entries := -modelSizes["V"] * modelWidth
	for i := range params.Len() {
		if p := params.Param(i); len(p.Shape) == 2 {
			entries += len(params.Data(i))
		}
	}
	return int64(entries / (modelWidth * modelWidth))
}

// modelAt is the same at one level, which must be the active one.
func modelAt(l level, seed uint64) ([]task, int64, error) {
	m, err := registry.NewModel[float32](modelName, block.NewSizes(modelSizes))
	if err != nil {
		return nil, 0, fmt.Errorf("model %s: %w", modelName, err)
	}
	var set context.ParamSet[float32]
	if err := m.Declare(&set, ""); err != nil {
		return nil, 0, fmt.Errorf("model %s: %w", modelName, err)
	}
	set.Fill(seed)
	random := rand.New(rand.NewPCG(seed, 1))
	ids := make([]int32, tokens+1)
	for i := range ids {
		ids[i] = int32(random.IntN(modelSizes["V"]))
	}
	b := &modelBuild{model: m, params: set.View()}
	var out []task
	memory := m.NewMemory(1)
	for start := 0; start < tokens; start += modelChunk {
		n := min(modelChunk, tokens-start)
		before := memory.Clone()
		if err := b.chunk(memory, ids[start:][:n], ids[start+1:][:n]); err != nil {
			return nil, 0, err
		}
		memory.Keep()
		out = append(out, task{modelStep, start / modelChunk, l.variant(), l.at(func() (int64, error) {
			from := now()
			err := b.chunk(before, ids[start:][:n], ids[start+1:][:n])
			return now() - from, err
		})})
	}
	return append(out, task{modelUpdate, 0, l.variant(), l.at(b.updater())}), modelProducts(b.params), nil
}

// A modelBuild is a model with its parameters and the gradient of its last
// chunk.
type modelBuild struct {
	model  block.Model[float32]
	params context.View[float32]
	arena  tape.Arena[float32]
	grads  [][]float32
}

// chunk runs consecutive tokens of one context forwards and backwards and does
// not move the memory.
func (b *modelBuild) chunk(m *block.Memory[float32], ids, next []int32) error {
	return tape.With(&b.arena, pulse.First(pulse.Build), func(r *tape.Run[float32]) error {
		call := block.Call[float32]{Run: r, Pulse: r.Pulse, Batch: 1, Tokens: len(ids)}
		loss, _, err := b.model.Step(call, block.Bind(r, b.params), m, ids, next)
		if err != nil {
			return fmt.Errorf("model %s: %w", modelName, err)
		}
		if !num.IsFinite(loss.Data[0]) {
			return fmt.Errorf("model %s: the loss is %v", modelName, loss.Data[0])
		}
		if err := r.Tape.Backward(loss); err != nil {
			return fmt.Errorf("model %s: %w", modelName, err)
		}
		i := 0
		r.Tape.Params(func(_ string, g []float32) {
			if i == len(b.grads) {
				b.grads = append(b.grads, make([]float32, len(b.params.Data(i))))
			}
			for j, x := range g {
				b.grads[i][j] += x
			}
			i++
		})
		return nil
	})
}

// updater updates a copy of the parameters, again and again.
func (b *modelBuild) updater() func() (int64, error) {
	var copies [][]float32
	var slots []adamw.Slots[float32]
	for i := range b.params.Len() {
		copies = append(copies, append([]float32(nil), b.params.Data(i)...))
		slots = append(slots, adamw.NewSlots[float32](len(copies[i])))
	}
	n := 0
	return func() (int64, error) {
		from := now()
		n++
		err := tape.Without(&b.arena, pulse.First(pulse.Build), func(r *tape.Run[float32]) error {
			for i, w := range copies {
				adamw.Apply(r, adamw.Defaults(), n, b.params.Param(i).NoDecay, w, b.grads[i], slots[i])
			}
			return nil
		})
		return now() - from, err
	}
}
