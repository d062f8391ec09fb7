package block

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A page may declare that the rows of a state lie on the unit sphere or on the
// simplex, or that its entries lie in a range, and the compiler proves that no step takes
// them away. So they can only be elsewhere from the start: where a context begins with what was learned, or
// where somebody filled a memory. Both are looked at, the first by every call in
// which a context begins, the second by Check.

// Rows says where the rows of a slot lie: along its last axis.
type Rows int

// The sets of rows.
const (
	AnyRows       Rows = iota // anywhere
	UnitRows                  // of norm one
	Distributions             // no entry below zero, and the sum one
)

// A Range is the numbers from Lo to Hi, in which the entries of a slot lie.
type Range struct{ Lo, Hi float64 }

// Between is the range from lo to hi.
func Between(lo, hi float64) *Range { return &Range{lo, hi} }

// AtLeast is the range of lo and above.
func AtLeast(lo float64) *Range { return &Range{lo, math.Inf(1)} }

// AtMost is the range of hi and below.
func AtMost(hi float64) *Range { return &Range{math.Inf(-1), hi} }

// leaves says what an entry must be to lie in the range, or "" where it does.
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

// rowTol is how far a row may be from its set. Ten thousand steps in float32
// take it less than a hundredth of that away; what is farther never was there.
const rowTol = 1e-3

// A StateError says that a row or an entry of a state is outside the set that its page
// declares.
type StateError struct {
	Block, State string
	Lane, Row    int
	Has          string // norm, sum or entry
	Got          float64
	Want         string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("%s: state %s of lane %d begins outside its set: row %d has the %s %.6g, must be %s", e.Block, e.State, e.Lane, e.Row, e.Has, e.Got, e.Want)
}

// Check refuses a memory that was filled from outside, a file or a program, with
// a row that its page excludes: a StateError. It looks at the lanes whose context
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

// CheckStart refuses first values in start, [lanes, …], of slot i with a row that
// the page excludes, in the lanes whose context starts here: a StateError.
func CheckStart[F num.Float](name string, m *Memory[F], i int, start []F) error {
	return m.checkSlot(name, i, start, true)
}

// checkSlot looks at the rows and entries of a slot in the lanes that are fresh, or in
// the others.
func (m *Memory[F]) checkSlot(name string, i int, data []F, fresh bool) error {
	s := &m.Slots[i]
	lane := s.size()
	for l := range m.Pos {
		if m.Fresh(l) != fresh {
			continue
		}
		if s.Range != nil {
			for r, x := range data[l*lane : (l+1)*lane] {
				if want := s.Range.leaves(float64(x)); want != "" {
					return &StateError{Block: name, State: s.Name, Lane: l, Row: r, Has: "entry", Got: float64(x), Want: want}
				}
			}
		}
		if s.Rows == AnyRows || len(s.Shape) == 0 {
			continue
		}
		n := s.Shape[len(s.Shape)-1]
		for r := range lane / n {
			row := data[l*lane+r*n : l*lane+(r+1)*n]
			if has, got, want := leaves(s.Rows, row); want != "" {
				return &StateError{Block: name, State: s.Name, Lane: l, Row: r, Has: has, Got: got, Want: want}
			}
		}
	}
	return nil
}

// leaves says how a row is outside a set: what it has, how much of it, and what
// the set wants, which is "" where the row is inside. What is no number is outside.
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
