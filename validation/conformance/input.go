package conformance

import (
	"errors"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
)

// badBlock feeds a block inputs of the wrong length, and a memory of other sequences.
func badBlock(t *testing.T, b Block) {
	z := longest(b.Sizes, b.Tokens)
	s := made(t, z, b.F64)
	n := batch * z["T"] * s.Width()
	for _, length := range []int{0, 1, n - 1, n + 1, 2 * n} {
		for _, frozen := range []bool{false, true} {
			p := newSetup(blockSubject(s, frozen), newArgs[float64](t, z, 1))
			p.a.In["x"] = make([]float64, length)
			p.refused(func(err error) bool { var want *block.LengthError; return errors.As(err, &want) },
				"an input of %d entries instead of %d is not a LengthError", length, n)
		}
	}
	badStates(t, s, z)
	for _, frozen := range []bool{false, true} {
		p := newSetup(blockSubject(s, frozen), newArgs[float64](t, z, 1))
		p.mem = s.NewMemory(batch + 1)
		p.refused(func(err error) bool { var want *block.SizeError; return errors.As(err, &want) },
			"a memory of a batch of %d instead of %d is not a SizeError", batch+1, batch)
	}
}

// badStates fills a memory with zeros, which are in no set of rows, and begins
// contexts with parameters that are all zero: either the first states are in
// their sets, and then what a call leaves is, or the call is refused.
func badStates(t *testing.T, s block.Block[float64], z Sizes) {
	declared := func(m *block.Memory[float64]) bool {
		return slices.ContainsFunc(m.Slots, func(x block.Slot[float64]) bool { return x.Rows != block.AnyRows })
	}
	p := newSetup(blockSubject(s, false), newArgs[float64](t, z, 1))
	if !declared(p.mem) {
		return
	}
	isState := func(err error) bool { var want *block.StateError; return errors.As(err, &want) }
	for i := range p.mem.Slots {
		clear(p.mem.Slots[i].Data)
	}
	for l := range p.mem.Pos {
		p.mem.Pos[l] = 1
	}
	if err := p.mem.Check(s.Name()); !isState(err) {
		t.Errorf("a memory of zeros is not a StateError: %v", err)
	}
	for _, name := range p.params() {
		clear(p.a.In[name])
	}
	for l := range p.mem.Pos {
		p.mem.Reset(l)
	}
	m := p.mem.Clone()
	err := p.try(m, false)
	if err == nil {
		err = m.Check(s.Name())
		if err != nil {
			t.Errorf("a call begins with zeros and leaves them: %v", err)
		}
		return
	}
	if !isState(err) {
		t.Errorf("a context that begins with zeros is not a StateError: %v", err)
	}
}

// badModel feeds a model ids that it does not have, and too many or too few.
func badModel(t *testing.T, m Model) {
	z := longest(m.Sizes, m.Tokens)
	s := made(t, z, m.F64)
	n := batch * z["T"]
	for _, name := range []string{"ids", "next"} {
		for _, id := range []int32{int32(s.Vocabulary()), -1, -2, 1 << 30} {
			if name == "next" && id == -1 {
				continue // no target
			}
			p := newSetup(modelSubject(s), newArgs[float64](t, z, 1))
			p.a.Ints[name][n-1] = id
			p.refused(func(err error) bool { var want *block.RangeError; return errors.As(err, &want) }, "%s with a %d is not a RangeError", name, id)
		}
		for _, length := range []int{0, 1, n - 1, n + 1} {
			p := newSetup(modelSubject(s), newArgs[float64](t, z, 1))
			p.a.Ints[name] = make([]int32, length)
			p.refused(func(err error) bool { var want *block.LengthError; return errors.As(err, &want) },
				"%s of %d entries instead of %d is not a LengthError", name, length, n)
		}
	}
}

// refused wants an error of a kind, with and without a tape, and no panic.
func (u *setup[F]) refused(kind func(error) bool, format string, args ...any) {
	u.t.Helper()
	for _, taped := range []bool{false, true} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					u.t.Errorf(format+": panic: %v", append(args, r)...)
				}
			}()
			if err := u.try(u.mem.Clone(), taped); !kind(err) {
				u.t.Errorf(format+": %v", append(args, err)...)
			}
		}()
	}
}
