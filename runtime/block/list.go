package block

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A List is a list of parts of one composition: levels of a schedule, or stacked
// blocks. The results of all parts of a call are concatenated, [batch, parts, …].
//
// Parts that are levels are active or not. Where the pulse decides, part l steps
// when level l is active and reads frozen when it is not. Where a gate of the page
// decides, every part steps, every part is read frozen at a site of its own, and
// Open says which of them keep what they wrote.
type List[F num.Float] struct {
	Parts   []Block[F]
	names   []string
	sites   []string
	levels  bool
	gated   bool
	periods []int
}

// NewList is a list of parts under a name.
func NewList[F num.Float](name string, parts []Block[F]) List[F] {
	l := List[F]{Parts: parts}
	for i := range parts {
		l.names = append(l.names, fmt.Sprintf("%s.%d", name, i))
		l.sites = append(l.sites, SiteName(l.names[i]))
	}
	return l
}

// Levels makes part l the one of level l of the pulse. The periods, in chunks,
// are the page's proposal.
func (l List[F]) Levels(periods ...int) List[F] {
	l.levels, l.periods = true, periods
	return l
}

// Gated makes part l a level that a gate of the page opens.
func (l List[F]) Gated(periods ...int) List[F] {
	l.levels, l.gated, l.periods = true, true, periods
	return l
}

// Declare adds the parameters of all parts to the table; those of a level say so.
func (l List[F]) Declare(s *context.ParamSet[F], prefix string) error {
	for i, p := range l.Parts {
		declare := func() error { return p.Declare(s, prefix+l.names[i]+".") }
		if !l.levels {
			if err := declare(); err != nil {
				return err
			}
			continue
		}
		if err := s.AtLevel(i, l.gated, declare); err != nil {
			return err
		}
	}
	return nil
}

// Memory adds the memories of all parts to m; with sites also the windows of their frozen
// calls.
func (l List[F]) Memory(m *Memory[F], batch int, sites bool) {
	for i, p := range l.Parts {
		if sites {
			m.AddSite(l.names[i], p.NewMemory(batch))
		}
		m.Parts = append(m.Parts, Part[F]{Name: l.names[i], Memory: p.NewMemory(batch), Level: i, Levels: l.levels, Gated: l.gated, Periods: l.periods})
	}
}

// steps reports whether part i writes in a call.
func (l List[F]) steps(c Call[F], i int) bool { return !l.levels || l.gated || c.Pulse.Active(i) }

// call calls part i: its step, its frozen read, or the read at a site of its own.
func (l List[F]) call(c Call[F], w Weights[F], m *Memory[F], i int, x tape.Value[F], as mode) (tape.Value[F], error) {
	w = w.Part(l.names[i])
	switch {
	case as == atSite:
		return l.Parts[i].Read(c, w, m.SiteOf(l.names[i]), x)
	case as == stepping && l.steps(c, i):
		return l.Parts[i].Step(c, w, m.PartOf(l.names[i]), x)
	}
	return l.Parts[i].Read(c, w, m.PartOf(l.names[i]), x)
}

// A mode says how the parts of a list are called.
type mode int

const (
	stepping mode = iota
	reading
	atSite
)

// Step calls all parts with x [batch, tokens, width] and returns their outputs,
// [batch, parts, tokens, width].
func (l List[F]) Step(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error) {
	return l.each(c, w, m, x, stepping)
}

// Read is Step with all parts frozen.
func (l List[F]) Read(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error) {
	return l.each(c, w, m, x, reading)
}

// ReadAtSite is Read beside a Step of the same call.
func (l List[F]) ReadAtSite(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error) {
	return l.each(c, w, m, x, atSite)
}

func (l List[F]) each(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F], as mode) (y tape.Value[F], err error) {
	if len(x.Data) != c.Batch*c.Tokens*l.width() {
		return y, &LengthError{Block: l.Parts[0].Name(), Value: "x", Got: len(x.Data), Want: c.Batch * c.Tokens * l.width()}
	}
	if err := l.check(c); err != nil {
		return y, err
	}
	ys := c.Run.Arena.Values(len(l.Parts))
	for i := range l.Parts {
		if ys[i], err = l.call(c, w, m, i, x, as); err != nil {
			return y, err
		}
	}
	return concat(c, ys), nil
}

// check refuses a pulse with fewer levels than the list.
func (l List[F]) check(c Call[F]) error {
	if l.levels && !l.gated && c.Pulse.Levels() < len(l.Parts) {
		return &SizeError{Block: l.Parts[0].Name(), Size: "levels", Got: len(l.Parts), Want: fmt.Sprintf("at most the %d of the pulse", c.Pulse.Levels())}
	}
	return nil
}

func (l List[F]) width() int { return l.Parts[0].Width() }

// StepChain composes the parts: x is the input of the first, whose output is the
// input of the second, and so on: [batch, tokens, width] in and out.
func (l List[F]) StepChain(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error) {
	return l.chain(c, w, m, x, stepping, false)
}

// ReadChain is StepChain with all parts frozen.
func (l List[F]) ReadChain(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error) {
	return l.chain(c, w, m, x, reading, false)
}

// StepResiduals is StepChain with the input of each part added to its output.
func (l List[F]) StepResiduals(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error) {
	return l.chain(c, w, m, x, stepping, true)
}

// ReadResiduals is StepResiduals with all parts frozen.
func (l List[F]) ReadResiduals(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error) {
	return l.chain(c, w, m, x, reading, true)
}

func (l List[F]) chain(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F], as mode, residual bool) (y tape.Value[F], err error) {
	if err := l.check(c); err != nil {
		return y, err
	}
	for i := range l.Parts {
		if y, err = l.call(c, w, m, i, x, as); err != nil {
			return y, err
		}
		if residual {
			y = add(c, x, y)
		}
		x = y
	}
	return x, nil
}

// Open says which parts keep what this call wrote: part l in the sequences where
// gate, [batch, parts], is above one half. Elsewhere their states stay.
func (l List[F]) Open(m *Memory[F], gate tape.Value[F]) {
	open := device.Host(gate.Data)
	for i := range l.Parts {
		p := m.PartOf(l.names[i])
		for s := range m.Batch {
			if !(open[s*len(l.Parts)+i] > 0.5) {
				p.Discard(s)
			}
		}
	}
}

// add is the sum of two values of one length.
func add[F num.Float](c Call[F], x, y tape.Value[F]) tape.Value[F] {
	n := tape.Push[F, addNode[F]](c.Run, addKind)
	n.x, n.y = x, y
	out := c.Run.Arena.Alloc(len(x.Data))
	device.Sum(out, x.Data, y.Data)
	n.out = c.Run.Output(out)
	return n.out
}

var addKind = tape.NewKind()

// addNode is a call of add on the tape.
type addNode[F num.Float] struct{ x, y, out tape.Value[F] }

// Backward adds the adjoint of the sum to those of both terms.
func (n *addNode[F]) Backward(t *tape.Tape[F]) {
	if dy := t.Adjoint(n.out); dy != nil {
		Accumulate(t, n.x, dy)
		Accumulate(t, n.y, dy)
	}
}

// concat copies values [batch, n] to one [batch, parts, n].
func concat[F num.Float](c Call[F], ys []tape.Value[F]) tape.Value[F] {
	n := tape.Push[F, concatNode[F]](c.Run, concatKind)
	n.batch, n.in = c.Batch, ys
	size := 0
	for _, y := range ys {
		size += len(y.Data)
	}
	out := c.Run.Arena.Alloc(size)
	n.each(func(i, from, to, n int) { device.Copy(out[to:to+n], ys[i].Data[from:from+n]) })
	n.out = c.Run.Output(out)
	return n.out
}

var concatKind = tape.NewKind()

// concatNode is a call of sideBySide on the tape.
type concatNode[F num.Float] struct {
	batch int
	in    []tape.Value[F]
	out   tape.Value[F]
}

// each calls f for every range of an input and the range of the output that it becomes.
func (n *concatNode[F]) each(f func(i, from, to, n int)) {
	to := 0
	for l := range n.batch {
		for i, y := range n.in {
			size := len(y.Data) / n.batch
			f(i, l*size, to, size)
			to += size
		}
	}
}

// Backward adds each part's range of the adjoint to the adjoint of that part's output.
func (n *concatNode[F]) Backward(t *tape.Tape[F]) {
	dy := t.Adjoint(n.out)
	if dy == nil {
		return
	}
	n.each(func(i, from, to, size int) {
		if g := t.Grad(n.in[i]); g != nil {
			device.Add(g[from:from+size], dy[to:to+size])
		}
	})
}
