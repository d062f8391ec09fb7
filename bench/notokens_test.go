package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNoTokens runs every rule over no tokens at every level: a state ends as it
// began, and so does its adjoint on the way back.
func TestNoTokens(t *testing.T) {
	all, _ := levels(recurrenceLevels)
	for _, r := range rules[float32]() {
		for _, l := range all {
			buffers := map[string][]float32{}
			random := rand.New(rand.NewPCG(5, 5))
			get := func(name string, n int) []float32 {
				if buffers[name] == nil {
					buffers[name] = make([]float32, n)
					for i := range buffers[name] {
						buffers[name][i] = random.Float32()
					}
				}
				return buffers[name]
			}
			size := func(name string) int { return map[string]int{"C": segment, "L": 2, "d_k": 33, "d_v": 70}[name] }
			run := l.at(func() (int64, error) {
				r.forward(size, get).Run()
				r.backward(size, get).Run()
				return 0, nil
			})
			if _, err := run(); err != nil {
				t.Fatal(err)
			}
			found := 0
			for name, x := range buffers {
				if from, ok := strings.CutSuffix(name, ".out"); ok {
					found++
					if !slices.Equal(x, buffers[from]) {
						t.Errorf("%s at %s: %s differs from %s", r.name, l, name, from)
					}
				}
			}
			if want := 2 * len(r.states); found != want {
				t.Errorf("%s: %d results of states, want %d", r.name, found, want)
			}
		}
	}
}
