package main

import (
	"bytes"
	"context"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	pcontext "github.com/nl-hecate/hecate/runtime/context"
)

// catalog is what the generated code can build.
func catalog() build.Catalog[float32] {
	return build.Catalog[float32]{Models: registry.Models, New: registry.NewModel[float32], Updates: registry.Updates, NewUpdate: registry.NewUpdate[float32]}
}

// small is a build of a few seconds: every part of the real one, at sizes that
// agree with nothing.
func small(t *testing.T, steps int) build.Options {
	t.Helper()
	return build.Options{Model: "ZeroB", Update: "AdamW", Steps: steps, Lanes: 3, Chunk: 7, Seed: 5, Out: t.TempDir(), Text: "text/crossroads.txt",
		Sizes: map[string]int{"d": 6, "attention.H": 2, "attention.w": 5, "attention.n_p": 1, "memory.d_k": 4}}
}

// run builds and returns what it printed and the checkpoint's bytes.
func run(t *testing.T, o build.Options) (printed string, saved []byte) {
	t.Helper()
	var w bytes.Buffer
	if err := build.Run(context.Background(), catalog(), o, build.Fallback{Name: "crossroads.txt", Text: crossroads}, &w); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(filepath.Join(o.Out, "zerob.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return w.String(), saved
}

func TestResumeIsExact(t *testing.T) {
	_, want := run(t, small(t, 9))
	first := small(t, 4)
	run(t, first)
	rest := small(t, 9)
	rest.Resume = filepath.Join(first.Out, "zerob.safetensors")
	if _, got := run(t, rest); !bytes.Equal(got, want) {
		t.Error("4 steps, saved and taken up for 5 more, differ from 9 steps")
	}
}

// TestUpdates builds with every update: each reaches a better loss, takes up its
// own checkpoint to the last bit, and refuses that of any other update.
func TestUpdates(t *testing.T) {
	saved := map[string]string{}
	for _, name := range catalog().Updates() {
		first := small(t, 6)
		first.Update, first.Clip = name, 1
		_, _ = run(t, first)
		saved[name] = filepath.Join(first.Out, "zerob.safetensors")
	}
	for _, name := range catalog().Updates() {
		whole := small(t, 9)
		whole.Update, whole.Clip = name, 1
		_, want := run(t, whole)
		for other, path := range saved {
			rest := small(t, 9)
			rest.Update, rest.Clip, rest.Resume = name, 1, path
			if other == name {
				if _, got := run(t, rest); !bytes.Equal(got, want) {
					t.Errorf("%s: 6 steps, saved and taken up for 3 more, differ from 9 steps", name)
				}
				continue
			}
			err := build.Run(context.Background(), catalog(), rest, build.Fallback{Name: "crossroads.txt", Text: crossroads}, &bytes.Buffer{})
			if want := "the update of the run differs: saved " + other + ", here " + name; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a run of %s was taken up under %s: %v", other, name, err)
			}
		}
	}
}

// TestMovedBy tells which update moves what: maps are Muon's, tables, persistent
// tokens, kernels of convolutions and what is no matrix AdamW's.
func TestMovedBy(t *testing.T) {
	m := newModel(t, "ZeroB")
	u, err := registry.NewUpdate[float32]("Muon")
	if err != nil {
		t.Fatal(err)
	}
	var set pcontext.ParamSet[float32]
	if err := m.Declare(&set, ""); err != nil {
		t.Fatal(err)
	}
	matrices := map[string]bool{"memory.W_K": true, "memory.W_Q": true, "memory.W_V": true, "W_O": true,
		"attention.W_K": true, "attention.W_Q": true, "attention.W_V": true}
	for i := range set.View().Len() {
		p := set.View().Param(i)
		want := "AdamW"
		if matrices[p.Name] {
			want = "Muon"
			delete(matrices, p.Name)
		}
		if got := u.Slots(p).By(); got != want {
			t.Errorf("%s %v is moved by %s, want %s", p.Name, p.Shape, got, want)
		}
	}
	if len(matrices) > 0 {
		t.Errorf("the model has no %v", matrices)
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	_, one := run(t, small(t, 5))
	runtime.GOMAXPROCS(4)
	if _, four := run(t, small(t, 5)); !bytes.Equal(one, four) {
		t.Error("the result depends on how many goroutines share the lanes")
	}
}

func TestResumeRefusesAnotherRun(t *testing.T) {
	first := small(t, 2)
	run(t, first)
	other := small(t, 4)
	other.Resume, other.Chunk = filepath.Join(first.Out, "zerob.safetensors"), 8
	err := build.Run(context.Background(), catalog(), other, build.Fallback{Name: "crossroads.txt", Text: crossroads}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "differs") {
		t.Errorf("a run with another chunk length was taken up: %v", err)
	}
}

func TestOutputs(t *testing.T) {
	o := small(t, 6)
	o.Sample = 20
	printed, _ := run(t, o)
	for _, want := range []string{"unigram", "bigram", "before:", "after:", " arithmetic ("} {
		if !strings.Contains(printed, want) {
			t.Errorf("the output does not mention %q:\n%s", want, printed)
		}
	}
	losses, err := os.ReadFile(filepath.Join(o.Out, "zerob.jsonl"))
	if err != nil || bytes.Count(losses, []byte("\n")) != o.Steps {
		t.Errorf("want %d losses, got %q (%v)", o.Steps, losses, err)
	}
	picture, err := os.Open(filepath.Join(o.Out, "zerob.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if _, err := png.Decode(picture); err != nil {
		t.Error(err)
	}
}

func TestBadOptions(t *testing.T) {
	for name, change := range map[string]func(*build.Options){
		"there is no model":                          func(o *build.Options) { o.Model = "ZeroC" },
		"does not divide":                            func(o *build.Options) { o.Sizes["attention.H"] = 4 },
		"there is no size":                           func(o *build.Options) { o.Sizes["memory.depth"] = 4 },
		"--steps is 0":                               func(o *build.Options) { o.Steps = 0 },
		"--chunk is 0, must be at":                   func(o *build.Options) { o.Chunk = 0 },
		"size memory.d_k is 0, mu":                   func(o *build.Options) { o.Sizes["memory.d_k"] = 0 },
		"--lanes is -1":                              func(o *build.Options) { o.Lanes = -1 },
		"--lr is -1":                                 func(o *build.Options) { o.Rate = -1 },
		"--clip is NaN":                              func(o *build.Options) { o.Clip = math.NaN() },
		"there is no update Adam;":                   func(o *build.Options) { o.Update = "Adam" },
		"no such setting beta; there are lr, warmup": func(o *build.Options) { o.Set = []build.Setting{{Name: "beta", Value: 1}} },
		"setting beta_1 is 1, must be [0,1)":         func(o *build.Options) { o.Set = []build.Setting{{Name: "beta_1", Value: 1}} },
		"setting lr is NaN, must be a number":        func(o *build.Options) { o.Set = []build.Setting{{Name: "lr", Value: math.NaN()}} },
		"no such setting else.lr":                    func(o *build.Options) { o.Set = []build.Setting{{Name: "else.lr", Value: 1}} },
		"no such file or directory":                  func(o *build.Options) { o.Text = "nowhere.txt" },
	} {
		o := small(t, 2)
		change(&o)
		err := build.Run(context.Background(), catalog(), o, build.Fallback{Name: "crossroads.txt", Text: crossroads}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q, got %v", name, err)
		}
	}
}

// chunked is a model with a part that computes 7 tokens together.
type chunked struct{ block.Model[float32] }

func (m chunked) NewMemory(lanes int) *block.Memory[float32] {
	c := m.Model.NewMemory(lanes)
	c.PartOf("block").PartOf("memory").Chunk = 7
	return c
}

// TestCallsBelowAChunk refuses calls in which no whole chunk of a part fits, and
// takes those in which one does.
func TestCallsBelowAChunk(t *testing.T) {
	c := catalog()
	plain := c.New
	c.New = func(name string, sizes block.Sizes) (block.Model[float32], error) {
		m, err := plain(name, sizes)
		return chunked{m}, err
	}
	for tokens, want := range map[int]string{6: "--chunk is 6, must be at least 7: block.memory computes chunks of 7 tokens", 7: "", 9: ""} {
		o := small(t, 1)
		o.Chunk = tokens
		got := ""
		if err := build.Run(context.Background(), c, o, build.Fallback{Name: "crossroads.txt", Text: crossroads}, &bytes.Buffer{}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("calls of %d tokens: %q, want %q", tokens, got, want)
		}
	}
}

// TestResumeOutsideASet refuses a checkpoint whose memory has a row that is not
// in the set of its state.
func TestResumeOutsideASet(t *testing.T) {
	first := small(t, 2)
	run(t, first)
	c := catalog()
	plain := c.New
	c.New = func(name string, sizes block.Sizes) (block.Model[float32], error) {
		m, err := plain(name, sizes)
		return onSphere{m}, err
	}
	rest := small(t, 4)
	rest.Resume = filepath.Join(first.Out, "zerob.safetensors")
	err := build.Run(context.Background(), c, rest, build.Fallback{Name: "crossroads.txt", Text: crossroads}, &bytes.Buffer{})
	if want := "lane0.block.memory: state M of lane 0 begins outside its set: row 0 has the norm "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// onSphere is a model whose page would say that rows of its memory have norm one.
type onSphere struct{ block.Model[float32] }

func (m onSphere) NewMemory(lanes int) *block.Memory[float32] {
	c := m.Model.NewMemory(lanes)
	slots := c.PartOf("block").PartOf("memory").Slots
	for i := range slots {
		if slots[i].Name == "M" {
			slots[i].Rows = block.UnitRows
		}
	}
	return c
}
