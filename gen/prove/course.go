package prove

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
)

// A course is what becomes of a rule that nobody has trained: it runs from the
// values that its page starts it from, over tokens drawn from a seed, and is
// measured at some moments. Whether what is measured is acceptable is for the
// reader to say.

// courseChunk is how many tokens of a course one call takes.
const courseChunk = 50

// courseLanes is how many contexts run side by side.
const courseLanes = 2

// A Course is a rule after so many tokens.
type Course struct {
	Steps  int
	Finite bool             // every output and state so far is a number
	States []Measure        // root mean square of each state's entries, in the order of the page
	Gates  []Measure        // of each gate the share of values close to an end of its range
	Output float64          // root mean square of the output's entries over the last 50 tokens
	Spread float64          // root mean square of what they differ from their mean over those tokens
	Bounds map[string]Range // least and largest value of each gate
}

// A Measure is a number about a state or a gate.
type Measure struct {
	Name string
	X    float64
}

// A Range is a least and a largest value.
type Range struct{ Lo, Hi float64 }

// Follow runs a rule with all free sizes of a width and measures it at each of
// the moments, which grow and are multiples of 50. Near says how close to an
// end of its range a gate counts as saturated. It stops where a number is none.
func Follow(blk *check.Block, width int, moments []int, near float64) ([]Course, diag.List) {
	var ds diag.List
	c := &courser{p: &prover{tree: blk.Tree, unit: blk.Unit, blk: blk}, near: near}
	for _, eq := range blk.Eqs {
		if eq.Gate != nil {
			name := notation.Word{Span: eq.Gate.Name.Span, Text: eq.Name + "_" + blk.Time}
			c.gates = append(c.gates, gateCourse{sym: blk.Symbols[eq.Name], name: eq.Name, at: Range{math.Inf(1), math.Inf(-1)}})
			c.probes = append(c.probes, irbuild.Probe{Name: fmt.Sprintf("gate%d", len(c.probes)), Left: &notation.Ident{Span: eq.Gate.Name.Span, Name: name}})
		}
	}
	c.f = irbuild.Probed(blk, c.probes, &ds)
	if c.f == nil || ds.HasErrors() {
		return nil, ds
	}
	return c.run(width, moments), ds
}

// A courser follows one rule.
type courser struct {
	p      *prover
	f      *ir.Func
	probes []irbuild.Probe
	gates  []gateCourse
	near   float64
	sums   []float64 // of each output entry over tokens
	squares,
	count float64
}

type gateCourse struct {
	sym         *check.Symbol
	name        string
	at          Range
	ends, total int
}

func (c *courser) run(width int, moments []int) []Course {
	sizes := setOf(sizeNames(c.p.blk, c.f), courseLanes, courseChunk, width)
	prog := interp.Compile(c.f)
	draw := newSampler(c.p.blk, irbuild.Frees(c.p.blk, c.f), sizes, forCourse, 0)
	params := c.p.startValues(c.f, draw)
	tokens := newSampler(c.p.blk, irbuild.Frees(c.p.blk, c.f), sizes, forTokens, 0)
	var out []Course
	for steps := courseChunk; len(out) < len(moments); steps += courseChunk {
		for _, v := range c.f.Params {
			if v.Role == ir.Input {
				params[v.Name] = tokens.draw(v)
			}
		}
		got := prog.Run(sizes, params)
		ok := c.look(got)
		for _, r := range c.f.Results {
			if r.State {
				params[r.Name] = got[r.Name]
			}
		}
		c.p.advance(c.f, params, courseChunk)
		if steps == moments[len(out)] || !ok {
			out = append(out, c.measure(steps, ok, params))
		}
		if !ok {
			break
		}
	}
	return out
}

// look gathers what is measured over tokens, and reports whether all is finite.
func (c *courser) look(got tensors) bool {
	for _, r := range c.f.Results {
		if !finite(got[r.Name]) {
			return false
		}
	}
	c.sums, c.squares, c.count = nil, 0, 0
	for i := range c.gates {
		c.gates[i].look(got[c.probes[i].Name], c.near)
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

func (g *gateCourse) look(x *interp.Tensor, near float64) {
	lo, hi := math.Inf(-1), math.Inf(1)
	if g.sym != nil && g.sym.Type != nil {
		if b, ok := bound(g.sym.Type.Lo); ok {
			lo = b
		}
		if b, ok := bound(g.sym.Type.Hi); ok {
			hi = b
		}
	}
	for _, v := range x.Data {
		g.at = Range{math.Min(g.at.Lo, v), math.Max(g.at.Hi, v)}
		if g.total++; !(v-lo > near && hi-v > near) {
			g.ends++
		}
	}
}

func (c *courser) measure(steps int, ok bool, params tensors) Course {
	m := Course{Steps: steps, Finite: ok, Bounds: map[string]Range{}}
	for _, s := range c.p.blk.SymSeq {
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
