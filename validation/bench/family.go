package main

import (
	"math"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
)

// The memory rules of the literature, each as its recurrence alone: validation/bench/page has
// the equations, validation/bench/c and validation/bench/jax the same arithmetic by hand. Every vector and
// every side of a state has d entries. A trial is the forward and the backward of
// a number of tokens, with the adjoints of all inputs.

// A member is one of the rules: what it reads for each token, as vectors and as
// numbers, and what it carries. Anchors are states that are read and never moved.
type member struct {
	name                            string // also of validation/bench/c and validation/bench/jax
	vectors, gates, states, anchors []string
	rows                            func([]float64) // brings a row of a state into its domain
	independent                     bool            // rows of the state do not see each other
	cubic                           bool            // multiplies matrices
}

var familyWidths = []int{64, 128, 256}

var (
	triple = []string{"k", "q", "v"}
	layers = []string{"W1", "W2"}
)

// family are the rules in the order of their tables.
var family = []member{
	{name: "delta", vectors: triple, gates: []string{"rho", "theta"}, states: []string{"M"}, independent: true},
	{name: "titans", vectors: triple, gates: []string{"rho", "theta", "eta"}, states: []string{"M", "S"}, independent: true},
	{name: "hebbian", vectors: triple, gates: []string{"rho"}, states: []string{"M"}, independent: true},
	{name: "moneta", vectors: triple, gates: []string{"rho", "theta"}, states: layers},
	{name: "yaad", vectors: triple, gates: []string{"rho", "theta"}, states: layers, anchors: []string{"B1", "B2"}},
	{name: "memora", vectors: triple, gates: []string{"rho", "theta"}, states: layers, rows: simplex},
	{name: "lattice", vectors: triple, gates: []string{"theta"}, states: []string{"S"}, rows: sphere},
	{name: "trellis", vectors: []string{"x", "k", "q", "v"}, gates: []string{"rho", "theta"}, states: []string{"S_K", "S_V"}},
	{name: "atlasomega", vectors: triple, gates: []string{"rho", "theta", "eta"}, states: []string{"M", "S"}, cubic: true},
}

// segment is how many tokens are between two checkpoints, as in a model.
func (m member) segment() int {
	if m.independent {
		return block.Segment
	}
	return block.SegmentWhole
}

// length is how many of the tokens a trial has; fewer where whole matrices are
// multiplied for each of them, since that work grows with the cube of the width.
func (m member) length(of, d int) int {
	if m.cubic {
		return min(of, max(32, tokens*64*64/(d*d)))
	}
	return of
}

func sphere(row []float64) {
	square := 0.0
	for _, x := range row {
		square += x * x
	}
	for i := range row {
		row[i] /= math.Sqrt(square)
	}
}

func simplex(row []float64) {
	sum := 0.0
	for i, x := range row {
		row[i] = math.Exp(x * math.Sqrt(float64(len(row))))
		sum += row[i]
	}
	for i := range row {
		row[i] /= sum
	}
}

// inputs are the names of what a trial is given, in the order in which the other
// processes take it.
func (m member) inputs() (out []string) {
	out = append(append(append(append(out, m.vectors...), m.gates...), m.states...), m.anchors...)
	out = append(out, "y.bar")
	for _, s := range m.states {
		out = append(out, s+".bar")
	}
	return out
}

// results are the names of what a trial returns.
func (m member) results() (out []string) {
	out = append(out, "y")
	for _, s := range m.states {
		out = append(out, s+".out", s+".bar.out")
	}
	for _, s := range m.anchors {
		out = append(out, s+".bar.out")
	}
	for _, n := range append(append([]string(nil), m.vectors...), m.gates...) {
		out = append(out, n+".bar")
	}
	return out
}

// draw draws the inputs of a trial: unit keys, queries and tokens, values of which
// a third are beyond the bend of a loss at one, gates with which something of the first state is
// left at the last token.
func (m member) draw(T, d int, random *rand.Rand) map[string][]float32 {
	uniform := func(rows, n int, lo, hi float64, bring func([]float64)) []float32 {
		out, row := make([]float32, 0, rows*n), make([]float64, n)
		for range rows {
			for i := range row {
				row[i] = lo + (hi-lo)*random.Float64()
			}
			if bring != nil {
				bring(row)
			}
			for _, x := range row {
				out = append(out, float32(x))
			}
		}
		return out
	}
	of := map[string][]float32{"rho": uniform(T, 1, 0.99, 1, nil), "theta": uniform(T, 1, 0.005, 0.02, nil), "eta": uniform(T, 1, 0.5, 0.9, nil),
		"v": uniform(T, d, -1.5, 1.5, nil), "y.bar": uniform(T, d, -1, 1, nil)}
	for _, n := range []string{"x", "k", "q"} {
		of[n] = uniform(T, d, -1, 1, sphere)
	}
	r := math.Sqrt(3 / float64(d))
	for _, s := range m.states {
		of[s], of[s+".bar"] = uniform(d, d, -r, r, m.rows), uniform(d, d, -1, 1, nil)
	}
	for i, a := range m.anchors {
		of[a] = of[m.states[i]]
	}
	return of
}

// A form is one way in which the compiler computes a rule.
type form[F num.Float] struct {
	name string
	pair[F]
}

// inOrder is the form that takes one token after another.
const inOrder = "in order"

// exactForms are those in exact chunks, by rule: their names and packages.
var exactForms = map[string][][2]string{
	"delta":   {{"chunks of 16", "deltachunk16"}, {"chunks of 32", "deltachunk"}},
	"titans":  {{"chunks of 32", "titanschunk"}},
	"hebbian": {{"scans of 16", "hebbianscan"}},
}

// forms are those of a rule, the first in order and then its exact chunks.
func forms[F num.Float](rule string) []form[F] {
	out := []form[F]{{inOrder, kernels[F](rule)}}
	for _, f := range exactForms[rule] {
		out = append(out, form[F]{f[0], kernels[F](f[1])})
	}
	return out
}

// A bound is a form bound to inputs.
type bound[F num.Float] struct {
	of                map[string][]F
	forward, backward runner
}

// bind makes the calls of a form; what is not given is made, of zeros.
func bind[F num.Float](f form[F], T, d, segment int, given map[string][]F) *bound[F] {
	b := &bound[F]{of: map[string][]F{}}
	for name, x := range given {
		b.of[name] = x
	}
	size := sizesOf(T, d, segment)
	get := func(name string, n int) []F {
		if b.of[name] == nil {
			b.of[name] = make([]F, n)
		}
		return b.of[name]
	}
	b.forward, b.backward = f.forward(size, get), f.backward(size, get)
	return b
}

// sizesOf are the sizes of a kernel by their names: one slot of T tokens in segments, and
// d for every width.
func sizesOf(T, d, segment int) func(name string) int {
	return func(name string) int {
		switch name {
		case "C":
			return segment
		case "L":
			return 1
		case "T":
			return T
		}
		return d
	}
}

// Run runs both passes.
func (b *bound[F]) Run() {
	b.forward.Run()
	b.backward.Run()
}
