package conformance

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/internal/vectors"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// The levels of the fused arithmetic have equal bits: what vectors compute is
// what their Go twin computes, at sizes on both sides of every vector, block and
// checkpoint, with gates that are shut and open, and with numbers so small that
// they are subnormal. And both are near float64.

// The sizes of the cases: none, one, whole vectors, and one off.
var (
	wideSizes  = []int{1, 7, 16, 31, 33, 48, 64, 96, 2, 17}
	wideTokens = []int{65, 1, 63, 2, 64, 7, 0}
	longSize   = 257
)

// A regime scales parameters and inputs.
type regime struct {
	name          string
	params, input float64
	accurate      bool // compare with float64
}

var regimes = []regime{
	{"moderate", 0.125, 1, true},
	{"saturated gates", 1, 30, false},
	{"subnormal", 0.125, 0x1p-140, false},
}

// Bounds of the fused arithmetic against float64, as relative norms. One
// rounding is 6e-8; a recurrence of 65 tokens over 96 columns adds some tens.
const (
	fusedTol     = 2e-6
	fusedGradTol = 1e-5
)

// levels compares the levels of a block or model.
func levels(t *testing.T, u unit) {
	for i, reg := range regimes {
		for k, z := range wideCases(u.sizes, u.tokens, i) {
			seed := uint64(100*i + k)
			p := newSetup(u.f32(t, z), newArgs[float32](t, z, seed))
			if p.set.View().Size()*z["T"] > mostWork || power(z, u.order) > mostPower {
				z = u.sizes[k%len(u.sizes)].times(3).with(Sizes{"L": z["L"], "T": z["T"]})
				p = newSetup(u.f32(t, z), newArgs[float32](t, z, seed))
			}
			scale(p, reg)
			what := fmt.Sprintf("%v %s", label(z), reg.name)
			if !rooted(p) {
				continue // an unknown of the page has no root among such numbers
			}
			got := atLevels(t, what, func() map[string][]float32 { return flatten(p.backward()) })
			if !reg.accurate {
				continue
			}
			restore, err := cpu.Force(cpu.Portable)
			if err != nil {
				t.Fatal(err)
			}
			if q := newSetup(u.f64(t, z), double(t, p.a)); rooted(p) && rooted(q) {
				accurate(t, what, got, flatten(p.backward()), flatten(q.backward()))
			}
			restore()
		}
	}
}

// wideCases are sizes for the cases of one regime: any sizes where they are
// free, in the last one of them long and the others small; else three times those
// of the table, which keeps what divides what.
func wideCases(sizes []Sizes, tokens [][]int, from int) []Sizes {
	var out []Sizes
	names := slices.Sorted(maps.Keys(sizes[0]))
	tied := slices.ContainsFunc(names, func(n string) bool { return n == "width" || strings.Contains(n, ".") })
	for k := range trialsOfRegime() {
		z := Sizes{}
		for i, n := range names {
			z[n] = wideSizes[(3*from+2*k+3*i)%len(wideSizes)]
		}
		switch {
		case tied:
			z = sizes[k%len(sizes)].times(3)
		case k == trialsOfRegime()-1 && k > 0:
			for i, n := range names {
				z[n] = 7
				if i == from%len(names) {
					z[n] = longSize
				}
			}
		}
		out = append(out, z.with(Sizes{"L": 1 + k%2, "T": wideTokens[(3*from+k)%len(wideTokens)]}))
	}
	return out
}

// trialsOfRegime is how many sizes a regime tries.
func trialsOfRegime() int {
	if testing.Short() {
		return 1
	}
	return 4
}

// mostWork bounds the parameters times the tokens of a case, and mostPower the
// work of a unit of a high order: the twin is slow.
const (
	mostWork  = 1 << 21
	mostPower = 1 << 23
)

// power is the number of tokens times the largest size to a unit's order, which
// no product of its sizes exceeds.
func power(z Sizes, order int) int {
	most := 1
	for name, n := range z {
		if name != "T" && name != "L" {
			most = max(most, n)
		}
	}
	out := z["T"] * z["L"]
	for range order {
		out *= most
	}
	return out
}

// times returns sizes that are n times as large.
func (z Sizes) times(n int) Sizes {
	out := Sizes{}
	for name, v := range z {
		out[name] = n * v
	}
	return out
}

// scale multiplies the parameters and the inputs that are numbers.
func scale(p *setup[float32], r regime) {
	v := p.set.View()
	for i := range v.Len() {
		for j := range v.Data(i) {
			v.Data(i)[j] *= float32(r.params) //hecate:allow outerwrite the set is the test's own
		}
	}
	for _, name := range p.inputs {
		for j := range p.a.In[name] {
			p.a.In[name][j] *= float32(r.input)
		}
	}
}

// double is the same arrays in float64.
func double(t testing.TB, a *Args[float32]) *Args[float64] {
	out := newArgs[float64](t, a.Sizes, a.seed)
	for name, x := range a.In {
		out.In[name] = doubled(x)
	}
	for name, x := range a.Bars {
		out.Bars[name] = doubled(x)
	}
	for name, x := range a.Ints {
		out.Ints[name] = slices.Clone(x)
	}
	return out
}

func doubled(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// flatten names everything that a call gave.
func flatten[F num.Float](r result[F]) map[string][]F {
	out := map[string][]F{}
	for name, x := range r.outs {
		out[name] = slices.Clone(x)
	}
	for name, x := range r.memory {
		out["memory "+name] = slices.Clone(x)
	}
	for name, x := range r.grads {
		out["gradient of "+name] = slices.Clone(x)
	}
	return out
}

// atLevels runs f at every level of the fused arithmetic that this machine has,
// on one core and on two, and wants the same bits. It returns the twin's.
func atLevels(t testing.TB, what string, f func() map[string][]float32) map[string][]float32 {
	t.Helper()
	var twin map[string][]float32
	for _, l := range cpu.Targets()[1:] { // but for the portable one
		restore, err := cpu.Force(l)
		if err != nil {
			continue // this machine lacks it
		}
		for cores := 1; cores <= 2; cores++ {
			workers.SetCount(cores)
			got := f()
			if twin == nil {
				twin = got
			}
			for _, name := range slices.Sorted(maps.Keys(twin)) {
				equal(t, fmt.Sprintf("%s, %v on %d cores: %s", what, l, cores, name), got[name], twin[name])
			}
		}
		workers.SetCount(0)
		restore()
	}
	return twin
}

// equal is bits, but one NaN is as good as another.
func equal(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d entries and %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Errorf("%s[%d]: %v and %v differ", what, i, got[i], want[i])
			return
		}
	}
}

// rooted reports whether a call finds the roots that its equations ask for.
func rooted[F num.Float](p *setup[F]) bool {
	var none *block.NoRootError
	return !errors.As(p.try(p.mem.Clone(), true), &none)
}

const (
	// asPortable is how many times as far from float64 as the portable float32
	// the fused one may be: it rounds less often, but sums in another order.
	asPortable = 16
	// lost is the distance from which on float32 says nothing about a result: a
	// recurrence that amplifies every rounding.
	lost = 1e-2
)

// accurate compares with float64 by norms. Where a result is sensitive, the
// portable float32 says how near float32 comes.
func accurate(t testing.TB, what string, got, portable map[string][]float32, want map[string][]float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		tol := fusedTol
		if strings.HasPrefix(name, "gradient") {
			tol = fusedGradTol
		}
		if got[name] == nil && !nonzero(want[name]) || vectors.Noise(want[name]) {
			continue
		}
		e := 0.
		if len(portable[name]) == len(want[name]) {
			e = off(portable[name], want[name])
		}
		if e <= lost {
			close32(t, what+": "+name, got[name], want[name], max(tol, asPortable*e))
		}
	}
}

// levels compares the levels of an operation, at the sizes of its vectors and at
// multiples of them.
func (o Op) levels(t *testing.T, cases []*vectorCase) {
	taken := 0
	for k, c := range cases {
		a := args[float32](t, c)
		o.atLevels(t, label(c.sizes), a)
		for i, n := range []int{5, 11, 16} {
			if o.tryLevels(t, c.sizes.times(n).with(Sizes{"L": 1 + i%2}), uint64(10*k+i), nil) {
				taken++
			}
		}
	}
	if taken == 0 {
		t.Error("the operation refuses all sizes but those of its vectors")
	}
}

// tryLevels compares the levels at sizes that an operation may refuse, with what
// change, where it is not nil, makes of the inputs. It reports whether the
// operation took them.
func (o Op) tryLevels(t *testing.T, z Sizes, seed uint64, change func(name string, x []float32)) (taken bool) {
	d := newArgs[float64](t, z, seed)
	defer func() {
		if r := recover(); r != nil {
			t.Logf("%v: not sizes of this operation: %v", label(z), r)
		}
	}()
	o.Direct(d) // draws the inputs
	a := newArgs[float32](t, z, seed)
	for name, x := range d.In {
		a.In[name] = make([]float32, len(x))
		for i, v := range x {
			a.In[name][i] = float32(v)
		}
		if change != nil && !d.consts[name] {
			change(name, a.In[name])
		}
	}
	for name, x := range d.Bars {
		a.Bars[name] = make([]float32, len(x))
		for i, v := range x {
			a.Bars[name][i] = float32(v)
		}
	}
	a.Ints, a.consts = d.Ints, d.consts
	o.atLevels(t, label(z), a)
	return true
}

// atLevels compares the levels for one set of inputs, unless an equation of the
// operation has no root for them, which is not a matter of levels.
func (o Op) atLevels(t testing.TB, what string, a *Args[float32]) {
	var none *block.NoRootError
	if err := call(o.Taped32, a, true); errors.As(err, &none) {
		t.Logf("%s: %v", what, err)
		return
	}
	atLevels(t, what, func() map[string][]float32 {
		a.Must(call(o.Taped32, a, true))
		out := map[string][]float32{}
		for name, x := range a.Outs {
			out[name] = slices.Clone(x)
		}
		for name, x := range a.Grads {
			out["gradient of "+name] = slices.Clone(x)
		}
		return out
	})
}
