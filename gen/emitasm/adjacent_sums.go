package emitasm

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The reduction of the accumulators of jammed rows leaves their sums in the lanes of one vector.
// Where each sum is only stored, and the stores go to adjacent entries, they become one store of
// that vector, and no sum is broadcast to a register of its own.

// adjacentSums are two or four sums of a vector loop whose stores are adjacent.
type adjacentSums struct {
	sums   []*plan.Local
	stores []*plan.Store
	laid   bool // the reduction left the sums in the lanes of the first one's slot
}

// adjacentSumsOf finds them for the vector loop that is a statement of a list.
func (f *function) adjacentSumsOf(list []plan.Node, at int) (out []*adjacentSums) {
	if f.rowsInVector() || f.r.Across != plan.Columns {
		return nil
	}
	var run []*plan.Store
	for _, n := range list[at+1:] {
		s, ok := n.(*plan.Store)
		if _, note := n.(*plan.Note); !ok && !note {
			break
		}
		if ok {
			run = append(run, s)
		}
	}
	for len(run) > 1 {
		n := 1
		for _, several := range []int{4, 2} {
			if several > len(run) {
				continue
			}
			if a := f.adjacent(run[:several], list, at); a != nil {
				out, n = append(out, a), several
				break
			}
		}
		run = run[n:]
	}
	return out
}

// adjacent returns the sums of stores, or nil where they are not sums of the loop alone or not
// for adjacent entries.
func (f *function) adjacent(stores []*plan.Store, list []plan.Node, at int) *adjacentSums {
	a := &adjacentSums{stores: stores}
	first := f.stream(stores[0].To)
	for i, s := range stores {
		st := f.stream(s.To)
		away := st.walk.Base.Add(first.walk.Base, shape.Int(-1))
		entries, known := away.Const.Const()
		if s.Add || s.To.Buf.Elem != ir.Real || st.walk.Buf != first.walk.Buf || st.offset != first.offset || st.offset.scale() != 4 ||
			len(away.Terms) > 0 || !known || entries != int64(i) {
			return nil
		}
		ref, ok := s.Vals[0].(plan.Ref)
		if !ok || len(s.Vals) != 1 || !onlyStored(ref.To, list, at) {
			return nil
		}
		a.sums = append(a.sums, ref.To)
	}
	return a
}

// onlyStored reports whether a scalar begins before a loop of a list, is added to there, and is
// read once after it.
func onlyStored(l *plan.Local, list []plan.Node, at int) bool {
	begun, summed, reads := false, false, 0
	for i, n := range list {
		if let, ok := n.(*plan.Let); ok && let.To == l {
			begun = i < at
			continue
		}
		plan.Walk([]plan.Node{n}, func(n plan.Node) {
			if acc, ok := n.(*plan.Accumulate); ok && acc.To == l && i == at && !acc.Max {
				summed = true
				return
			}
			plan.EachRef(n, func(r *plan.Local) {
				if r == l {
					reads++
				}
			})
		})
	}
	return begun && summed && reads == 1
}

// inLanes is what a store is part of, if its sum is in a lane.
func (f *function) inLanes(s *plan.Store) *adjacentSums {
	for _, a := range f.adjacents {
		for _, x := range a.stores {
			if x == s && a.laid {
				return a
			}
		}
	}
	return nil
}

// storeLanes stores sums from the lanes where they are.
func (f *function) storeLanes(a *adjacentSums) {
	s := f.newScope(nil, 0, false)
	s.b.store("STORE", s.address(a.stores[0].To, len(a.sums)), s.b.at(f.home(a.sums[0], 0, false)))
	f.place(s.b)
}
