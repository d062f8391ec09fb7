package ir

import (
	"math"
	"testing"
)

// TestTableIsTotal holds every row of the table of primitives to what other
// packages derive from it.
func TestTableIsTotal(t *testing.T) {
	names, pages := map[string]bool{}, map[string]bool{}
	for _, op := range Ops() {
		info := op.Info()
		if info.Name == "" || names[info.Name] {
			t.Errorf("primitive %d has no name of its own: %q", op, info.Name)
		}
		names[info.Name] = true
		if info.Cost == 0 {
			t.Errorf("%v has no cost", op)
		}
		if info.Page != "" && pages[info.Page] {
			t.Errorf("pages call two primitives %s", info.Page)
		}
		pages[info.Page] = true
		if scalar := info.Elementwise && info.Args > 0; scalar != (op.Called() || op == Stop || op == Override) {
			t.Errorf("%v is elementwise and has %d arguments, but no function of numbers", op, info.Args)
		}
		if (info.f1 != nil) && info.Args != 1 || (info.f2 != nil) && info.Args != 2 {
			t.Errorf("the function of %v has another number of arguments", op)
		}
		if (info.Page != "" || info.Cost == Function) && info.f1 == nil && info.f2 == nil {
			t.Errorf("%v is called on pages or counted by name, but is no function", op)
		}
	}
}

// TestProperties holds parity and monotonicity of the functions of one number
// to their values.
func TestProperties(t *testing.T) {
	points := []float64{0.1, 0.4, 0.9, 1, 1.3, 2.5, 3}
	for _, op := range Ops() {
		info := op.Info()
		if info.f1 == nil || info.Out != Real {
			continue
		}
		odd, even, increasing, decreasing := true, true, true, true
		for i, x := range points {
			y, z := info.f1(x), info.f1(-x)
			odd, even = odd && math.Abs(y+z) < 1e-15, even && math.Abs(y-z) < 1e-15
			if i > 0 {
				before, after := info.f1(points[i-1]), info.f1(-points[i-1])
				increasing = increasing && y >= before && !(z > after)
				decreasing = decreasing && y <= before && !(z < after)
			}
		}
		if op == Stop || op == ToReal {
			continue // copies
		}
		if odd != (info.Parity == -1) || even != (info.Parity == 1) {
			t.Errorf("%v: parity %d, but odd is %v and even is %v", op, info.Parity, odd, even)
		}
		if op != Sign && (increasing != (info.Monotone == 1) || decreasing != (info.Monotone == -1)) {
			t.Errorf("%v: monotone is %d, but its values increase: %v, decrease: %v", op, info.Monotone, increasing, decreasing)
		}
	}
}
