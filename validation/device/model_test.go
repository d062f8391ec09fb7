//go:build linux && (amd64 || arm64) && !nogpu

package device

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
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

// A plan is a model and how it is built.
type plan struct {
	name, model   string
	sizes         map[string]int
	periods       []int // of its levels
	batch, tokens int
	launches      int // the most kernels of a step; 0: not counted
	again         int // updates of the further variants
	bfloat16      bool
}

// builds are the model of `make run` at its sizes, ZeroB, and a model of all nine rules on four levels.
var builds = []plan{
	{"tiny", "GatedDeltaLM", map[string]int{"d": 64, "V": 256, "H": 4, "d_k": 16, "w": 64, "d_h": 64}, nil, 8, 64, 0, 4, false},
	{"ZeroB", "ZeroB", map[string]int{"V": 31, "d": 12, "H": 3, "w": 5, "n_p": 1, "d_k": 7}, nil, 3, 9, 120, steps, false},
	{"nine rules", "TiedLM([PreRMSNorm(MemoryMixer(CMS([DeltaRule, TitansLMM, Hebbian, MONETA]))), PreRMSNorm(MemoryMixer(CMS([YAAD, MEMORA, Lattice, Trellis]))), " +
		"PreRMSNorm(MemoryMixer(CMS([AtlasOmega, DeltaRule, Hebbian, Lattice])))])", map[string]int{"V": 31, "d": 8, "d_k": 4, "d_h": 3, "m": 5, "w": 5}, []int{1, 2, 4, 8}, 2, 11, 0, steps, false},
}

// steps is how many updates a build has.
const steps = 50

// variants are orders in which the driver does the work, each with whether the launches of a step are
// graphs.
var variants = []struct {
	words string
	eager bool
}{{"late=1,seed=11", false}, {"late=0", false}, {"late=1,seed=12", true}}

// TestBuild builds models on the device and on the processor, from the same parameters on the same
// tokens, some of them with a document's end inside a chunk: the same numbers, but for rounding, and
// on the device the same bits whatever the driver does when.
func TestBuild(t *testing.T) {
	fakecuda.Need(t)
	for _, p := range builds {
		t.Run(p.name, func(t *testing.T) {
			want := p.build(t, nil, steps)
			var first [][]float32
			for k, v := range variants {
				l, err := cuda.OpenLibrary(registry.All().Kernels()...)
				if err != nil {
					t.Fatal(err)
				}
				d, err := cuda.Open(0)
				if err != nil {
					t.Fatal(err)
				}
				fakecuda.Set(v.words)
				m, err := d.NewMemory(l)
				if err != nil {
					t.Fatal(err)
				}
				m.Eager(v.eager)
				n := steps
				if k > 0 {
					n = p.again
				}
				got := p.build(t, m, n)
				if k == 0 {
					p.dryRun(t, l, m, d)
				}
				if err := errors.Join(m.Close(), d.Close()); err != nil {
					t.Error(err)
				}
				if n := fakecuda.Count("live") + fakecuda.Count("pinned") + fakecuda.Count("graphs"); n != 0 {
					t.Errorf("%s: %d allocations and graphs are left", v.words, n)
				}
				if k == 0 {
					first = got
				}
				for i, x := range got {
					if n < steps && i > 0 {
						break // parameters of another step
					}
					if err := distance(wide(x), wide(want[i][:len(x)])); !(err <= buildTol) {
						t.Errorf("%s: tensor %d is off by %.3g, may be by %.3g", v.words, i, err, buildTol)
					}
					if !slices.Equal(x, first[i][:len(x)]) {
						t.Errorf("%s: tensor %d has other bits than with %s", v.words, i, variants[0].words)
					}
				}
			}
		})
	}
}

// dryRun runs the first steps without a device, and wants the kernels and the memory of those that were made
// on one.
func (x *plan) dryRun(t *testing.T, l *cuda.Library, m *cuda.Memory, d *cuda.Device) {
	t.Helper()
	s, err := cuda.NewDryRun(l)
	if err != nil {
		t.Fatal(err)
	}
	x.build(t, s, 9) // all levels are updated
	if got, want := s.Variants(), m.Variants(); !slices.Equal(got, want) {
		t.Errorf("without a device: %v, want %v", got, want)
	}
	if _, want := d.Allocated(); s.Bytes() < want || s.Bytes() > 2*want { // an arena that grows is there twice for a moment
		t.Errorf("without a device %d bytes, the device has %d", s.Bytes(), want)
	}
	if err := errors.Join(s.Err(), s.Close()); err != nil {
		t.Error(err)
	}
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// counts are the driver's, when all is done.
func counts(m device.Memory) map[string]int {
	device.Wait(m)
	n := map[string]int{}
	for _, what := range []string{"kernels", "launches", "waits", "replays", "copied", "uploads", "allocated"} {
		n[what] = int(fakecuda.Count(what))
	}
	return n
}

// build returns the losses and norms of a build, and its parameters afterwards.
func (x *plan) build(t *testing.T, memory device.Memory, steps int) [][]float32 {
	t.Helper()
	model, err := registry.NewModel[float32](x.model, block.NewSizes(nil).Else(func(name string) int { return x.sizes[name] }))
	if err != nil {
		t.Fatal(err)
	}
	update, err := registry.NewUpdate[float32]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	buffer, err := registry.NewUpdate[float32]("ErrorBuffer")
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.New(module.Config[float32]{Model: model, Update: update, Buffer: buffer, Clip: 1, Seed: 3, Memory: memory, BFloat16: x.bfloat16})
	if err != nil {
		t.Fatal(err)
	}
	h := m.NewContext(x.batch)
	p := pulse.Schedule{Periods: x.periods}.First(pulse.Build).Of(x.tokens)
	rng := rand.New(rand.NewPCG(5, 5))
	losses := []float32{}
	for step := range steps {
		var was map[string]int
		if memory != nil {
			was = counts(memory)
		}
		c := stream.Chunk{Batch: x.batch, Tokens: x.tokens}
		for range x.batch * x.tokens {
			c.Inputs = append(c.Inputs, int32(rng.IntN(model.Vocabulary())))
			c.Targets = append(c.Targets, int32(rng.IntN(model.Vocabulary())))
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
		losses = append(losses, float32(r.Nats), float32(norm))
		if _, ok := memory.(*cuda.Memory); ok && step == steps-1 && x.launches > 0 {
			x.look(t, was, counts(memory))
		}
		p = p.Next(x.tokens)
	}
	for _, v := range losses {
		if math.IsNaN(float64(v)) {
			t.Fatal("a loss is NaN")
		}
	}
	out := [][]float32{losses, nil}
	for _, norm := range m.Norms(nil) {
		out[1] = append(out[1], float32(norm))
	}
	for i := range m.Params().Len() {
		out = append(out, slices.Clone(device.Host(m.Params().Data(i))))
	}
	return out
}

// look compares what the driver did in a step of seen shapes with what it may: one wait besides that
// of counts, two graphs, nothing allocated.
func (x *plan) look(t *testing.T, was, n map[string]int) {
	t.Helper()
	for what := range n {
		n[what] -= was[what]
	}
	t.Logf("a step: %v", n)
	if n["kernels"] > x.launches {
		t.Errorf("a step runs %d kernels, want at most %d", n["kernels"], x.launches)
	}
	if n["launches"] == 0 && (n["waits"] != 2 || n["replays"] != 2) || n["allocated"] != 0 {
		t.Errorf("a step: %v, want one wait besides that of the count, and two graphs", n)
	}
}

// TestBFloat16 builds with operands of products in bfloat16 on the device and on the processor: the losses
// agree ten times better than with those of float32, and there are the same bits whatever the driver does when.
func TestBFloat16(t *testing.T) {
	fakecuda.Need(t)
	x := builds[1]
	x.launches, x.bfloat16 = 0, true
	const steps = 12
	want := x.build(t, nil, steps)[0]
	exact := x
	exact.bfloat16 = false
	single := exact.build(t, nil, steps)[0]
	var first [][]float32
	for _, v := range variants {
		l, err := cuda.OpenLibrary(registry.All().Kernels()...)
		if err != nil {
			t.Fatal(err)
		}
		d, err := cuda.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		fakecuda.Set(v.words)
		m, err := d.NewMemory(l)
		if err != nil {
			t.Fatal(err)
		}
		m.Eager(v.eager)
		got := x.build(t, m, steps)
		if first == nil {
			x.dryRun(t, l, m, d)
			first = got
			near, far := distance(wide(got[0]), wide(want)), distance(wide(got[0]), wide(single))
			if !(near <= far/10) {
				t.Errorf("losses are off by %.3g, and from those of float32 by %.3g", near, far)
			}
		}
		for i := range got {
			if !slices.Equal(got[i], first[i]) {
				t.Errorf("%s: tensor %d has other bits than with %s", v.words, i, variants[0].words)
			}
		}
		if err := errors.Join(m.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestTwo: two builds at once in one program, each with a memory of its own, on one device and on two. (The
// simulated driver refuses what a context has in another one.)
func TestTwo(t *testing.T) {
	for _, devices := range []int{1, 2} {
		t.Run(fmt.Sprint(devices), func(t *testing.T) { testTwo(t, devices) })
	}
}

func testTwo(t *testing.T, devices int) {
	fakecuda.Need(t)
	fakecuda.Set(fmt.Sprintf("late=1,seed=7,devices=%d", devices))
	defer fakecuda.Set("devices=1")
	x := builds[1]
	x.launches = 0
	l, err := cuda.OpenLibrary(registry.All().Kernels()...)
	if err != nil {
		t.Fatal(err)
	}
	var got [2][][]float32
	before := [2]int{fakecuda.Count("kernels of 0"), fakecuda.Count("kernels of 1")}
	var wg sync.WaitGroup
	for i := range got {
		d, err := cuda.Open(i % devices)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.NewMemory(l)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(m.Close(), d.Close()); err != nil {
				t.Error(err)
			}
		}()
		wg.Go(func() { got[i] = x.build(t, m, 9) })
	}
	wg.Wait()
	for n := range devices {
		if fakecuda.Count(fmt.Sprint("kernels of ", n)) == before[n] {
			t.Errorf("no kernel ran on device %d", n)
		}
	}
	for i, v := range got[0] {
		if len(got[1]) != len(got[0]) || !slices.Equal(v, got[1][i]) {
			t.Fatalf("tensor %d differs between two builds", i)
		}
	}
}

// TestContextsAreFreed: contexts that measuring and sampling make are gone from the device afterwards.
func TestContextsAreFreed(t *testing.T) {
	fakecuda.Need(t)
	x := &builds[1]
	l, err := cuda.OpenLibrary(registry.All().Kernels()...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	fakecuda.Set("late=1,seed=3")
	at, err := d.NewMemory(l)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	model, err := registry.NewModel[float32](x.model, block.NewSizes(nil).Else(func(name string) int { return x.sizes[name] }))
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.New(module.Config[float32]{Model: model, Seed: 3, Memory: at})
	if err != nil {
		t.Fatal(err)
	}
	tokens := make([]int32, 40)
	s := pulse.Schedule{Periods: []int{1}}
	part, err := stream.NewTokens("tokens", model.Vocabulary(), tokens)
	if err != nil {
		t.Fatal(err)
	}
	h := m.NewContext(1)
	for what, f := range map[string]func() (float64, error){
		"Score":     func() (float64, error) { return m.Score(t.Context(), s, 0, tokens, x.tokens) },
		"ScorePart": func() (float64, error) { return m.ScorePart(t.Context(), s, stream.Whole(part), x.tokens) },
		"Generate": func() (float64, error) {
			_, err := m.Generate(t.Context(), h, 0, s.First(pulse.Stream), tokens[:1], module.Sampling{Limit: 3})
			return 0, err
		},
	} {
		before := -1
		want := math.NaN()
		for range 3 {
			got, err := f()
			if err = errors.Join(err, at.Err()); err != nil {
				t.Fatal(what, err)
			}
			if n, _ := d.Allocated(); before >= 0 && (n != before || got != want) {
				t.Errorf("%s: %d allocations, %d the time before; %v, before %v", what, n, before, got, want)
			}
			before, _ = d.Allocated()
			want = got
		}
	}
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
			want, err1 := whole.Health(nil)
			got, err2 := s.Health(nil)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			for l, h := range want {
				g := got[l]
				if err := distance([]float64{g.Gradient, g.Parameter, g.State}, []float64{h.Gradient, h.Parameter, h.State}); !(err <= buildTol) {
					t.Errorf("part %d: level %d is %+v, want %+v", part, l, g, h)
				}
			}
		}
		if last, err = s.SnapshotBuild(nil); err != nil {
			t.Fatal(err)
		}
		if name, err := last.Meta("hecate.device"); (err == nil) != (where != nil) || where != nil && name != "cuda sm_90" {
			t.Errorf("part %d: the checkpoint says that %q computed: %v", part, name, err)
		}
	}
	if err := errors.Join(m.Close(), d.Close()); err != nil {
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
