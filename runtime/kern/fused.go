package kern

import (
	"math"
	"sync"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// Fused reports whether kernels compute in the fused arithmetic.
func Fused() bool { return cpu.Active() > cpu.Portable }

// Wide reports whether they do so on vectors, in assembly.
func Wide() bool { return cpu.Active().Vector() }

// Given is the first entry of what may be absent: nil where it is, or is empty.
func Given(x []float32) *float32 {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// The rows of a recurrence run as parts of a job. Where rows add to the same
// entries the parts are blocks, and fixed by the number of rows, for each has
// sums of its own; else any part will do.

// most is the number of blocks that rows are divided into at most, and least
// the number of rows in one of several.
const (
	most  = 4
	least = 32
)

// BlockRows are the first row of a block and the row after its last.
func BlockRows(block, rows int) (first, last int) {
	n := blockLen(rows)
	return min(block*n, rows), min(block*n+n, rows)
}

// Blocks is the number of blocks.
func Blocks(rows int) int {
	if rows == 0 {
		return 1
	}
	n := blockLen(rows)
	return (rows + n - 1) / n
}

// blockLen is the number of rows in a block: a multiple of eight.
func blockLen(rows int) int {
	blocks := max(1, min(most, rows/least))
	return max(8, ((rows+blocks-1)/blocks+7)&^7)
}

// Parts is the number of parts of rows that add to nothing in common.
func Parts(rows int) int { n := partLen(rows); return max(1, (rows+n-1)/n) }

// PartRows are the first row of a part and the row after its last.
func PartRows(part, rows int) (first, last int) {
	n := partLen(rows)
	return min(part*n, rows), min(part*n+n, rows)
}

func partLen(rows int) int {
	if rows < 128 && workers.Count() > 1 {
		return 32
	}
	return 64
}

// AddBlocks adds the sums of all blocks but the first to those of the first,
// block after block; those of a block are step numbers after those of the
// block before. Stretches of entries are parts of a job.
func AddBlocks(sum, from []float32, step, blocks int) {
	s := blockSums.Get().(*blockSum)
	*s = blockSum{sum, from, step, blocks}
	workers.Each((len(sum)+stretch-1)/stretch, s)
	*s = blockSum{}
	blockSums.Put(s)
}

// stretch is how many entries a worker adds up at once: they stay in the second cache from block
// to block.
const stretch = 16 << 10

type blockSum struct {
	sum, from    []float32
	step, blocks int
}

var blockSums = sync.Pool{New: func() any { return new(blockSum) }}

// Part adds up one stretch.
func (s *blockSum) Part(i int) {
	first, last := i*stretch, min(i*stretch+stretch, len(s.sum))
	for b := range s.blocks - 1 {
		Accumulate(s.sum[first:last], s.from[b*s.step+first:])
	}
}

// Widths are the numbers of rows that the functions of a job take at once, for
// NEON, AVX2 and AVX-512, largest first.
type Widths [3][]int

func (w Widths) level() (rows []int, lanes int) {
	level := cpu.Active()
	if level == cpu.AVX512 {
		return w[2], 16
	}
	return w[level-cpu.NEON], 8
}

// cache is how many numbers of rows' own buffers stay in the first cache, and
// near how many are worth the most rows at once.
const (
	cache = 8 << 10
	near  = 80 << 10
)

// Most is the number of rows to begin with, each with n numbers of its own. Rows
// side by side are as many as the first cache holds. With columns side by side
// the most rows are for those that have few numbers; fewer do for all others.
func (w Widths) Most(n int, across bool) int {
	rows, _ := w.level()
	if across {
		for len(rows) > 1 && rows[0]*n > cache {
			rows = rows[1:]
		}
	} else if len(rows) > 2 && rows[0]*n > near {
		rows = rows[1:]
	}
	return rows[0]
}

// Next is the number of rows of the next call, where left remain: no more than
// now. Rows side by side may fill all vectors but the last; else the rows are
// all there.
func (w Widths) Next(now, left int, across bool) int {
	rows, lanes := w.level()
	for _, r := range rows {
		if r <= now && (across && left > r-lanes || left >= r) {
			return r
		}
	}
	return rows[len(rows)-1]
}

// Tail is how many of rows are there, and how many of those in the last vector.
func (w Widths) Tail(rows, left int) (n, tail int) {
	_, lanes := w.level()
	n = min(rows, left)
	return n, n - (rows - lanes)
}

// RowLen is the length of rows' entries with columns side by side: 16 columns
// of each row after another.
func RowLen(n, rows int) int { return (n + 15) &^ 15 * rows }

// Interleave lays n entries of rows, stride apart in from, into that order.
func Interleave(to []float32, rows int, from []float32, stride, n int) {
	whole := n / 16
	moveBlocks(to, from, blockArgs{toStep: 16, fromStep: stride, toBlock: 16 * rows, fromBlock: 16, rows: rows, blocks: whole})
	if n == 16*whole {
		return
	}
	for r := range rows {
		last := to[16*(rows*whole+r):][:16]
		clear(last)
		copy(last, from[r*stride+16*whole:][:n-16*whole])
	}
}

// Separate is the way back.
func Separate(from []float32, rows int, to []float32, stride, n int) {
	whole := n / 16
	moveBlocks(to, from, blockArgs{toStep: stride, fromStep: 16, toBlock: 16, fromBlock: 16 * rows, rows: rows, blocks: whole})
	if n == 16*whole {
		return
	}
	for r := range rows {
		copy(to[r*stride+16*whole:][:n-16*whole], from[16*(rows*whole+r):])
	}
}

// A blockArgs is the argument of a copy of blocks of 16 columns of rows, with
// the steps from row to row and from block to block.
type blockArgs struct {
	to, from           *float32
	toStep, fromStep   int
	toBlock, fromBlock int
	rows, blocks       int
}

func moveBlocks(to, from []float32, a blockArgs) {
	if a.rows == 0 || a.blocks == 0 {
		return
	}
	if Wide() {
		_ = to[(a.rows-1)*a.toStep+(a.blocks-1)*a.toBlock+15]
		_ = from[(a.rows-1)*a.fromStep+(a.blocks-1)*a.fromBlock+15]
		a.to, a.from = &to[0], &from[0]
		copyBlocks(&a)
		return
	}
	for b := range a.blocks {
		for r := range a.rows {
			copy(to[b*a.toBlock+r*a.toStep:][:16], from[b*a.fromBlock+r*a.fromStep:][:16])
		}
	}
}

// Transpose lays entry j of rows, stride apart in from, side by side.
func Transpose(to []float32, rows int, from []float32, stride, there, n int) {
	if there < rows {
		clear(to[:rows*n])
	}
	Transposed(to, rows, from, 0, stride, there, n)
}

// TransposeBack is the way back.
func TransposeBack(from []float32, rows int, to []float32, stride, there, n int) {
	Transposed(to, stride, from, 0, rows, n, there)
}

// CopyRows copies n entries of rows, stride apart in from and in to.
func CopyRows(to []float32, toStride int, from []float32, stride, rows, n int) {
	for r := range rows {
		copy(to[r*toStride:][:n], from[r*stride:][:n])
	}
}

// A stripArgs is the argument of a transposition of strips of as many rows as a
// vector has lanes, four entries at a time. Steps are in bytes.
type stripArgs struct {
	to, from         *float32
	toStep, fromStep int
	quads, strips    int
}

// Transposed sets to[j·step + r] = from[at + r·stride + j] for r < rows and j < n; a negative
// stride takes the rows from the last to the first. Whole strips and quads go at once, then the
// entries after the last quad, then the rows after the last strip.
func Transposed(to []float32, step int, from []float32, at, stride, rows, n int) {
	r, quads := 0, n/4
	if Wide() && quads > 0 {
		lanes := [...]int{cpu.NEON: 4, cpu.AVX2: 8, cpu.AVX512: 16}[cpu.Active()]
		if strips := rows / lanes; strips > 0 {
			r = strips * lanes
			_, _, _ = to[(n-1)*step+r-1], from[at+n-1], from[at+(r-1)*stride+n-1]
			transposeStrips(&stripArgs{&to[0], &from[at], 4 * step, 4 * stride, quads, strips})
		}
	}
	for j := 4 * quads; j < n; j++ {
		for i := range r {
			to[j*step+i] = from[at+i*stride+j]
		}
	}
	for ; r < rows; r++ {
		for j, x := range from[at+r*stride:][:n] {
			to[j*step+r] = x
		}
	}
}

// Partial sums of a loop: iteration j adds to number j mod 16, or j mod 2.

// Sum2 adds two partial sums.
func Sum2(s *[2]float32) float32 { return s[0] + s[1] }

// Sum16 adds 16 partial sums as a tree.
func Sum16(s *[16]float32) float32 {
	var q [4]float32
	for i := range q {
		x := s[4*i:]
		q[i] = (x[0] + x[2]) + (x[1] + x[3])
	}
	return (q[0] + q[2]) + (q[1] + q[3])
}

// Top16 is the largest of 16 numbers, or NaN if one is NaN.
func Top16(s *[16]float32) float32 {
	var q [4]float32
	for i := range q {
		x := s[4*i:]
		q[i] = Gather(Gather(x[0], x[2]), Gather(x[1], x[3]))
	}
	return Gather(Gather(q[0], q[2]), Gather(q[1], q[3]))
}

// Top2 is the larger of two numbers, or NaN if one is NaN.
func Top2(s *[2]float32) float32 { return Gather(s[0], s[1]) }

// Lowest16 is where a maximum of partial maxima begins.
func Lowest16() (s [16]float32) {
	for i := range s {
		s[i] = float32(math.Inf(-1))
	}
	return s
}

// Lowest2 is where a maximum of two partial maxima begins.
func Lowest2() [2]float32 {
	return [2]float32{float32(math.Inf(-1)), float32(math.Inf(-1))}
}

// Accumulate adds numbers to as many others.
func Accumulate(to, from []float32) {
	from = from[:len(to)]
	if Wide() && len(to) > 0 {
		accumulate(&to[0], &from[0], len(to))
		return
	}
	for i, x := range from {
		to[i] += x
	}
}
