// Package kern is the runtime of emitted kernels: matrix product and triangular solve, the
// elementary functions of the fused arithmetic, the division of rows into jobs, and reads that
// may miss. It is not meant to be called by hand.
package kern

//go:generate go run github.com/nl-hecate/hecate/gen/emitasm/kerngen

import "github.com/nl-hecate/hecate/runtime/num"

// Entry is x[at], or zero where there is no such entry.
func Entry[E any](in bool, x []E, at int) (e E) {
	if in {
		e = x[at]
	}
	return e
}

// From is x without its first n entries.
func From[E any](x []E, n int) []E { return x[min(n, len(x)):] }

// Choose is x where c holds, else y.
func Choose[E any](c bool, x, y E) E {
	if c {
		return x
	}
	return y
}

// Gemm computes C[i,j] = coef·Σ_k A[i,k]·B[k,j], or += with add, for i < m,
// j < n, k < depth. The first entry of each matrix is the first of its slice;
// next to it come the distances between rows and between columns.
//
// Each entry is one sum over k from zero, in order, multiplied by coef at its
// end: no block size changes a bit.
func Gemm[F num.Float](m, n, depth int, coef F, add bool,
	c []F, cRow, cCol int, a []F, aRow, aCol int, b []F, bRow, bCol int) {
	if m == 0 || n == 0 {
		return
	}
	if depth == 0 {
		// A sum of nothing: there is no first entry to read.
		for i := 0; i < m && !add; i++ {
			for j := range n {
				c[i*cRow+j*cCol] = 0
			}
		}
		return
	}
	if cCol != 1 && cRow == 1 || m == 1 {
		// Cᵀ = Bᵀ·Aᵀ has columns next to each other.
		m, n, cRow, cCol = n, m, cCol, cRow
		a, aRow, aCol, b, bRow, bCol = b, bCol, bRow, a, aCol, aRow
	}
	var s [8]F
	for i := 0; i < m; i += 4 {
		rows := min(4, m-i)
		for j := 0; j < n; j += 2 {
			cols := min(2, n-j)
			if rows == 4 && cols == 2 {
				gemm4x2(depth, a[i*aRow:], aRow, aCol, b[j*bCol:], bRow, bCol, &s)
			} else {
				gemmEdge(rows, cols, depth, a[i*aRow:], aRow, aCol, b[j*bCol:], bRow, bCol, &s)
			}
			for r := range rows {
				for q := range cols {
					at := (i+r)*cRow + (j+q)*cCol
					x := F(coef * s[2*r+q])
					if add {
						x = c[at] + x
					}
					c[at] = x
				}
			}
		}
	}
}

// gemm4x2 sums a block of four rows and two columns.
func gemm4x2[F num.Float](depth int, a []F, aRow, aCol int, b []F, bRow, bCol int, s *[8]F) {
	var s00, s01, s10, s11, s20, s21, s30, s31 F
	a0, a1, a2, a3 := a, a[aRow:], a[2*aRow:], a[3*aRow:]
	b0, b1 := b, b[bCol:]
	ia, ib := 0, 0
	for range depth {
		p, q := b0[ib], b1[ib]
		x := a0[ia]
		s00 += F(x * p)
		s01 += F(x * q)
		x = a1[ia]
		s10 += F(x * p)
		s11 += F(x * q)
		x = a2[ia]
		s20 += F(x * p)
		s21 += F(x * q)
		x = a3[ia]
		s30 += F(x * p)
		s31 += F(x * q)
		ia += aCol
		ib += bRow
	}
	*s = [8]F{s00, s01, s10, s11, s20, s21, s30, s31}
}

// gemmEdge sums any block of at most four rows and two columns.
func gemmEdge[F num.Float](rows, cols, depth int, a []F, aRow, aCol int, b []F, bRow, bCol int, s *[8]F) {
	for r := range rows {
		for q := range cols {
			var sum F
			ia, ib := r*aRow, q*bCol
			for range depth {
				sum += F(a[ia] * b[ib])
				ia += aCol
				ib += bRow
			}
			s[2*r+q] = sum
		}
	}
}

// Triangle solves a triangular system in place: X[t,j] −= Σ_{i<t} A[t,i]·X[i,j]
// for t = 0 … m−1 and j < n, or with down from the last row to the first, over
// the i after t. The first entry of each matrix is the first of its slice;
// next to it come the distances between rows and between columns.
//
// Each entry is one sequence over the rows that are done, in their order, from
// what it was. It does not read what A has elsewhere.
func Triangle[F num.Float](m, n int, down bool, x []F, xRow, xCol int, a []F, aRow, aCol int) {
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
			c := a[at*aRow+i*aCol]
			for j := range n {
				x[at*xRow+j*xCol] -= F(c * x[i*xRow+j*xCol])
			}
		}
	}
}
