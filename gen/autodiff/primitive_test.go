package autodiff_test

import (
	"fmt"
	"maps"
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

// A sample is how one primitive is tested: OP stands for it in the patterns.
type sample struct {
	patterns []string
	positive bool     // entries of x, A, B and s are positive
	gap      bool     // entries keep away from each other and from whole numbers
	skip     []string // parameters whose derivative is declared to be none
	later    string   // why it is not tested
}

// Patterns of access: direct, broadcast, transposed, diagonal, written
// at permuted loops, windowed under a guard, gathered with repeated ids,
// reversed, at one entry.
var unary = []string{
	"h [a, b] = OP i:a j:b : B[i, j]",
	"h [a, b] = OP i:a j:b : x[i]",
	"h [b, a] = OP i:b j:a : B[j, i]",
	"h [a] = OP i:a : A[i, i]",
	"h [b, a] at [j, i] = OP i:a j:b : B[i, j]",
	"h [a, w] = OP i:a j:w where i - j >= 0 : x[i - j]",
	"h [b] = OP i:b : x[ids[i]]",
	"h [a] = OP i:a : x[a - 1 - i]",
	"h [a] = OP i:a : A[0, i]",
}

// A gather that misses reads zero, and nothing comes back.
var missing = []string{"h [b] = OP i:b : x[miss[i]]"}

var binary = []string{
	"h [a, b] = OP i:a j:b : B[i, j] x[i]",
	"h [a, b] = OP i:a j:b : s B[i, j]",
	"h [a, a] = OP i:a j:a : A[j, i] A[i, j]",
	"h [a] = OP i:a : A[i, i] x[i]",
	"h [a, w] = OP i:a j:w where i - j >= 0 : x[i - j] A[i, i - j]",
	"h [b] = OP i:b : x[ids[i]] s",
}

// The same argument twice, for primitives without a kink there.
var twice = []string{"h [a] = OP i:a : x[i] x[i]"}

var norms = []string{
	"h [a] = OP i:a j:b over j : B[i, j]",
	"h [b] at [j] = OP i:a j:b over i : B[i, j]",
	"h [] = OP i:a j:b over i j : B[i, j]",
	"h [a] = OP i:a j:a over j where i - j >= 0 : A[i, j]",
	"h [a] = OP i:a j:w over j where i - j >= 0 : x[i - j]",
	"h [b] at [j] = OP i:b j:b over i : B[ids[j], i]",
	"h [] = OP i:a over i : A[i, i]",
}

var softmaxes = []string{
	"h [a, b] = OP i:a j:b over j : B[i, j]",
	"h [b, a] at [j, i] = OP i:a j:b over i : B[i, j]",
	"h [a, b] = OP i:a j:b over i j : B[i, j]",
	"h [a, a] = OP i:a j:a over j where i - j >= 0 : A[i, j]",
	"h [a, w] = OP i:a j:w over j where i - j >= 0 : x[i - j]",
	"h [b, b] = OP i:b j:b over i : B[ids[j], i]",
}

var products = []string{
	"h [a] = OP i:a j:b : B[i, j] y[j]",
	"h [a, a] = OP i:a j:a k:b : B[i, k] B[j, k]",
	"h [a] = OP i:a : -2 x[i] x[i] x[i]",
	"h [a, b] = OP i:a j:b : 0.5 s x[i] y[j]",
	"h [] = OP i:a : A[i, i]",
	"h [a, a] at [i, i] = OP i:a : x[i] s",
	"h [a, a] at [j, i] = OP i:a j:a : A[i, j]",
	"h [a] = OP i:a j:w where i - j >= 0 : x[i - j] v[j]",
	"h [b, a] = OP i:b j:a : B[ids[i], i]",
	"h [b, b] = OP i:b j:b : B[miss[i], j] y[j]",
	"h [a] at [ids[i]] = OP i:b : y[i]",
	"h [a, b] at [miss[i], j] = OP i:b j:b : y[i] y[j]",
	"h [a] at [a - 1 - i] = OP i:a j:b : B[i, j]",
	"h [a] = OP i:a j:b : x[i]",
}

// Solves: one for each entry, one for all, at written-out points, of two
// arguments of which one is read twice, and with ends that move.
var solves = []string{
	"lo [] = const : -30\n hi [] = const : 30\n h [a] = OP i:a j:b over j : lo hi B[i, j]" + solveSum,
	"lo [] = const : -30\n hi [] = const : 30\n h [b] = OP i:b j:a over j : lo hi B[j, i]" + strings.ReplaceAll(solveSum, "b", "a"),
	"lo [] = const : -30\n hi [] = const : 30\n h [] = OP i:b over i : lo hi y[i]" + solveSum,
	"lo [] = const : -30\n hi [] = const : 30\n h [b] = OP i:b j:b over j : lo hi C[ids[i], j]" + solveSum,
	"lo [a] = lin i:a : x[i] - 9\n hi [] = const : 40\n h [a, a] = OP i:a j:a k:a l:b over k l : lo[j] hi x[i] A[i, k] y[l] tol 1e-10 with\n" +
		" func r(z: input real[], p: input real[], q: input real[a], o: input real[b]) {\n" +
		"  d [a, b] = lin i:a j:b : z - q[i] + o[j]\n f [a, b] = softplus i:a j:b : d[i, j]\n" +
		"  g [] = prod i:a j:b : f[i, j]\n m [] = prod i:a : q[i] q[i]\n n [b] = tanh i:b : o[i]\n k [] = prod i:b : n[i]\n" +
		"  e [] = lin : g + 0.1 z - m - p - 0.3 k - 3\n return r = e\n }\n end",
}

const solveSum = " tol 1e-10 with\n func r(z: input real[], q: input real[b]) {\n" +
	"  e [b] = lin i:b : z + q[i]\n g [b] = sigmoid i:b : e[i]\n u [] = prod i:b : g[i]\n k [] = lin : u - 1\n return r = k\n }\n end"

// Triangular solves: one, a batch of transposed systems, from the last row on,
// a matrix that is read at other places, and a right side that is gathered.
var triangles = []string{
	"h [a, b] = OP t:a j:b i:a over t i : A[t, i] B[t, j]",
	"h [b, a] at [j, t] = OP t:a i:a j:b over i t : A[t, i] B[t, j]",
	"h [a, b] at [a - 1 - t, j] = OP t:a i:a j:b over t i : A[a - 1 - i, a - 1 - t] B[a - 1 - t, j]",
	"h [a] = OP t:a i:a over t i : A[t, i] x[t]",
	"h [a] = OP t:a i:a over t i : A[i, t] x[a - 1 - t]",
	"h [b, b] = OP t:b j:b i:b over t i : C[t, i] C[ids[t], j]",
	"h [b, a] at [t, j] = OP j:a t:b i:b over t i : B[j, i] B[j, t]",
	"k [a, b] = OP t:a j:b i:a over t i : A[t, i] B[t, j]\n h [a] = OP t:a i:a over t i : A[i, t] k[t, 0]",
}

func samples() map[ir.Op]sample {
	out := map[ir.Op]sample{
		ir.Prod:      {patterns: products},
		ir.Lin:       {patterns: []string{"h [a, b] = OP i:a j:b : 2 B[i, j] - x[i] + 0.5 s - 3", "h [a] = OP i:a : A[i, i] - x[ids[0]] + x[i]", "h [a, a] = OP i:a j:a : A[i, j] - A[j, i]", "h [a, w] = OP i:a j:w where i - j >= 0 : x[i - j] - x[i]"}},
		ir.Const:     {patterns: []string{"k [a] = OP i:a : 3\n h [a] = prod i:a : k[i] x[i]"}},
		ir.SizeOf:    {patterns: []string{"k [] = OP : a + 2·b\n h [a] = prod i:a : k x[i]"}},
		ir.Iota:      {patterns: []string{"k [a] = OP i:a over i\n h [a] = prod i:a : k[i] x[i]"}},
		ir.Stop:      {patterns: []string{"k [a] = OP i:a : x[i]\n h [a] = prod i:a : k[i] s"}, skip: []string{"x"}},
		ir.Override:  {patterns: []string{"k [a] = exp i:a : x[i]\n h [a] = OP i:a : x[i] k[i]"}, later: "see TestDeclared"},
		ir.Stack:     {patterns: []string{"h [ab] = OP i:ab over i : x[i] y[i - a]", "h [b, ab] = OP i:b j:ab over j : T[i, j] C[i, j - a]"}},
		ir.Reshape:   {patterns: []string{"h [n] = OP : B", "h [b, a] = OP : B"}},
		ir.Narrow:    {patterns: []string{"h [a, b] = OP : B"}},
		ir.Max:       {patterns: norms, gap: true},
		ir.Softmax:   {patterns: softmaxes},
		ir.LogSumExp: {patterns: norms},
		ir.Div:       {patterns: append(slices.Clone(binary), twice...), positive: true},
		ir.Pow:       {patterns: append(slices.Clone(binary), twice...), positive: true},
		ir.Mod:       {patterns: binary, positive: true, gap: true},
		ir.Max2:      {patterns: binary, gap: true},
		ir.Min2:      {patterns: binary, gap: true},
		ir.Select:    {patterns: []string{"h [a, b] = OP i:a j:b : c[i] B[i, j] x[i]", "h [a] = OP i:a : c[i] A[i, i] A[0, i]", "h [a, w] = OP i:a j:w where i - j >= 0 : c[i - j] x[i - j] s"}},
		ir.ToReal:    {patterns: []string{"n [b] = OP i:b : ids[i]\n h [b] = prod i:b : n[i] y[i]", "n [a] = OP i:a : c[i]\n h [a] = prod i:a : n[i] x[i]"}},
		ir.Not:       {patterns: []string{"n bool[a] = OP i:a : c[i]\n h [a] = select i:a : n[i] x[i] s"}},
		ir.ScanOp:    {later: "see TestPairs"},
		ir.SolveOp:   {patterns: solves},
		ir.TriSolve:  {patterns: triangles},
	}
	for _, op := range ir.Ops() {
		if info := op.Info(); out[op].patterns == nil && info.Cost == ir.Function && info.Args == 1 {
			out[op] = sample{patterns: append(slices.Clone(unary), missing...)}
		}
	}
	for _, op := range []ir.Op{ir.Log, ir.Log1p, ir.Sqrt} { // which are not defined everywhere
		out[op] = sample{patterns: unary, positive: true}
	}
	for _, op := range []ir.Op{ir.Abs, ir.Sign, ir.Floor} {
		out[op] = sample{patterns: unary, gap: true}
	}
	for _, op := range []ir.Op{ir.Less, ir.LessEq, ir.Equal} {
		out[op] = sample{patterns: []string{"n bool[a] = OP i:a : x[i] s\n h [a] = select i:a : n[i] x[i] s"}, gap: true}
	}
	for _, op := range []ir.Op{ir.And, ir.Or} {
		out[op] = sample{patterns: []string{"n bool[a] = OP i:a : c[i] c[0]\n h [a] = select i:a : n[i] x[i] s"}}
	}
	return out
}

const sampleHead = `func f(s: input real[], x: input real[a], y: input real[b], v: input real[w], A: input real[a, a], B: input real[a, b],
 T: input real[b, a], C: input real[b, b], ids: input int[b], miss: input int[b], c: input bool[a]) {
 axes a, b, w, ab = a + b, n = a·b
`

var sampleSizes = map[string]int{"a": 4, "b": 3, "w": 2}

// point is a random point that suits the sample.
func (s sample) point(f *ir.Func, rng *rand.Rand) map[string]*interp.Tensor {
	out := map[string]*interp.Tensor{}
	used := 0
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sampleSizes)...)
		for i := range x.Data {
			v := rng.NormFloat64()
			if s.gap {
				used++ // a fresh multiple of an irrational number: no two alike
				v = 2 * (math.Mod(float64(used)*0.6180339887498949, 1) - 0.5) * 1.7
			}
			if s.positive {
				v = 0.5 + math.Abs(v)
			}
			switch {
			case p.Name == "ids":
				v = float64([]int{2, 0, 2}[i])
			case p.Name == "miss":
				v = float64([]int{1, -1, 1}[i])
			case p.Elem == ir.Bool:
				v = float64(rng.IntN(2))
			}
			x.Data[i] = v
		}
		out[p.Name] = x
	}
	return out
}

// check returns what is wrong with a primitive.
func (s sample) check(t *testing.T, op ir.Op) []string {
	for _, pattern := range s.patterns {
		text := sampleHead + " " + strings.ReplaceAll(pattern, "OP", op.String()) + "\n return h = h\n}"
		for seed := range uint64(3) {
			f := irtest.MustParse(text)
			if err := ir.Verify(f); err != nil {
				t.Fatal(err)
			}
			params := s.point(f, rand.New(rand.NewPCG(seed, 4)))
			if errs := gradErrors(f, sampleSizes, params, s.skip...); len(errs) > 0 {
				return errs
			}
		}
	}
	return nil
}

// TestEveryPrimitive runs over the table of primitives; one without a sample
// fails.
func TestEveryPrimitive(t *testing.T) {
	all := samples()
	for _, op := range ir.Ops() {
		s, ok := all[op]
		switch {
		case !ok:
			t.Errorf("%v has no sample", op)
		case s.later != "":
			t.Logf("%v: %s", op, s.later)
		default:
			if errs := s.check(t, op); errs != nil {
				t.Errorf("%v: %s", op, strings.Join(errs, "\n"))
			}
		}
	}
}

// TestTableIsTotal: every primitive that makes numbers of numbers has a row, but
// those whose adjoint is a program of its own, and iota, whose argument is an integer.
func TestTableIsTotal(t *testing.T) {
	for _, op := range ir.Ops() {
		info := op.Info()
		undo, ok := autodiff.Break(op, 1)
		if ok {
			undo()
		}
		if want := info.Out == ir.Real && info.Args != 0 && op != ir.SolveOp && op != ir.Iota; ok != want {
			t.Errorf("%v has a row of derivatives: %v, want %v", op, ok, want)
		}
	}
}

// TestTableIsTested doubles each row of the table and turns its sign: the test
// above must see it.
func TestTableIsTested(t *testing.T) {
	none := map[ir.Op]bool{ir.Stop: true, ir.Sign: true, ir.Floor: true, ir.ToReal: true, ir.Override: true}
	all := samples()
	for _, op := range ir.Ops() {
		if none[op] {
			continue
		}
		for _, by := range []float64{2, -1} {
			undo, ok := autodiff.Break(op, by)
			if !ok {
				break
			}
			if all[op].check(t, op) == nil {
				t.Errorf("%v: nobody sees that the row is scaled by %g", op, by)
			}
			undo()
		}
	}
}

// A boundary is a point where a derivative is declared, or where a formula is
// likely to break.
type boundary struct {
	body string
	at   map[string]float64
	want map[string]float64 // of the sum of h
}

// TestBoundaries evaluates derivatives exactly where differences do not help.
func TestBoundaries(t *testing.T) {
	inf := math.Inf(1)
	one := func(op string, at, want float64) boundary {
		return boundary{"h [] = " + op + " : s", map[string]float64{"s": at}, map[string]float64{"s": want}}
	}
	two := func(op string, p, q, dp, dq float64) boundary {
		return boundary{"h [] = " + op + " : p q", map[string]float64{"p": p, "q": q}, map[string]float64{"p": dp, "q": dq}}
	}
	for _, b := range []boundary{
		one("exp", -800, 0), one("exp", 0, 1), one("expm1", 1e-18, 1), one("expm1", -800, 0), one("log1p", 1e-18, 1),
		one("sigmoid", 0, 0.25), one("sigmoid", 40, math.Exp(-40)), one("sigmoid", -40, math.Exp(-40)), one("sigmoid", 800, 0), one("sigmoid", -800, 0),
		one("softplus", 0, 0.5), one("softplus", 40, 1), one("softplus", -40, math.Exp(-40)), one("softplus", 800, 1), one("softplus", -800, 0),
		one("tanh", 0, 1), one("tanh", 800, 0), one("tanh", -800, 0), one("erf", 0, 2/math.Sqrt(math.Pi)), one("erf", 30, 0),
		one("abs", 0, 0), one("abs", -1e-300, -1), one("sign", 0, 0), one("floor", 1, 0), one("sqrt", 1e-30, 0.5e15), one("sqrt", 0, inf), one("log", 1e-300, 1e300),
		two("max2", 1, 1, 1, 0), two("min2", 1, 1, 1, 0), two("max2", 1, 2, 0, 1), two("min2", 1, 2, 1, 0),
		two("pow", 0, 2, 0, 0), two("pow", 0, 1, 1, 0), two("pow", 0, 0, 0, 0), two("pow", -2, 3, 12, math.NaN()), two("mod", 7, 2, 1, -3), two("div", 0, 2, 0.5, 0),
		// A choice that is not taken gives an exact zero, whatever it holds.
		{"r [] = sqrt : s\n e [] = const : 1e-08\n h [] = max2 : r e", map[string]float64{"s": 0}, map[string]float64{"s": 0}},
		{"z [] = const : 0\n c bool[] = lt : z s\n l [] = log : s\n m [] = prod : l l\n h [] = select : c m s", map[string]float64{"s": 0}, map[string]float64{"s": 1}},
		{"z [] = const : 0\n c bool[] = lt : z s\n k bool[] = lt : p q\n l [] = log : s\n u [] = select : k l s\n h [] = select : c u q", map[string]float64{"s": 0, "p": 1, "q": 2}, map[string]float64{"s": 0, "p": 0, "q": 1}},
		{"h [] = max i:a over i : x[i]", map[string]float64{"x": 3}, map[string]float64{"x": 0.25}},
		{"h [] = logsumexp i:a over i : x[i]", map[string]float64{"x": 800}, map[string]float64{"x": 0.25}},
		{"m [a] = softmax i:a over i : x[i]\n h [] = prod i:a : m[i] x[i]", map[string]float64{"x": -800}, map[string]float64{"x": 0.25}},
		{"n [a] = logsumexp i:a j:a over j where i - 1 - j >= 0 : x[j]\n h [] = prod : n[1]", map[string]float64{"x": 2}, map[string]float64{"x": 1}},
	} {
		b.check(t)
	}
}

func (b boundary) check(t *testing.T) {
	t.Helper()
	f := irtest.MustParse("func f(s: input real[], p: input real[], q: input real[], x: input real[a]) {\n axes a\n " + b.body + "\n return h = h\n}")
	pair := autodiff.NewPair(f)
	given := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sampleSizes)...)
		for i := range x.Data {
			x.Data[i] = b.at[p.Name]
		}
		given[p.Name] = x
	}
	maps.Copy(given, interp.Run(pair.Fwd, sampleSizes, given))
	bar := interp.NewTensor()
	bar.Data[0] = 1
	given["h.bar"] = bar
	grads := interp.Run(pair.Bwd, sampleSizes, given)
	for n, want := range b.want {
		got := 0.0
		if g := grads[ir.AdjointName(n)]; g != nil {
			got = g.Data[0]
		}
		if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s at %v: derivative by %s is %g, want %g\n%s", b.body, b.at, n, got, want, pair.Bwd)
		}
	}
}

// TestDeclared checks the primitives whose derivative is not that of what they
// compute.
func TestDeclared(t *testing.T) {
	boundary{"e [] = exp : s\n h [] = override : s e", map[string]float64{"s": 1}, map[string]float64{"s": math.E}}.check(t)
	boundary{"e [] = stop : s\n h [] = prod : s e", map[string]float64{"s": 3}, map[string]float64{"s": 3}}.check(t)
}
