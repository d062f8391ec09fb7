package sample

import (
	"math"
	"slices"
	"testing"
)

var logits = []float32{0, 2, 1, 2, -3}

// counts draws often and returns how often each id came.
func counts(t *testing.T, s Settings, n int) (c [5]int) {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	d := New[float32](s)
	for range n {
		id := d.Next(logits)
		logprob := LogProb(logits, id)
		sum := 0.0
		for _, z := range logits {
			sum += math.Exp(float64(z))
		}
		if want := float64(logits[id]) - math.Log(sum); !(math.Abs(logprob-want) <= 1e-9) {
			t.Fatalf("logprob of %d is %v, want %v", id, logprob, want)
		}
		c[id]++
	}
	return c
}

// TestNext compares frequencies with probabilities, which are known, and finds
// nothing drawn that a setting has cut off.
func TestNext(t *testing.T) {
	const n = 20000
	for name, x := range map[string]struct {
		s    Settings
		stay []int
		temp float64
	}{
		"greedy":   {Settings{TopP: 1}, []int{1}, 1},
		"all":      {Settings{Temperature: 1, TopP: 1}, []int{0, 1, 2, 3, 4}, 1},
		"cool":     {Settings{Temperature: 0.5, TopP: 1}, []int{0, 1, 2, 3, 4}, 0.5},
		"two":      {Settings{Temperature: 1, TopK: 2, TopP: 1}, []int{1, 3}, 1},
		"tie":      {Settings{Temperature: 1, TopK: 1, TopP: 1}, []int{1}, 1},
		"share":    {Settings{Temperature: 1, TopP: 0.8}, []int{1, 3, 2}, 1}, // 0.39 + 0.39 + 0.14
		"likely":   {Settings{Temperature: 1, TopP: 1, MinP: 0.3}, []int{1, 3, 2}, 1},
		"no share": {Settings{Temperature: 1}, []int{0, 1, 2, 3, 4}, 1},
	} {
		got := counts(t, x.s, n)
		total := 0.0
		for _, i := range x.stay {
			total += math.Exp(float64(logits[i]) / x.temp)
		}
		for i := range got {
			want := 0.0
			for _, s := range x.stay {
				if s == i {
					want = math.Exp(float64(logits[i])/x.temp) / total
				}
			}
			// Five standard deviations of a share of so many draws.
			if bound := 5 * math.Sqrt(want*(1-want)/n); !(math.Abs(float64(got[i])/n-want) <= bound) {
				t.Errorf("%s: %d came %d times of %d, want a share of %.4f", name, i, got[i], n, want)
			}
		}
	}
	seeded := Settings{Temperature: 1, TopP: 1, Seed: 3}
	if one, two := counts(t, seeded, 50), counts(t, seeded, 50); one != two {
		t.Error("a seed gives two texts")
	}
}

func TestCheck(t *testing.T) {
	for want, s := range map[string]Settings{
		"repeat-penalty is -1, must be from 0 to 100": {Penalty: -1},
		"temperature is NaN, must be from 0 to 100":   {Temperature: math.NaN()},
		"top-k is -1, must be from 0 to 2147483647":   {TopK: -1},
		"top-p is 1.5, must be from 0 to 1":           {TopP: 1.5},
		"min-p is -1, must be from 0 to 1":            {MinP: -1},
	} {
		if err := s.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestPenalty: a token that came within the window is less likely, by its logit.
func TestPenalty(t *testing.T) {
	d := New[float32](Settings{Penalty: 4, Window: 2})
	var got []int
	for range 6 {
		got = append(got, d.Next(logits))
	}
	if want := []int{1, 3, 2, 1, 3, 2}; !slices.Equal(got, want) { // 2, 2 and 1, and a quarter of each after it came
		t.Errorf("drawn %v, want %v", got, want)
	}
	d = New[float32](Settings{Penalty: 2})
	d.Saw(4)
	for range 3 {
		d.Next([]float32{-5, -5, -5, -5, -3}) // −3 becomes −6
	}
	if slices.Contains(d.lately[1:], 4) {
		t.Errorf("a negative logit was not lowered: %v", d.lately)
	}
}
