package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	pcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/sample"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// chunk is no multiple of what a rule computes together, and not below it.
const chunk = 37

// made is a model of small sizes that agree with nothing.
func made(t *testing.T, text string) block.Model[float32] {
	t.Helper()
	small := map[string]int{"d": 4, "V": stream.Vocab, "H": 2, "n_p": 1, "w": 5, "d_h": 3, "n_phi": 1, "m": 5}
	m, err := registry.NewModel[float32](text, block.NewSizes(nil).Else(func(name string) int {
		if n := small[name]; n > 0 {
			return n
		}
		return 4
	}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// gated is a byte model in which a rule gates attention.
func gated(t *testing.T, rule string) block.Model[float32] {
	t.Helper()
	return made(t, "ByteLM(MAG("+rule+", SlidingWindow))")
}

// prose is a text of a few thousand bytes.
var prose = strings.Repeat("Anybody can light a lamp, he said. The trick is to know what the last traveller needed, and to forget it in time for the next one. ", 12)

// reader reads a batch of two documents.
func reader(t *testing.T, batch int, phase pulse.Phase, model block.Model[float32]) *module.Session[float32] {
	t.Helper()
	text, err := stream.FromDocuments("prose", []byte(prose[:201]), []byte(prose[201:900]))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := stream.Split(text)
	s, err := stream.New(part, batch)
	if err != nil {
		t.Fatal(err)
	}
	u, err := registry.NewUpdate[float32]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.New(module.Config[float32]{Model: model, Update: u, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	x, err := module.NewSession(m, s, pulse.Schedule{}, phase)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// ran is what some chunks gave, and every number of the context after them.
func ran(t *testing.T, x *module.Session[float32], chunks int) (out []float32) {
	t.Helper()
	c := x.Conductor()
	h := x.Module().NewContext(c.Batch())
	for range chunks {
		chunk, p, err := c.Next(chunk)
		if err != nil {
			t.Fatal(err)
		}
		logits := make([]float32, len(chunk.Inputs)*stream.Vocab)
		var r module.Result
		if r, h, err = x.Module().ProcessInto(logits, chunk, h, p); err != nil {
			t.Fatal(err)
		}
		out = append(append(out, float32(r.Nats)), logits...)
		if err := c.Advance(); err != nil {
			t.Fatal(err)
		}
	}
	return append(out, numbers(t, h)...)
}

func numbers(t *testing.T, h pcontext.Handle[*module.Memory[float32]]) (out []float32) {
	t.Helper()
	mem, err := h.Take()
	if err != nil {
		t.Fatal(err)
	}
	mem.Each(func(_ string, _ []int, data []float32) { out = append(out, data...) })
	return out
}

func bitwise(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: number %d of %d is %v, want %v", what, i, len(want), got[i], want[i])
		}
	}
}

// TestPhasesOfRules: for every rule the three phases give the same losses,
// outputs and contexts, to the bit.
func TestPhasesOfRules(t *testing.T) {
	for _, rule := range registry.Rules() {
		m := gated(t, rule)
		var want []float32
		for _, phase := range []pulse.Phase{pulse.Build, pulse.Test, pulse.Stream} {
			got := ran(t, reader(t, 2, phase, m), 3)
			if want == nil {
				want = got
			}
			bitwise(t, fmt.Sprint(rule, " in ", phase), got, want)
		}
	}
}

// TestBatchOfRules: for every rule N slots give the bits of N single ones.
func TestBatchOfRules(t *testing.T) {
	const n = 2
	for _, rule := range registry.Rules() {
		m := gated(t, rule)
		x := reader(t, n, pulse.Test, m)
		batch := x.Module().NewContext(n)
		var single []pcontext.Handle[*module.Memory[float32]]
		for range n {
			single = append(single, x.Module().NewContext(1))
		}
		for range 3 {
			c, p, err := x.Conductor().Next(chunk)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float32, len(c.Inputs)*stream.Vocab)
			if _, batch, err = x.Module().ProcessInto(out, c, batch, p); err != nil {
				t.Fatal(err)
			}
			for i := range single {
				one := stream.Chunk{Batch: 1, Tokens: chunk, Inputs: c.Inputs[i*chunk : (i+1)*chunk], Targets: c.Targets[i*chunk : (i+1)*chunk]}
				for _, e := range c.Events {
					if e.Slot == i {
						e.Slot = 0
						one.Events = append(one.Events, e)
					}
				}
				alone := make([]float32, chunk*stream.Vocab)
				if _, single[i], err = x.Module().ProcessInto(alone, one, single[i], p); err != nil {
					t.Fatal(err)
				}
				bitwise(t, rule+" outputs", out[i*chunk*stream.Vocab:(i+1)*chunk*stream.Vocab], alone)
			}
			if err := x.Conductor().Advance(); err != nil {
				t.Fatal(err)
			}
		}
		all := numbers(t, batch)
		var each []float32
		for i := range single {
			each = append(each, numbers(t, single[i])...)
		}
		bitwise(t, rule+" contexts", all, each)
	}
}

// TestBadNumberOfRules spoils a key map of every rule in the way in which a build
// goes wrong, and wants the kernel of the rule or of its front's function named, with
// what it reads.
//
//hecate:allow outerwrite a parameter is spoilt: that is the test
func TestBadNumberOfRules(t *testing.T) {
	named := 0
	for _, rule := range registry.Rules() {
		m := gated(t, rule)
		x := reader(t, 2, pulse.Build, m)
		v := x.Module().Params()
		spoilt := ""
		for i := range v.Len() {
			if p := v.Param(i); strings.HasPrefix(p.Name, "memory.") && !p.Fixed {
				for j := range v.Data(i) {
					v.Data(i)[j] = 3e38
				}
				spoilt = p.Name
				break
			}
		}
		_, err := x.Step(chunk)
		var bad *module.BadNumber
		if err == nil {
			continue // a rule may bear it: what it reads is normed or bounded
		}
		if !errors.As(err, &bad) || !slices.Contains([]string{strings.ToLower(rule) + ".step", "projected.call"}, bad.Equation) && !strings.HasPrefix(bad.Equation, "mag.") || bad.Tensor == "" || bad.Level != 0 {
			t.Errorf("%s with %s at 3e38: %v", rule, spoilt, err)
		}
		named++
		if _, err := x.Module().Update(pulse.First(pulse.Build).Of(chunk)); err != module.ErrGradient {
			t.Errorf("%s: an update after it: %v", rule, err)
		}
	}
	if all := len(registry.Rules()); named < all*3/4 {
		t.Errorf("only %d of %d rules went wrong", named, all)
	}
}

// TestProbesOfABuild: samples and scores in between leave a build of real rules
// as it would have been.
func TestProbesOfABuild(t *testing.T) {
	for _, rule := range []string{"DeltaRule", "Trellis", "MEMORA"} {
		m := gated(t, rule)
		run := func(probe bool) string {
			x := reader(t, 2, pulse.Build, m)
			for range 4 {
				if _, err := x.Step(chunk); err != nil {
					t.Fatal(err)
				}
				if probe {
					if _, err := x.Generate(context.Background(), 1, []int32{'a'}, module.Sampling{Settings: sample.Settings{Temperature: 1, TopP: 0.9}, Limit: 5}); err != nil {
						t.Fatal(err)
					}
					if _, err := x.Module().Score(context.Background(), pulse.Schedule{}, 'a', []int32{'b', 'c', 'd'}, 2); err != nil {
						t.Fatal(err)
					}
				}
			}
			s, err := x.SnapshotBuild(nil)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if _, err := s.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		if run(true) != run(false) {
			t.Errorf("%s: probes changed the build", rule)
		}
	}
}
