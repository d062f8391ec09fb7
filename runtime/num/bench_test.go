package num

import "testing"

var sink32 float32
var sink64 float64

func bench[F Float](b *testing.B, f func(F) F) F {
	var xs [1024]F
	FillUniform(xs[:], NewStream("bench", 1), -4, 4)
	var s F
	for i := 0; b.Loop(); i++ {
		s += f(xs[i&1023])
	}
	return s
}

// BenchmarkExp measures generic calls as generated code makes them: in a loop,
// instantiated, not through a function value.
func BenchmarkExp(b *testing.B) {
	b.Run("float32", func(b *testing.B) { sink32 = sumExp[float32](b) })
	b.Run("float64", func(b *testing.B) { sink64 = sumExp[float64](b) })
}

func sumExp[F Float](b *testing.B) F {
	xs := make([]F, 1024)
	FillUniform(xs, NewStream("bench", 1), -4, 4)
	var s F
	b.SetBytes(0)
	for b.Loop() {
		for _, x := range xs {
			s += Exp(x)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/exp")
	return s
}

// BenchmarkFunctions includes an indirect call of about 2 ns.
func BenchmarkFunctions(b *testing.B) {
	for _, f := range functions {
		if f.name == "exp subnormal" {
			continue
		}
		b.Run(f.name+"/float32", func(b *testing.B) { sink32 = bench(b, f.f32) })
		b.Run(f.name+"/float64", func(b *testing.B) { sink64 = bench(b, f.f64) })
	}
	b.Run("pow/float32", func(b *testing.B) {
		sink32 = bench(b, func(x float32) float32 { return Pow(Abs(x), 1.7) })
	})
	b.Run("pow/float64", func(b *testing.B) {
		sink64 = bench(b, func(x float64) float64 { return Pow(Abs(x), 1.7) })
	})
}
