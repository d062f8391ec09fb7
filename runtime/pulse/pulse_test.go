package pulse

import (
	"fmt"
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

func TestActivity(t *testing.T) {
	p := First(Test, 1, 8, 64, 512)
	want := map[uint64]uint8{0: 0b1111, 1: 1, 8: 0b11, 64: 0b111, 512: 0b1111, 520: 0b11, 1024: 0b1111}
	active := 0
	for range 1025 {
		if w, ok := want[p.Step()]; ok && p.Mask() != w {
			t.Errorf("step %d: mask %b, want %b", p.Step(), p.Mask(), w)
		}
		if p.Step() < 512 {
			for l := range p.Levels() {
				if p.Active(l) {
					active++
				}
				if p.Boundary(l) != p.Active(l) {
					t.Errorf("step %d level %d: boundary %v, active %v", p.Step(), l, p.Boundary(l), p.Active(l))
				}
			}
		}
		if q := First(Test, 1, 8, 64, 512).At(p.Step(), p.Position()); q != p {
			t.Errorf("At(%d, %d) = %v, want %v", p.Step(), p.Position(), q, p)
		}
		p = p.Next(3)
	}
	if active != 512+64+8+1 {
		t.Errorf("%d active levels in 512 steps, want 585", active)
	}
}

func TestNextLeavesReceiver(t *testing.T) {
	p := First(Stream)
	q := p
	if p.Next(5); p != q {
		t.Error("Next changed its receiver")
	}
}

func TestCheckPeriods(t *testing.T) {
	for _, bad := range [][]int{{}, {2}, {1, 0}, {1, 8, 4}, {1, 8, 12}, {1, -8}, {1, 2, 4, 8, 16, 32, 64, 128, 256}} {
		if CheckPeriods(bad) == nil {
			t.Errorf("CheckPeriods(%v) = nil, want an error", bad)
		}
	}
	if err := CheckPeriods([]int{1, 8, 64, 512}); err != nil {
		t.Error(err)
	}
}

func TestMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		BadPhase:   func() { First(0) },
		BadPeriods: func() { First(Build, 3) },
		BadTokens:  func() { First(Build).Next(0) },
		ZeroPulse:  func() { Pulse{}.Next(1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			f()
		}()
	}
}
