package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Where a strategy reads states as they were where the chunk began, the rule is
// computed token by token all the same, with a copy of each such state beside
// it. A count of the tokens since the chunk began says when the copies are taken
// anew. Count and copies are memory: chunks are counted from the start of the
// context, so results do not depend on how a text is cut into calls.

// boundary is a state where the chunk of this token began.
func (s *stepNames) boundary(sym *check.Symbol) *ten {
	if t := s.held[sym.Name]; t != nil {
		return t
	}
	axes, _, ok := s.e.declared(sym)
	if !ok || s.carry[sym.Of] == nil {
		return nil
	}
	e := s.e
	t := e.apart(func() *ten {
		old := s.beside(ident.ASCII(sym.Of)+".chunk", axes)
		now := e.one(e.selectTen(s.fresh(), s.carry[sym.Of], old))
		s.keepBeside(old, now)
		return now
	})
	s.held[sym.Name] = t
	return t
}

// fresh holds at the first token of a chunk.
func (s *stepNames) fresh() *ten {
	const name = "chunk.age"
	if t := s.held[name]; t != nil {
		return t
	}
	e := s.e
	old := s.beside(name, nil)
	next := e.sum(nil, old, literal(1), 1)
	full := e.scalar2(ir.LessEq, literal(float64(e.blk.Strategy.Length())), next)
	s.keepBeside(old, e.one(e.selectTen(full, literal(0), next)))
	s.held[name] = e.one(e.scalar2(ir.Equal, old, literal(0)))
	return s.held[name]
}

// beside adds a carry that no page declares, and the memory that it lives in.
func (s *stepNames) beside(name string, axes []*ir.Axis) *ten {
	o := s.outer
	init := o.f.AddParam(name, ir.State, ir.Real, append([]*ir.Axis{o.lane.axis}, axes...)...)
	p := s.e.f.AddParam(name, ir.Carry, ir.Real, axes...)
	s.scan.Carry = append(s.scan.Carry, ir.ScanState{Param: p, Init: init})
	return s.e.ofValue(p, nil, axes)
}

// keepBeside says what a carry of beside becomes.
func (s *stepNames) keepBeside(old, next *ten) {
	for i := range s.scan.Carry {
		if c := &s.scan.Carry[i]; c.Param == old.fs[0].val {
			c.Next = s.e.pack(next, nil)
		}
	}
}

// closeBoundary gives out what a carry of beside has become.
func (s *stepNames) closeBoundary(in *ir.Instr, c *ir.ScanState) {
	f := s.outer.f
	c.Final = &ir.Value{Name: f.Fresh(c.Init.Name + ".next"), Elem: ir.Real, Axes: c.Init.Axes, Def: in}
	f.Results = append(f.Results, ir.Result{Name: c.Init.Name, Val: c.Final, State: true})
	s.e.f.Results = append(s.e.f.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
}
