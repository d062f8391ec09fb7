package main

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/validation/bench/emit"
)

// The recurrences are emitted from validation/bench/page when the benchmark starts: the command builds
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
//
//lint:ignore U1000 the overlay has the calls
func enter[A, B, C, D runner](name string, forward func(func(string) int, func(string, int) []float32) A, backward func(func(string) int, func(string, int) []float32) B,
	wideForward func(func(string) int, func(string, int) []float64) C, wideBackward func(func(string) int, func(string, int) []float64) D) {
	emitted[name] = [2]any{newPair(forward, backward), newPair(wideForward, wideBackward)}
}

//lint:ignore U1000 enter calls it
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

const tokens = 512 // of every comparison

var widths = []int{64, 128, 256, 512}

// The passes of the recurrence.
const (
	forward  = "forward"
	backward = "backward"
)

var passNames = []string{forward, backward}

// A rule is the emitted recurrence of one rule.
type rule[F num.Float] struct {
	name   string
	states []string
	pair[F]
}

const deltaRule = "delta"

// rules are those of which single passes are measured.
func rules[F num.Float]() []rule[F] {
	return []rule[F]{
		{deltaRule, []string{"M"}, kernels[F]("delta")},
		{"titans", []string{"M", "S"}, kernels[F]("titans")},
		{"hebbian", []string{"M"}, kernels[F]("hebbian")},
	}
}

// slots are the fused multiply-adds, or products or sums where nothing can be
// fused, for each entry of a state and each token: the statements of the inner
// loops of `hecategen dump -after=plan validation/bench/page/…`. Backward, what is done a
// second time (the states of a segment) is not counted. A pass can be no faster
// than slots·d²·T of them at the core's peak.
//
//	delta forward     M·k; ρM, −(θe)k; y                                     4
//	delta backward    Ḡ += ȳq; Ḡ·k; Ḡ·M; q̄; ρḠ, −(θē)k; k̄ twice              8
//	titans forward    M·k; ηS, −(θe)k; ρM + S; y                             5
//	titans backward   Ḡ += ȳq; Ḡ·M; S̄ += Ḡ; S̄·k; S̄·S; q̄; ηS̄; ρḠ, −(θē)k; k̄ twice  11
//	hebbian forward   ρM, +vk; y                                             3
//	hebbian backward  Ḡ += ȳq; Ḡ·k; Ḡ·M; q̄; k̄; ρḠ                            6
var slots = map[string]map[string]float64{
	deltaRule: {forward: 4, backward: 8},
	"titans":  {forward: 5, backward: 11},
	"hebbian": {forward: 3, backward: 6},
}

// passOf names a pass of a rule in tables.
func passOf(rule, pass string) string { return rule + " " + pass }

// at is what is computed by a pass or product at a width.
func at(name string, d int) string { return fmt.Sprintf("%s, d = %d", name, d) }

// flops is how many floating point operations at least a pass or a product takes
// at a width: two for each slot, or for each product that is added.
func flops(name string, d int) float64 {
	area := float64(d) * float64(d) * tokens
	for rule, passes := range slots {
		for pass, n := range passes {
			if passOf(rule, pass) == name {
				return 2 * n * area
			}
		}
	}
	for _, p := range products[float32]() {
		if p.name == name {
			return 2 * area
		}
	}
	for _, C := range chunkLengths {
		for _, pass := range passNames {
			if chunkName(C, pass) == name {
				return 2 * tokens * chunkSlots(d, C, pass)
			}
		}
	}
	panic("bench: BUG: the operations of " + name + " are not counted")
}
