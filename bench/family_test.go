package main

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// TestTrials holds every form of every rule, and the C of it, to float64, at a
// width that is not measured.
func TestTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	var rivals []rival
	c, err := startCC[float32]("..", t.TempDir())
	switch {
	case errors.Is(err, errNoCC):
		t.Log(err)
	case err != nil:
		t.Fatal(err)
	default:
		rivals = append(rivals, rival{variantC, c.peer})
		defer func() {
			if err := c.close(); err != nil {
				t.Error(err)
			}
		}()
	}
	for _, m := range family {
		far := map[string]difference{}
		if _, err := newTrial(m, m.length(70, 24), 24, rivals, 1, far); err != nil {
			t.Error(err)
		}
		if len(far) != len(forms[float32](m.name))+len(rivals) {
			t.Errorf("%s: %d variants were compared", m.name, len(far))
		}
	}
}

// BenchmarkRule runs a pass of each form of each rule at a width, for a profile.
func BenchmarkRule(b *testing.B) {
	const d = 128
	for _, m := range family {
		for _, f := range forms[float32](m.name) {
			bench(b, m, f, d)
		}
	}
}

// bench runs the passes of one form.
func bench(b *testing.B, m member, f form[float32], d int) {
	for _, pass := range passNames {
		b.Run(m.name+"/"+f.name+"/"+pass, func(b *testing.B) {
			x := bind(f, m.length(tokens, d), d, m.segment(), m.draw(m.length(tokens, d), d, rand.New(rand.NewPCG(1, 2))))
			run := x.forward
			if pass == backward {
				x.forward.Run()
				run = x.backward
			}
			for b.Loop() {
				run.Run()
			}
		})
	}
}
