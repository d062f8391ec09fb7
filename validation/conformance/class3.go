package conformance

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/internal/vectors"
	"github.com/nl-hecate/hecate/runtime/num"
)

// A vector file holds cases under names such as whole.0: sizes under size.,
// what is read under in., incoming adjoints under bar., outputs and states
// after the call under out., gradients under grad. What rounding to float32 alone
// moves too far in every draw that was tried is named under loose., and held to the
// vectors in float64 only.

// whole are the cases of a unit on the tape, whose gradient ends at the memory.
const whole = "whole"

// A vectorCase is one case of a file.
type vectorCase struct {
	name  string
	sizes Sizes
	parts map[string]map[string]*vectors.Tensor // by the word before the dot
}

// read returns the cases of a kind, in order; there must be one.
func read(t testing.TB, file, kind string) []*vectorCase {
	t.Helper()
	out := readAny(t, file, kind)
	if len(out) == 0 {
		t.Fatalf("%s: no case %s", file, kind)
	}
	return out
}

// readAny is read for a kind of which there may be none.
func readAny(t testing.TB, file, kind string) []*vectorCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := vectors.Read(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var out []*vectorCase
	byName := map[string]*vectorCase{}
	for _, x := range v.Tensors() {
		p := strings.SplitN(x.Name, ".", 4)
		if len(p) != 4 || p[0] != kind {
			continue
		}
		name := p[0] + "." + p[1]
		if byName[name] == nil {
			byName[name] = &vectorCase{name: name, sizes: Sizes{}, parts: map[string]map[string]*vectors.Tensor{}}
			out = append(out, byName[name])
		}
		byName[name].add(p[2], p[3], x)
	}
	return out
}

func (c *vectorCase) add(part, name string, x *vectors.Tensor) {
	if part == "size" {
		c.sizes[name] = int(x.Ints[0])
		return
	}
	if c.parts[part] == nil {
		c.parts[part] = map[string]*vectors.Tensor{}
	}
	c.parts[part][name] = x
}

// args are the arrays of a case.
func args[F num.Float](t testing.TB, c *vectorCase) *Args[F] {
	a := newArgs[F](t, c.sizes, 0)
	for name, x := range c.parts["in"] {
		if x.Kind == vectors.Int {
			a.Ints[name] = []int32{}
			for _, i := range x.Ints {
				a.Ints[name] = append(a.Ints[name], int32(i))
			}
			continue
		}
		a.In[name] = floats[F](x)
	}
	for name, x := range c.parts["bar"] {
		a.Bars[name] = floats[F](x)
	}
	return a
}

func floats[F num.Float](x *vectors.Tensor) []F {
	out := make([]F, len(x.Floats))
	for i, v := range x.Floats {
		out[i] = F(v)
	}
	return out
}

// named are the tensors of one part of a case.
func (c *vectorCase) named(part string) map[string][]float64 {
	out := map[string][]float64{}
	for name, x := range c.parts[part] {
		out[name] = floats[float64](x)
	}
	return out
}

// holds compares a part of a case with what a call gave: all of it, and nothing
// else.
func (c *vectorCase) holds(t testing.TB, part string, got map[string][]float64) {
	t.Helper()
	want := c.named(part)
	allNear(t, c.name+" "+part, got, want, vectorTol)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == nil && nonzero(got[name]) {
			t.Errorf("%s: the vectors have no %s.%s", c.name, part, name)
		}
	}
}

// complete wants every number that the call read in the vectors: a drawn one
// would be compared with nothing.
func (c *vectorCase) complete(t testing.TB, a *Args[float64]) {
	t.Helper()
	for name, x := range a.In {
		if c.parts["in"][name] == nil && len(x) > 0 {
			t.Errorf("%s: the vectors have no input %s", c.name, name)
		}
	}
	for name := range a.Bars {
		if c.parts["bar"][name] == nil {
			t.Errorf("%s: the vectors have no adjoint of %s", c.name, name)
		}
	}
}

// class3 holds a whole unit on the tape to the interpreter: outputs, the memory
// after the call, and gradients.
func class3(t *testing.T, u unit) {
	for _, c := range read(t, u.vectors, whole) {
		p := newSetup(u.f64(t, c.sizes), args[float64](t, c))
		got := p.backward()
		c.complete(t, p.a)
		maps.Copy(got.outs, got.memory)
		c.holds(t, "out", got.outs)
		c.holds(t, "grad", got.grads)
	}
}

// single holds float32 to the interpreter's float64, forward and backward, and
// its bits with a tape to those without.
func single(t *testing.T, u unit) {
	for _, c := range read(t, u.vectors, whole) {
		p := newSetup(u.f32(t, c.sizes), args[float32](t, c))
		off, got := p.forward(), p.backward()
		sameBits(t, c.name+" with and without a tape", got.outs, off.outs)
		maps.Copy(got.outs, got.memory)
		singles(t, c, got.outs, got.grads)
	}
}

func singles(t testing.TB, c *vectorCase, outs, grads map[string][]float32) {
	t.Helper()
	for name, want := range c.named("out") {
		if c.loose(t, "out."+name) {
			continue
		}
		close32(t, c.name+" "+name, outs[name], want, singleTol)
	}
	for name, want := range c.named("grad") {
		if c.loose(t, "grad."+name) {
			continue
		}
		if grads[name] != nil || nonzero(want) {
			close32(t, c.name+" gradient of "+name, grads[name], want, singleGradTol)
		}
	}
}

// loose reports whether rounding to float32 moves a tensor too far to compare it.
func (c *vectorCase) loose(t testing.TB, name string) bool {
	t.Helper()
	is := c.parts["loose"][name] != nil
	if is {
		t.Logf("%s: %s is not compared in float32, where rounding alone moves it too far", c.name, name)
	}
	return is
}
