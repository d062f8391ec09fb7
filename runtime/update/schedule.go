package update

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A Schedule is the learning rate of a run as a function of the run's steps: the factor of
// the update's rate at a step. All parameters see the same factor at a step, however often
// their level is updated. The zero Schedule is the constant factor 1.
//
// The factor rises linearly over the first WarmUp steps. Then Constant stays; Cosine falls
// along half a cosine from 1 to Final at the last step (Loshchilov and Hutter,
// arXiv:1608.03983); WSD, warm-up, stable, decay, stays and falls linearly to Final over the
// share Decay of the run at its end (Hu et al., arXiv:2404.06395; the linear fall: Hägele et
// al., arXiv:2405.18392).
type Schedule struct {
	Shape  Shape
	Steps  int     // of the run; 0 is not decided yet, until Decided
	WarmUp int     // steps
	Decay  float64 // of WSD: the share of the steps over which the rate falls
	Final  float64 // the factor at the end
	Power  float64 // of a level: its rate is multiplied by its period to this power
}

// Shape is a kind of schedule.
type Shape string

// The shapes. The zero Shape is Constant.
const (
	Constant Shape = "constant"
	Cosine   Shape = "cosine"
	WSD      Shape = "wsd"
)

// Check returns an error for a schedule that does not fit its run.
func (s Schedule) Check() error {
	switch {
	case s.Shape != "" && s.Shape != Constant && s.Shape != Cosine && s.Shape != WSD:
		return fmt.Errorf("update: there is no schedule %q; there are %s, %s, %s", s.Shape, Constant, Cosine, WSD)
	case s.Steps < 0 || s.WarmUp < 0:
		return fmt.Errorf("update: a schedule of %d steps with a warm-up of %d", s.Steps, s.WarmUp)
	case !(s.Final >= 0 && s.Final <= 1):
		return fmt.Errorf("update: the final factor of a schedule is %v, must be 0 to 1", s.Final)
	case !(s.Decay >= 0 && s.Decay <= 1):
		return fmt.Errorf("update: the decay of a schedule is the share %v of the run, must be 0 to 1", s.Decay)
	case !(math.Abs(s.Power) <= 1):
		return fmt.Errorf("update: the power of the period is %v, must be −1 to 1", s.Power)
	case s.Steps > 0 && s.WarmUp >= s.Steps:
		return fmt.Errorf("update: the warm-up has %d steps, the run %d", s.WarmUp, s.Steps)
	case s.Steps > 0 && s.WarmUp+s.fall() > s.Steps:
		return fmt.Errorf("update: the warm-up of %d and the decay of %d steps are longer than the run of %d", s.WarmUp, s.fall(), s.Steps)
	}
	return nil
}

// fall is the number of steps over which the rate falls.
func (s Schedule) fall() int {
	switch s.Shape {
	case Cosine:
		return s.Steps - s.WarmUp
	case WSD:
		return int(math.Round(s.Decay * float64(s.Steps)))
	}
	return 0
}

// Undecided reports whether a schedule falls and its number of steps is not decided.
func (s Schedule) Undecided() bool {
	return s.Steps == 0 && (s.Shape == Cosine || s.Shape == WSD)
}

// Decided returns the number of steps of an undecided schedule after a number of steps at
// its full rate, where there is room for total steps: as late as possible, so that total is
// known well. ok is false while the rate of the next step does not depend on it. The number
// is total, or the smallest number above it under which no rate so far would be another.
func (s Schedule) Decided(total, done int) (steps int, ok bool) {
	s.Steps = max(total, s.WarmUp+1)
	if done < 1 || done < s.WarmUp || done < s.Steps-s.fall() {
		return 0, false
	}
	for s.Shape == WSD && s.fall() < s.Steps && s.Factor(done) != 1 {
		s.Steps++
	}
	return s.Steps, true
}

// Factor is the factor of a step, counted from 1. It is positive: the last step is one
// before the factor Final.
func (s Schedule) Factor(step int) float64 {
	if step <= s.WarmUp {
		return float64(step) / float64(s.WarmUp)
	}
	n := s.fall()
	if s.Steps == 0 || n == 0 {
		return 1
	}
	past := float64(min(max(step-1-(s.Steps-n), 0), n-1)) / float64(n) // of the fall
	if s.Shape == Cosine {
		return s.Final + float64((1-s.Final)*float64(0.5*(1+num.Cos(float64(math.Pi*past)))))
	}
	return 1 - float64((1-s.Final)*past)
}

// Rate is the factor of a level at a step: that of the step, times the level's period in
// steps to the power Power.
func (s Schedule) Rate(step, period int) float64 {
	x := s.Factor(step)
	if s.Power != 0 && period > 1 {
		x = float64(x * num.Pow(float64(period), s.Power))
	}
	return x
}

// Differs returns the first of a number of steps at which two schedules have different
// factors, 0 if there is none. A run that made these steps by one of them continues by the
// other as if it had never had the first.
func (s Schedule) Differs(o Schedule, steps int) int {
	if s.Power != o.Power {
		return 1
	}
	for n := 1; n <= steps; n++ {
		if s.Factor(n) != o.Factor(n) {
			return n
		}
	}
	return 0
}

// String is the schedule in words, such as "cosine over 2600 steps to 0.1, warm-up 50".
func (s Schedule) String() string {
	var text string
	over := fmt.Sprintf("over %d steps", s.Steps)
	if s.Steps == 0 {
		over = "until the time limit"
	}
	switch s.Shape {
	case Cosine:
		text = fmt.Sprintf("%s %s to %v", s.Shape, over, s.Final)
	case WSD:
		text = fmt.Sprintf("%s %s, the last %v of them to %v", s.Shape, over, s.Decay, s.Final)
	default:
		text = string(Constant)
	}
	if s.WarmUp > 0 {
		text += fmt.Sprintf(", warm-up %d", s.WarmUp)
	}
	if s.Power != 0 {
		text += fmt.Sprintf(", times the period of a level to the power %v", s.Power)
	}
	return text
}
