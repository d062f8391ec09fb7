package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/cmd/hecate/internal/config"
	"github.com/nl-hecate/hecate/cmd/hecate/internal/inspect"
	"github.com/nl-hecate/hecate/generated/registry"
)

var modules = &Modules{Catalog{Models: registry.Models, New: registry.NewModel[float32], Updates: registry.Updates, NewUpdate: registry.NewUpdate[float32], Rules: registry.Rules}}

const smallText = "../../text/crossroads.txt"

// small is a configuration of a build that takes no time, at sizes that agree
// with nothing.
func small(t *testing.T, sets ...string) *config.Loaded {
	t.Helper()
	all := []config.Set{}
	for _, s := range append([]string{"stream.path=" + smallText, "stream.lanes=3", "stream.chunk=7", "model.seed=5", "update.clip=1", "build.sample=20",
		"model.sizes.d=6", "model.sizes.attention.H=2", "model.sizes.attention.w=5", "model.sizes.attention.n_p=1", "model.sizes.memory.d_k=4"}, sets...) {
		key, value, _ := strings.Cut(s, "=")
		all = append(all, config.Set{Flag: "--set", Key: key, Value: value})
	}
	c, err := config.Parse("", nil, all, modules.World())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newBuilder(t *testing.T, resume string) Builder {
	t.Helper()
	b, err := modules.NewBuilder(small(t), resume)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func steps(t *testing.T, b Builder, n int) {
	t.Helper()
	for range n {
		s, err := b.Step()
		if err != nil {
			t.Fatal(err)
		}
		if s.Step != b.Done() || s.Tokens != s.Step*21 || !(s.Norm > 0) || !(s.Bits > 0) || !(s.Rate > 0) {
			t.Errorf("%+v", s)
		}
	}
}

// plainly builds nine steps with build.Run and nothing around it.
func plainly(t *testing.T) (saved []byte, printed, sample string) {
	t.Helper()
	c := small(t)
	out := t.TempDir()
	var w bytes.Buffer
	err := build.Run(context.Background(), build.Catalog[float32]{Models: registry.Models, New: registry.NewModel[float32], Updates: registry.Updates, NewUpdate: registry.NewUpdate[float32]}, build.Options{Model: "ZeroB", Sizes: c.Model.Sizes, Text: smallText, Steps: 9, Lanes: 3, Chunk: 7,
		Update: "AdamW", Clip: 1, Seed: 5, Out: out, Sample: 20}, build.Fallback{}, &w)
	if err != nil {
		t.Fatal(err)
	}
	saved, err = os.ReadFile(filepath.Join(out, "zerob.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "zerob.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return saved, w.String(), string(text)
}

// TestBuilderIsTheBuild builds with everything in between that a command may ask
// for; the checkpoint, the figures and the sample are those of an unbroken run.
func TestBuilderIsTheBuild(t *testing.T) {
	want, printed, sample := plainly(t)
	ctx, dir := context.Background(), t.TempDir()
	b := newBuilder(t, "")
	before, err := b.HeldOut(ctx)
	if err != nil {
		t.Fatal(err)
	}
	steps(t, b, 3)
	if _, err := b.HeldOut(ctx); err != nil {
		t.Fatal(err)
	}
	steps(t, b, 1)
	mid := filepath.Join(dir, "mid.safetensors")
	for range 2 {
		if err := b.Save(mid); err != nil {
			t.Fatal(err)
		}
	}
	steps(t, b, 1)
	if n, err := modules.Steps(mid); n != 4 || err != nil {
		t.Errorf("a checkpoint after 4 steps says %d (%v)", n, err)
	}

	b = newBuilder(t, mid)
	if x, ok := b.Before(); !ok || x != before || b.Done() != 4 || len(b.Bits()) != 4 {
		t.Errorf("taken up: before %v (%v), want %v; %d steps", x, ok, before, b.Done())
	}
	steps(t, b, 5)
	end := filepath.Join(dir, "end.safetensors")
	if err := b.Save(end); err != nil {
		t.Fatal(err)
	}
	sameTensors(t, want, end)
	after, err := b.HeldOut(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.Sample(ctx, 20)
	if err != nil || string(text) != sample {
		t.Errorf("sample %q, want %q (%v)", text, sample, err)
	}
	if line := fmt.Sprintf("after:    %.3f bits/byte on the held-out part (before %.3f,", after, before); !strings.Contains(printed, line) {
		t.Errorf("no %q in\n%s", line, printed)
	}
	if i := b.Info(); !strings.Contains(printed, fmt.Sprintf("(%s), %s arithmetic", i.Sizes, i.Arithmetic)) || i.HeldOut == 0 || !(i.Bigram > 0) || i.MovedBy != "AdamW" {
		t.Errorf("%+v is not what was printed:\n%s", i, printed)
	}
	reads(t, end, after)
}

// sameTensors compares what a plain build saved with a file; identities may
// differ.
func sameTensors(t *testing.T, want []byte, path string) {
	t.Helper()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, want, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := inspect.Read(plain)
	b, err2 := inspect.Read(path)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if d := inspect.Compare(a, b); len(d.Tensors) > 0 || d.Equal < 30 {
		t.Errorf("the checkpoint is not that of an unbroken build: %v", d)
	}
}

// reads opens what a build saved and measures the same part.
func reads(t *testing.T, path string, want float64) {
	t.Helper()
	r, err := modules.NewReader(path)
	if err != nil {
		t.Fatal(err)
	}
	_, built, heldOut, err := modules.Text(smallText)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Measure(context.Background(), built[len(built)-1], heldOut, 7)
	if err != nil || !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("the reader measures %v, the builder %v (%v)", got, want, err)
	}
}

// TestReader reads a text in calls of several lengths, and forks: a context does
// not depend on what a fork of it reads.
func TestReader(t *testing.T) {
	ctx := context.Background()
	b := newBuilder(t, "")
	steps(t, b, 2)
	path := filepath.Join(t.TempDir(), "c.safetensors")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	open := func() Reader {
		r, err := modules.NewReader(path)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	text := []byte("a crossroads at night")
	read := func(r Reader, text []byte, chunk, want int) float64 {
		t.Helper()
		nats, n, err := r.Read(ctx, text, chunk)
		if err != nil || n != want {
			t.Fatalf("%d of %d bytes predicted (%v)", n, want, err)
		}
		return nats
	}
	whole, one, parts := open(), open(), open()
	if _, err := whole.Next(); err == nil {
		t.Error("an empty context predicts something")
	}
	a := read(whole, text, 64, len(text)-1)
	c := read(one, text, 1, len(text)-1)
	d := read(parts, text[:5], 3, 4)
	if _, err := parts.Next(); err != nil {
		t.Fatal(err)
	}
	fork, err := parts.Fork()
	if err != nil {
		t.Fatal(err)
	}
	read(fork, []byte("something else"), 4, 14)
	d += read(parts, text[5:], 4, len(text)-5)
	if !(math.Abs(a-c) <= 1e-4*a) || !(math.Abs(a-d) <= 1e-4*a) {
		t.Errorf("nats of one text, cut in three ways: %v, %v, %v", a, c, d)
	}
	if one.Position() != len(text) || parts.Position() != len(text) || fork.Position() != 5+14 {
		t.Errorf("positions %d, %d, %d", one.Position(), parts.Position(), fork.Position())
	}
	if again := open(); read(again, text, 1, len(text)-1) != c || hash(t, again) != hash(t, one) || hash(t, fork) == hash(t, parts) {
		t.Error("equal contexts have other digests, or different ones the same")
	}
}

func hash(t *testing.T, r Reader) string {
	t.Helper()
	h, err := r.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestCannot(t *testing.T) {
	text := "stream.path=" + smallText
	for want, sets := range map[string][]string{
		`no compiled model is named "A(B)"; a formula becomes a model`:                        {"model.formula=A(B)"},
		"--set: 2 levels are configured, the builder runs one":                                {"level.0.period=1", "level.1.period=8"},
		"--set: model ZeroB: sizes: there is no size memory.depth; there is no size memory.x": {"model.sizes.memory.depth=3", "model.sizes.memory.x=3"},
		"--set: update AdamW: update: no such setting beta; there are":                        {"update.settings.beta=0.1"},
		"--set: update AdamW: setting beta_1 is 1, must be [0,1)":                             {"update.settings.beta_1=1"},
		"nowhere.txt: no such file or directory":                                              {"stream.path=nowhere.txt"},
		"too short: 60000 lanes":                                                              {text, "stream.lanes=60000"},
	} {
		b, err := modules.NewBuilder(small(t, sets...), "")
		if err == nil {
			_ = b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", sets, err, want)
		}
	}
	for size, want := range map[string]bool{"d": true, "memory.d_k": true, "memory.depth": false, "modl.width": false} {
		if got := modules.KnowsSize("ZeroB", size); got != want {
			t.Errorf("KnowsSize(%s) = %v", size, got)
		}
	}
}

// TestInterrupted asks with a context that has ended: the build goes on as if it
// had not been asked.
func TestInterrupted(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	asked, plain := newBuilder(t, ""), newBuilder(t, "")
	for range 3 {
		if _, err := asked.HeldOut(over); !errors.Is(err, context.Canceled) {
			t.Errorf("measured: %v", err)
		}
		steps(t, asked, 1)
		steps(t, plain, 1)
	}
	if _, ok := asked.Before(); ok {
		t.Error("a measurement that was broken off counts")
	}
	var files [2][]byte
	for i, b := range []Builder{asked, plain} {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		err := b.Save(path)
		if err == nil {
			files[i], err = os.ReadFile(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("a build that was asked is not the one that was not")
	}
}

// TestArena tries a chunk; the build goes on as if it had not.
func TestArena(t *testing.T) {
	tried, plain := newBuilder(t, ""), newBuilder(t, "")
	if n, err := tried.Arena(); err != nil || n < 1000 {
		t.Errorf("a chunk takes %d bytes (%v)", n, err)
	}
	for range 2 {
		a, err := tried.Step()
		b, err2 := plain.Step()
		if err != nil || err2 != nil || a.Nats != b.Nats || a.Norm != b.Norm {
			t.Errorf("%v and %v after a trial, %v and %v without (%v, %v)", a.Nats, a.Norm, b.Nats, b.Norm, err, err2)
		}
	}
}

// TestDonor begins with the parameters of another run and nothing else of it.
func TestDonor(t *testing.T) {
	b := newBuilder(t, "")
	steps(t, b, 3)
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	want, err := b.HeldOut(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c, err := modules.NewBuilder(small(t, "build.from="+path, "stream.lanes=2", "model.seed=7"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.HeldOut(context.Background()); err != nil || got != want || c.Done() != 0 {
		t.Errorf("a donor with %v bits gave %v after %d steps (%v)", want, got, c.Done(), err)
	}
	if _, err := modules.NewBuilder(small(t, "build.from="+path, "model.sizes.memory.d_k=5"), ""); err == nil {
		t.Error("a donor of other sizes was taken")
	}
}
