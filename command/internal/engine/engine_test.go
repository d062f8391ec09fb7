package engine

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/formula"
)

var modules = with("one", func(m block.Model[float32]) block.Model[float32] { return m })

// with are modules whose catalog has a model Wrapped beside the library's: ZeroB with
// something around it, under a digest.
func with(digest string, wrap func(block.Model[float32]) block.Model[float32]) *Modules {
	of := func(m catalog.Arguments[float32]) block.Model[float32] {
		model, _ := registry.NewModel[float32]("ZeroB", m.Sizes) // what is wrong is in the sizes
		return wrap(model)
	}
	page := formula.Page{Kind: formula.Model, Width: "d", Sizes: []string{"V", "d"}}
	return &Modules{Catalog: registry.All().With(catalog.Model("Wrapped", digest, page, of, nil))}
}

const smallText = "../../text/crossroads.txt"

// small is a configuration of a build that takes no time, at sizes that agree
// with nothing.
func small(t *testing.T, sets ...string) *config.Loaded {
	t.Helper()
	all := []config.Set{}
	for _, s := range append([]string{"stream.path=" + smallText, "stream.lanes=3", "stream.chunk=7", "model.seed=5", "update.clip=1", "build.sample=20",
		"model.formula=ZeroB", "model.sizes.d=6", "model.sizes.attention.H=2", "model.sizes.attention.w=5", "model.sizes.attention.n_p=1"}, sets...) {
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

// TestBuilderIsTheBuild builds with everything in between that a command may ask
// for; the checkpoint, the figures and the sample are those of an unbroken run.
func TestBuilderIsTheBuild(t *testing.T) {
	for _, model := range []string{"ZeroB", "ByteCMS", "ByteCMSGated"} {
		ctx, dir := context.Background(), t.TempDir()
		open := func(resume string) Builder {
			b, err := modules.NewBuilder(small(t, "model.formula="+model), resume)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		ask := func(b Builder) (bits float64, sample string) {
			bits, err := b.HeldOut(ctx)
			if err != nil {
				t.Fatal(err)
			}
			text, err := b.Sample(ctx, 20)
			if err != nil {
				t.Fatal(err)
			}
			return bits, string(text)
		}
		save := func(b Builder, name string) string {
			path := filepath.Join(dir, name)
			if err := b.Save(path); err != nil {
				t.Fatal(err)
			}
			return path
		}
		plain := open("")
		before, _ := ask(plain)
		steps(t, plain, 9)
		want := save(plain, "plain.safetensors")
		after, sample := ask(plain)

		b := open("")
		if x, _ := ask(b); x != before {
			t.Errorf("%s: before %v, want %v", model, x, before)
		}
		steps(t, b, 3)
		ask(b)
		steps(t, b, 1)
		save(b, "mid.safetensors")
		mid := save(b, "mid.safetensors")
		steps(t, b, 1)
		if n, err := modules.Steps(mid); n != 4 || err != nil {
			t.Errorf("a checkpoint after 4 steps says %d (%v)", n, err)
		}
		b = open(mid)
		if x, ok := b.Before(); !ok || x != before || b.Done() != 4 || len(b.Bits()) != 4 {
			t.Errorf("%s taken up: before %v (%v), want %v; %d steps", model, x, ok, before, b.Done())
		}
		steps(t, b, 5)
		end := save(b, "end.safetensors")
		sameFiles(t, want, end)
		if x, text := ask(b); x != after || text != sample {
			t.Errorf("%s: after %v and %q, want %v and %q", model, x, text, after, sample)
		}
		got, err := modules.Measure(ctx, end, Text{Paths: []string{smallText}, HeldOut: true}, 0)
		if err != nil || got.Bits != after || got.Step != 9 || got.Chunk != 7 || got.Unit != "byte" {
			t.Errorf("%s: measured %+v, the builder has %v (%v)", model, got, after, err)
		}
	}
}

// sameFiles compares two checkpoints to the byte.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s is not %s", b, a)
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
		r, err := modules.NewReader(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	text := tokensOf("a crossroads at night")
	read := func(r Reader, text []int32, chunk, want int) float64 {
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
	read(fork, tokensOf("something else"), 4, 14)
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

func tokensOf(text string) (ids []int32) {
	for _, x := range []byte(text) {
		ids = append(ids, int32(x))
	}
	return ids
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
		"--set: levels.periods has 2 periods, the model has 1 level":                          {"levels.periods=1,8"},
		"--set: levels.periods has 2 periods, the model has 3 levels":                         {"model.formula=ByteCMS", "levels.periods=1,8"},
		"the model has 5 levels, and its page proposes periods for 4; give levels.periods 5":  {"model.formula=ByteLM(MAG(CMS([DeltaRule, DeltaRule, DeltaRule, DeltaRule, DeltaRule]), SlidingWindow))"},
		"--set: model ZeroB: sizes: there is no size memory.depth; there are V, attention.H":  {"model.sizes.memory.depth=3", "model.sizes.memory.x=3"},
		"--set: model ZeroB: sizes: there is no size memory.dk; did you mean \"memory.d_k\"?": {"model.sizes.memory.dk=3"},
		"--set: model ByteCMS: sizes: size memory.memory.1.d_k is 0, must be at least":        {"model.formula=ByteCMS", "model.sizes.memory.memory.1.d_k=0"},
		"size memory.d_k is 99999, must be at most 16384":                                     {"model.formula=ByteLM(MAG(DeltaRule(d_k = 99999), SlidingWindow))"},
		"--set: update AdamW: update: no such setting beta; there are":                        {"update.settings.beta=0.1"},
		"--set: update AdamW: setting beta_1 is 1, must be [0,1)":                             {"update.settings.beta_1=1"},
		"nowhere.txt: no such file or directory":                                              {"stream.path=nowhere.txt"},
		"too short: a batch of 60000":                                                         {text, "stream.lanes=60000"},
	} {
		b, err := modules.NewBuilder(small(t, sets...), "")
		if err == nil {
			_ = b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", sets, err, want)
		}
	}
	for size, want := range map[string]bool{"memory.memory.d_k": true, "memory.memory.1.d_k": true, "memory.d_k": true, "chain.d_k": false} {
		if got := modules.KnowsSize("ByteCMS", size); got != want {
			t.Errorf("KnowsSize(%s) of ByteCMS = %v", size, got)
		}
	}
	for size, want := range map[string]bool{"d": true, "memory.d_k": true, "memory.depth": true, "memory": false, "depth.memory": false, "modl.width": false} {
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
			t.Errorf("%v and %v after a dry run, %v and %v without (%v, %v)", a.Nats, a.Norm, b.Nats, b.Norm, err, err2)
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
