//go:build linux && (amd64 || arm64) && !nogpu

package device

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/internal/fakecuda"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// buildTol bounds the difference of losses and parameters from those of the processor, each by the
// size of what it is compared with.
const buildTol = 1e-4

// TestBuild builds ZeroB on the device and on the processor, from the same parameters on the same
// tokens, some of them with a document's end inside a chunk.
func TestBuild(t *testing.T) {
	fakecuda.Need(t)
	want := build(t, nil)
	for _, words := range []string{"late=0", "late=1,seed=11"} {
		t.Run(words, func(t *testing.T) {
			l, err := cuda.OpenLibrary(registry.All().Kernels()...)
			if err != nil {
				t.Fatal(err)
			}
			d, err := cuda.Open(0)
			if err != nil {
				t.Fatal(err)
			}
			fakecuda.Set(words)
			m, err := d.NewMemory(l)
			if err != nil {
				t.Fatal(err)
			}
			got := build(t, m)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			for i, x := range want {
				if err := distance(got[i], x); !(err <= buildTol) {
					t.Errorf("tensor %d is off by %.3g, may be by %.3g", i, err, buildTol)
				}
			}
		})
	}
}

// mostLaunches is the most launches of a step: of its kernels, of an update of each parameter,
// and of norms.
const mostLaunches = 120

// counts are the driver's, when all is done.
func counts(m device.Memory) map[string]int {
	device.Wait(m)
	n := map[string]int{}
	for _, what := range []string{"kernels", "launches", "waits", "replays", "copied", "uploads", "allocated"} {
		n[what] = int(fakecuda.Count(what))
	}
	return n
}

// steps is how many updates a build has.
const steps = 6

// build returns the losses of a build, and its parameters afterwards.
func build(t *testing.T, memory device.Memory) [][]float64 {
	t.Helper()
	z := block.NewSizes(map[string]int{"V": 31, "d": 12, "attention.H": 3, "attention.w": 5, "attention.n_p": 1, "memory.d_k": 7})
	model, err := registry.NewModel[float32]("ZeroB", z)
	if err != nil {
		t.Fatal(err)
	}
	update, err := registry.NewUpdate[float32]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.New(module.Config[float32]{Model: model, Update: update, Clip: 1, Seed: 3, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	const batch, tokens = 3, 9
	h := m.NewContext(batch)
	p := pulse.First(pulse.Build).Of(tokens)
	rng := rand.New(rand.NewPCG(5, 5))
	losses := []float64{}
	for step := range steps {
		was := counts(memory)
		c := stream.Chunk{Batch: batch, Tokens: tokens}
		for range batch * tokens {
			c.Inputs = append(c.Inputs, int32(rng.IntN(31)))
			c.Targets = append(c.Targets, int32(rng.IntN(31)))
		}
		if step == 2 {
			c.Events = []stream.Event{{Slot: 1, At: 4, Kind: stream.DocumentEnd}}
		}
		var r module.Result
		if r, h, err = m.Process(c, h, p); err != nil {
			t.Fatal(err)
		}
		norm, err := m.Update(p)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, r.Nats, norm)
		if step == steps-1 && memory != nil {
			n := counts(memory)
			for what := range n {
				n[what] -= was[what]
			}
			t.Logf("a step: %v", n)
			if n["kernels"] > mostLaunches {
				t.Errorf("a step runs %d kernels, want at most %d", n["kernels"], mostLaunches)
			}
			if n["waits"] != 2 || n["replays"] != 2 || n["launches"] != 0 || n["allocated"] != 0 {
				t.Errorf("a step: %v, want one wait besides that of the count, and two graphs", n)
			}
		}
		p = p.Next(tokens)
	}
	out := [][]float64{losses}
	for i := range m.Params().Len() {
		var x []float64
		for _, v := range device.Host(m.Params().Data(i)) {
			x = append(x, float64(v))
		}
		out = append(out, x)
	}
	for _, x := range out[0] {
		if math.IsNaN(x) {
			t.Fatal("a loss is NaN")
		}
	}
	return out
}

// TestResume builds some steps on the processor, goes on on the device from their checkpoint, and
// then on the processor again: the same as all of them on the processor.
func TestResume(t *testing.T) {
	fakecuda.Need(t)
	l, err := cuda.OpenLibrary(registry.All().Kernels()...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	fakecuda.Set("late=1,seed=2")
	m, err := d.NewMemory(l)
	if err != nil {
		t.Fatal(err)
	}
	whole := session(t, nil)
	var last *checkpoint.Snapshot
	for part, where := range []device.Memory{nil, m, nil} {
		s := session(t, where)
		if part > 0 {
			if err := s.ResumeBuild(last, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			a, err := whole.Step(8)
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Step(8)
			if err != nil {
				t.Fatal(err)
			}
			if err := distance([]float64{b.Nats, b.Norm}, []float64{a.Nats, a.Norm}); !(err <= buildTol) {
				t.Errorf("part %d: loss and norm are %v and %v, want %v and %v", part, b.Nats, b.Norm, a.Nats, a.Norm)
			}
		}
		if last, err = s.SnapshotBuild(nil); err != nil {
			t.Fatal(err)
		}
		if name, err := last.Meta("hecate.device"); (err == nil) != (where != nil) || where != nil && name != "cuda sm_90" {
			t.Errorf("part %d: the checkpoint says that %q computed: %v", part, name, err)
		}
	}
	if err := errors.Join(d.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

// session is a build of ZeroB on two documents.
func session(t *testing.T, memory device.Memory) *module.Session[float32] {
	t.Helper()
	model, err := registry.NewModel[float32]("ZeroB", block.NewSizes(map[string]int{"V": 256, "d": 12, "attention.H": 3, "attention.w": 5, "attention.n_p": 1, "memory.d_k": 7}))
	if err != nil {
		t.Fatal(err)
	}
	update, err := registry.NewUpdate[float32]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.New(module.Config[float32]{Model: model, Update: update, Clip: 1, Seed: 3, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a document that is longer than a chunk, ", 20)
	x, err := stream.FromDocuments("text", []byte(text[:301]), []byte(text[301:]))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := stream.Split(x)
	in, err := stream.New(part, 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := module.NewSession(m, in, pulse.Schedule{}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
