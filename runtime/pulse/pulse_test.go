package pulse

import (
	"fmt"
	"strings"
	"testing"
)

func Example() {
	p := First(Build, 1, 8)
	for range 9 {
		p = p.Next(128)
	}
	fmt.Println(p.Step(), p.Position(), p.Active(0), p.Active(1), p.Phase())
	// Output: 9 1152 true false build
}

func ExampleSchedule() {
	s := Schedule{Unit: Tokens, Periods: []int{1, 8}}
	p := s.First(Stream)
	for range 4 {
		p = p.Of(5)
		fmt.Println(p.Position(), p.Active(1), p.began(1))
		p = p.Next(5)
	}
	// Output:
	// 0 true 0
	// 5 true 8
	// 10 false 8
	// 15 true 16
}

// plain computes by counting what a pulse computes by division: the mask of the
// chunk [from, from+n) of the unit, and where each level's own chunk began.
func plain(periods []int, from, n uint64) (mask uint8, began []uint64) {
	began = make([]uint64, len(periods))
	for l, c := range periods {
		for x := uint64(0); x < from+n; x++ {
			if x%uint64(c) == 0 {
				began[l] = x
				if x >= from {
					mask |= 1 << l
				}
			}
		}
	}
	return mask, began
}

func check(t *testing.T, p Pulse, periods []int, from, n uint64) {
	t.Helper()
	mask, began := plain(periods, from, n)
	if p.Mask() != mask {
		t.Fatalf("step %d, tokens [%d, +%d): mask %b, want %b", p.Step(), p.Position(), p.Tokens(), p.Mask(), mask)
	}
	for l := range periods {
		active := mask>>l&1 == 1
		if p.Active(l) != active || p.Boundary(l) != active || p.began(l) != began[l] {
			t.Fatalf("step %d level %d: active %v, boundary %v, began %d, want %v, %v, %d",
				p.Step(), l, p.Active(l), p.Boundary(l), p.began(l), active, active, began[l])
		}
	}
}

// TestSteps follows a run of 1,025 chunks, of lengths that divide nothing, in
// both units.
func TestSteps(t *testing.T) {
	periods := []int{1, 8, 64, 512}
	want := map[uint64]uint8{0: 0b1111, 1: 1, 7: 1, 8: 0b11, 63: 1, 64: 0b111, 511: 1, 512: 0b1111, 520: 0b11, 1024: 0b1111}
	for _, s := range []Schedule{{Chunks, periods}, {Tokens, periods}} {
		p, active := s.First(Test), 0
		for step := range uint64(1025) {
			n := 1 + int(step*7%13)
			p = p.Of(n)
			if p.Step() != step || p.Tokens() != n || p.Levels() != 4 || p.Period(2) != 64 || p.Unit() != s.Unit {
				t.Fatalf("%v: step %d of %d tokens, want %d of %d", s, p.Step(), p.Tokens(), step, n)
			}
			if s.Unit == Chunks {
				check(t, p, periods, step, 1)
				if w, ok := want[step]; ok && p.Mask() != w {
					t.Errorf("step %d: mask %b, want %b", step, p.Mask(), w)
				}
				if step < 512 {
					for l := range periods {
						if p.Active(l) {
							active++
						}
					}
				}
			} else {
				check(t, p, periods, p.Position(), uint64(n))
			}
			if q := s.First(Test).At(p.Step(), p.Position()).Of(n); q != p {
				t.Fatalf("At(%d, %d) = %v, want %v", p.Step(), p.Position(), q, p)
			}
			p = p.Next(n)
		}
		if s.Unit == Chunks && active != 512+64+8+1 {
			t.Errorf("%d active levels in 512 steps, want 585", active)
		}
	}
}

// TestUnitsAgree cuts tokens one by one: then both units say the same.
func TestUnitsAgree(t *testing.T) {
	periods := []int{1, 2, 6}
	a, b := Schedule{Chunks, periods}.First(Build), Schedule{Tokens, periods}.First(Build)
	for range 40 {
		if a.Mask() != b.Mask() || b.Of(1).Mask() != b.Mask() {
			t.Fatalf("step %d: %b in chunks, %b in tokens", a.Step(), a.Mask(), b.Mask())
		}
		a, b = a.Next(1), b.Next(1)
	}
}

func TestReceiverIsUnchanged(t *testing.T) {
	p := Schedule{Tokens, []int{1, 4}}.First(Stream)
	q := p
	if p.Next(5); p != q {
		t.Error("Next changed its receiver")
	}
	if p.Of(5); p != q {
		t.Error("Of changed its receiver")
	}
	if p.In(Test); p != q || p.In(Test).Phase() != Test || p.In(Test).Mask() != p.Mask() {
		t.Error("In changed its receiver, or more than the phase")
	}
	s := p.Schedule()
	s.Periods[1] = 9
	if p.Period(1) != 4 || s.Unit != Tokens {
		t.Error("the schedule of a pulse shares its periods")
	}
}

// TestCheckPeriods wants each error to say what would do.
func TestCheckPeriods(t *testing.T) {
	for _, c := range []struct {
		periods []int
		want    string
	}{
		{[]int{}, "0 levels, want 1 to 8"},
		{[]int{2}, "level 0 has period 2, want 1"},
		{[]int{1, 0}, "level 1 has period 0, less than level 0's 1"},
		{[]int{1, 8, 4}, "level 2 has period 4, less than level 1's 8"},
		{[]int{1, 8, 12}, "level 2 has period 12, which level 1's period 8 does not divide: take 8 or 16"},
		{[]int{1, 3, 7, 49}, "level 2 has period 7, which level 1's period 3 does not divide: take 6 or 9"},
		{[]int{1, -8}, "level 1 has period -8, less"},
		{[]int{1, 1 << 31}, "at most 1073741824"},
		{[]int{1, 2, 4, 8, 16, 32, 64, 128, 256}, "9 levels, want 1 to 8"},
	} {
		if err := CheckPeriods(c.periods); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("CheckPeriods(%v) = %v, want %q", c.periods, err, c.want)
		}
	}
	for _, good := range [][]int{{1}, {1, 8, 64, 512}, {1, 1, 3}} {
		if err := CheckPeriods(good); err != nil {
			t.Error(err)
		}
	}
	if err := (Schedule{Unit: 7}).Check(); err == nil {
		t.Error("a schedule of no unit is accepted")
	}
	if err := (Schedule{}).Check(); err != nil {
		t.Error(err)
	}
	if u, err := UnitOf("tokens"); u != Tokens || err != nil {
		t.Errorf("UnitOf(tokens) = %v, %v", u, err)
	}
	if _, err := UnitOf("token"); err == nil {
		t.Error("UnitOf(token) = nil")
	}
	if s := (Schedule{Tokens, []int{1, 8}}).String(); s != "1 8 tokens" {
		t.Errorf("a schedule prints as %q", s)
	}
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func()
	}{
		{badPhase, func() { First(0) }},
		{badPhase, func() { First(Build).In(4) }},
		{badPeriods, func() { First(Build, 3) }},
		{badUnit, func() { Schedule{Unit: 2}.First(Build) }},
		{badTokens, func() { First(Build).Next(0) }},
		{badTokens, func() { First(Build).Of(0) }},
		{badTokens, func() { First(Build).Of(1 << 31) }},
		{zeroPulse, func() { Pulse{}.Next(1) }},
		{zeroPulse, func() { Pulse{}.Of(1) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %v", got, c.want)
				}
			}()
			c.f()
		}()
	}
}
