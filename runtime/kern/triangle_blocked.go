//go:build (amd64 || arm64) && !purego

package kern

import "github.com/nl-hecate/hecate/runtime/cpu"

// A triangular solve goes through its columns in panels of as many as four
// vectors hold, or two of those of AVX2 and NEON, and in a panel through four rows at a
// time: what the rows before them take away first, then the little triangle
// among themselves, in registers. From the last row to the first it is the same
// with all distances turned.

const (
	triangleRows   = 4  // rows that are done at once
	triangleWidest = 64 // columns of the widest panel
)

// A triangleBlock is the argument of a micro-kernel. Distances are in bytes.
type triangleBlock struct {
	a            *float32 // of the first row of the block and the first that is done
	aRow, aCol   int
	done         *float32 // the first row that is done
	x            *float32 // the first row of the block
	xRow         int
	mask         *int32 // of the columns that there are
	columns      int    // their number
	before, rows int
}

var triangleBlocks shelf[triangleBlock]

// triangleMasks has the mask of n columns from entry triangleWidest−n on.
var triangleMasks = func() (m [2 * triangleWidest]int32) {
	for i := range triangleWidest {
		m[i] = -1
	}
	return m
}()

// triangleFast solves with the kernels of a level.
func triangleFast(level cpu.Target, m, n int, down bool, x []float32, xRow int, a []float32, aRow, aCol int) bool {
	first, step := 0, 1
	if down {
		first, step = m-1, -1
	}
	k := kernels(level)
	width := k.trianglePanel
	p := triangleBlocks.take()
	*p = triangleBlock{aRow: 4 * step * aRow, aCol: 4 * step * aCol, xRow: 4 * step * xRow}
	for j := 0; j < n; j += width {
		p.done = &x[first*xRow+j]
		p.columns = min(width, n-j)
		p.mask = &triangleMasks[triangleWidest-p.columns]
		for p.before = 0; p.before < m; p.before += triangleRows {
			row := first + step*p.before
			p.rows = min(triangleRows, m-p.before)
			p.a, p.x = &a[row*aRow+first*aCol], &x[row*xRow+j]
			k.triangle(p)
		}
	}
	p.a, p.done, p.x = nil, nil, nil // keeps no matrix alive
	triangleBlocks.put(p)
	return true
}
