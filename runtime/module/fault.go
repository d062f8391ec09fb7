package module

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// ErrDiverged is wrapped by every *BadNumber.
var ErrDiverged = errors.New("the build has diverged")

// A BadNumber says that a loss, a gradient or a number to be saved is NaN or infinite,
// and which value was the first: the chunk is computed again, from the memory that it
// began with, on a tape that checks every number. Nothing was updated or saved, and
// the context is as before.
type BadNumber struct {
	What     string   // the loss, the gradient, a logit, a value to be saved
	Value    float64  // of it
	Step     uint64   // number of the chunk, from 0
	Slot     int      // -1: of no single slot
	Level    int      // that the equation's parameters belong to, -1 if it has none
	Token    int      // of the chunk, -1 if unknown
	Equation string   // the node that computed it: page and equation or kernel, "deltarule.step"; "" for an input
	Tensor   string   // the parameter, the state or the result of the equation
	Index    int      // element of it
	Reads    []string // parameters of the equation, or else of those before it
	Backward bool     // it is an adjoint
}

func (e *BadNumber) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v at step %d: %s is %v", ErrDiverged, e.Step+1, e.What, e.Value)
	end := "; nothing was updated"
	switch {
	case e.Tensor == "":
		return b.String() + end
	case e.What == whatSaved:
		end = "; nothing was saved"
		b.WriteString(": ")
	default:
		b.WriteString("; what went bad first is ")
	}
	if e.Backward {
		b.WriteString("in the backward of ")
	}
	if e.Equation != "" {
		fmt.Fprintf(&b, "%s, ", e.Equation)
	}
	fmt.Fprintf(&b, "tensor %s[%d]", e.Tensor, e.Index)
	for _, x := range []struct {
		name string
		n    int
	}{{"level", e.Level}, {"slot", e.Slot}, {"token", e.Token}} {
		if x.n >= 0 {
			fmt.Fprintf(&b, ", %s %d", x.name, x.n)
		}
	}
	if len(e.Reads) > 0 {
		fmt.Fprintf(&b, " (it reads %s)", strings.Join(e.Reads, ", "))
	}
	if e.What == whatSaved {
		return b.String() + end
	}
	return b.String() + end + "; " + e.Hint()
}

// Hint says what to try: smaller steps of the parameters, and where a number overflowed on
// the way forward, a bound of what grew.
func (e *BadNumber) Hint() string {
	const smaller = "try a lower learning rate or clipping of the gradient at 1"
	if e.Equation == "" || e.Backward {
		return smaller
	}
	return smaller + "; if a memory grows, Normed around it, or a bound of its rate, θ_max, on the page of its rule"
}

// whatSaved is the What of a number that no checkpoint takes.
const whatSaved = "what was to be saved"

// Unwrap returns ErrDiverged.
func (e *BadNumber) Unwrap() error { return ErrDiverged }

// explain finds the first bad number of the job that failed with err.
func (m *Module[F]) explain(err error) error {
	var e *BadNumber
	if !errors.As(err, &e) {
		return err
	}
	for i, s := range m.job.memory.slots {
		if e.Slot >= 0 && e.Slot != i {
			continue
		}
		s.restore()
		if f, step, token, ok := m.trace(i); ok {
			e.Step, e.Slot, e.Token, e.Equation, e.Tensor, e.Index, e.Reads, e.Backward = step, i, token, f.Node, f.Tensor, f.Index, f.Leaves, f.Backward
			e.Level = m.levelOf(f)
			return e
		}
	}
	return e // the sum over the slots, each of which is finite
}

// errFound ends a trace.
var errFound = errors.New("found")

// trace runs a slot again and checks every number, and at the end of a window of several
// chunks the calls of its group in all of them. The token is that of the step's chunk.
func (m *Module[F]) trace(i int) (fault tape.Fault, step uint64, token int, found bool) {
	j, s := &m.job, m.job.memory.slots[i]
	step = j.pulse.Step()
	g := i * m.groups / j.memory.Batch()
	states := map[*F]string{}
	s.live.Each("", func(name string, _ []int, data []F) {
		if len(data) > 0 {
			states[&data[0]] = name
		}
	})
	state := func(data []F) string { return states[&data[0]] }
	a := &tape.Arena[F]{Trace: true, Memory: m.memory, BFloat16: m.bfloat16}
	err := m.pieces(i, func(from, to int) error {
		err := tape.With(a, j.pulse, func(r *tape.Run[F]) error {
			loss, _, err := m.forward(r, &j.chunk, s.live, i, i+1, from, to)
			if err != nil {
				return err
			}
			if fault, found = r.Tape.Fault(state); !found && count(targets(&j.chunk, i, from, to)) > 0 && j.pulse.Phase() == pulse.Build && !m.several() {
				m.backward(r.Tape, &j.chunk, j.valid, g, i, i+1, from, to, loss)
				fault, found = r.Tape.Fault(state)
			}
			return nil
		})
		if found {
			if token = fault.Token; token >= 0 {
				token += from
			}
			return errFound
		}
		if err == nil {
			s.live.Keep()
		}
		return err
	})
	if w := &m.window; err == nil && m.several() && w.n == w.length {
		err = m.backwards(a, g, func(r *tape.Run[F], c *call) error {
			if fault, found = r.Tape.Fault(state); !found {
				return nil
			}
			if token = fault.Token; token >= 0 {
				token += c.from
			}
			step = w.chunks[c.chunk].pulse.Step()
			return errFound
		})
	}
	return fault, step, token, found && err == errFound
}

// levelOf is the level of a fault: the slowest level of the parameters that the node
// reads, or that of the parameter itself; -1 without one.
func (m *Module[F]) levelOf(f tape.Fault) int {
	out := -1
	for _, name := range append([]string{f.Tensor}, f.Leaves...) {
		if i, err := m.params.View().Index(name); err == nil {
			out = max(out, m.params.View().Param(i).Level)
		}
	}
	return out
}
