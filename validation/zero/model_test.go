package zero

import (
	"math"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A track is a model with its parameters, memory and clock.
type track[F num.Float] struct {
	t     *testing.T
	model block.Model[F]
	set   context.ParamSet[F]
	mem   *block.Memory[F]
	arena tape.Arena[F]
	pulse pulse.Pulse
	batch int
}

// start builds a model of the registry for some sequences.
func start[F num.Float](t *testing.T, name string, batch, d, heads, vocabulary, window int) *track[F] {
	t.Helper()
	z := map[string]int{"V": vocabulary, "d": d, "attention.H": heads, "attention.w": window, "attention.n_p": 0}
	if name == "ZeroB" {
		z["memory.d_k"] = d
	}
	m, err := registry.NewModel[F](name, block.NewSizes(z))
	if err != nil {
		t.Fatal(err)
	}
	k := &track[F]{t: t, model: m, mem: m.NewMemory(batch), pulse: pulse.First(pulse.Build, 1), batch: batch}
	if err := m.Declare(&k.set, ""); err != nil {
		t.Fatal(err)
	}
	return k
}

// step runs one chunk: the loss of all sequences together, the logits, and the
// gradients by parameter, which hold until the next step.
func (k *track[F]) step(ids, next []int32) (loss float64, logits []F, grads map[string][]F) {
	k.t.Helper()
	grads = map[string][]F{}
	steps := len(ids) / k.batch
	err := tape.With(&k.arena, k.pulse, func(r *tape.Run[F]) error {
		w := block.Bind(r, k.set.View())
		l, z, err := k.model.Step(block.Call[F]{Run: r, Pulse: k.pulse, Batch: k.batch, Tokens: steps}, w, k.mem, ids, next)
		if err != nil {
			return err
		}
		share := make([]F, k.batch) // every sequence has as many valid targets here
		for i := range share {
			share[i] = 1 / F(k.batch)
			loss += float64(l.Data[i]) / float64(k.batch)
		}
		r.Tape.Seed(l, share)
		r.Tape.Reverse()
		r.Tape.Params(func(name string, g []F) { grads[name] = g })
		logits = z.Data
		return nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.mem.Keep()
	k.pulse = k.pulse.Next(steps)
	return loss, logits, grads
}

// chunk is chunk c of ids [chunk, sequence, T].
func chunk(all []int32, c, chunks int) []int32 {
	n := len(all) / chunks
	return all[c*n : (c+1)*n]
}

// memory renames what the oracle calls the context.
var memory = strings.NewReplacer("block.", "", "k.tail", "tail_k", "v.tail", "tail_v", "k0.tail", "tail_k", "q0.tail", "tail_q")

func small[F num.Float](t *testing.T, name, file string, abs, rel float64) {
	ref := open(t, file)
	k := start[F](t, name, 1, 8, 2, 16, 3)
	v := k.set.View()
	for i := range v.Len() {
		if len(v.Data(i)) > 0 {
			copy(v.Data(i), convert[F](ref.floats(v.Param(i).Name))) //hecate:allow outerwrite the set is the test's own
		}
	}
	remembers := func(when string) {
		k.mem.Each("", func(name string, _ []int, d []F) {
			same(t, when+name, d, ref.floats(when+memory.Replace(name)), abs, rel)
		})
	}
	for c := range 3 {
		if c == 2 {
			remembers("ctx.")
		}
		loss, logits, grads := k.step(chunk(ref.ints("ids"), c, 3), chunk(ref.ints("targets"), c, 3))
		same(t, "loss", []float64{loss}, ref.floats("loss")[c:c+1], abs, rel)
		if c < 2 {
			continue
		}
		same(t, "logits", logits, ref.floats("out.logits"), abs, rel)
		for _, name := range ref.names("grad.") {
			same(t, "gradient of "+name, grads[name], ref.floats("grad."+name), abs, rel)
			delete(grads, name)
		}
		for name, g := range grads {
			if len(g) > 0 {
				t.Errorf("the oracle has no gradient of %s", name)
			}
		}
	}
	remembers("after.")
}

// TestSmall compares the third of three chunks, every entry of every gradient.
func TestSmall(t *testing.T) {
	for _, m := range []struct{ name, file string }{{"ZeroA", "zero_a_small"}, {"ZeroB", "zero_b_small"}} {
		t.Run(m.name+"/float64", func(t *testing.T) { small[float64](t, m.name, m.file, exact, exact) })
		t.Run(m.name+"/float32", func(t *testing.T) { small[float32](t, m.name, m.file, singleAbs, single) })
	}
}

// digest compares norm, sum and some entries of a tensor too large to store.
func digest[F num.Float](ref reference, what, name string, got []F, abs, rel float64) {
	ref.t.Helper()
	var norm2, sum float64
	for _, x := range got {
		norm2 += float64(x) * float64(x)
		sum += float64(x)
	}
	same(ref.t, what+", norm", []float64{math.Sqrt(norm2)}, ref.floats(name+".norm"), abs, rel)
	// A sum may cancel: its error is bounded by that of the entries.
	same(ref.t, what+", sum", []float64{sum}, ref.floats(name+".sum"), abs*float64(len(got)), rel)
	var at []F
	for _, i := range ref.ints(name + ".index") {
		at = append(at, got[i])
	}
	same(ref.t, what, at, ref.floats(name+".at"), abs, rel)
}

func big[F num.Float](t *testing.T, name, file string, abs, rel float64) {
	ref := open(t, file)
	k := start[F](t, name, 1, 64, 4, 256, 16)
	k.set.Fill(1)
	v := k.set.View()
	for i := range v.Len() {
		if n := v.Param(i).Name; ref.has("param." + n + ".norm") {
			digest(ref, "first values of "+n, "param."+n, v.Data(i), abs, rel)
		}
	}
	for c := range 3 {
		loss, logits, grads := k.step(chunk(ref.ints("ids"), c, 3), chunk(ref.ints("targets"), c, 3))
		same(t, "loss", []float64{loss}, ref.floats("loss")[c:c+1], abs, rel)
		if c < 2 {
			continue
		}
		digest(ref, "logits", "out.logits", logits, abs, rel)
		for name, g := range grads {
			if len(g) > 0 {
				digest(ref, "gradient of "+name, "grad."+name, g, abs, rel)
			}
		}
	}
}

// TestBig compares the models at a width of 64, started from the streams.
func TestBig(t *testing.T) {
	for _, m := range []struct{ name, file string }{{"ZeroA", "zero_a_big"}, {"ZeroB", "zero_b_big"}} {
		t.Run(m.name+"/float64", func(t *testing.T) { big[float64](t, m.name, m.file, exact, exact) })
		t.Run(m.name+"/float32", func(t *testing.T) { big[float32](t, m.name, m.file, singleAbs, single) })
	}
}
