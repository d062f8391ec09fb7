package main

import (
	"context"
	"testing"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// modelSizes are sizes for every model; each is told those that it knows.
var modelSizes = []map[string]int{
	{"d": 6, "V": 256, "attention.H": 2, "attention.w": 5, "attention.n_p": 1, "memory.d_k": 4},
	{"d": 6, "V": 256, "attention.H": 2, "attention.w": 5, "attention.n_p": 1},
	{"d": 6, "V": 256, "memory.d_k": 4},
}

// newModel makes a model by name.
func newModel(t *testing.T, name string) block.Model[float32] {
	for _, sizes := range modelSizes {
		if m, err := registry.NewModel[float32](name, block.NewSizes(sizes)); err == nil {
			return m
		}
	}
	t.Fatalf("no sizes for model %s", name)
	return nil
}

// TestStepAllocatesNothing runs whole steps of a build: chunks of all lanes
// forwards and backwards, the memories kept, the update. Documents and the lanes'
// texts end within chunks. The count is taken on one processor: with more, the
// runtime makes goroutines for itself until each processor has a stock of them.
func TestStepAllocatesNothing(t *testing.T) {
	const steps, tries = 8, 4
	type pair struct{ model, update string }
	var pairs []pair
	for _, model := range registry.Models() {
		pairs = append(pairs, pair{model, "AdamW"})
	}
	for _, update := range registry.Updates() {
		pairs = append(pairs, pair{"ZeroB", update})
	}
	for _, p := range pairs {
		t.Run(p.model+"/"+p.update, func(t *testing.T) {
			u, err := registry.NewUpdate[float32](p.update)
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Set("lr", 1e-9); err != nil { // some form would leave the model at any usual rate
				t.Fatal(err)
			}
			b, err := build.NewBuilder(newModel(t, p.model), u, 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			text, err := stream.FromDocuments("crossroads", crossroads[:150], crossroads[150:400])
			if err != nil {
				t.Fatal(err)
			}
			part, _ := text.Split()
			s, err := stream.New(part, 3)
			if err != nil {
				t.Fatal(err)
			}
			step := func() {
				if _, err := b.Step(s.Next(70)); err != nil {
					t.Fatal(err)
				}
			}
			for range 6 {
				step()
			}
			least := 1.0
			for range tries { // the runtime itself allocates now and then
				least = min(least, testing.AllocsPerRun(1, func() {
					for range steps {
						step()
					}
				}))
			}
			if least != 0 {
				t.Errorf("%d steps of a build allocate, want no allocation", steps)
			}
			tokens := func(n int) float64 {
				return testing.AllocsPerRun(tries, func() {
					if _, err := b.Sample(context.Background(), 'a', n, 1); err != nil {
						t.Fatal(err)
					}
				})
			}
			if few, many := tokens(2), tokens(60); many != few {
				t.Errorf("a sample of 60 bytes allocates %v times, one of 2 bytes %v times", many, few)
			}
		})
	}
}
