package irbuild_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The band in which the iteration of Muon leaves singular values that were at
// least bandFrom of the Frobenius norm: five rounds of the polynomial lie between
// 0.68183 (from 0.9011) and 1.13436 (from 0.6832) there, by a search over two
// million points. And rounding of the decompositions.
const (
	bandLow, bandHigh = 0.6818, 1.1344
	bandFrom          = 0.01
	svdTol            = 1e-10
)

// orthogonalised is what five rounds make of a matrix: the first step of Muon
// without momentum, decay and scale, at rate one, from zero.
func orthogonalised(t *testing.T, f *ir.Func, blk *check.Block, s *mat.Dense) *mat.Dense {
	t.Helper()
	rows, cols := s.Dims()
	sizes := map[string]int{"r": rows, "c": cols}
	in := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		in[p.Name] = interp.NewTensor(interp.Shape(p.Axes, sizes)...)
	}
	for name, o := range blk.Options {
		if x, ok := notation.Constant(o.Value); ok && in[ident.ASCII(name)] != nil {
			in[ident.ASCII(name)].Data[0] = x
		}
	}
	for i := range rows {
		for j := range cols {
			in["g"].Data[i*cols+j] = s.At(i, j)
		}
	}
	in["n"].Data[0], in["lr"].Data[0], in["lambda"].Data[0], in["mu"].Data[0] = 1, 1, 0, 0
	out := interp.Run(f, sizes, in)["w"]
	o := mat.NewDense(rows, cols, nil)
	for i, x := range out.Data {
		o.Set(i/cols, i%cols, -x)
	}
	return o
}

// muon is the update without scale, for wide and for tall matrices.
func muon(t *testing.T) (blk *check.Block, wide, tall *ir.Func) {
	t.Helper()
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	word := func(name, value string) *notation.Override {
		return &notation.Override{Name: notation.Word{Text: name}, Value: &notation.Ident{Name: notation.Word{Text: value}}}
	}
	f := &notation.Formula{Parts: []*notation.Apply{{Name: notation.Word{Text: "Muon"}, Args: []*notation.Override{word("scale", "none"), word("nesterov", "off")}}}}
	blk, ds = check.InstantiateFormula(s.Tree, "Muon", f, nil)
	var bad diag.List
	wide, tall = irbuild.Update(blk, &bad), irbuild.UpdateTall(blk, &bad)
	if ds.HasErrors() || bad.HasErrors() {
		t.Fatal(ds.Error(), bad.Error())
	}
	return blk, wide, tall
}

// orthonormal draws n orthonormal columns of m entries.
func orthonormal(rng *rand.Rand, m, n int) *mat.Dense {
	a := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range m {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, m, 0, n))
}

// TestNewtonSchulz holds the iteration to its decomposition: singular vectors
// stay, singular values come into the band, in the order of no one but the
// polynomial, and both programs do the same.
func TestNewtonSchulz(t *testing.T) {
	blk, wide, tall := muon(t)
	rng := rand.New(rand.NewPCG(7, 7))
	for _, z := range [][2]int{{4, 9}, {9, 4}, {12, 12}, {1, 6}, {6, 1}, {20, 7}} {
		k := min(z[0], z[1])
		for range 6 {
			sigma, sum := make([]float64, k), 0.0
			for i := range sigma {
				sigma[i] = math.Exp(-3.2 * rng.Float64())
				sum += sigma[i] * sigma[i]
			}
			scale := 1e3 * math.Exp(10*rng.NormFloat64()) // any scale of the gradient
			u, v, d := orthonormal(rng, z[0], k), orthonormal(rng, z[1], k), mat.NewDense(k, k, nil)
			for i, x := range sigma {
				if x/math.Sqrt(sum) < bandFrom {
					t.Fatalf("a singular value of %v is too small for this test", x/math.Sqrt(sum))
				}
				d.Set(i, i, x*scale)
			}
			var s mat.Dense
			s.Product(u, d, v.T())
			o := orthogonalised(t, wide, blk, &s)
			if x := orthogonalised(t, tall, blk, &s); !mat.EqualApprox(o, x, svdTol) {
				t.Errorf("%v: the program for tall matrices gives another result", z)
			}
			var core mat.Dense
			core.Product(u.T(), o, v)
			for i := range k {
				for j := range k {
					x := core.At(i, j)
					if i != j && !(math.Abs(x) <= svdTol) {
						t.Errorf("%v: singular vectors %d and %d are mixed by %g", z, i, j, x)
					}
					if i == j && !(x >= bandLow && x <= bandHigh) {
						t.Errorf("%v: a singular value of %.4g of the norm became %.4g, outside [%v, %v]", z, sigma[i]/math.Sqrt(sum), x, bandLow, bandHigh)
					}
				}
			}
			var svd mat.SVD
			if !svd.Factorize(o, mat.SVDNone) {
				t.Fatal("no decomposition")
			}
			for _, x := range svd.Values(nil) {
				if !(x >= bandLow && x <= bandHigh) {
					t.Errorf("%v: singular value %.4g", z, x)
				}
			}
		}
	}
}

// TestNewtonSchulzValues compares single values with a table made by hand of the
// polynomial, to the digits that it has.
func TestNewtonSchulzValues(t *testing.T) {
	blk, wide, _ := muon(t)
	for from, want := range map[float64]float64{0.01: 0.70, 0.05: 0.76, 0.1: 0.71, 0.3: 1.08, 0.7: 1.12} {
		s := mat.NewDense(2, 2, []float64{from, 0, 0, math.Sqrt(1 - from*from)})
		if got := orthogonalised(t, wide, blk, s).At(0, 0); !(math.Abs(got-want) <= 0.006) {
			t.Errorf("%v becomes %.4f, want %.2f", from, got, want)
		}
	}
}
