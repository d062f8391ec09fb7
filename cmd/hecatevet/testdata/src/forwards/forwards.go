// Package forwards has a forward, and so no writers.
package forwards

import "life"

type block struct {
	pen *life.Pen // want `a Pen in a package of forwards`
}

func (b *block) Step(j *life.Job, now life.Time, x life.Number) life.Number { return x }

func update(p *life.Pen) {} // want `a Pen in a package of forwards`

var _ = update
