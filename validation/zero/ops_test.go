package zero

import (
	"math"
	"strconv"
	"testing"

	"github.com/nl-hecate/hecate/generated/ops"
	"github.com/nl-hecate/hecate/generated/updates/adamw"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

type value = tape.Value[float64]

// An opCall is the call of one operation under way: in gives its inputs by the
// oracle's names.
//
//hecate:noescape
type opCall struct {
	r   *tape.Run[float64]
	ref reference
	in  func(name string) value
}

// rows is the shape of a tensor of two axes.
func (c opCall) rows(name string) (m, n int) {
	s := c.ref.get(name).Shape
	return s[0], s[1]
}

var opCalls = map[string]func(c opCall) (value, error){
	"conv_fresh": func(c opCall) (value, error) {
		m, n := c.rows("u")
		return ops.ShortConv(c.r, c.r.Pulse, ops.ShortConvSizes{Batch: 1, T: m, N: n, K: 4}, c.in("u"), c.in("c"), c.in("b"))
	},
	"ce": crossEntropy, "ce_all": crossEntropy, "ce_none": crossEntropy,
	"gelu_tanh": func(c opCall) (value, error) {
		return ops.GELU(c.r, c.r.Pulse, ops.GELUSizes{Batch: 1, N: 16}, c.in("x"))
	},
	"gelu_erf": func(c opCall) (value, error) {
		return ops.GELUErf(c.r, c.r.Pulse, ops.GELUErfSizes{Batch: 1, N: 16}, c.in("x"))
	},
	"layernorm": func(c opCall) (value, error) {
		m, n := c.rows("x")
		return ops.LayerNorm(c.r, c.r.Pulse, ops.LayerNormSizes{Batch: 1, M: m, N: n}, c.in("x"), c.in("gamma"), c.in("beta"))
	},
	"l2rows": unitRows, "l2rows_eps": unitRows,
	"nsilu": func(c opCall) (value, error) {
		m, n := c.rows("x")
		return ops.NormalizedSiLU(c.r, c.r.Pulse, ops.NormalizedSiLUSizes{Batch: 1, M: m, N: n}, c.in("x"), math.Sqrt(float64(n)))
	},
	"kl": retention, "kl_clamp": retention,
}

func crossEntropy(c opCall) (value, error) {
	m, n := c.rows("logits")
	return ops.CrossEntropy(c.r, c.r.Pulse, ops.CrossEntropySizes{Batch: 1, T: m, V: n}, c.in("logits"), c.ref.ints("targets"))
}

func unitRows(c opCall) (value, error) {
	m, n := c.rows("x")
	return ops.L2NormalizeRows(c.r, c.r.Pulse, ops.L2NormalizeRowsSizes{Batch: 1, M: m, N: n}, c.in("x"))
}

func retention(c opCall) (value, error) {
	m, n := c.rows("prior")
	return ops.KLRetention(c.r, c.r.Pulse, ops.KLRetentionSizes{Batch: 1, M: m, N: n}, c.in("prior"), c.in("grad"), c.in("alpha"), c.in("theta"))
}

// TestOps holds operations to the oracle. Of the convolution an operation has
// the case without a tail; those with one are in the rules.
func TestOps(t *testing.T) {
	for name, call := range opCalls {
		t.Run(name, func(t *testing.T) { oneOp(t, open(t, "ops").under(name), call) })
	}
}

func oneOp(t *testing.T, ref reference, call func(c opCall) (value, error)) {
	leaves := map[string]value{}
	var arena tape.Arena[float64]
	arena.Debug = true
	err := tape.With(&arena, pulse.First(pulse.Build), func(r *tape.Run[float64]) error {
		y, err := call(opCall{r, ref, func(name string) value {
			leaves[name] = r.Input(ref.floats(name))
			return leaves[name]
		}})
		if err != nil {
			return err
		}
		weights := "w"
		if !ref.has(weights) {
			weights = "dloss"
		}
		same(t, "y", y.Data, ref.floats("out.y"), exact, exact)
		r.Tape.Seed(y, ref.floats(weights))
		r.Tape.Reverse()
		for name, v := range leaves {
			g := r.Tape.GradOf(v)
			if g == nil {
				g = make([]float64, len(v.Data))
			}
			same(t, "gradient of "+name, g, ref.floats("grad."+name), exact, exact)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAdamW holds five steps of the update, with decay and without.
func TestAdamW(t *testing.T) {
	for _, c := range []struct {
		name    string
		nodecay bool
	}{{"decay", false}, {"nodecay", true}} {
		t.Run(c.name, func(t *testing.T) {
			ref := open(t, "adamw").under(c.name)
			w := append([]float64(nil), ref.floats("w.0")...)
			s := adamw.NewSlots[float64](len(w))
			arena := tape.Arena[float64]{Debug: true}
			n, at := 1, pulse.First(pulse.Build)
			for ; ref.has("g." + strconv.Itoa(n)); n++ {
				k := "." + strconv.Itoa(n)
				_ = tape.Without(&arena, at, func(r *tape.Run[float64]) error {
					adamw.Apply(r, warmed(n), n, c.nodecay, w, ref.floats("g"+k), s)
					return nil
				})
				same(t, "w"+k, w, ref.floats("w"+k), exact, exact)
				same(t, "m"+k, s.M, ref.floats("m"+k), exact, exact)
				same(t, "s"+k, s.S, ref.floats("s"+k), exact, exact)
				at = at.Next(1)
			}
			if n < 6 {
				t.Errorf("only %d steps", n-1)
			}
		})
	}
}
