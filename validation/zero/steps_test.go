package zero

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Every rule of the registry runs ten thousand tokens that are chosen to hurt
// it: the same token again and again, tokens of zeros, gates that a million
// before the squashing holds shut, holds open, or throws about. The rate is one
// that is inside the range of every page. What starts on the sphere or on the
// simplex has to stay there, found out from the start itself, and every number
// has to stay one. Nothing here names a rule.
const (
	longRun  = 10_000
	shortRun = 1_000
	// hurtRate is the rate of the inner step: below what each page states for
	// unit tokens, keys of a few entries and weights of the size they start with.
	hurtRate = 0.05
	// saturated is what a gate is squashed from.
	saturated = 1e6
	// sphereTol64 and sphereTol32 are how far a norm or the sum of a row may be
	// from one after any number of steps: a row is made one again at each step,
	// so this is the rounding of one step, not of all.
	sphereTol64, sphereTol32 = 1e-6, 5e-6
)

var missing = regexp.MustCompile(`size (\S+) is not given`)

// divides is the message of a size that is no factor of the width.
var divides = regexp.MustCompile(`size (\S+) is \d+ and does not divide`)

// anyRule makes a rule of the registry with the sizes that it asks for, all
// different from each other.
func anyRule[F num.Float](t *testing.T, name string) block.Block[F] {
	t.Helper()
	sizes := map[string]int{}
	for {
		const width = 5
		b, err := registry.NewRule[F](name, block.NewSizes(sizes), width)
		if err == nil {
			return b
		}
		if m := divides.FindStringSubmatch(err.Error()); m != nil && sizes[m[1]] != width {
			sizes[m[1]] = width // heads of one entry
			continue
		}
		found := missing.FindAllStringSubmatch(err.Error(), -1)
		if len(found) == 0 {
			t.Fatal(err)
		}
		for _, m := range found {
			sizes[m[1]] = 3 + len(sizes)
		}
	}
}

// A hurt is one way to choose tokens and gates. push gives what a gate is
// squashed from, by the number of the gate: its factor of the token, and its
// offset.
type hurt struct {
	name  string
	token func(x []float64, step int, s *num.Stream)
	push  func(gate int) (factor, offset float64)
}

func hurts() []hurt {
	drawn := func(x []float64, _ int, s *num.Stream) {
		num.FillUniform(x, s, -1, 1)
		norm := 0.0
		for _, v := range x {
			norm += v * v
		}
		for i := range x {
			x[i] /= math.Sqrt(norm)
		}
	}
	equal := func(x []float64, _ int, _ *num.Stream) {
		clear(x)
		x[1] = 1
	}
	own := func(int) (float64, float64) { return 1, 0 }
	out := []hurt{
		{"its own gates", drawn, own},
		{"equal tokens", equal, own},
		{"zeros", func(x []float64, _ int, _ *num.Stream) { clear(x) }, own},
		{"zeros between", func(x []float64, step int, s *num.Stream) {
			if drawn(x, step, s); step/100%2 == 1 {
				clear(x)
			}
		}, own},
		{"gates thrown about", drawn, func(int) (float64, float64) { return saturated, 0 }},
		{"all gates shut", drawn, func(int) (float64, float64) { return 0, -saturated }},
	}
	for i := range 3 {
		out = append(out, hurt{fmt.Sprintf("gate %d held open", i), drawn, func(gate int) (float64, float64) {
			if gate == i {
				return 0, saturated
			}
			return 1, 0
		}})
	}
	return out
}

// TestLongRuns runs every rule in both kinds of numbers.
func TestLongRuns(t *testing.T) {
	if len(registry.Rules()) < 3 {
		t.Fatalf("the registry has the rules %v", registry.Rules())
	}
	held := 0
	for _, name := range registry.Rules() {
		t.Run(name, func(t *testing.T) {
			for _, h := range hurts() {
				held += long[float64](t, name, h, sphereTol64)
				held += long[float32](t, name, h, sphereTol32)
			}
		})
	}
	if held == 0 {
		t.Error("no rule has a state on the sphere or on the simplex")
	}
}

// A runner is a rule on its way.
type runner[F num.Float] struct {
	t    *testing.T
	what string
	b    block.Block[F]
	mem  *block.Memory[F]
	k    track[F] // parameters and arena
	unit map[string]func([]float64) float64
}

// long returns how many states stayed on the sphere or on the simplex.
func long[F num.Float](t *testing.T, name string, h hurt, tol float64) int {
	r := &runner[F]{t: t, what: fmt.Sprintf("%T %s", F(0), h.name), b: anyRule[F](t, name)}
	if err := r.b.Declare(&r.k.set, ""); err != nil {
		t.Fatal(err)
	}
	r.k.set.Fill(3)
	r.gates(h)
	r.mem = r.b.NewMemory(1)
	steps, x, s := longRun, make([]float64, r.b.Width()), num.NewStream(h.name, 1)
	if testing.Short() {
		steps = shortRun
	}
	chunks := [...]int{1, 7, 64}
	for at, c := 0, 0; at < steps && !t.Failed(); c++ {
		n := chunks[c%len(chunks)]
		tokens := make([]F, 0, n*len(x))
		for i := range n {
			h.token(x, at+i, s)
			tokens = append(tokens, convert[F](x)...)
		}
		r.call(tokens, n)
		at += n
		if c == 0 {
			r.findDomains(tol)
		}
		r.hold(at, tol)
	}
	return len(r.unit)
}

// gates sets what the rule's gates are squashed from. A gate is a number b_g
// with a vector w_g; the inner rate is a constant one.
//
//hecate:allow outerwrite the set is the test's own
func (r *runner[F]) gates(h hurt) {
	v := r.k.set.View()
	gate := 0
	for i := range v.Len() {
		p := v.Param(i)
		at, err := v.Index("w_" + p.Name[min(2, len(p.Name)):])
		if len(p.Shape) != 0 || !strings.HasPrefix(p.Name, "b_") || err != nil {
			continue
		}
		factor, offset := h.push(gate)
		gate++
		if p.Name == "b_theta" && offset >= 0 { // shut it may be, open it leaves the range
			factor, offset = 0, math.Log(math.Expm1(hurtRate))-float64(v.Data(i)[0])
		}
		v.Data(i)[0] += F(offset)
		for j := range v.Data(at) {
			v.Data(at)[j] *= F(factor)
		}
	}
}

func (r *runner[F]) call(x []F, steps int) {
	err := tape.Without(&r.k.arena, pulse.First(pulse.Build), func(run *tape.Run[F]) error {
		y, err := r.b.Step(block.Call[F]{Run: run, Pulse: run.Pulse, Batch: 1, Tokens: steps}, block.Bind(run, r.k.set.View()), r.mem, run.Input(x))
		if err == nil && !finite(y.Data) {
			r.t.Errorf("%s: an answer is not finite", r.what)
		}
		return err
	})
	if err != nil {
		r.t.Fatalf("%s: %v", r.what, err)
	}
	r.mem.Keep()
}

func finite[F num.Float](x []F) bool {
	for _, v := range x {
		if !num.IsFinite(float64(v)) {
			return false
		}
	}
	return true
}

// findDomains checks the states after the first token: rows of norm one, or
// of positive numbers with the sum one, in every row, are no accident.
func (r *runner[F]) findDomains(tol float64) {
	r.unit = map[string]func([]float64) float64{}
	norm := func(row []float64) float64 {
		sum := 0.0
		for _, v := range row {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	total := func(row []float64) float64 {
		sum := 0.0
		for _, v := range row {
			if v < 0 {
				return math.NaN()
			}
			sum += v
		}
		return sum
	}
	r.mem.Each("", func(name string, shape []int, d []F) {
		for _, measure := range []func([]float64) float64{norm, total} {
			if len(shape) >= 2 && off(measure, shape[len(shape)-1], d) <= tol {
				r.unit[name] = measure
			}
		}
	})
}

func double[F num.Float](x []F) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// off is how far from one the worst row is.
func off[F num.Float](measure func([]float64) float64, columns int, d []F) float64 {
	worst := 0.0
	for i := 0; i < len(d); i += columns {
		if e := math.Abs(measure(double(d[i:i+columns])) - 1); !(e <= worst) {
			worst = e
		}
		if worst != worst {
			return worst
		}
	}
	return worst
}

func (r *runner[F]) hold(at int, tol float64) {
	r.mem.Each("", func(name string, shape []int, d []F) {
		if !finite(d) {
			r.t.Errorf("%s: %s is not finite after %d tokens", r.what, name, at)
			return
		}
		if measure := r.unit[name]; measure != nil {
			if e := off(measure, shape[len(shape)-1], d); !(e <= tol) {
				r.t.Errorf("%s: a row of %s is %.3g from one after %d tokens, allowed %.3g", r.what, name, e, at, tol)
			}
		}
	})
}
