package tape_test

import (
	"math"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// TestDebugPoisons: under Debug every kind of free memory shows, when it is
// handed out for the first time and when it is handed out again.
func TestDebugPoisons(t *testing.T) {
	arena := tape.Arena[float32]{Debug: true}
	for scope := range 3 {
		_ = tape.Without(&arena, first, func(r *tape.Run[float32]) error {
			a := r.Arena
			for range 2 {
				m := a.Mark()
				for name, x := range map[string][]float32{"Alloc": a.Alloc(3), "Scratch": a.Scratch(5000), "Saved": r.Saved(7)} {
					if slices.ContainsFunc(x, num.IsFinite) {
						t.Errorf("scope %d: %s under Debug gives %v, want NaN", scope, name, x)
					}
					clear(x)
				}
				b, f := a.Bools(3), a.Flags(3)
				if slices.Contains(b, false) || slices.Contains(f, false) {
					t.Errorf("scope %d: truth values %v %v, want true", scope, b, f)
				}
				clear(b)
				clear(f)
				if x := a.Ints(3); slices.Max(x) >= 0 {
					t.Errorf("scope %d: integers %v, want no indices", scope, x)
				} else {
					clear(x)
				}
				a.Release(m)
			}
			if x := a.Zeros(3); x[0] != 0 || len(x) != 3 || cap(x) != 3 {
				t.Errorf("Zeros(3) = %v, cap %d", x, cap(x))
			}
			return nil
		})
	}
}

// TestDebugShowsStaleSlices reads what was given back: workspace after its
// kernel, values after the next scope has opened, adjoints too.
func TestDebugShowsStaleSlices(t *testing.T) {
	arena := tape.Arena[float64]{Debug: true}
	var value, grad []float64
	scopes := 0
	work := func(r *tape.Run[float64]) error {
		m := r.Arena.Mark()
		outer := r.Arena.Scratch(2)
		copy(outer, []float64{1, 2})
		inner := r.Arena.Mark()
		workspace := r.Arena.Scratch(10_000) // grows
		clear(workspace)
		r.Arena.Release(inner)
		if !math.IsNaN(workspace[0]) || outer[1] != 2 {
			t.Errorf("after Release the workspace reads %v, and what lies below it %v", workspace[0], outer)
		}
		r.Arena.Release(m)
		if scopes++; scopes > 1 && !math.IsNaN(outer[1]) { // in the first scope it is in a block that was too small
			t.Errorf("after Release the workspace reads %v", outer)
		}
		x := r.Input([]float64{3})
		y := mul(r, x, x)
		_ = r.Tape.Backward(y)
		value, grad = y.Data, r.Tape.GradOf(x)
		return nil
	}
	for range 3 {
		_ = tape.With(&arena, first, work)
		if value[0] != 9 || grad[0] != 6 {
			t.Errorf("after its scope: value %v, gradient %v, want 9 and 6", value, grad)
		}
		_ = tape.Without(&arena, first, func(*tape.Run[float64]) error { return nil })
		if !math.IsNaN(value[0]) || !math.IsNaN(grad[0]) {
			t.Errorf("in the next scope: value %v, gradient %v, want NaN", value, grad)
		}
	}
}

// TestArenaPiecesAreDisjoint allocates across growth, reuse, mark and release.
func TestArenaPiecesAreDisjoint(t *testing.T) {
	var arena tape.Arena[float64]
	for cycle := range 3 {
		_ = tape.Without(&arena, first, func(r *tape.Run[float64]) error {
			pieces(t, cycle, r.Arena.Alloc)
			lower := r.Arena.Scratch(100)
			lower[99] = 99
			m := r.Arena.Mark()
			pieces(t, cycle, r.Arena.Scratch)
			r.Arena.Release(m)
			copy(r.Arena.Scratch(5), []float64{-1, -1, -1, -1, -1})
			if lower[99] != 99 {
				t.Error("release gave back too much")
			}
			return nil
		})
	}
}

// pieces fills many pieces and looks whether one has hit another.
func pieces(t *testing.T, cycle int, take func(int) []float64) {
	var all [][]float64
	for i := range 300 {
		x := take(1 + i*7%97)
		for j := range x {
			x[j] = float64(i)
		}
		all = append(all, x)
	}
	for i, x := range all {
		for _, v := range x {
			if v != float64(i) {
				t.Fatalf("cycle %d: piece %d was Overwritten by %v", cycle, i, v)
			}
		}
	}
}

// TestAlignment: every piece of numbers begins at a cache line, in every block,
// also where a limit keeps blocks small.
func TestAlignment(t *testing.T) {
	t.Run("float32", alignment[float32])
	t.Run("float64", alignment[float64])
}

func alignment[F num.Float](t *testing.T) {
	for _, limit := range []int{0, 200_000} {
		arena := tape.Arena[F]{Limit: limit}
		for cycle := range 3 {
			err := tape.With(&arena, first, func(r *tape.Run[F]) error {
				for i := range 40 {
					n := 1 + i*131%977
					for name, x := range map[string][]F{"Alloc": r.Arena.Alloc(n), "Scratch": r.Arena.Scratch(n), "Zeros": r.Arena.Zeros(n),
						"Tape.Scratch": r.Tape.Scratch(n), "Grad": r.Tape.Grad(r.Input(make([]F, n)))} {
						if at := uintptr(unsafe.Pointer(&x[0])); at%64 != 0 {
							t.Fatalf("limit %d, cycle %d: %s(%d) lies at %#x", limit, cycle, name, n, at)
						}
					}
				}
				return nil
			})
			if limit == 0 && err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestScratchIsReused takes scratch in every kernel and every node, more than a
// block in all: it ends with its kernel, also in the first scope.
func TestScratchIsReused(t *testing.T) {
	var arena tape.Arena[float64]
	body := func(r *tape.Run[float64]) error {
		for range 100 {
			m := r.Arena.Mark()
			r.Arena.Scratch(700)
			r.Arena.Scratch(5000)
			r.Arena.Flags(3)
			r.Arena.Release(m)
			tape.Push[float64, scratchNode](r, kindScratch)
		}
		r.Tape.Reverse()
		return nil
	}
	work := func() { _ = tape.With(&arena, first, body) }
	work()
	if held := arena.Bytes(); held > 150_000 {
		t.Errorf("100 kernels of 5700 elements of scratch each hold %d bytes", held)
	}
	work()
	if n := testing.AllocsPerRun(1, work); n != 0 {
		t.Errorf("scratch allocates %v times", n)
	}
}

// TestArenaKeepsItsMost: a small chunk between two large ones costs nothing.
func TestArenaKeepsItsMost(t *testing.T) {
	var arena tape.Arena[float32]
	n := 100_000
	body := func(r *tape.Run[float32]) error {
		for range 5 {
			r.Arena.Alloc(n)
		}
		return nil
	}
	work := func() { _ = tape.Without(&arena, first, body) }
	work()
	work()
	n = 10
	work()
	held := arena.Bytes()
	n = 100_000
	if m := testing.AllocsPerRun(1, work); m != 0 || arena.Bytes() != held {
		t.Errorf("after a small chunk a large one allocates %v times and holds %d bytes, before it %d", m, arena.Bytes(), held)
	}
}

// TestSlots: an unrecorded node is zeroed each time and recorded ones have a
// place each.
func TestSlots(t *testing.T) {
	var arena tape.Arena[float64]
	_ = tape.Without(&arena, first, func(r *tape.Run[float64]) error {
		n := tape.Push[float64, mulNode[float64]](r, kindMul)
		n.a = tape.Const([]float64{1})
		if m := tape.Push[float64, mulNode[float64]](r, kindMul); m != n || m.a.Data != nil {
			t.Errorf("the second unrecorded node holds %v", m.a)
		}
		return nil
	})
	_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
		seen := map[*mulNode[float64]]bool{tape.Slot[float64, mulNode[float64]](r, kindMul): true}
		for range 300 {
			seen[tape.Push[float64, mulNode[float64]](r, kindMul)] = true
		}
		if len(seen) != 301 {
			t.Errorf("300 recorded nodes and a slot share %d places", len(seen))
		}
		return nil
	})
}

// TestArenasAreApart runs two streams at once, an arena each, and two on one
// arena, of which one is refused.
func TestArenasAreApart(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var arena tape.Arena[float64]
			for i := range 200 {
				_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
					x := r.Param("x", []float64{float64(g), float64(i)})
					loss := chain(r, x, 3)
					_ = r.Tape.Backward(loss)
					a, b := float64(g), float64(i)
					if got, want := r.Tape.GradOf(x), []float64{4 * a * a * a, 4 * b * b * b}; !slices.Equal(got, want) {
						t.Errorf("stream %d: gradient %v, want %v", g, got, want)
					}
					return nil
				})
			}
		})
	}
	wg.Wait()

	var arena tape.Arena[float64]
	_ = tape.Without(&arena, first, func(*tape.Run[float64]) error {
		refused := make(chan any)
		go func() {
			defer func() { refused <- recover() }()
			_ = tape.Without(&arena, first, func(*tape.Run[float64]) error { return nil })
		}()
		if got := <-refused; got != tape.Nested {
			t.Errorf("a second goroutine on an arena in use: %v, want %v", got, tape.Nested)
		}
		return nil
	})
}
