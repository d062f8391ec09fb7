package block

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
)

// A page may declare that the rows of a state are on the unit sphere or on the
// simplex, or that its entries are in a range, and the compiler proves that every step
// keeps them there. So a state can only be outside from the start: where a context begins
// with a learned initial state, or where a program filled a memory. The first is checked
// by every call in which a context begins, the second by Check.

// Rows is the set that the rows of a slot, along its last axis, belong to.
type Rows int

// The sets of rows.
const (
	AnyRows       Rows = iota // anywhere
	UnitRows                  // of norm one
	Distributions             // no entry below zero, and the sum one
)

// A Range is the interval from Lo to Hi that the entries of a slot belong to.
type Range struct{ Lo, Hi float64 }

// Between is the range from lo to hi.
func Between(lo, hi float64) *Range { return &Range{lo, hi} }

// AtLeast is the range of lo and above.
func AtLeast(lo float64) *Range { return &Range{lo, math.Inf(1)} }

// AtMost is the range of hi and below.
func AtMost(hi float64) *Range { return &Range{math.Inf(-1), hi} }

// leaves returns what an entry must be to be in the range, or "" where it is.
func (r *Range) leaves(x float64) (want string) {
	slack := func(end float64) float64 { return rowTol * math.Max(1, math.Abs(end)) }
	switch {
	case !(x >= r.Lo-slack(r.Lo)):
		return fmt.Sprintf("at least %g", r.Lo)
	case !(x <= r.Hi+slack(r.Hi)):
		return fmt.Sprintf("at most %g", r.Hi)
	}
	return ""
}

// rowTol is how far a row may be from its set. Rounding of ten thousand steps in
// float32 moves it by less than a hundredth of that.
const rowTol = 1e-3

// A StateError says that a row or an entry of a state is outside the set that its page
// declares.
type StateError struct {
	Block, State  string
	Sequence, Row int
	Has           string // norm, sum or entry
	Got           float64
	Want          string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("%s: state %s of sequence %d begins outside its set: row %d has the %s %.6g, must be %s", e.Block, e.State, e.Sequence, e.Row, e.Has, e.Got, e.Want)
}

// Check refuses a memory that was filled from outside, a file or a program, with
// a row that its page excludes: a StateError. It checks the sequences whose context
// has begun, in all parts; name is that of the block.
func (m *Memory[F]) Check(name string) error {
	for i := range m.Slots {
		if err := m.checkSlot(name, i, m.Slots[i].Data, false); err != nil {
			return err
		}
	}
	for _, p := range m.Parts {
		if err := p.Memory.Check(name + "." + p.Name); err != nil {
			return err
		}
	}
	return nil
}

// CheckStart refuses an initial state in start, [batch, …], of slot i with a row that
// the page excludes, in the sequences whose context starts here: a StateError.
func CheckStart[F num.Float](name string, m *Memory[F], i int, start []F) error {
	return m.checkSlot(name, i, start, true)
}

// checkSlot checks the rows and entries of a slot in the sequences that are fresh, or in
// the others.
func (m *Memory[F]) checkSlot(name string, i int, data []F, fresh bool) error {
	s := &m.Slots[i]
	if s.Range == nil && (s.Rows == AnyRows || len(s.Shape) == 0) || !device.Computed(data) {
		return nil
	}
	data = device.Host(data)
	size := s.size()
	for l := range m.Pos {
		if m.Fresh(l) != fresh {
			continue
		}
		if s.Range != nil {
			for r, x := range data[l*size : (l+1)*size] {
				if want := s.Range.leaves(float64(x)); want != "" {
					return &StateError{Block: name, State: s.Name, Sequence: l, Row: r, Has: "entry", Got: float64(x), Want: want}
				}
			}
		}
		if s.Rows == AnyRows || len(s.Shape) == 0 {
			continue
		}
		n := s.Shape[len(s.Shape)-1]
		for r := range size / n {
			row := data[l*size+r*n : l*size+(r+1)*n]
			if has, got, want := leaves(s.Rows, row); want != "" {
				return &StateError{Block: name, State: s.Name, Sequence: l, Row: r, Has: has, Got: got, Want: want}
			}
		}
	}
	return nil
}

// leaves says how a row is outside a set: the property (norm, sum or entry), its
// value, and what the set wants, which is "" where the row is inside. NaN is outside.
func leaves[F num.Float](set Rows, row []F) (has string, got float64, want string) {
	sum, squares := 0.0, 0.0
	for _, x := range row {
		v := float64(x)
		if set == Distributions && !(v >= -rowTol) {
			return "entry", v, "at least 0"
		}
		sum += v
		squares += v * v
	}
	if set == Distributions {
		has, got = "sum", sum
	} else {
		has, got = "norm", math.Sqrt(squares)
	}
	if !(math.Abs(got-1) <= rowTol) {
		want = "1"
	}
	return has, got, want
}
