package gradcheck

import (
	"math"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/num"
)

// ULPs returns how many representable numbers lie between a and b: 0 for equal
// (also −0 and +0, and NaN with NaN), the largest uint64 if one is NaN.
func ULPs[F num.Float](a, b F) uint64 {
	switch {
	case a == b || a != a && b != b:
		return 0
	case a != a || b != b:
		return math.MaxUint64
	}
	x, y := rank(a), rank(b)
	return uint64(max(x, y)) - uint64(min(x, y))
}

// rank numbers the floats in order; both zeros are 0.
func rank[F num.Float](x F) int64 {
	if unsafe.Sizeof(x) == 4 {
		u := math.Float32bits(float32(x))
		if u>>31 == 1 {
			return -int64(u & math.MaxInt32)
		}
		return int64(u)
	}
	u := math.Float64bits(float64(x))
	if u>>63 == 1 {
		return -int64(u & math.MaxInt64)
	}
	return int64(u)
}

// MaxULPs returns the largest ULPs of two slices of one length and where it is.
func MaxULPs[F num.Float](a, b []F) (worst uint64, at int) {
	if len(a) != len(b) {
		panic(LengthMismatch)
	}
	for i := range a {
		if u := ULPs(a[i], b[i]); u > worst {
			worst, at = u, i
		}
	}
	return worst, at
}

// RelL2 returns ‖got − want‖₂/‖want‖₂, 0 if both are zero, NaN if an element
// is NaN. The sums are in float64.
func RelL2[F num.Float](got, want []F) float64 {
	if len(got) != len(want) {
		panic(LengthMismatch)
	}
	var d2, w2 float64
	for i := range got {
		d := float64(got[i]) - float64(want[i])
		d2 += float64(d * d)
		w2 += float64(float64(want[i]) * float64(want[i]))
	}
	if d2 == 0 {
		return 0
	}
	return math.Sqrt(d2 / w2)
}
