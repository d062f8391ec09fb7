package block_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
)

// rowsOf is a memory of two sequences with one slot of two rows in a set, under a part.
func rowsOf(set block.Rows, rows ...float64) *block.Memory[float64] {
	m := block.NewMemory(2, block.Slot[float64]{Name: "S", Shape: []int{2, 2}, Rows: set})
	copy(m.Slots[0].Data[4:], rows)
	copy(m.Slots[0].Data, []float64{math.NaN(), 7, 7, 7}) // sequence 0: a new context has no memory yet
	m.Pos[1] = 3
	top := block.NewMemory[float64](2)
	top.Parts = append(top.Parts, block.Part[float64]{Name: "memory", Memory: m})
	return top
}

// TestStatesInTheirSets fills a memory from outside.
func TestStatesInTheirSets(t *testing.T) {
	for _, c := range []struct {
		set  block.Rows
		rows []float64
		want string
	}{
		{block.AnyRows, []float64{0, 0, 5, -7}, ""},
		{block.UnitRows, []float64{0.6, -0.8, 1, 0}, ""},
		{block.UnitRows, []float64{0.6, -0.8, 1, 1e-6}, ""},
		{block.UnitRows, []float64{0.6, -0.8, 0, 0}, "Model.memory: state S of sequence 1 begins outside its set: row 1 has the norm 0, must be 1"},
		{block.UnitRows, []float64{math.NaN(), 0, 1, 0}, "Model.memory: state S of sequence 1 begins outside its set: row 0 has the norm NaN, must be 1"},
		{block.Distributions, []float64{0.25, 0.75, 1, 0}, ""},
		{block.Distributions, []float64{0.25, 0.5, 1, 0}, "Model.memory: state S of sequence 1 begins outside its set: row 0 has the sum 0.75, must be 1"},
		{block.Distributions, []float64{0.25, 0.75, 1.5, -0.5}, "Model.memory: state S of sequence 1 begins outside its set: row 1 has the entry -0.5, must be at least 0"},
		{block.Distributions, []float64{0.25, math.Inf(1), 1, 0}, "Model.memory: state S of sequence 1 begins outside its set: row 0 has the sum +Inf, must be 1"},
	} {
		m := rowsOf(c.set, c.rows...)
		got := ""
		if err := m.Clone().Check("Model"); err != nil {
			if got = err.Error(); !errors.As(err, new(*block.StateError)) {
				t.Errorf("%v: %T is no StateError", c.rows, err)
			}
		}
		if got != c.want {
			t.Errorf("%v in set %d: %q, want %q", c.rows, c.set, got, c.want)
		}
	}
}

// TestFirstValues checks sequences whose context starts here, and no others.
func TestFirstValues(t *testing.T) {
	m := rowsOf(block.UnitRows, 1, 0, 0, 1).Parts[0].Memory
	start := []float64{1, 0, 0, -1, 0, 0, 0, 0}
	if err := block.CheckStart("Rule", m, 0, start); err != nil {
		t.Errorf("the second sequence has a memory, and its start was checked: %v", err)
	}
	start[3] = 0
	want := "Rule: state S of sequence 0 begins outside its set: row 1 has the norm 0, must be 1"
	if err := block.CheckStart("Rule", m, 0, start); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestRange: an entry of a filled memory that is outside of its range is refused, the
// name of the slot in front.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		r    *block.Range
		x    float64
		want string
	}{
		{block.AtLeast(0), 0, ""},
		{block.AtLeast(0), -0.5, "state S of sequence 1 begins outside its set: row 1 has the entry -0.5, must be at least 0"},
		{block.AtMost(2), 3, "must be at most 2"},
		{block.Between(1, 2), 1.5, ""},
		{block.Between(1, 2), 0, "must be at least 1"},
		{block.Between(1, 2), math.NaN(), "must be at least 1"},
	} {
		m := block.NewMemory(2, block.Slot[float64]{Name: "S", Shape: []int{2}, Range: c.r})
		copy(m.Slots[0].Data, []float64{9, 9, 1.5, c.x})
		m.Pos[1] = 3 // the other context has not begun
		err := m.Check("Block")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v in %v: %v, want %q", c.x, *c.r, err, c.want)
		}
	}
}
