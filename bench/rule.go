package main

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/num"
)

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
// loops of `hecategen dump -after=plan bench/page/…`. Backward, what is done a
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
