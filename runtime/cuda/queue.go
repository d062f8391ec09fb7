//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"slices"
)

// A queue holds launches, copies and fills until the host waits, and enqueues them together. A sequence
// that comes again, the same functions with the same arguments, is captured as a graph, and from then on
// the graph is launched. So a step of seen shapes is a few graphs. A graph is launched only for a sequence
// that is equal to the captured one in every argument.
//
// Numbers of the host go through pinned memory, at places that follow from the order in which they
// are asked for: what a graph copies is what is there when it runs.
type queue struct {
	eager bool // see Memory.Eager

	ops   []operation
	args  []Arg // of all launches, one after another
	known []*sequence
	clock int
}

// An operation is a launch, or a copy or a fill of n bytes. From and to are addresses of the device, or
// offsets in pinned memory.
type operation struct {
	kind     kind
	function *Function
	grid     Grid
	to, from Address
	n        int // bytes, or arguments
}

type kind byte

const (
	launch kind = iota
	copyWithin
	fill
	upload   // from is in Memory.staging
	download // to is in Memory.results
)

// A sequence is a queue that was enqueued before. Its graph is made when it comes a second time.
type sequence struct {
	ops   []operation
	args  []Arg
	graph *Graph
	used  int // by the queue's clock
}

// A queue of fewer operations than graphLeast is enqueued as it is, and graphsMost sequences are kept.
const (
	graphLeast = 4
	graphsMost = 64
)

// launch adds a launch.
func (q *queue) launch(f *Function, g Grid, args []Arg) error {
	if g.Blocks > 0 {
		q.ops = append(q.ops, operation{kind: launch, function: f, grid: g, n: len(args)})
		q.args = append(q.args, args...)
	}
	return nil
}

// copy adds a copy, or a fill with zeros.
func (q *queue) copy(k kind, to, from Address, n int) {
	if n > 0 {
		q.ops = append(q.ops, operation{kind: k, to: to, from: from, n: n})
	}
}

// first adds a copy that comes before all that the queue has.
func (q *queue) first(k kind, to, from Address, n int) {
	q.ops = slices.Insert(q.ops, 0, operation{kind: k, to: to, from: from, n: n})
}

// flush enqueues what the queue has and empties it. staging and results are the pinned memory.
func (q *queue) flush(v *Device, staging, results *Pinned) error {
	defer func() { q.ops, q.args = q.ops[:0], q.args[:0] }()
	enqueue := func() error {
		args := q.args
		for _, o := range q.ops {
			if err := o.enqueue(v, staging, results, args); err != nil {
				return err
			}
			if o.kind != launch {
				continue
			}
			args = args[o.n:]
			if q.eager {
				if err := v.waitFor(o.function.name); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if q.eager || len(q.ops) < graphLeast || !v.driver.graphs() {
		return enqueue()
	}
	q.clock++
	i := slices.IndexFunc(q.known, func(s *sequence) bool { return slices.Equal(s.ops, q.ops) && slices.Equal(s.args, q.args) })
	if i < 0 {
		if err := enqueue(); err != nil {
			return err
		}
		return q.keep()
	}
	s := q.known[i]
	s.used = q.clock
	if s.graph == nil {
		var err error
		if s.graph, err = v.Capture(enqueue); err != nil {
			return err
		}
	}
	return s.graph.Replay()
}

// keep remembers the queue, and forgets the sequence that was used longest ago where there are too many.
func (q *queue) keep() error {
	s := &sequence{ops: slices.Clone(q.ops), args: slices.Clone(q.args), used: q.clock}
	if len(q.known) < graphsMost {
		q.known = append(q.known, s)
		return nil
	}
	oldest := &q.known[0]
	for i := range q.known {
		if q.known[i].used < (*oldest).used {
			oldest = &q.known[i]
		}
	}
	g := (*oldest).graph
	*oldest = s
	if g == nil {
		return nil
	}
	return errors.Join(g.device.Wait(), g.Release()) // it may be running
}

// release frees all graphs; those of a lost device are gone with it.
func (q *queue) release(v *Device) error {
	var errs []error
	for _, s := range q.known {
		if s.graph != nil && v.Lost() == nil {
			errs = append(errs, s.graph.Release())
		}
	}
	q.known = nil
	return errors.Join(errs...)
}

// enqueue gives an operation to the device; a launch's arguments are the first of args.
func (o *operation) enqueue(v *Device, staging, results *Pinned, args []Arg) error {
	switch o.kind {
	case launch:
		return v.Launch(o.function, o.grid, args[:o.n]...)
	case copyWithin:
		return v.Copy(o.to, o.from, o.n)
	case fill:
		return v.Fill(o.to, 0, o.n)
	case upload:
		return v.EnqueueUpload(o.to, staging, int(o.from), o.n)
	default:
		return v.EnqueueDownload(results, int(o.to), o.from, o.n)
	}
}
