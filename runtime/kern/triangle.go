package kern

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
)

// TriangleFMA is Triangle in the fused arithmetic: X[t,j] −= Σ_{i<t}
// A[t,i]·X[i,j] for t = 0 … m−1 and j < n, in place, or with down from the last
// row to the first, over the i after t. The first entry of each matrix is the
// first of its slice; next to it come the distances between rows and between
// columns.
//
// Each entry is one sequence of fused multiply-adds over the rows that are done, in
// their order, from what it was; every level of the arithmetic gives the same
// bits. What A has on its diagonal and on the other side of it is not read.
//
// It panics, before anything is written, if a size or distance is negative, a
// slice is too short, or entries of X are entries of A.
func TriangleFMA(m, n int, down bool, x []float32, xRow, xCol int, a []float32, aRow, aCol int) {
	if m < 0 || n < 0 {
		panic(fmt.Sprintf("kern: a triangle of %d by %d: sizes are not negative", m, n))
	}
	if m == 0 || n == 0 {
		return
	}
	inX, inA := reach("X", len(x), m, xRow, n, xCol), reach("A", len(a), m, aRow, m, aCol)
	if overlap(x[:inX+1], [4]int{m, xRow, n, xCol}, a[:inA+1], [4]int{m, aRow, m, aCol}) {
		panic("kern: entries of X are entries of A: a system cannot be solved over its matrix")
	}
	// Rows of X that are contiguous each, apart from each other.
	rows := (xCol == 1 || n == 1) && (xRow >= n || m == 1)
	if level := cpu.Active(); !rows || !level.Vector() || !triangleFast(level, m, n, down, x, xRow, a, aRow, aCol) {
		triangleTwin(m, n, down, x, xRow, xCol, a, aRow, aCol)
	}
}

// triangleTwin is the arithmetic in Go, for every distance.
func triangleTwin(m, n int, down bool, x []float32, xRow, xCol int, a []float32, aRow, aCol int) {
	row := func(t int) int {
		if down {
			return m - 1 - t
		}
		return t
	}
	for t := range m {
		at := row(t)
		for s := range t {
			i := row(s)
			c := -a[at*aRow+i*aCol]
			for j := range n {
				x[at*xRow+j*xCol] = num.FMA32(c, x[i*xRow+j*xCol], x[at*xRow+j*xCol])
			}
		}
	}
}
