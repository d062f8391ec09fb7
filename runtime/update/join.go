package update

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// On a device, parameters that are updated alike lie one after another, and so do their gradients and
// slots. An update that treats each entry by itself then moves all of them in one launch
// (multi-tensor apply).

// A run is consecutive parameters of the order that are updated alike, with their slots as
// those of one parameter.
type run[F num.Float] struct {
	params        []int
	entries       int
	slots, buffer Slots[F] // buffer: nil at the fastest level
	together      bool     // the next steps are one; see Together
}

// Order lists all parameters, with those that are updated alike one after another, the ones that
// are updated by their own gradient first.
func (m *Machine[F]) Order() []int {
	out := make([]int, len(m.slots))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int {
		ka, kb := m.key(a), m.key(b)
		return cmp.Or(slices.Compare(ka.numbers[:], kb.numbers[:]), cmp.Compare(ka.by, kb.by))
	})
	return out
}

// A key is what parameters of a run have in common.
type key struct {
	numbers [4]int // fixed, level, gated, without decay
	by      string
}

func (m *Machine[F]) key(i int) key {
	p := m.params.Param(i)
	number := map[bool]int{true: 1}
	k := key{numbers: [4]int{number[p.Fixed], p.Level, number[p.Gated], number[m.noDecay[i]]}}
	if s := m.slots[i]; s != nil {
		k.by = s.By()
	}
	return k
}

// Move puts what the machine keeps of all parameters into memory of a device, which f makes: so many
// entries. The parameters are there already, in the machine's order in one block. The error names an
// update whose slots cannot be moved.
func (m *Machine[F]) Move(f func(n int) []F) error {
	order := m.Order()
	if err := move(order, f, func(i int) Slots[F] { return m.slots[i] }); err != nil {
		return err
	}
	buffers := func(i int) Slots[F] {
		if w := m.waiting[i]; w != nil {
			return w.slots
		}
		return nil
	}
	if err := move(order, f, buffers); err != nil {
		return err
	}
	n := 0
	for _, w := range m.waiting {
		if w != nil {
			n += len(w.error)
		}
	}
	free := f(n)
	for _, i := range order {
		if w := m.waiting[i]; w != nil {
			to := free[:len(w.error)]
			free = free[len(to):]
			device.Copy(to, w.error)
			w.error = to
			w.gather()
		}
	}
	m.findRuns(order)
	return nil
}

// move moves slots: the k-th of all parameters into one block, in order.
func move[F num.Float](order []int, f func(n int) []F, of func(i int) Slots[F]) error {
	var lengths []int
	for _, i := range order {
		s := of(i)
		if s == nil {
			continue
		}
		if _, ok := s.(Movable[F]); !ok {
			return fmt.Errorf("update: %s keeps its slots where they are", s.By())
		}
		k := 0
		s.Each(func(_ string, data []F) {
			if k == len(lengths) {
				lengths = append(lengths, 0)
			}
			lengths[k] += len(data)
			k++
		})
	}
	var free [][]F
	for _, n := range lengths {
		free = append(free, f(n))
	}
	for _, i := range order {
		if s := of(i); s != nil {
			k := 0
			s.(Movable[F]).Move(func(data []F) []F {
				to := free[k][:len(data)] // its capacity is what follows, see Over
				free[k] = free[k][len(data):]
				device.Copy(to, data)
				k++
				return to
			})
		}
	}
	return nil
}

// findRuns divides the parameters into runs.
func (m *Machine[F]) findRuns(order []int) {
	m.runs, m.runOf = nil, make([]*run[F], len(order))
	for from := 0; from < len(order); {
		r, to := &run[F]{}, from
		for to < len(order) && m.key(order[from]) == m.key(order[to]) {
			r.params = append(r.params, order[to])
			r.entries += len(m.params.Data(order[to]))
			to++
		}
		first := order[from]
		from = to
		s, ok := m.slots[first].(Joinable[F])
		if !ok || len(r.params) == 1 {
			continue
		}
		r.slots = s.Over(r.entries)
		if w := m.waiting[first]; w != nil {
			if b, ok := w.slots.(Joinable[F]); ok {
				r.buffer = b.Over(r.entries)
			}
		}
		m.runs = append(m.runs, r)
		for _, i := range r.params {
			m.runOf[i] = r
		}
	}
}

// Together says which parameters are collected, or stepped, next, each by the vector in the list, nil
// for none: those of a run are then done at once if all of them are, alike.
func (m *Machine[F]) Together(vectors [][]F) {
	for _, r := range m.runs {
		first := r.params[0]
		r.together = cap(vectors[first]) >= r.entries && cap(m.params.Data(first)) >= r.entries
		at := 0
		for _, i := range r.params {
			if !r.together {
				break
			}
			r.together = adjacent(vectors[first], at, vectors[i]) && adjacent(m.params.Data(first), at, m.params.Data(i)) &&
				m.steps[i] == m.steps[first] && (m.waiting[i] == nil || m.waiting[i].count == m.waiting[first].count)
			at += len(vectors[i])
		}
	}
}

// adjacent reports whether x lies n entries behind the beginning of from.
func adjacent[F num.Float](from []F, n int, x []F) bool {
	return unsafe.SliceData(x) == unsafe.SliceData(from[n:cap(from)])
}

// stepRun does a step of a run for its first parameter, and nothing for the others; false: each is done by itself.
func (m *Machine[F]) stepRun(r *tape.Run[F], i, n int, w, g []F, of func(*run[F]) Slots[F]) bool {
	x := (*run[F])(nil)
	if len(m.runOf) > 0 {
		x = m.runOf[i]
	}
	if x == nil || !x.together || of(x) == nil {
		return false
	}
	if i == x.params[0] {
		of(x).Step(r, n, w[:x.entries], g[:x.entries])
	}
	return true
}
