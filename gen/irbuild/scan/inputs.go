package scan

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The operands of a scan that depend on no state: a series, of which each step gets
// a slice, or a value that all steps share. A scan over tokens slices a series by
// tokens, a scan over chunks by chunks, and a scan over the tokens after the last
// chunk by those; the three differ in how a series is cut, and in nothing else.

// Inputs serves the names of the body of a scan that depend on no state.
type Inputs struct {
	Outer  *expr.Builder
	Series *Names
	Body   *expr.Builder // of the body
	Scan   *ir.Scan
	Slice  func(*expr.Builder, *ir.Value) *ir.Value // the parts of a series, nil for its tokens as they are
	Loops  []*tensor.LoopVar                        // over the tokens of a part, none where it is one token

	Tokens map[string]*tensor.Tensor
	Shared map[string]*tensor.Tensor
}

// Value is a name read at a time step.
func (s *Inputs) Value(sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	if t := s.Tokens[sym.Name]; t != nil && when.Now {
		return t
	}
	if t := s.Shared[sym.Name]; t != nil && when == (expr.Time{}) {
		return t
	}
	o := s.Outer
	t := s.Series.Resolve(o, sym, when, span)
	if t == nil || t.IsNumber() {
		return t
	}
	eq := o.Block.Equation(sym.Name)
	if sym.Kind == check.Outer || sym.Kind == check.Constant || eq != nil && !eq.Timed {
		v := o.ValueOver(t, nil)
		p := s.Body.Func.AddParam(ident.ASCII(sym.Name), ir.Shared, v.Elem, v.Axes...)
		p.NoGrad = v.NoGrad
		s.Scan.Shared = append(s.Scan.Shared, ir.SharedArg{Param: p, Val: v})
		s.Shared[sym.Name] = s.Body.FromValue(p, nil, t.Axes)
		return s.Shared[sym.Name]
	}
	v := s.slices(sym, eq, t)
	p := s.Body.Func.AddParam(ident.ASCII(sym.Name), ir.Token, v.Elem, v.Axes[2:]...)
	s.Scan.Tokens = append(s.Scan.Tokens, ir.ScanInput{Param: p, Val: v})
	s.Tokens[sym.Name] = s.Body.FromValue(p, s.Loops, t.Axes)
	return s.Tokens[sym.Name]
}

// slices is a series as the scan takes it, [batch, step, …].
func (s *Inputs) slices(sym *check.Symbol, eq *check.Equation, t *tensor.Tensor) *ir.Value {
	o := s.Outer
	series := []*tensor.LoopVar{o.Batch, o.Token}
	if s.Slice == nil {
		return o.Named(o.ValueOver(t, series), sym.Name)
	}
	defer o.SaveOrigin()()
	if eq != nil {
		o.Eq, o.Span = eq.ID, eq.Span()
	}
	return s.Slice(o, o.Named(o.ValueOver(t, series), sym.Name))
}
