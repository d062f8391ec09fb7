package kern

import (
	"fmt"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
)

// GemmFMA is Gemm in the fused arithmetic: C[i,j] = coef·Σ_k A[i,k]·B[k,j], or
// += with add, for i < m, j < n, k < depth. The first entry of each matrix is
// the first of its slice; next to it come the distances between rows and
// between columns.
//
// Each entry is one sequence over k of fused multiply-adds, each rounded once,
// from zero and in order; its end is multiplied by coef, or with add multiplied
// and added to C with one rounding. Every level of the arithmetic and every
// number of workers gives the same bits. A depth of zero is a sum of nothing:
// zeros, or with add C as it was.
//
// It panics, before anything is written, if a size or distance is negative, a
// slice is too short, or entries of C are entries of A or B.
func GemmFMA(m, n, depth int, coef float32, add bool,
	c []float32, cRow, cCol int, a []float32, aRow, aCol int, b []float32, bRow, bCol int) {
	if m < 0 || n < 0 || depth < 0 {
		panic(fmt.Sprintf("kern: a product of %d by %d by %d: sizes are not negative", m, depth, n))
	}
	if m == 0 || n == 0 {
		return
	}
	inC := reach("C", len(c), m, cRow, n, cCol)
	if depth == 0 {
		// A sum of nothing: there is no first entry to read.
		for i := 0; i < m && !add; i++ {
			if cCol == 1 {
				clear(c[i*cRow:][:n])
				continue
			}
			for j := range n {
				c[i*cRow+j*cCol] = 0
			}
		}
		return
	}
	inA, inB := reach("A", len(a), m, aRow, depth, aCol), reach("B", len(b), depth, bRow, n, bCol)
	apart("A", c[:inC+1], [4]int{m, cRow, n, cCol}, a[:inA+1], [4]int{m, aRow, depth, aCol})
	apart("B", c[:inC+1], [4]int{m, cRow, n, cCol}, b[:inB+1], [4]int{depth, bRow, n, bCol})
	if (cCol != 1 || n == 1) && cRow == 1 && m > 1 || m == 1 && cCol != 1 {
		// Cᵀ = Bᵀ·Aᵀ has columns next to each other.
		m, n, cRow, cCol = n, m, cCol, cRow
		a, aRow, aCol, b, bRow, bCol = b, bCol, bRow, a, aCol, aRow
	}
	// Rows of C that are contiguous each, apart from each other.
	rows := (cCol == 1 || n == 1) && (cRow >= n || m == 1)
	if level := cpu.Active(); !rows || !level.Vector() || !gemmFast(level, m, n, depth, coef, add, c, cRow, a, aRow, aCol, b, bRow, bCol) {
		gemmTwin(m, n, depth, coef, add, c, cRow, cCol, a, aRow, aCol, b, bRow, bCol)
	}
}

// reach is the last entry that a matrix has in a slice, which must be there.
func reach(name string, length, rows, row, cols, col int) int {
	last, ok := length-1, row >= 0 && col >= 0 && length > 0
	if ok && rows > 1 && row > 0 {
		ok = row <= last/(rows-1)
	}
	if ok && rows > 1 {
		last -= (rows - 1) * row
	}
	if ok && cols > 1 && col > 0 {
		ok = col <= last/(cols-1)
	}
	if !ok {
		panic(fmt.Sprintf("kern: %s is %d by %d at distances %d and %d, in %d numbers", name, rows, cols, row, col, length))
	}
	return (rows-1)*row + (cols-1)*col
}

// apart panics if entries of C are entries of x: if the pieces of memory
// overlap, other than two column ranges of one matrix. Shapes are rows, their
// distance, columns, and theirs.
func apart(name string, c []float32, shape [4]int, x []float32, other [4]int) {
	if overlap(c, shape, x, other) {
		panic("kern: entries of C are entries of " + name + ": a product cannot be written over its operands")
	}
}

// overlap reports whether two matrices may have entries in common.
func overlap(c []float32, shape [4]int, x []float32, other [4]int) bool {
	const size = unsafe.Sizeof(c[0])
	atC, atX := uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&x[0]))
	if atC+uintptr(len(c))*size <= atX || atX+uintptr(len(x))*size <= atC {
		return false
	}
	long, wide := lines(shape)
	longX, wideX := lines(other)
	if long == longX && long > 0 && atX%size == atC%size {
		// Both have lines of the same length: where does x begin in a line of C?
		d := (int(atX-atC) / int(size)) % long
		if d < 0 {
			d += long
		}
		if d >= wide && d+wideX <= long {
			return false
		}
	}
	return true
}

// lines are the greater distance of a matrix and how much of it is used.
func lines(shape [4]int) (long, wide int) {
	if shape[1] < shape[3] {
		shape = [4]int{shape[2], shape[3], shape[0], shape[1]}
	}
	return shape[1], (shape[2]-1)*shape[3] + 1
}

// gemmTwin is the arithmetic in Go, for every distance: four entries of a row
// at a time, so that their latencies overlap.
func gemmTwin(m, n, depth int, coef float32, add bool,
	c []float32, cRow, cCol int, a []float32, aRow, aCol int, b []float32, bRow, bCol int) {
	for i := range m {
		for j := 0; j < n; j += 4 {
			var s [4]float32
			cols := min(4, n-j)
			if cols == 4 {
				gemmTwin4(depth, a[i*aRow:], aCol, b[j*bCol:], bRow, bCol, &s)
			} else {
				for q := range cols {
					s[q] = gemmTwin1(depth, a[i*aRow:], aCol, b[(j+q)*bCol:], bRow)
				}
			}
			for q, s := range s[:cols] {
				if at := i*cRow + (j+q)*cCol; add {
					c[at] = num.FMA32(coef, s, c[at])
				} else {
					c[at] = coef * s
				}
			}
		}
	}
}

func gemmTwin4(depth int, a []float32, aCol int, b []float32, bRow, bCol int, s *[4]float32) {
	var s0, s1, s2, s3 float32
	ia, ib := 0, 0
	for range depth {
		x := a[ia]
		s0 = num.FMA32(x, b[ib], s0)
		s1 = num.FMA32(x, b[ib+bCol], s1)
		s2 = num.FMA32(x, b[ib+2*bCol], s2)
		s3 = num.FMA32(x, b[ib+3*bCol], s3)
		ia += aCol
		ib += bRow
	}
	*s = [4]float32{s0, s1, s2, s3}
}

func gemmTwin1(depth int, a []float32, aCol int, b []float32, bRow int) (s float32) {
	ia, ib := 0, 0
	for range depth {
		s = num.FMA32(a[ia], b[ib], s)
		ia += aCol
		ib += bRow
	}
	return s
}
