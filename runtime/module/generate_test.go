package module_test

import (
	goctx "context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/sample"
	"github.com/nl-hecate/hecate/runtime/stream"
)

var first = pulse.First(pulse.Stream)

// grown is a module and a context that has read something.
func grown(t testing.TB) (*module.Module[float64], context.Handle[*module.Memory[float64]]) {
	t.Helper()
	m, err := module.New(module.Config[float64]{Model: echo[float64]{6, 3}, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, h, err := m.Process(stream.Chunk{Batch: 2, Tokens: 3, Inputs: []int32{1, 2, 3, 4, 5, 0}, Targets: make([]int32, 6)}, m.NewContext(2), first)
	if err != nil {
		t.Fatal(err)
	}
	return m, h
}

// chances are what the model says comes after some tokens of a slot.
//
//hecate:borrows
func chances(t testing.TB, m *module.Module[float64], h context.Handle[*module.Memory[float64]], slot int, tokens []int32) []float64 {
	t.Helper()
	fork, err := h.Fork((*module.Memory[float64]).Clone)
	if err != nil {
		t.Fatal(err)
	}
	n := len(tokens)
	c := stream.Chunk{Batch: 2, Tokens: n, Inputs: make([]int32, 2*n), Targets: make([]int32, 2*n)}
	copy(c.Inputs[slot*n:], tokens)
	out := make([]float64, 2*n*6)
	if _, _, err := m.ProcessInto(out, c, fork, first); err != nil {
		t.Fatal(err)
	}
	z := out[(slot*n+n-1)*6:][:6]
	total := 0.0
	for i := range z {
		z[i] = math.Exp(z[i])
		total += z[i]
	}
	for i := range z {
		z[i] /= total
	}
	return z
}

// generate draws.
//
//hecate:borrows
func generate(t testing.TB, m *module.Module[float64], h context.Handle[*module.Memory[float64]], slot int, prompt []int32, s module.Sampling) []int32 {
	t.Helper()
	out, err := m.Generate(goctx.Background(), h, slot, first, prompt, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// with is one token drawn by settings.
func with(s sample.Settings) module.Sampling { return module.Sampling{Settings: s, Limit: 1} }

// TestDraws counts what is drawn after a prompt against what the model says, for
// every way to leave tokens out.
func TestDraws(t *testing.T) {
	m, h := grown(t)
	prompt := []int32{3, 1, 4}
	const n = 4000
	for name, x := range map[string]struct {
		s    module.Sampling
		keep func(p []float64) []float64
	}{
		"plain": {with(sample.Settings{Temperature: 1}), func(p []float64) []float64 { return p }},
		"hot": {with(sample.Settings{Temperature: 2}), func(p []float64) []float64 {
			for i := range p {
				p[i] = math.Sqrt(p[i])
			}
			return p
		}},
		"top-k": {with(sample.Settings{Temperature: 1, TopK: 2}), func(p []float64) []float64 {
			return largest(p, func(rank int, before float64) bool { return rank < 2 })
		}},
		"top-p": {with(sample.Settings{Temperature: 1, TopP: 0.6}), func(p []float64) []float64 {
			return largest(p, func(rank int, before float64) bool { return before < 0.6 })
		}},
		"both": {with(sample.Settings{Temperature: 1, TopK: 3, TopP: 0.99}), func(p []float64) []float64 {
			return largest(p, func(rank int, before float64) bool { return rank < 3 && before < 0.99 })
		}},
		"greedy": {with(sample.Settings{}), func(p []float64) []float64 { return largest(p, func(rank int, _ float64) bool { return rank < 1 }) }},
	} {
		want := x.keep(chances(t, m, h, 1, prompt))
		total, seen := 0.0, make([]float64, 6)
		for _, p := range want {
			total += p
		}
		for seed := range uint64(n) {
			x.s.Seed, x.s.Limit = seed, 1
			seen[generate(t, m, h, 1, prompt, x.s)[0]]++
		}
		for id, p := range want {
			p /= total
			if sigma := math.Sqrt(p * (1 - p) / n); !(math.Abs(seen[id]/n-p) <= 4.5*sigma) {
				t.Errorf("%s: token %d was drawn %v of %d times, want %.4f", name, id, seen[id], n, p)
			}
		}
	}
}

// largest keeps the likeliest tokens: those for which keep holds, of their rank
// and the probability before them.
func largest(p []float64, keep func(rank int, before float64) bool) []float64 {
	order := []int{0, 1, 2, 3, 4, 5}
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, p[b]-p[a])) })
	out, before := make([]float64, 6), 0.0
	for rank, id := range order {
		if rank == 0 || keep(rank, before) {
			out[id] = p[id]
		}
		before += p[id]
	}
	return out
}

// TestGoesOn: what is drawn is read again, so a sample can be drawn in two parts;
// it is the seed's, stops where it is told to, and moves nothing.
func TestGoesOn(t *testing.T) {
	m, h := grown(t)
	before := state(t, h)
	s := module.Sampling{Limit: 12}
	all := generate(t, m, h, 0, []int32{2}, s)
	s.Limit = 7
	rest := generate(t, m, h, 0, append([]int32{2}, all[:5]...), s)
	if !slices.Equal(all[5:], rest) {
		t.Errorf("in two parts %v, in one %v", rest, all[5:])
	}
	s = with(sample.Settings{Temperature: 1, Seed: 4})
	s.Limit = 200
	one, two := generate(t, m, h, 1, []int32{2, 3}, s), generate(t, m, h, 1, []int32{2, 3}, s)
	if !slices.Equal(one, two) || len(one) != 200 {
		t.Error("one seed gives two samples")
	}
	s.Seed = 5
	if slices.Equal(one, generate(t, m, h, 1, []int32{2, 3}, s)) {
		t.Error("two seeds give one sample")
	}
	differ := false
	for seed := range uint64(50) {
		s := with(sample.Settings{Temperature: 1, Seed: seed})
		s.Limit = 20
		differ = differ || !slices.Equal(generate(t, m, h, 0, []int32{2}, s), generate(t, m, h, 1, []int32{2}, s))
	}
	if !differ {
		t.Error("two slots give the same samples")
	}
	stop := with(sample.Settings{Temperature: 1, Seed: 4})
	stop.Limit, stop.Stop = 200, func(x int32) bool { return x == one[9] }
	if got := generate(t, m, h, 1, []int32{2, 3}, stop); !slices.Equal(got, one[:slices.Index(one, one[9])+1]) {
		t.Errorf("stopped at %v", got)
	}
	sameStates(t, "after samples", state(t, h), before)
}

// TestSchedule: Chunk tokens are one step of the schedule.
func TestSchedule(t *testing.T) {
	for chunk, want := range map[int][]uint64{0: {7, 8, 9, 10, 11}, 2: {7, 7, 8, 8, 9}, 9: {7, 7, 7, 7, 7}} {
		var steps, positions []uint64
		m, err := module.New(module.Config[float64]{Model: clocked{echo[float64]{6, 3}, &steps, &positions}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Generate(goctx.Background(), m.NewContext(1), 0, first.At(7, 100), []int32{1, 2}, module.Sampling{Limit: 4, Chunk: chunk}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(steps, want) || !slices.Equal(positions, []uint64{100, 101, 102, 103, 104}) {
			t.Errorf("chunks of %d: steps %v at %v, want %v", chunk, steps, positions, want)
		}
	}
}

// TestGenerateRefuses has a row for every prompt and sampling that cannot be.
//
//hecate:allow outerwrite a parameter is spoilt: that is the test
//hecate:allow consumeonce a context that was moved is refused: that is the test
func TestGenerateRefuses(t *testing.T) {
	m, h := grown(t)
	for name, x := range map[string]struct {
		slot   int
		prompt []int32
		s      module.Sampling
		want   string
	}{
		"slot":        {2, []int32{1}, module.Sampling{Limit: 1}, "no slot 2"},
		"no prompt":   {0, nil, module.Sampling{Limit: 1}, "the prompt has no token"},
		"vocabulary":  {0, []int32{1, 6}, module.Sampling{Limit: 1}, "ids[0] is 6, outside 0 … 5"},
		"temperature": {0, []int32{1}, with(sample.Settings{Temperature: math.NaN()}), "temperature is NaN, must be"},
		"cold":        {0, []int32{1}, with(sample.Settings{Temperature: -1}), "temperature is -1"},
		"top-k":       {0, []int32{1}, with(sample.Settings{TopK: -1}), "top-k is -1"},
		"top-p":       {0, []int32{1}, with(sample.Settings{TopP: 1.5}), "top-p is 1.5"},
		"limit":       {0, []int32{1}, module.Sampling{Limit: -1}, "limit -1"},
		"chunk":       {0, []int32{1}, module.Sampling{Chunk: -1}, "chunk -1"},
	} {
		_, err := m.Generate(goctx.Background(), h, x.slot, first, x.prompt, x.s)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
	ctx, cancel := goctx.WithCancel(goctx.Background())
	cancel()
	if out, err := m.Generate(ctx, h, 0, first, []int32{1}, module.Sampling{Limit: 3}); err != nil || len(out) != 0 {
		t.Errorf("a sample that was ended: %v, %v", out, err)
	}
	m.Params().Data(1)[4] = math.Inf(1)
	if _, err := m.Generate(goctx.Background(), h, 0, first, []int32{1}, module.Sampling{Limit: 3}); !errors.Is(err, module.ErrDiverged) {
		t.Errorf("logits that are no numbers: %v", err)
	}
	if _, err := h.Take(); err != nil {
		t.Errorf("a sample took the context: %v", err)
	}
	if _, err := m.Generate(goctx.Background(), h, 0, first, []int32{1}, module.Sampling{Limit: 3}); err != context.ErrMoved {
		t.Errorf("a context that was moved: %v", err)
	}
}

// TestScore compares with counting by hand, and with any cut into calls.
func TestScore(t *testing.T) {
	m, _ := grown(t)
	tokens := []int32{1, 2, 3, 4, 5, 0, 1, 3, 5, 2, 4}
	score := func(chunk int) float64 {
		x, err := m.Score(goctx.Background(), pulse.Schedule{}, 3, tokens, chunk)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	want := 0.0
	for i := range 8 {
		lo, hi := i*len(tokens)/8, (i+1)*len(tokens)/8
		read := []int32{3}
		if lo > 0 {
			read[0] = tokens[lo-1]
		}
		for _, x := range tokens[lo:hi] {
			want -= math.Log(chances(t, m, m.NewContext(2), 0, read)[x])
			read = append(read, x)
		}
	}
	for _, chunk := range []int{1, 2, 3, 100} {
		if got := score(chunk); !(math.Abs(got-want/float64(len(tokens))) < 1e-12) {
			t.Errorf("by %d: %v nats, want %v", chunk, got, want/float64(len(tokens)))
		}
	}
	ctx, cancel := goctx.WithCancel(goctx.Background())
	cancel()
	if _, err := m.Score(ctx, pulse.Schedule{}, 3, tokens, 2); !errors.Is(err, goctx.Canceled) {
		t.Errorf("a score that was ended: %v", err)
	}
}
