package scan

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
)

// A strategy may read states as they were where the chunk began, in a rule that is
// computed token by token. Then each such state has a copy, and a counter of the
// tokens since the chunk began says when the copies are replaced. Counter and copies
// are states: chunks are counted from the start of the context, so results do not
// depend on how a sequence is cut into calls.

// stateAtChunkStart is a state where the chunk of this token began.
func (s *Step) stateAtChunkStart(sym *check.Symbol) *tensor.Tensor {
	if t := s.sharedValues[sym.Name]; t != nil {
		return t
	}
	axes, _, ok := s.e.Declared(sym)
	if !ok || s.carry[sym.Of] == nil {
		return nil
	}
	e := s.e
	t := e.Isolated(func() *tensor.Tensor {
		old := s.addCarryState(ident.ASCII(sym.Of)+".chunk", axes)
		now := e.Materialize(e.Select(s.chunkBegins(), s.carry[sym.Of], old))
		s.setNext(old, now)
		return now
	})
	s.sharedValues[sym.Name] = t
	return t
}

// chunkBegins holds at the first token of a chunk.
func (s *Step) chunkBegins() *tensor.Tensor {
	const name = "chunk.age"
	if t := s.sharedValues[name]; t != nil {
		return t
	}
	e := s.e
	old := s.addCarryState(name, nil)
	next := e.Add(old, tensor.Number(1), 1)
	full := e.Entrywise(ir.LessEq, tensor.Number(float64(e.Block.Strategy.Length())), next)
	s.setNext(old, e.Materialize(e.Select(full, tensor.Number(0), next)))
	s.sharedValues[name] = e.Materialize(e.Entrywise(ir.Equal, old, tensor.Number(0)))
	return s.sharedValues[name]
}

// addCarryState adds a carried state that no page declares, and the parameter that holds
// it between calls.
func (s *Step) addCarryState(name string, axes []*ir.Axis) *tensor.Tensor {
	o := s.outer
	init := o.Func.AddParam(name, ir.State, ir.Real, append([]*ir.Axis{o.Batch.Axis}, axes...)...)
	p := s.e.Func.AddParam(name, ir.Carry, ir.Real, axes...)
	s.scan.Carry = append(s.scan.Carry, ir.ScanState{Param: p, Init: init})
	return s.e.FromValue(p, nil, axes)
}

// setNext sets the next value of a state that addCarryState made.
func (s *Step) setNext(old, next *tensor.Tensor) {
	for i := range s.scan.Carry {
		if c := &s.scan.Carry[i]; c.Param == old.Factors[0].Val {
			c.Next = s.e.ValueOver(next, nil)
		}
	}
}

// addFinalState makes the final value of a state that addCarryState made a result.
func (s *Step) addFinalState(in *ir.Instr, c *ir.ScanState) {
	f := s.outer.Func
	c.Final = &ir.Value{Name: f.Fresh(c.Init.Name + ".next"), Elem: ir.Real, Axes: c.Init.Axes, Def: in}
	f.Results = append(f.Results, ir.Result{Name: c.Init.Name, Val: c.Final, State: true})
	s.e.Func.Results = append(s.e.Func.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
}
