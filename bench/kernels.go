package main

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/nl-hecate/hecate/bench/emit"
	"github.com/nl-hecate/hecate/runtime/num"
)

// The recurrences are emitted from bench/page when the benchmark starts: the command builds
// itself a second time with an overlay, a file whose init function enters them into a table.

type runner interface{ Run() }

// A constructor makes the call of a kernel: size returns its sizes and get its buffers of n
// entries, by their names.
type constructor[F num.Float] func(size func(name string) int, get func(name string, n int) []F) runner

// A pair is the forward and the backward of a recurrence.
type pair[F num.Float] struct{ forward, backward constructor[F] }

// emitted holds the pairs by package, in both types.
var emitted = map[string][2]any{}

// enter is called by the emitted file.
func enter[A, B, C, D runner](name string, forward func(func(string) int, func(string, int) []float32) A, backward func(func(string) int, func(string, int) []float32) B,
	wideForward func(func(string) int, func(string, int) []float64) C, wideBackward func(func(string) int, func(string, int) []float64) D) {
	emitted[name] = [2]any{newPair(forward, backward), newPair(wideForward, wideBackward)}
}

func newPair[F num.Float, A, B runner](forward func(func(string) int, func(string, int) []F) A, backward func(func(string) int, func(string, int) []F) B) pair[F] {
	return pair[F]{
		func(size func(string) int, get func(string, int) []F) runner { return forward(size, get) },
		func(size func(string) int, get func(string, int) []F) runner { return backward(size, get) },
	}
}

// kernels are those of a package.
func kernels[F num.Float](name string) pair[F] {
	for _, p := range emitted[name] {
		if p, ok := p.(pair[F]); ok {
			return p
		}
	}
	panic("bench: BUG: no kernels of " + name)
}

// again emits the recurrences into a folder and runs the command that build makes of their overlay.
func again(root string, build func(overlay string) *exec.Cmd) error {
	overlay, err := emit.Overlay(root)
	if err != nil {
		return fmt.Errorf("emit the recurrences: %w", err)
	}
	c := build(overlay)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c.Run()
}
