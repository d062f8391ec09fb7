package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/interval"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
)

// Follow runs an untrained rule over random tokens and measures it at some steps. Whether
// a measurement is acceptable is for the caller to decide.

const (
	snapshotChunk = 50 // tokens of one call
	snapshotBatch = 2
)

// A Snapshot describes a rule after some number of tokens.
type Snapshot struct {
	Steps  int
	Finite bool             // every output and state so far is finite
	States []Measure        // root mean square of each state's entries, in the order of the page
	Gates  []Measure        // of each gate, the share of values close to an end of its range
	Output float64          // root mean square of the output over the last chunk
	Spread float64          // root mean square of its deviation from the mean over those tokens
	Bounds map[string]Range // least and largest value of each gate
}

// A Measure is a number about a state or a gate.
type Measure struct {
	Name string
	X    float64
}

// A Range is a least and a largest value.
type Range struct{ Lo, Hi float64 }

// Follow runs a rule with all free sizes equal to a width and measures it at each of the
// steps, which grow and are multiples of 50. A gate within near of an end of its range
// counts as saturated. It stops at the first value that is not finite.
func Follow(blk *check.Block, width int, steps []int, near float64) ([]Snapshot, diag.List) {
	var ds diag.List
	c := &follower{blk: blk, near: near}
	for _, eq := range blk.Eqs {
		if eq.Gate != nil {
			name := notation.Word{Span: eq.Gate.Name.Span, Text: eq.Name + "_" + blk.Time}
			c.gates = append(c.gates, gateRange{sym: blk.Symbols[eq.Name], name: eq.Name, at: Range{math.Inf(1), math.Inf(-1)}})
			c.probes = append(c.probes, irbuild.Probe{Name: fmt.Sprintf("gate%d", len(c.probes)), Left: &notation.Ident{Span: eq.Gate.Name.Span, Name: name}})
		}
	}
	c.f = irbuild.Probed(blk, c.probes, &ds)
	if c.f == nil || ds.HasErrors() {
		return nil, ds
	}
	return c.run(width, steps), ds
}

// A follower runs one rule and accumulates what is measured.
type follower struct {
	blk    *check.Block
	f      *ir.Func
	probes []irbuild.Probe
	gates  []gateRange
	near   float64
	sums   []float64 // of each output entry over the tokens of a chunk
	squares,
	count float64
}

// A gateRange accumulates the values of one gate.
type gateRange struct {
	sym         *check.Symbol
	name        string
	at          Range
	ends, total int
}

func (c *follower) run(width int, at []int) []Snapshot {
	sizes := AssignSizes(SizeNames(c.blk, c.f), snapshotBatch, snapshotChunk, width)
	frees := irbuild.Frees(c.blk, c.f)
	path := New(c.blk, frees, sizes, ForSnapshot, 0).Trajectory(c.f)
	draw := New(c.blk, frees, sizes, forTokens, 0)
	var out []Snapshot
	for steps := snapshotChunk; len(out) < len(at); steps += snapshotChunk {
		path.DrawTokens(draw)
		ok := c.observe(path.Next())
		if steps == at[len(out)] || !ok {
			out = append(out, c.measure(steps, ok, path.Params))
		}
		if !ok {
			break
		}
	}
	return out
}

// observe accumulates the results of a chunk and reports whether all are finite.
func (c *follower) observe(got numeric.Tensors) bool {
	for _, r := range c.f.Results {
		if !numeric.Finite(got[r.Name]) {
			return false
		}
	}
	c.sums, c.squares, c.count = nil, 0, 0
	for i := range c.gates {
		c.gates[i].observe(got[c.probes[i].Name], c.near)
	}
	for _, r := range c.f.Results {
		if r.State || slices.ContainsFunc(c.probes, func(p irbuild.Probe) bool { return p.Name == r.Name }) {
			continue
		}
		y := got[r.Name]
		n := len(y.Data) / y.Shape[1] / y.Shape[0]
		if c.sums == nil {
			c.sums = make([]float64, n*y.Shape[0])
		}
		for i, x := range y.Data {
			c.sums[i/(n*y.Shape[1])*n+i%n] += x
			c.squares += x * x
			c.count++
		}
	}
	return true
}

func (g *gateRange) observe(x *interp.Tensor, near float64) {
	iv := interval.Everything
	if g.sym != nil {
		iv = interval.Declared(g.sym.Type)
	}
	for _, v := range x.Data {
		g.at = Range{math.Min(g.at.Lo, v), math.Max(g.at.Hi, v)}
		if g.total++; !(v-iv.Lo > near && iv.Hi-v > near) {
			g.ends++
		}
	}
}

func (c *follower) measure(steps int, ok bool, params numeric.Tensors) Snapshot {
	m := Snapshot{Steps: steps, Finite: ok, Bounds: map[string]Range{}}
	for _, s := range c.blk.SymSeq {
		if t := params[ident.ASCII(s.Name)]; t != nil && s.Kind == check.State {
			m.States = append(m.States, Measure{s.Name, rms(t.Data)})
		}
	}
	for _, g := range c.gates {
		m.Gates = append(m.Gates, Measure{g.name, float64(g.ends) / math.Max(1, float64(g.total))})
		m.Bounds[g.name] = g.at
	}
	if c.count > 0 {
		m.Output = math.Sqrt(c.squares / c.count)
		each := c.count / float64(len(c.sums)) // tokens
		mean := 0.0
		for _, s := range c.sums {
			mean += s * s / (each * each) * each
		}
		m.Spread = math.Sqrt(math.Max(0, c.squares-mean) / c.count)
	}
	return m
}

func rms(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / math.Max(1, float64(len(x))))
}
