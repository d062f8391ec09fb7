// Package pulsereadonly has parts that are told the time.
package pulsereadonly

import "life"

type block struct {
	width int
	now   life.Time // want `a field of Time keeps the time of one chunk for the next`
}

type hides struct{ times []life.Time } // want `a field of Time keeps the time`

// A call lives as long as one.
//
//hecate:noescape
type call struct {
	Job  *life.Job
	Time life.Time
}

var now = life.Dawn() // want `a package-level Time is a clock that all share`

func pointer(t *life.Time) int { return t.Now() } // want `a pointer to a Time: pass it by value`

func rightly(t life.Time) int { return t.Now() }

func moves(t life.Time) {
	for range 3 {
		t = t.Next(1) // want `Next moves the clock: only a package marked //hecate:conductor does`
	}
	f := t.Next         // want `Next moves the clock`
	g := life.Time.Next // want `Next moves the clock`
	defer t.Next(1)     // want `Next moves the clock`
	_ = pointer(&t)     // want `the address of a Time: pass it by value`
	_, _ = f, g
}

type other struct{}

func (other) Next(n int) other { return other{} }

func sameName(o other) other { return o.Next(1) }

func Told(j *life.Job, now life.Time, x life.Number) life.Number { return x }

func ToldInside(c call, x life.Number) life.Number { return x }

func NotTold(j *life.Job, x life.Number) life.Number { return x } // want `the forward NotTold is not told the time`

func notExported(j *life.Job, x life.Number) life.Number { return x }

func NoForward(j *life.Job) int { return 1 }

type generic[F any] struct{}

func (generic[F]) Step(j *life.Job, x life.Number) (life.Number, error) { return x, nil } // want `the forward Step is not told the time`
