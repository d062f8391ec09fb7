// Package nozero makes values with and without their constructors.
package nozero

import (
	"errors"

	"life"
)

var global life.Time // want `the variable begins as a zero life.Time`

var made = life.Dawn()

type step struct {
	N    int
	Time life.Time
}

func literals() {
	_ = life.Time{}         // want `life.Time is made by its constructor, not by a literal`
	_ = &life.Ticket[int]{} // want `life.Ticket\[int\] is made by its constructor`
	_ = new(life.Time)      // want `new makes a zero life.Time`
	_ = [2]life.Time{}
	_ = make([]life.Time, 3)
	_ = make([]life.Time, 0, 3)
	_ = []life.Time{life.Dawn()}
	_ = new(int)
	var t life.Time // want `the variable begins as a zero life.Time`
	var list []life.Time
	var p *life.Time
	_, _, _ = t, list, p
}

func compared(t life.Time) bool {
	return t == (life.Time{}) || life.Time{} != t
}

type own struct {
	n    int
	time life.Time
}

func ownFields() own { return own{n: 1} }

func fields(n int) {
	_ = step{N: n} // want `the literal leaves Time a zero life.Time`
	_ = step{}     // want `the literal leaves Time a zero life.Time`
	_ = step{n, life.Dawn()}
	_ = step{N: n, Time: life.Dawn()}
	_ = life.Job{} // want `the literal leaves Time a zero life.Time`
	_ = life.Table{}
}

func beside(ok bool) (life.Time, error) {
	if !ok {
		return life.Time{}, errors.New("late")
	}
	return life.Time{}, nil // want `life.Time is made by its constructor`
}

func named() (t life.Time, err error) { return life.Dawn(), nil }

func namedAlone() (t life.Time) { return life.Dawn() } // want `the variable begins as a zero life.Time`

func generic[S any](s S) life.Ticket[S] {
	var t life.Ticket[S] // want `the variable begins as a zero life.Ticket\[S\]`
	t = life.Sell(s)
	return t
}

func shadow() {
	type Time struct{ now int }
	_ = Time{}
}

func allowed() {
	_ = life.Time{} //hecate:allow nozero the zero time is refused: that is the test
}
