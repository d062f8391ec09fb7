package tape_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

var kindScan = tape.NewKind()

// scanCall is a kernel as a generator prints it: a running product with a state
// that is carried in, tokens, and what it keeps on the way.
type scanCall[F num.Float] struct {
	T    int
	X    []F // [T, 2]
	M    []F // [2]
	Y    []F // [T, 2], written
	MOut []F // [2], written
	Rate []F // [T, 2], written
	Work []F
}

type scanNode[F num.Float] struct {
	call   scanCall[F]
	vX, vW tape.Value[F]
	outY   tape.Value[F]
}

// scan is y_t = M_t = M_{t−1}·rate_t, with rate = x + w.
func scan[F num.Float](r *tape.Run[F], x, w tape.Value[F], m []F) tape.Value[F] {
	n := tape.Push[F, scanNode[F]](r, kindScan)
	k := &n.call
	n.vX, n.vW = x, w
	k.X, k.M, k.T = x.Data, m, len(x.Data)/2
	k.Y, k.MOut, k.Rate = r.Arena.Alloc(len(x.Data)), r.Arena.Alloc(2), r.Saved(len(x.Data))
	copy(k.MOut, m)
	for t := range k.T {
		for i := range 2 {
			k.Rate[2*t+i] = x.Data[2*t+i] + w.Data[0]
			k.MOut[i] *= k.Rate[2*t+i]
			k.Y[2*t+i] = k.MOut[i]
		}
	}
	n.outY = r.Output(k.Y)
	return n.outY
}

func (n *scanNode[F]) Backward(t *tape.Tape[F]) {
	dy, dx, dw := t.Adjoint(n.outY), t.Grad(n.vX), t.Grad(n.vW)
	for i, d := range dy {
		dx[i] += d / n.call.Rate[i] // no gradient of this: it only shows zeros of rate
		if dw != nil {
			dw[0] += 0
		}
	}
}

// TestFault breaks one number at a time and wants it named.
func TestFault(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	good := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	with := func(at int, v float64) []float64 {
		x := append([]float64{}, good...)
		x[at] = v
		return x
	}
	for name, c := range map[string]struct {
		x, w, m []float64
		want    string
	}{
		"none":      {good, []float64{1}, []float64{1, 1}, ""},
		"parameter": {good, []float64{nan}, []float64{1, 1}, "w, element 0 is NaN"},
		"input":     {with(5, inf), []float64{1}, []float64{1, 1}, "input, element 5 is +Inf"},
		"state":     {good, []float64{1}, []float64{1, nan}, "tape_test.scan: state M of slot 0, element 1 is NaN"},
		"overflow on the way": {with(4, math.MaxFloat64), []float64{math.MaxFloat64}, []float64{0, 0},
			"tape_test.scan: Rate, token 2, element 4 is +Inf"},
		"overflow of the state": {with(5, math.MaxFloat64), []float64{1}, []float64{1, 2},
			"tape_test.scan: Y, token 2, element 5 is +Inf"},
		"overflow of the state, then on the way": {with(4, math.MaxFloat64), []float64{math.MaxFloat64}, []float64{1, 1},
			"tape_test.scan: Y, token 1, element 2 is +Inf"},
		"what is left behind is no token": {[]float64{1, 2, 3, math.MaxFloat64}, []float64{1}, []float64{1, 2},
			"tape_test.scan: Y, token 1, element 3 is +Inf"},
		"backward":             {with(3, -1), []float64{1}, []float64{1, 1}, "backward of tape_test.scan: X, token 1, element 3 is "},
		"backward, the latest": {with(3, -1)[:6:6], []float64{1}, []float64{0, 0}, "backward of tape_test.scan: X, token 1, element 3 is "},
		"backward, two":        {append(with(3, -1)[:6:6], -1, 2), []float64{1}, []float64{0, 0}, "backward of tape_test.scan: X, token 3, element 6 is "},
	} {
		arena := &tape.Arena[float64]{Trace: true}
		err := tape.With(arena, first, func(r *tape.Run[float64]) error {
			w := r.Param("w", c.w)
			y := scan(r, r.Input(c.x), w, c.m)
			state := func(data []float64) string {
				if &data[0] == &c.m[0] {
					return "M of slot 0"
				}
				return ""
			}
			f, ok := r.Tape.Fault(state)
			if !ok {
				loss := sum(r, y)
				r.Tape.Seed(loss, []float64{1})
				r.Tape.Reverse()
				f, ok = r.Tape.Fault(state)
			}
			if got := f.String(); ok != (c.want != "") || ok && !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %v %q, want %q", name, ok, got, c.want)
			}
			if ok && f.Node != "" && (len(f.Leaves) != 1 || f.Leaves[0] != "w") {
				t.Errorf("%s: reads the parameters %v", name, f.Leaves)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultWithoutParameters: a node that reads no parameter and a value that was recorded after it was pushed.
func TestFaultWithoutParameters(t *testing.T) {
	arena := &tape.Arena[float64]{Trace: true}
	_ = tape.With(arena, first, func(r *tape.Run[float64]) error {
		n := tape.Push[float64, scanNode[float64]](r, kindScan)
		n.vX, n.vW = r.Output([]float64{1, 2}), tape.Value[float64]{}
		n.outY = r.Output([]float64{1, math.NaN()})
		if f, ok := r.Tape.Fault(nil); !ok || len(f.Leaves) != 0 || f.Index != 1 {
			t.Errorf("%v, parameters %v", f, f.Leaves)
		}
		return nil
	})
}

// TestTraceLeavesNoTrace: the same bits with it, and nothing allocated without.
func TestTraceLeavesNoTrace(t *testing.T) {
	plain, traced := &tape.Arena[float64]{}, &tape.Arena[float64]{Trace: true}
	x := []float64{1.5, 2.25, -3, 4}
	grads := func(a *tape.Arena[float64]) (out []float64) {
		_ = tape.With(a, first, func(r *tape.Run[float64]) error {
			v := r.Param("x", x)
			if err := r.Tape.Backward(chain(r, v, 3)); err != nil {
				t.Fatal(err)
			}
			out = append(out, r.Tape.GradOf(v)...)
			return nil
		})
		return out
	}
	a, b := grads(plain), grads(traced)
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			t.Errorf("element %d: %v traced, %v not", i, b[i], a[i])
		}
	}
	traced.Trace = false
	_ = tape.With(traced, first, func(r *tape.Run[float64]) error {
		r.Param("x", []float64{math.NaN()})
		if f, ok := r.Tape.Fault(nil); ok {
			t.Errorf("an arena that traces no more says %v", f)
		}
		return nil
	})
}
