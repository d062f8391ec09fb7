package chunked

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// States before a token: of the rule, per chunk, and while their own equation is built.

// placeholder is a parameter for a state before each token while its own equation is
// built. It may cancel, for example in a gradient that does not depend on the prediction.
func (s *chunk) placeholder(sym *check.Symbol, span notation.Span) *tensor.Tensor {
	axes, _, ok := s.e.Declared(sym)
	if !ok {
		return nil
	}
	p := s.placeholders[sym.Name]
	if p == nil {
		p = s.e.Func.AddParam(ident.ASCII(sym.Name)+".before", ir.Token, ir.Real, append([]*ir.Axis{s.e.Token.Axis}, axes...)...)
		s.placeholders[sym.Name] = p
		s.placeholderSpans = append(s.placeholderSpans, span)
	}
	return s.read(s.e.FromValue(p, []*tensor.LoopVar{s.e.Token}, axes), s.now)
}

// removePlaceholders refuses a rule in which a placeholder is still read: its states
// depend on themselves by more than a factor.
func (s *chunk) removePlaceholders() bool {
	f := s.e.Func
	f.Sweep()
	used := f.Uses()
	for name, p := range s.placeholders {
		if used[p] > 0 {
			eq := s.e.Block.Equation(name)
			s.e.Diags.Errorf(diag.NotSupported, s.placeholderSpans[0], "the increment of %s depends on it by more than a factor", name).
				See(eq.Span(), "the equation of %s", name).See(s.outer.Block.Unit.Name.Span, "%s computes it in chunks", s.outer.Block.Name).Hint("such a rule has no scan; a strategy with equations of its own may compute it in chunks")
			return false
		}
	}
	f.Params = slices.DeleteFunc(f.Params, func(q *ir.Value) bool { return slices.Contains(s.unknowns, q) })
	for _, p := range s.placeholders {
		f.Params = slices.DeleteFunc(f.Params, func(q *ir.Value) bool { return q == p })
	}
	return true
}

// initial is a state before the first token of a chunk: a constant where it is reset with
// each chunk, else the final state of the previous chunk.
func (s *chunk) initial(sym *check.Symbol) (*tensor.Tensor, bool) {
	switch {
	case !sym.PerChunk():
		return s.carry[sym.Name], true
	case sym.Decl == nil || sym.Decl.Init == nil:
		return tensor.Number(0), true
	}
	n, ok := notation.Constant(sym.Decl.Init)
	if !ok {
		s.e.Diags.Errorf(diag.NotSupported, sym.Decl.Init.Where(), "a state of a chunk starts from a number")
	}
	return tensor.Number(n), ok
}

// atFirstToken is t at the first token of the chunk, and zero at the others.
func (s *chunk) atFirstToken(sym *check.Symbol, t *tensor.Tensor) *tensor.Tensor {
	e := s.e
	id := e.Eq
	defer func() { e.Eq = id }()
	if sym.PerChunk() {
		e.Eq = ir.InitialName(e.Block.ID + "." + ident.ASCII(sym.Name))
	}
	return e.Where(t, tensor.Affine{}.Add(tensor.AffineOf(e.Token), -1))
}

// previousToken is a state per chunk one token before each token.
func (s *chunk) previousToken(sym *check.Symbol, eq *check.Equation, span notation.Span) *tensor.Tensor {
	if t := s.previous[sym.Name]; t != nil {
		return t
	}
	if s.busy[eq.Name] {
		return s.placeholder(sym, span)
	}
	x := s.value(eq, span)
	if x == nil {
		return nil
	}
	e := s.e
	t := s.build(eq, func() *tensor.Tensor {
		token := tensor.AffineOf(e.Token)
		before := token.Add(tensor.Const(1), -1)
		u := e.Where(s.read(x, before), before)
		first, ok := s.initial(sym)
		if !ok || first.IsZero() {
			return u
		}
		return e.Add(u, s.atFirstToken(sym, tensor.ScaleRows(tensor.Number(1), first, u.Axes)), 1)
	})
	if t == nil {
		return nil
	}
	vars := []*tensor.LoopVar{e.Token}
	s.previous[sym.Name] = e.FromValue(e.ValueOver(t, vars), vars, t.Axes)
	return s.previous[sym.Name]
}
