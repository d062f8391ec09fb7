package kern_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/kern"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// What is around the regions: the division of rows into parts, and what moves
// numbers between rows and vectors.

// atEachLevel runs f at every level of the fused arithmetic that is here.
func atEachLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range cpu.Targets()[1:] {
		restore, err := cpu.Force(l)
		if err != nil {
			continue // this machine lacks it
		}
		t.Run(l.String(), f)
		restore()
	}
}

// TestBlocks: blocks cover the rows once and in order, are whole multiples of
// eight but for the last, are few, and do not depend on the number of workers.
func TestBlocks(t *testing.T) {
	defer workers.SetCount(0)
	for rows := range 1200 {
		var first [][2]int
		for count := 1; count <= 4; count++ {
			workers.SetCount(count)
			var got [][2]int
			for b := range kern.Blocks(rows) {
				from, to := kern.BlockRows(b, rows)
				got = append(got, [2]int{from, to})
			}
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Fatalf("%d rows: %v with %d workers, %v with one", rows, got, count, first)
			}
			covers(t, rows, count, kern.Parts(rows), kern.PartRows)
		}
		covers(t, rows, 1, len(first), kern.BlockRows)
		for _, b := range first[:len(first)-1] {
			if (b[1]-b[0])%8 != 0 {
				t.Fatalf("%d rows: block %v", rows, b)
			}
		}
		if len(first) > 8 {
			t.Fatalf("%d rows: %d blocks", rows, len(first))
		}
	}
}

func covers(t *testing.T, rows, count, parts int, bounds func(part, rows int) (int, int)) {
	t.Helper()
	at := 0
	for p := range parts {
		from, to := bounds(p, rows)
		if from != at || to < from || to == from && rows > 0 {
			t.Fatalf("%d rows, %d workers: part %d is [%d, %d) behind %d", rows, count, p, from, to, at)
		}
		at = to
	}
	if at != rows {
		t.Fatalf("%d rows, %d workers: %d parts end at %d", rows, count, parts, at)
	}
}

// numbers are different from each other.
func numbers(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i + 1)
	}
	return x
}

// TestMoves: rows into either order, entry by entry, and back; nothing between
// the rows is touched.
func TestMoves(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			rows, n := []int{1, 2, 4, 8, 16, 32, 64}[r.IntN(7)], 1+r.IntN(70)
			there, stride := 1+r.IntN(rows), n+r.IntN(5)
			from := numbers(rows * stride)

			side := make([]float32, rows*n)
			kern.Transpose(side, rows, from, stride, there, n)
			for i := range side {
				want := float32(0)
				if i%rows < there {
					want = from[i%rows*stride+i/rows]
				}
				if side[i] != want {
					t.Fatalf("transposed %d rows of %d (%d there): entry %d is %v, want %v", rows, n, there, i, side[i], want)
				}
			}
			back := make([]float32, len(from))
			kern.TransposeBack(side, rows, back, stride, there, n)
			sameRows(t, "transposed back", back, from, stride, there, n)

			long := make([]float32, kern.RowLen(n, rows))
			kern.Interleave(long, rows, from, stride, n)
			for i := range rows {
				for j := range n {
					if at := j/16*16*rows + 16*i + j%16; long[at] != from[i*stride+j] {
						t.Fatalf("%d rows of %d: row %d, column %d is %v", rows, n, i, j, long[at])
					}
				}
			}
			clear(back)
			kern.Separate(long, rows, back, stride, n)
			sameRows(t, "separated", back, from, stride, rows, n)
		}
	})
}

// TestTransposed: a part of a matrix goes to its transpose, also from the last row to the first,
// and nothing around it is touched.
func TestTransposed(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 500 {
			rows, n, first := r.IntN(80), r.IntN(70), r.IntN(9)
			step, stride := rows+r.IntN(3), n+r.IntN(5)
			from, to := numbers(first+(rows+1)*stride), make([]float32, n*step+rows)
			at, by := first, stride
			if r.IntN(2) == 0 && rows > 0 {
				at, by = first+(rows-1)*stride, -stride
			}
			kern.Transposed(to, step, from, at, by, rows, n)
			for i, got := range to {
				want := float32(0)
				if step > 0 && i%step < rows && i/step < n {
					want = from[at+i%step*by+i/step]
				}
				if got != want {
					t.Fatalf("%d rows of %d, %d apart from %d: entry %d is %v, want %v", rows, n, by, at, i, got, want)
				}
			}
		}
	})
}

func sameRows(t *testing.T, what string, got, want []float32, stride, there, n int) {
	t.Helper()
	for i := range got {
		w := float32(0)
		if i/stride < there && i%stride < n {
			w = want[i]
		}
		if got[i] != w {
			t.Fatalf("%s: entry %d of %d rows of %d, stride %d: %v, want %v", what, i, there, n, stride, got[i], w)
		}
	}
}

// TestSums: the tree of partial sums, and blocks in their order.
func TestSums(t *testing.T) {
	s := [16]float32{1 << 24, 1, -1 << 24, 1} // ((2²⁴ − 2²⁴) + (1 + 1)): in another order a 1 is lost
	if got := kern.Sum16(&s); got != 2 {
		t.Errorf("Sum16 = %v, want 2", got)
	}
	s = [16]float32{0: 1 << 24, 4: 1, 8: -1 << 24, 12: 1}
	if got := kern.Sum16(&s); got != 2 {
		t.Errorf("Sum16 of quarters = %v, want 2", got)
	}
	atEachLevel(t, func(t *testing.T) {
		const stretch = 16 << 10 // of entries that a worker adds up at once
		for n := range 203 {
			if n >= 200 {
				n += 2*stretch - 201 // around two of them
			}
			sum, blocks := make([]float32, n), numbers(3*(n+2))
			want := make([]float32, n)
			for i := range n {
				sum[i] = 0.1 * float32(i)
				want[i] = sum[i] + blocks[i] + blocks[n+2+i] + blocks[2*n+4+i]
			}
			kern.AddBlocks(sum, blocks, n+2, 4)
			if !slices.Equal(sum, want) {
				t.Fatalf("%d entries: %v, want %v", n, sum, want)
			}
		}
	})
}

// TestWidths: the calls of a job take every row once, and never more rows than
// there are unless vectors may be filled.
func TestWidths(t *testing.T) {
	for _, c := range []struct {
		widths kern.Widths
		across bool
	}{{kern.Widths{{16, 8}, {16, 8}, {64, 32, 16}}, true}, {kern.Widths{{2, 1}, {4, 1}, {8, 1}}, false}} {
		for _, l := range cpu.Targets()[2:] {
			restore, err := cpu.Force(l)
			if err != nil {
				continue
			}
			for left := 1; left < 300; left++ {
				at, rows := 0, c.widths.Most(100, c.across)
				for at < left {
					rows = c.widths.Next(rows, left-at, c.across)
					n, tail := c.widths.Tail(rows, left-at)
					if !c.across && (n != rows || n > left-at) || c.across && (tail < 1 || n < 1) {
						t.Fatalf("%v, %d rows left: %d at once, %d there, %d in the last vector", l, left-at, rows, n, tail)
					}
					at += rows
				}
			}
			restore()
		}
	}
}
