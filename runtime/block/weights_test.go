package block_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

var first = pulse.First(pulse.Build)

// table has names that begin alike, and a part whose parameters do not lie side
// by side.
func table(t *testing.T) *context.ParamSet[float64] {
	var s context.ParamSet[float64]
	for i, name := range []string{"W", "memory.W", "memory.WW", "memory2.W", "mem.W", "a.b.W", "a.W", "a.b.c", "memory.x.W"} {
		if err := s.Add(context.Param{Name: name, Shape: tensor.Shape{}, Init: context.Init{Kind: context.Constant, A: float64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	s.Fill(1)
	return &s
}

// TestWeights finds parameters by name, in parts and parts of parts.
//
//hecate:allow noescape the functions run before the scope ends
func TestWeights(t *testing.T) {
	s := table(t)
	var arena tape.Arena[float64]
	_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
		w := block.Bind(r, s.View())
		for name, of := range map[string]struct {
			got  tape.Value[float64]
			want float64
		}{
			"W":          {w.Value("W"), 0},
			"memory.W":   {w.Part("memory").Value("W"), 1},
			"memory.WW":  {w.Part("memory").Value("WW"), 2},
			"memory2.W":  {w.Part("memory2").Value("W"), 3},
			"mem.W":      {w.Part("mem").Value("W"), 4},
			"a.b.W":      {w.Part("a").Part("b").Value("W"), 5},
			"a.W":        {w.Part("a").Value("W"), 6},
			"a.b.c":      {w.Part("a").Part("b").Value("c"), 7},
			"memory.x.W": {w.Part("memory").Part("x").Value("W"), 8},
		} {
			if of.got.Data[0] != of.want {
				t.Errorf("%s is parameter %v, want %v", name, of.got.Data[0], of.want)
			}
		}
		for name, f := range map[string]func(){
			"memory.x":   func() { w.Part("memory").Value("x") },
			"b.W":        func() { w.Part("b").Value("W") },
			"a.memory.W": func() { w.Part("a").Part("memory").Value("W") },
		} {
			if got, ok := panicOf(f).(string); !ok || !strings.HasPrefix(got, "block: BUG: ") {
				t.Errorf("%s, which nobody declared: panic %v", name, got)
			}
		}
		return nil
	})
}

// TestStaleWeights uses the weights of one call in the next.
//
//hecate:allow noescape what leaves its scope is refused: that is the test
//hecate:allow nozero what leaves its scope is refused: that is the test
func TestStaleWeights(t *testing.T) {
	s := table(t)
	for name, scope := range map[string]func(*tape.Arena[float64], pulse.Pulse, func(*tape.Run[float64]) error) error{
		"with": tape.With[float64], "without": tape.Without[float64]} {
		var arena tape.Arena[float64]
		var w block.Weights[float64]
		_ = scope(&arena, first, func(r *tape.Run[float64]) error {
			w = block.Bind(r, s.View())
			return nil
		})
		_ = scope(&arena, first, func(r *tape.Run[float64]) error {
			if got := panicOf(func() { w.Part("memory").Value("W") }); got != tape.ForeignValue {
				t.Errorf("%s a tape: panic %v, want %v", name, got, tape.ForeignValue)
			}
			return nil
		})
	}
}

// TestKeep: what a call left is kept until the next scope opens on its arena,
// and refused after that; what an earlier call left and nobody kept is no part
// of the next call.
func TestKeep(t *testing.T) {
	var arena tape.Arena[float64]
	m := block.NewMemory(1, block.Slot[float64]{Name: "M", Shape: []int{2}})
	give := func(x float64) {
		_ = tape.Without(&arena, first, func(r *tape.Run[float64]) error {
			d := r.Arena.Alloc(2)
			d[0], d[1] = x, x
			m.SetNext(block.Call[float64]{Run: r, Pulse: first}, 0, d)
			m.Advance(3)
			return nil
		})
	}
	empty := func(*tape.Run[float64]) error { return nil }
	holds := func(when string, x float64, pos int32) {
		if m.Slots[0].Data[1] != x || m.Pos[0] != pos {
			t.Errorf("%s: %v at %d, want %v at %d", when, m.Slots[0].Data, m.Pos[0], x, pos)
		}
	}
	give(1)
	m.Keep()
	holds("kept", 1, 3)
	m.Keep()
	holds("kept twice", 1, 3)

	give(2)
	_ = tape.Without(&arena, first, empty)
	if got := panicOf(m.Keep); got != tape.ForeignValue {
		t.Errorf("Keep after the next scope: panic %v, want %v", got, tape.ForeignValue)
	}
	holds("refused", 1, 3)

	_ = tape.Without(&arena, first, func(r *tape.Run[float64]) error {
		return block.Call[float64]{Run: r, Pulse: r.Pulse, Batch: 1}.Check("test", m)
	})
	m.Keep()
	holds("forgotten", 1, 3)
}

func panicOf(f func()) (got any) {
	defer func() { got = recover() }()
	f()
	return nil
}

// TestPositionsStayCountable passes the last position that float32 counts: positions go on at half of it.
func TestPositionsStayCountable(t *testing.T) {
	const last = 1<<24 - 1
	m := block.Memory[float64]{Pos: []int32{last - 1, last, 5}}
	m.Advance(1)
	m.Keep()
	if want := []int32{last, 1 << 23, 6}; !slices.Equal(m.Pos, want) {
		t.Errorf("positions %v, want %v", m.Pos, want)
	}
}
