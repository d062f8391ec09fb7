package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// steadyForms are the formulas around a rule: R is the rule, C four levels of
// which it is the fastest.
var steadyForms = []string{
	"ByteLM(MAG(R, SlidingWindow))",
	"ByteLM(MAL(R, SlidingWindow))",
	"ByteLM(MAC(R))",
	"ByteLM(MAG(CMS(C), SlidingWindow))",
	"ByteLM(MAG(CMSGated(C), SlidingWindow))",
	"ByteLM(HOPE(R, [ResidualMLP, ResidualMLP, ResidualMLP, ResidualMLP]))",
}

// formed is a form of the rule of a number; the slower levels are other rules.
func formed(form string, rule int) string {
	all := registry.Rules()
	var levels []string
	for l := range 4 {
		levels = append(levels, all[(rule+7*l)%len(all)])
	}
	return strings.NewReplacer("(R", "("+all[rule], "(C)", "(["+strings.Join(levels, ", ")+"])").Replace(form)
}

// spent is how many allocations f makes, and of how many bytes: the least of some
// tries, for the runtime allocates for itself now and then.
func spent(tries int, f func()) (times, bytes uint64) {
	var from, to runtime.MemStats
	for i := range tries {
		runtime.ReadMemStats(&from)
		f()
		runtime.ReadMemStats(&to)
		if n := to.Mallocs - from.Mallocs; i == 0 || n < times {
			times, bytes = n, to.TotalAlloc-from.TotalAlloc
		}
		if times == 0 {
			break
		}
	}
	return times, bytes
}

// TestNoModelAllocates runs every rule in every form, in a build and in a stream,
// token by token too, and lists the models that allocate for what they read. The
// text is gone through before it is counted, so that every shape has been seen;
// its documents end within chunks. One processor, as in TestStepAllocatesNothing.
func TestNoModelAllocates(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	const warm, steps, tries = 12, 6, 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, form := range steadyForms {
		for rule := range registry.Rules() {
			model := made(t, formed(form, rule))
			for _, run := range []struct {
				phase  pulse.Phase
				tokens int
			}{{pulse.Build, chunk}, {pulse.Stream, chunk}, {pulse.Stream, 1}} {
				s := endless(t, model, run.phase, 1e-9) // so small that no rule diverges
				read := func(n int) {
					for range n {
						if _, err := s.Step(run.tokens); err != nil {
							t.Fatal(err)
						}
					}
				}
				read(warm * chunk / run.tokens)
				if n, bytes := spent(tries, func() { read(steps) }); n > 0 {
					t.Errorf("%s, %v by %d: %d allocations, %.4g bytes per token", formed(form, rule), run.phase, run.tokens, n,
						float64(bytes)/float64(steps*run.tokens))
				}
			}
		}
	}
}

// endless is a session over a batch of two that wraps, on a schedule
// of as many levels as the model has. A rate of 0 is that of the update's page.
func endless(t *testing.T, model block.Model[float32], phase pulse.Phase, rate float64) *module.Session[float32] {
	t.Helper()
	text, err := stream.FromDocuments("prose", []byte(prose[:101]), []byte(prose[101:400]))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := stream.Split(text)
	s, err := stream.New(part, 2)
	if err != nil {
		t.Fatal(err)
	}
	u, err := registry.NewUpdate[float32]("AdamW")
	if err == nil && rate > 0 {
		err = u.Set("lr", rate)
	}
	if err != nil {
		t.Fatal(err)
	}
	buffer, err := registry.NewUpdate[float32]("ErrorBuffer")
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.New(module.Config[float32]{Model: model, Update: u, Buffer: buffer, Clip: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	levels, _ := model.NewMemory(1).Levels()
	x, err := module.NewSession(m, s, pulse.Schedule{Periods: []int{1, 2, 4, 8}[:levels]}, phase)
	if err != nil {
		t.Fatal(fmt.Errorf("%v: %w", phase, err))
	}
	return x
}
