package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
)

// saved builds some steps of a configuration, from a checkpoint or from nothing,
// and returns the checkpoint after them.
func savedAfter(t *testing.T, m *Modules, n int, resume string, sets ...string) (string, error) {
	t.Helper()
	b, err := m.NewBuilder(small(t, sets...), resume)
	if err != nil {
		return "", err
	}
	for b.Done() < n {
		if _, err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	return path, b.Save(path)
}

// TestUpdates builds with every update: each takes up its own checkpoint to the
// last bit, and refuses that of any other update.
func TestUpdates(t *testing.T) {
	half, whole := map[string]string{}, map[string]string{}
	for _, name := range registry.Updates() {
		var err, err2 error
		half[name], err = savedAfter(t, modules, 4, "", "update.name="+name)
		whole[name], err2 = savedAfter(t, modules, 6, "", "update.name="+name)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
	}
	for _, name := range registry.Updates() {
		for other, path := range half {
			rest, err := savedAfter(t, modules, 6, path, "update.name="+name)
			want := "the update of the run differs: saved " + other + ", here " + name
			switch {
			case other != name && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("a run of %s was taken up under %s: %v", other, name, err)
			case other == name && err != nil:
				t.Error(err)
			case other == name:
				sameFiles(t, whole[name], rest)
			}
		}
	}
}

// TestRefused goes on only with the same periods, unit and buffer.
func TestRefused(t *testing.T) {
	own := []string{"model.formula=ByteCMS", "levels.periods=1,2,4"}
	path, err := savedAfter(t, modules, 2, "", own...)
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{
		"levels.periods=1,2,8":         "the periods of the run differs: saved 1 2 4, here 1 2 8",
		"levels.unit=tokens":           "the unit of the periods of the run differs: saved chunks, here tokens",
		"update.buffer=ErrorBufferSum": "the buffer of the run differs: saved ErrorBuffer, here ErrorBufferSum",
		"stream.chunk=8":               "the chunk of the run differs: saved 7, here 8",
	} {
		if _, err := savedAfter(t, modules, 3, path, append(own, set)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
	if _, err := savedAfter(t, modules, 3, path, append(own, "model.formula=  ByteCMS ")...); err != nil {
		t.Errorf("spaces make another formula: %v", err)
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := savedAfter(t, modules, 5, "", "model.formula=ByteCMSGated")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	four, err := savedAfter(t, modules, 5, "", "model.formula=ByteCMSGated")
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, one, four)
}

// TestMovedBy tells which update moves what: maps are Muon's, tables, persistent
// tokens, kernels of convolutions and what is no matrix AdamW's.
func TestMovedBy(t *testing.T) {
	m, _, err := modules.make("ZeroB", nil, 256)
	if err != nil {
		t.Fatal(err)
	}
	u, err := registry.NewUpdate[float32]("Muon")
	if err != nil {
		t.Fatal(err)
	}
	var set rtcontext.ParamSet[float32]
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

// chunked is a model with a part that computes 7 tokens together.
type chunked struct{ block.Model[float32] }

func (m chunked) NewMemory(batch int) *block.Memory[float32] {
	c := m.Model.NewMemory(batch)
	c.PartOf("block").PartOf("memory").Chunk = 7
	return c
}

// TestCallsBelowAChunk refuses calls in which no whole chunk of a part fits, and
// takes those in which one does.
func TestCallsBelowAChunk(t *testing.T) {
	m := with("one", func(m block.Model[float32]) block.Model[float32] { return chunked{m} })
	for tokens, want := range map[string]string{"6": "--set: stream.chunk is 6, must be at least 7: block.memory computes chunks of 7 tokens", "7": "", "9": ""} {
		got := ""
		if _, err := m.NewBuilder(small(t, "model.formula=Wrapped", "stream.chunk="+tokens), ""); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("calls of %s tokens: %q, want %q", tokens, got, want)
		}
	}
}

// onSphere is a model whose page would say that rows of its memory have norm one.
type onSphere struct{ block.Model[float32] }

func (m onSphere) NewMemory(batch int) *block.Memory[float32] {
	c := m.Model.NewMemory(batch)
	slots := c.PartOf("block").PartOf("memory").Slots
	for i := range slots {
		if slots[i].Name == "M" {
			slots[i].Rows = block.UnitRows
		}
	}
	return c
}

// TestResumeOutsideASet refuses a checkpoint whose memory has a row that is not
// in the set of its state.
func TestResumeOutsideASet(t *testing.T) {
	path, err := savedAfter(t, modules, 2, "", "model.formula=Wrapped")
	if err != nil {
		t.Fatal(err)
	}
	m := with("one", func(m block.Model[float32]) block.Model[float32] { return onSphere{m} })
	_, err = m.NewBuilder(small(t, "model.formula=Wrapped"), path)
	if want := "lane0.block.memory: state M of sequence 0 begins outside its set: row 0 has the norm "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestSpecification refuses a checkpoint of a page that computes something else, and
// takes one where another page has changed.
func TestSpecification(t *testing.T) {
	same := func(m block.Model[float32]) block.Model[float32] { return m }
	path, err := savedAfter(t, with("abc", same), 2, "", "model.formula=Wrapped")
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = savedAfter(t, with("abd", same), 3, path, "model.formula=Wrapped")
	if want := "the specification of the run differs: saved "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(good) {
		t.Errorf("the checkpoint changed: %v", err)
	}
	other, err := savedAfter(t, with("abc", same), 2, "")
	if err == nil {
		_, err = savedAfter(t, with("abd", same), 3, other)
	}
	if err != nil {
		t.Errorf("ZeroB does not use the page that has changed, and is refused: %v", err)
	}
}
