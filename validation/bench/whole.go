package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// The whole model is built and read with as a program does it, by steps of a session:
// forward, backward and update of the whole batch, or forward alone. JAX does the same by
// jitted functions, with the same parameters and the same tokens. All take chunk after
// chunk, each in a run of its own; the losses of the first ones are compared before
// anything is timed, and since a loss is that of parameters that were moved before, so
// are gradients and updates.

// sameLoss is how far two losses may be apart, relatively: single precision, sums in
// another order, and an update whose first steps are as large for a gradient of no size
// as for any other. sameChunks is how many are compared.
const (
	sameLoss   = 1e-4
	sameChunks = 16
)

// A racer takes one chunk after another, some unmeasured ones first. The loss is
// that of the last.
type racer struct {
	name string
	step func(warm int) (spent, float64, error)
}

// wholeSize is what a part of the model needs.
func wholeSize(name string) int {
	if i := strings.LastIndex(name, "."); i >= 0 {
		name = name[i+1:]
	}
	switch name {
	case "V", "H", "w", "n_p":
		return map[string]int{"V": modelSizes["V"], "H": modelSizes["attention.H"], "w": modelSizes["attention.w"]}[name]
	}
	return modelWidth
}

// session is a run of a model over tokens; a stream ends after them.
func session(model string, phase pulse.Phase, batch int, ids []int32, seed uint64) (*module.Session[float32], error) {
	return sized(model, wholeSize, phase, batch, 0, ids, seed)
}

// sized is session of a model of other sizes, its gradients of norm clip at most, or any norm if that is 0.
func sized(model string, sizes func(name string) int, phase pulse.Phase, batch int, clip float64, ids []int32, seed uint64) (*module.Session[float32], error) {
	b, err := registry.NewModel[float32](model, block.NewSizes(nil).Else(sizes))
	if err != nil {
		return nil, err
	}
	source, err := stream.NewTokens("prose", modelSizes["V"], ids)
	if err != nil {
		return nil, err
	}
	s, err := stream.NewSession(stream.Whole(source), batch)
	if err != nil {
		return nil, err
	}
	u, err := registry.NewUpdate[float32]("AdamW")
	if err != nil {
		return nil, err
	}
	buffer, err := registry.NewUpdate[float32]("ErrorBuffer")
	if err != nil {
		return nil, err
	}
	m, err := module.New(module.Config[float32]{Model: b, Update: u, Buffer: buffer, Clip: clip, Seed: seed})
	if err != nil {
		return nil, err
	}
	levels, _ := b.NewMemory(1).Levels()
	return module.NewSession(m, s, pulse.Schedule{Periods: []int{1, 4, 16, 64}[:levels]}, phase)
}

// prose are the bytes of a text again and again. Noise would do as well, but what is
// built on noise for long diverges.
func prose(n int) ([]int32, error) {
	text, err := os.ReadFile(filepath.Join("command", "text", "crossroads.txt"))
	if err != nil {
		return nil, err
	}
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(text[i%len(text)])
	}
	return ids, nil
}

// emittedRacer is the emitted code on the given number of cores.
func emittedRacer(s *module.Session[float32], chunk, cores int) racer {
	return racer{fmt.Sprintf("Go, %d of the cores", cores), func(warm int) (t spent, nats float64, err error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		workers.SetCount(cores)
		for range warm {
			if _, err := s.Step(chunk); err != nil {
				return t, 0, err
			}
		}
		cpu, from := processNow(), time.Now()
		x, err := s.Step(chunk)
		return spent{processNow() - cpu, time.Since(from).Nanoseconds()}, x.Nats, err
	}}
}

// rivalRacer is the same model with the same parameters in JAX.
func rivalRacer(jax *peer[float32], b bout, unroll int, s *module.Session[float32], steps int, ids []int32) (racer, error) {
	var names []string
	var data [][]float32
	params := s.Module().Params()
	for i := range params.Len() {
		if x := params.Data(i); len(x) > 0 {
			names, data = append(names, params.Param(i).Name), append(data, x)
		}
	}
	tokens := make([]float32, len(ids))
	for i, id := range ids {
		tokens[i] = float32(id)
	}
	n, err := jax.loadModel(fmt.Sprintf("%v %d %d %d %d %d %d %d %d %s", b.phase, b.batch, b.chunk, steps, modelWidth, wholeSize("V"),
		wholeSize("H"), wholeSize("w"), unroll, strings.Join(names, ",")), append(data, tokens)...)
	name := variantJAX + ", scan"
	if unroll > 1 {
		name += fmt.Sprintf(" unrolled %d times", unroll)
	}
	return racer{name, func(warm int) (spent, float64, error) { return jax.chunk(n, warm) }}, err
}

// agree takes the first chunks with all and compares the losses.
func agree(what string, racers []racer) (far float64, err error) {
	for i := range sameChunks {
		var want float64
		for k, r := range racers {
			_, nats, err := r.step(0)
			if err != nil {
				return 0, err
			}
			if k == 0 {
				want = nats
			}
			d := max(nats-want, want-nats) / want
			if !(d <= sameLoss) {
				return 0, fmt.Errorf("%s: the loss of chunk %d is %v, by %s %v: nothing is timed", what, i, want, r.name, nats)
			}
			far = max(far, d)
		}
	}
	return far, nil
}
