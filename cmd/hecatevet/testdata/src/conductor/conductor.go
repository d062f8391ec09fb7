// Package conductor drives the clock.
//
//hecate:conductor
package conductor

import "life"

type driver struct{ now life.Time }

func (d *driver) step() { d.now = d.now.Next(1) }

var all life.Time = life.Dawn() // want `a package-level Time is a clock that all share`
