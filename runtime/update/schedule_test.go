package update

import (
	"math"
	"strings"
	"testing"
)

// TestFactor holds factors to what they are by hand.
func TestFactor(t *testing.T) {
	cosine := func(x float64) float64 { return 0.1 + 0.9*0.5*(1+math.Cos(math.Pi*x)) }
	for _, x := range []struct {
		s    Schedule
		want map[int]float64
	}{
		{Schedule{}, map[int]float64{1: 1, 100: 1}},
		{Schedule{WarmUp: 4}, map[int]float64{1: 0.25, 3: 0.75, 4: 1, 5: 1}},
		{Schedule{Shape: Cosine, Steps: 12, WarmUp: 2, Final: 0.1},
			map[int]float64{1: 0.5, 2: 1, 3: 1, 4: cosine(0.1), 8: cosine(0.5), 12: cosine(0.9), 13: cosine(0.9)}},
		{Schedule{Shape: WSD, Steps: 10, WarmUp: 2, Decay: 0.4},
			map[int]float64{1: 0.5, 2: 1, 6: 1, 7: 1, 8: 0.75, 9: 0.5, 10: 0.25, 11: 0.25}},
		{Schedule{Shape: WSD, WarmUp: 2, Decay: 0.4}, map[int]float64{1: 0.5, 1000: 1}}, // not decided
	} {
		if err := x.s.Check(); err != nil {
			t.Errorf("%v: %v", x.s, err)
		}
		for n, want := range x.want {
			if got := x.s.Factor(n); !(math.Abs(got-want) <= 1e-15) {
				t.Errorf("%v: the factor of step %d is %v, want %v", x.s, n, got, want)
			}
		}
	}
	if s := (Schedule{Power: 0.5}); s.Rate(7, 1) != 1 || s.Rate(7, 16) != 4 {
		t.Errorf("a level of period 16 has %v times the rate", s.Rate(7, 16))
	}
}

// TestDecided decides when the next step depends on the number, and never changes a rate
// that was.
func TestDecided(t *testing.T) {
	for _, x := range []struct {
		s           Schedule
		total, done int
		want        int
		ok          bool
	}{
		{Schedule{Shape: WSD, Decay: 0.2}, 100, 79, 0, false},
		{Schedule{Shape: WSD, Decay: 0.2}, 100, 80, 100, true},
		{Schedule{Shape: WSD, Decay: 0.2}, 100, 90, 111, true}, // step 90 had the full rate
		{Schedule{Shape: WSD, Decay: 0.2, WarmUp: 10}, 5, 9, 0, false},
		{Schedule{Shape: Cosine, WarmUp: 10}, 100, 9, 0, false},
		{Schedule{Shape: Cosine, WarmUp: 10}, 100, 10, 100, true},
		{Schedule{Shape: Cosine}, 100, 0, 0, false},
		{Schedule{Shape: Cosine}, 100, 1, 100, true},
	} {
		n, ok := x.s.Decided(x.total, x.done)
		if n != x.want || ok != x.ok {
			t.Errorf("%v: %d steps after %d, with room for %d: %d, %v", x.s, n, x.done, x.total, x.want, x.ok)
		}
		if later := x.s; ok {
			later.Steps = n
			if at := later.Differs(x.s, x.done); at > 0 {
				t.Errorf("%v: the rate of step %d was another", later, at)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for says, s := range map[string]Schedule{
		`no schedule "linear"`:             {Shape: "linear"},
		"warm-up has 10 steps, the run 10": {Steps: 10, WarmUp: 10},
		"longer than the run of 10":        {Shape: WSD, Steps: 10, WarmUp: 5, Decay: 0.6},
		"must be 0 to 1":                   {Final: math.NaN()},
		"decay":                            {Decay: 2},
		"power":                            {Power: 3},
		"warm-up of -1":                    {WarmUp: -1},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", s, err, says)
		}
	}
}

// TestDiffers: what is not yet reached may differ.
func TestDiffers(t *testing.T) {
	short, long := Schedule{Shape: WSD, Steps: 10, Decay: 0.4}, Schedule{Shape: WSD, Steps: 20, Decay: 0.4}
	if n := short.Differs(long, 7); n != 0 {
		t.Errorf("before the decay they differ at %d", n)
	}
	if n := short.Differs(long, 10); n != 8 {
		t.Errorf("they differ at %d, want 8", n)
	}
	if n := (Schedule{}).Differs(Schedule{Power: 0.5}, 1); n != 1 {
		t.Errorf("levels of other rates differ at %d", n)
	}
}
