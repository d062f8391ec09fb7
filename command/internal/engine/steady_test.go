package engine

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
)

// TestStepAllocatesNothing runs whole steps of a build: chunks of a whole batch
// forwards and backwards, the memories kept, the update, and how the levels are.
// Documents and the slots' ranges end within chunks. The count is taken on one
// processor: with more, the runtime makes goroutines for itself until each
// processor has a stock of them.
func TestStepAllocatesNothing(t *testing.T) {
	const steps, tries = 8, 4
	data, err := os.ReadFile(smallText)
	if err != nil {
		t.Fatal(err)
	}
	var paths string
	for i, part := range [][]byte{data[:150], data[150:400]} {
		path := filepath.Join(t.TempDir(), "part"+string(rune('a'+i)))
		if err := os.WriteFile(path, part, 0o600); err != nil {
			t.Fatal(err)
		}
		paths += path + ","
	}
	type pair struct{ model, update string }
	pairs := []pair{{"ByteLM(MAG(CMS([DeltaRule, TitansLMM, Hebbian, Lattice]), SlidingWindow))", "AdamW"}}
	for _, model := range registry.Models() {
		pairs = append(pairs, pair{model, "AdamW"})
	}
	for _, update := range registry.Updates() {
		pairs = append(pairs, pair{"ZeroB", update})
	}
	for _, p := range pairs {
		t.Run(p.model+"/"+p.update, func(t *testing.T) {
			c := small(t, "model.formula="+p.model, "update.name="+p.update, "update.lr=1e-9", // some form would leave the model at any usual rate
				"stream.path="+paths, "stream.chunk=70")
			c.Model.Sizes = map[string]int{"d": 8} // all models have that
			m, _, err := modules.make(p.model, c.Model.Sizes, 256)
			if err != nil {
				t.Fatal(err)
			}
			levels, _ := m.NewMemory(1).Levels()
			c.Levels.Periods = []int{1, 2, 4, 8}[:levels] // so that a round of them is short
			b, err := modules.NewBuilder(c, "")
			if err != nil {
				t.Fatal(err)
			}
			step := func() {
				if _, err := b.Step(); err != nil {
					t.Fatal(err)
				}
			}
			for range 10 {
				step()
			}
			least := math.Inf(1)
			for range tries { // the runtime itself allocates now and then, and so does the list of losses
				least = min(least, testing.AllocsPerRun(1, func() {
					for range steps {
						step()
					}
				}))
			}
			if !(least <= 0) {
				t.Errorf("%d steps of a build allocate %v times, want none", steps, least)
			}
			tokens := func(n int) float64 {
				return testing.AllocsPerRun(tries, func() {
					if _, err := b.Sample(context.Background(), n); err != nil {
						t.Fatal(err)
					}
				})
			}
			if few, many := tokens(10), tokens(60); many > few+2 { // the text grows in steps
				t.Errorf("a sample of 60 bytes allocates %v times, one of 10 bytes %v times", many, few)
			}
		})
	}
}

// TestReadAllocatesNothing reads with a saved model, in calls and token by token,
// and asks for what comes next: what hecate stream and generate do.
func TestReadAllocatesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := newBuilder(t, "")
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	session, err := modules.NewSession(path, Text{Paths: []string{smallText}}, 5, path+".session")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := modules.NewReader(path, "", "")
	if err != nil {
		t.Fatal(err)
	}
	text := tokensOf("thirty letters, one after another")
	for what, f := range map[string]func() error{
		"a call of a session": func() error { _, _, _, err := session.Step(); return err },
		"a text":              func() error { _, _, err := reader.Read(context.Background(), text, 7); return err },
		"a token and the next": func() error {
			if _, _, err := reader.Read(context.Background(), text[:1], 7); err != nil {
				return err
			}
			_, err := reader.Next()
			return err
		},
	} {
		if n := testing.AllocsPerRun(20, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", what, n)
		}
	}
}
