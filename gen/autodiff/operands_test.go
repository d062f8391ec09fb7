package autodiff_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

const operandsHead = `func f(W: outer real[o, i], X: input real[t, i], Q: input real[t, i], A: input real[t, w], g: outer real[i], k: outer real[i, w],
 M: state real[o, i], tail: input real[t, i], G: outer real[o, i]) {
 axes o, i, t, w
`

// operandCases are products and the values whose operands are narrowed.
var operandCases = []struct{ name, body, want string }{
	{"a matrix product", "y [t, o] = prod t:t o:o i:i : W[o, i] X[t, i]", "W X"},
	{"of an argument with itself", "y [t, t] = prod s:t u:t i:i : X[s, i] X[u, i]", "X"},
	{"scaled by a number of each row", "r [t] = prod t:t i:i : X[t, i] X[t, i]\n y [t, o] = prod t:t o:o i:i : r[t] W[o, i] X[t, i]", "W X"},
	{"scores of a window", "y [t, w] = prod t:t w:w i:i where t - w >= 0 : Q[t, i] X[t - w, i]", "Q X"},
	{"sums over a window", "y [t, i] = prod t:t i:i w:w where t - w >= 0 : A[t, w] X[t - w, i]", "A X"},
	{"a norm", "y [t] = prod t:t i:i : X[t, i] X[t, i]", ""},
	{"a product with a vector", "y [t] = prod t:t i:i : g[i] X[t, i]", ""},
	{"a product of entries", "y [t, i] = prod t:t i:i : Q[t, i] X[t, i]", ""},
	{"an outer product", "r [t] = prod t:t i:i : X[t, i]\n y [t, i] = prod t:t i:i : r[t] g[i]", ""},
	{"a convolution of channels", "y [t, i] = prod t:t i:i w:w where t - w >= 0 : k[i, w] X[t - w, i]", ""},
	{"a product with a state", "y [t, o] = prod t:t o:o i:i : M[o, i] X[t, i]", ""},
	{"a gate", "gate [t, o] = prod t:t o:o i:i : G[o, i] X[t, i] ; u.gate", ""},
}

// parseOperands reads a program of the head and a body with the result y, or gate.
func parseOperands(t *testing.T, body string) *ir.Func {
	t.Helper()
	result := "y"
	if strings.HasPrefix(body, "gate") {
		result = "gate"
	}
	return irtest.MustParse(operandsHead + " " + body + "\n return " + result + " = " + result + "\n}")
}

// TestOperands: what is narrowed.
func TestOperands(t *testing.T) {
	for _, c := range operandCases {
		p := autodiff.NewMixedPair(parseOperands(t, c.body), func(eq string) bool { return eq == "u.gate" })
		var got []string
		for _, in := range p.Fwd.Body {
			if in.Op == ir.Narrow {
				got = append(got, in.Args[0].Val.Name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: narrowed %q, want %q\n%s", c.name, got, c.want, p.Fwd)
		}
		if c.want == "" && strings.Contains(p.Bwd.String(), "narrow") {
			t.Errorf("%s: its backward narrows\n%s", c.name, p.Bwd)
		}
	}
}

// TestOperandsOfRecurrences: a program with a recurrence stays as it is.
func TestOperandsOfRecurrences(t *testing.T) {
	p := autodiff.NewMixedPair(irtest.MustParse(irtest.Delta), func(string) bool { return false })
	if strings.Contains(p.Fwd.String()+p.Bwd.String(), "narrow") {
		t.Error(p.Fwd)
	}
}

// TestStraightThrough: with operands in bfloat16 the backward is the derivative of the forward in which every
// rounding adds what it added at this point: differences of that forward agree with it.
func TestStraightThrough(t *testing.T) {
	const (
		step = 1e-5
		tol  = 1e-6 // of differences in float64
	)
	bodies := []string{
		"a [t, o] = prod t:t o:o i:i : W[o, i] X[t, i]\n b [t, o] = tanh t:t o:o : a[t, o]\n y [t, i] = prod t:t i:i o:o : 0.3 b[t, o] G[o, i]",
		"q [t, o] = prod t:t o:o i:i : W[o, i] X[t, i]\n h [t, o] = prod t:t o:o i:i : G[o, i] X[t, i]\n s [t, w] = prod t:t w:w o:o where t - w >= 0 : 0.7 q[t, o] h[t - w, o]\n" +
			" e [t, w] = exp t:t w:w : s[t, w]\n v [t, i] = prod t:t i:i w:w where t - w >= 0 : e[t, w] X[t - w, i]\n y [t, i] = prod t:t i:i : v[t, i] X[t, i]",
	}
	sizes := map[string]int{"o": 3, "i": 4, "t": 5, "w": 2}
	for n, body := range bodies {
		f := parseOperands(t, body)
		p := autodiff.NewMixedPair(f, func(string) bool { return false })
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		draw := func(v *ir.Value) *interp.Tensor {
			x := interp.NewTensor(shapeOf(v, sizes)...)
			for i := range x.Data {
				x.Data[i] = rng.NormFloat64()
			}
			return x
		}
		in := map[string]*interp.Tensor{}
		for _, v := range p.Fwd.Params {
			in[v.Name] = draw(v)
		}
		bar := draw(p.Fwd.Results[0].Val)

		var shifts []float64
		run := func(narrow func(x float64) float64) map[string]*interp.Tensor {
			c := interp.Compile(p.Fwd)
			c.Narrow = narrow
			return c.Run(sizes, in)
		}
		out := run(func(x float64) float64 {
			y := interp.BFloat16(x)
			shifts = append(shifts, y-x)
			return y
		})
		loss := func() (sum float64) {
			at := 0
			y := run(func(x float64) float64 { at++; return x + shifts[at-1] })["y"]
			for i, x := range y.Data {
				sum += x * bar.Data[i]
			}
			return sum
		}
		back := interp.Compile(p.Bwd)
		back.Narrow = interp.BFloat16
		given := map[string]*interp.Tensor{}
		for _, v := range p.Bwd.Params {
			switch v.Role {
			case ir.Adjoint:
				given[v.Name] = bar
			case ir.Saved:
				given[v.Name] = out[v.Name]
			default:
				given[v.Name] = in[v.Name]
			}
		}
		grads := back.Run(sizes, given)
		for name, x := range in {
			g := grads[ir.AdjointName(name)]
			if g == nil {
				continue
			}
			for i := range x.Data {
				old := x.Data[i]
				x.Data[i] = old + step
				up := loss()
				x.Data[i] = old - step
				down := loss()
				x.Data[i] = old
				if d := (up - down) / (2 * step); !(math.Abs(d-g.Data[i]) <= tol*max(1, math.Abs(d))) {
					t.Errorf("program %d: the adjoint of %s[%d] is %v, differences give %v", n, name, i, g.Data[i], d)
				}
			}
		}
	}
}

func shapeOf(v *ir.Value, sizes map[string]int) (out []int) {
	for _, a := range v.Axes {
		out = append(out, sizes[a.Name])
	}
	return out
}
