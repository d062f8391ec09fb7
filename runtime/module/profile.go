package module

import (
	"slices"
	"time"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A clock measures the steps of a build: the nodes of each worker's tapes, and what
// the module does itself.
type clock struct {
	steps    int
	profiles []*tape.Profile // by worker
	own      []tape.Spent
}

// Profile measures from now on where the time of a build goes, or no more.
func (m *Module[F]) Profile(on bool) {
	m.clock = nil
	for _, a := range m.arenas {
		a.Profile = nil
	}
	if on {
		m.clock = &clock{}
	}
}

// Profiled returns what was measured since Profile: the rows of all workers together, those
// that took longest first, and the number of updates in them. The time of a row is that of
// all workers.
func (m *Module[F]) Profiled() (rows []tape.Spent, updates int) {
	if m.clock == nil {
		return nil, 0
	}
	rows = slices.Clone(m.clock.own)
	at := map[[2]string]int{}
	for _, p := range m.clock.profiles {
		for _, r := range p.Rows() {
			k := [2]string{r.Unit, r.Operation}
			i, ok := at[k]
			if !ok {
				at[k], rows = len(rows), append(rows, r)
				continue
			}
			rows[i].Calls += r.Calls
			rows[i].Forward += r.Forward
			rows[i].Backward += r.Backward
		}
	}
	slices.SortStableFunc(rows, func(a, b tape.Spent) int {
		return int(b.Forward + b.Backward + b.Update - a.Forward - a.Backward - a.Update)
	})
	return rows, m.clock.steps
}

// bindProfiles sees that each arena has a profile.
func bindProfiles[F num.Float](c *clock, arenas []*tape.Arena[F]) {
	for i, a := range arenas {
		if i == len(c.profiles) {
			c.profiles = append(c.profiles, &tape.Profile{})
		}
		a.Profile = c.profiles[i]
	}
}

// The rows of what a module does itself.
const (
	rowUpdate = "update of the parameters"
	rowSum    = "sum of the gradients"
)

// measure adds the time since from to a row of the module itself.
func (c *clock) measure(operation string, from time.Time) {
	if c == nil {
		return
	}
	spent := time.Since(from)
	if operation == rowUpdate {
		c.steps++
	}
	for i := range c.own {
		if c.own[i].Operation == operation {
			c.own[i].Calls++
			c.own[i].Update += spent
			return
		}
	}
	c.own = append(c.own, tape.Spent{Operation: operation, Calls: 1, Update: spent})
}
