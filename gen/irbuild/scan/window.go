package scan

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Windows inside a scan. A series that is read in a window depends on no state, so it
// is built for all tokens of the call before the scan, with the tokens that the
// context kept of it in front. The step reads it as a token with one more axis: entry
// j is the series at t − j. Nothing is copied; a window is a view of the series.
//
// How many tokens of the window the context has is a count that the step's guards
// read: the tokens before the call and those of the call so far. Tokens before the
// start of the context are left out of a sum; they do not count as zero. Values and
// order of a sum depend on the context alone, so a cut into calls changes no bit.

// windows are the tokens of a scan that reach back in time.
type windows struct {
	vals  map[windowKey]*ir.Value
	count *ir.Value // how many tokens came before this one, in the context
}

type windowKey struct {
	name string
	axis *ir.Axis
}

// inWindow reads a series at a time step that a window has bound.
func (s *Step) inWindow(sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	o, b := s.outer, when.At
	if b.Time == nil || b.Window == nil {
		s.e.Diags.Errorf(diag.NotSupported, span, "%s cannot be read at this index in an equation that depends on a state", sym.Name).
			Hint("a window binds a time step: s∈window(t, w)")
		return nil
	}
	if eq := s.e.Block.Equation(sym.Name); sym.Kind == check.Outer || sym.Kind == check.Constant || eq != nil && !eq.Timed {
		return s.e.Timeless(sym, when, span, nil)
	}
	t := s.series.Resolve(o, sym, expr.Time{Now: true}, span)
	if t == nil || t.IsNumber() {
		return t
	}
	key := windowKey{sym.Name, b.Window}
	p := s.past.vals[key]
	if p == nil {
		eq, at := o.Eq, o.Span
		o.Eq, o.Span = s.e.Eq, s.e.Span
		long, base := o.WithHistory(o.Tabulate(overBatchAndTime(o, t), []*tensor.LoopVar{o.Token}), 0, b.Window)
		o.Eq, o.Span = eq, at
		val := long.Factors[0].Val
		p = s.e.Func.AddParam(ident.ASCII(sym.Name), ir.Token, val.Elem, append([]*ir.Axis{b.Window}, t.Axes...)...)
		s.scan.Tokens = append(s.scan.Tokens, ir.ScanInput{Param: p, Val: val, Window: b.Window, Base: base})
		if s.past.vals == nil {
			s.past.vals = map[windowKey]*ir.Value{}
		}
		s.past.vals[key] = p
	}
	out := s.e.FromValue(p, nil, p.Axes)
	return tensor.At(out, tensor.AffineOf(s.e.Token).Add(*b.Time, -1))
}

// SinceStart is ≥ 0 exactly where a time step is in the context; it counts from the
// tokens before this one.
func (s *Step) SinceStart(e *expr.Builder, at tensor.Affine) tensor.Affine {
	if s.past.count == nil {
		pos := s.outer.TokensBefore()
		s.past.count = s.e.Func.AddParam("before", ir.Token, ir.Int)
		s.scan.Tokens = append(s.scan.Tokens, ir.ScanInput{Param: s.past.count, Val: pos.Val, Count: true})
	}
	return e.CountFrom(at, s.past.count)
}

// RefuseWindow refuses a window over a name that depends on a state.
func RefuseWindow(e *expr.Builder, sym *check.Symbol, span notation.Span) {
	d := e.Diags.Errorf(diag.NotSupported, span, "a window cannot read %s: its value at an earlier token is not kept", sym.Name)
	if sym.Kind == check.State {
		d.Labelf("a state").See(sym.Span, "declared here").
			Hint("a window reads inputs and what is computed from them alone; a state is kept at t and t−1")
		return
	}
	state := stateRead(e, sym.Name, map[string]bool{})
	d.Labelf("depends on the state %s", state).See(e.Block.Equation(sym.Name).Span(), "defined here").
		Hint("a window reads inputs and what is computed from them alone, without %s", state)
}

// stateRead is the first state on which an equation depends.
func stateRead(e *expr.Builder, name string, seen map[string]bool) string {
	eq := e.Block.Equation(name)
	if eq == nil || seen[name] {
		return ""
	}
	seen[name] = true
	for _, r := range e.Block.TimedReads(eq) {
		if e.Block.Symbols[r].Kind == check.State {
			return r
		}
		if s := stateRead(e, r, seen); s != "" {
			return s
		}
	}
	return ""
}

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
