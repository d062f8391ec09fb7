package emitasm

import (
	"github.com/nl-hecate/hecate/gen/plan"
)

// nodes prints statements: stretches without loops as one body each.
func (f *function) nodes(ns []plan.Node) {
	var run []plan.Node
	flush := func() {
		if len(run) > 0 {
			f.straight(run)
		}
		run = nil
	}
	for i, n := range ns {
		switch n := n.(type) {
		case *plan.Note:
		case *plan.Loop:
			flush()
			if r := f.registerSums(n); r != nil {
				f.sumsInRegisters(r)
			} else if f.isVectorLoop(n) {
				f.adjacents = f.adjacentSumsOf(ns, i)
				f.vectorLoop(n)
			} else {
				f.loop(n)
			}
		case *plan.If:
			flush()
			f.present(n)
		case *plan.Gather:
			flush()
			f.gather(n)
		case *plan.Next: // is done where the loop begins
		case *plan.Store:
			if f.sumsOverRows(n) {
				flush()
				f.addRows(n)
				continue
			}
			if a := f.inLanes(n); a != nil {
				if n == a.stores[0] {
					flush()
					f.storeLanes(a)
				}
				continue
			}
			run = append(run, n)
		default:
			run = append(run, n)
		}
	}
	flush()
}

// present prints statements that a missing buffer leaves out.
func (f *function) present(n *plan.If) {
	skip := f.label("absent")
	f.m.move(f.args.pointer(n.Present.Base()), f.t.work)
	f.m.test(f.t.work)
	f.m.jump("EQ", skip)
	f.branch++
	absent := f.cache.clone()
	f.nodes(n.Body)
	f.cache.intersect(absent)
	f.branch--
	f.here(skip)
}

// gather sets a variable to an entry of a buffer of whole numbers.
func (f *function) gather(n *plan.Gather) {
	s := f.stream(n.From)
	f.point(s, f.t.work)
	f.m.loadInt(f.t.work, f.t.spare)
	if len(n.Plus.Terms) > 0 || !n.Plus.Const.IsZero() {
		f.index(n.Plus, f.t.length)
		f.m.add(f.t.length, f.t.spare)
	}
	f.m.move(f.t.spare, f.counter[n.To])
}

// straight prints a stretch of statements outside the vector loops.
func (f *function) straight(ns []plan.Node) {
	s := f.newScope(nil, 0, false)
	for _, n := range ns {
		for v := range f.vectors() {
			s.row = v
			if s.row > 0 && !f.rowDependent(n, nil) {
				break
			}
			s.statement(n)
		}
	}
	s.keep()
	f.place(s.b)
}

// place allocates a body that runs once and appends it.
func (f *function) place(b *body) {
	a, ok := allocate(b, false, f.cache, f.spillSlot)
	if !ok {
		f.failed = "a stretch of scalars does not fit the registers"
		return
	}
	f.lines = append(f.lines, a.lines...)
	copy(f.cache, a.cached)
}

func (f *function) rowDependent(n plan.Node, lane *plan.Loop) bool {
	row := false
	plan.EachAccess(n, func(a plan.Access) { row = row || f.accessDepends(a, lane).row })
	plan.MapExprs(n, func(e plan.Expr) plan.Expr { row = row || f.depend(e, lane).row; return e })
	switch n := n.(type) {
	case *plan.Let:
		row = row || f.depends[n.To].row
	case *plan.Accumulate:
		row = row || f.depends[n.To].row
	}
	return row
}

// sumsOverRows reports whether a store outside the vector loops sums over rows.
func (f *function) sumsOverRows(n *plan.Store) bool {
	return f.rowsInVector() && f.r.Across == plan.Columns && !f.accessDepends(n.To, nil).row && f.depend(n.Vals[0], nil).row
}

// addRows adds a sum over rows to an entry, row by row: each term is computed
// for all rows, stored in a slot, and added from there one after another.
func (f *function) addRows(n *plan.Store) {
	type part struct {
		neg   bool
		fused bool
		a, b  func(s *scope, row int) val
	}
	var parts []part
	first := f.newScope(nil, 0, false)
	lay := func(e plan.Expr) func(s *scope, row int) val {
		d := f.depend(e, nil)
		at := f.newSlot()
		first.b.store("STORE", &address{direct: f.t.slot(at.at), lanes: f.t.width}, first.real(e))
		return func(s *scope, row int) val {
			if d.row {
				return s.b.at(home{f.t.slot(at.at + 4*row), true})
			}
			return s.b.at(home{f.t.slot(at.at), false})
		}
	}
	for e := n.Vals[0]; ; {
		switch x := e.(type) {
		case plan.Fma:
			parts = append(parts, part{x.Neg, true, lay(x.A), lay(x.B)})
			e = x.C
			continue
		case plan.Lin:
			parts = append(parts, part{x.Coef[1] < 0, false, lay(x.Args[1]), nil})
			e = x.Args[0]
			continue
		}
		break
	}
	f.place(first.b)
	s := f.newScope(nil, 0, false)
	sum := s.load(n.To)
	for row := range f.rows {
		for i := len(parts) - 1; i >= 0; i-- {
			p := parts[i]
			switch {
			case p.fused:
				sum = s.b.fma(p.neg, p.a(s, row), p.b(s, row), sum)
			case p.neg:
				sum = s.b.sub(sum, p.a(s, row))
			default:
				sum = s.b.add(sum, p.a(s, row))
			}
		}
	}
	s.b.store("STORELOW", s.address(n.To, 1), sum)
	f.place(s.b)
}
