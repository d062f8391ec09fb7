package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Windows over time. A context keeps the last w−1 tokens of a series that is read in a window; they
// are a state of the program, named NAME.tail, which is prepended to the series of the call.

// A WindowState is the state that holds the past of a series for one window.
type WindowState struct {
	series string
	window *ir.Axis
	eq     string // the equation that reads a window
	param  *ir.Value
}

// NameWindowStates adds the width to the names of the window states of a series that is
// read in several windows, k.w.tail. Names are stored in checkpoints, so they must not
// depend on the order in which windows are built.
func (e *Builder) NameWindowStates() {
	count := map[string]int{}
	for _, t := range e.WindowStates {
		count[t.series]++
	}
	for _, t := range e.WindowStates {
		if count[t.series] > 1 {
			e.renameWindowState(t, ir.WindowName(t.series+"."+t.window.Name))
		}
	}
}

// SeparateWindowStates adds the equation to the names of window states of different stages
// that would be equal, X.out.tail: each stage keeps its own.
func SeparateWindowStates(stages []*Builder) {
	count := map[string]int{}
	for _, e := range stages {
		for _, t := range e.WindowStates {
			count[t.param.Name]++
		}
	}
	for _, e := range stages {
		for _, t := range e.WindowStates {
			if count[t.param.Name] > 1 {
				e.renameWindowState(t, ir.WindowName(t.series+"."+t.eq))
			}
		}
	}
}

// IsWindowState reports whether a state of that name is a window state of the program.
func IsWindowState(e *Builder, name string) bool {
	return slices.ContainsFunc(e.WindowStates, func(t WindowState) bool { return t.param.Name == name })
}

// NameWindowStatesAs names the window states of a read as its rule does: they are the same
// memory.
func (e *Builder) NameWindowStatesAs(rule *Builder) {
	for _, t := range e.WindowStates {
		for _, u := range rule.WindowStates {
			if t.series == u.series && t.window.Name == u.window.Name {
				e.renameWindowState(t, u.param.Name)
			}
		}
	}
}

func (e *Builder) renameWindowState(t WindowState, name string) {
	for i, r := range e.Func.Results {
		if r.State && r.Name == t.param.Name {
			e.Func.Results[i].Name = name
		}
	}
	t.param.Name = name
}

type extensionKey struct {
	val    *ir.Value
	window *ir.Axis
}

// seriesName is the name of a window state: that of the series, also where it is reshaped,
// or else that of the equation that reads it. It is stored in checkpoints, so it must not
// depend on the order in which equations are built.
func (e *Builder) seriesName(v *ir.Value) string {
	for v.Def != nil && v.Name[0] == '%' {
		if v.Def.Op != ir.Reshape {
			return e.eqName() + ".series"
		}
		v = v.Def.Args[0].Val
	}
	return v.Name
}

// eqName is the name of the current equation.
func (e *Builder) eqName() string { return e.Eq[strings.LastIndexByte(e.Eq, '.')+1:] }

// WithHistory prepends the last w−1 tokens before this call, which the context keeps, to
// axis i of a series. It returns the position of the first token of the call, which is
// w−1, and makes the last w−1 tokens of the call the new window state.
func (e *Builder) WithHistory(t *tensor.Tensor, i int, window *ir.Axis) (*tensor.Tensor, shape.Poly) {
	base := window.Size.Sub(shape.Int(1))
	t = e.Materialize(t)
	v := e.ValueOver(t, e.BatchVars())
	n := len(e.BatchVars())
	key := extensionKey{v, window}
	ext := e.extended[key]
	if ext == nil {
		series := e.seriesName(v)
		name := series
		for n := 2; slices.ContainsFunc(e.WindowStates, func(t WindowState) bool { return t.series == name && t.window == window }); n++ {
			name = series + "." + strconv.Itoa(n) // in the order of the equation's text
		}
		past := e.SizedAxis(base)
		axes := append([]*ir.Axis{}, v.Axes...)
		axes[n+i] = past
		tail := e.Func.AddParam(ir.WindowName(name), ir.State, ir.Real, axes...)
		e.WindowStates = append(e.WindowStates, WindowState{name, window, e.eqName(), tail})
		long := append([]*ir.Axis{}, v.Axes...)
		long[n+i] = e.SizedAxis(base.Add(v.Axes[n+i].Size))
		ext = e.Build().Stack(long, n+i, tail, v)
		e.extended[key] = ext
		// The last w−1 time steps of what was read are the context's new window state.
		sub := ir.Ls(len(axes))
		sub[n+i].Const = v.Axes[n+i].Size
		next := e.IR.Prod(axes, axes, ir.Ls(len(axes)), 1, ir.Arg{Val: ext, Sub: sub})
		e.Func.Results = append(e.Func.Results, ir.Result{Name: tail.Name, Val: next, State: true})
	}
	axes := append([]*ir.Axis{}, t.Axes...)
	axes[i] = ext.Axes[n+i]
	return e.FromValue(ext, e.BatchVars(), axes), base
}

// BatchVars is the batch variable, if there is one.
func (e *Builder) BatchVars() []*tensor.LoopVar {
	if e.Batch == nil {
		return nil
	}
	return []*tensor.LoopVar{e.Batch}
}

// endsNow refuses, outside of operations, a window that ends before the time step of its
// reader: its window state would be longer than the window.
func (e *Builder) endsNow(x notation.Expr, end tensor.Affine) bool {
	if e.timeIsAxis() {
		return true
	}
	if v := end.Var(); v != nil && v.Axis == e.TimeAxis() {
		return true
	}
	e.Errorf(diag.NotSupported, x, "a window ends at the time step of its equation, and %s is another", Text(x)).
		Hint("write window(t, w)")
	return false
}

// CountFrom counts from an integer instead of from the token.
func (e *Builder) CountFrom(at tensor.Affine, count *ir.Value) tensor.Affine {
	rest := at.Add(tensor.AffineOf(e.Token), -1)
	return tensor.Affine{Terms: slices.Clone(rest.Terms), Const: rest.Const, Via: &tensor.Factor{Val: count}}
}

// sinceStart is ≥ 0 exactly where a time step of this call, or one before it, is in the
// context. A local window reaches back to the start of the call.
func (e *Builder) sinceStart(at tensor.Affine, local bool) tensor.Affine {
	if local || e.timeIsAxis() {
		return at
	}
	if e.Counter != nil {
		return e.Counter.SinceStart(e, at)
	}
	p := e.TokensBefore()
	return tensor.Affine{Terms: slices.Clone(at.Terms), Const: at.Const, Via: &p}
}

// TokensBefore is the number of tokens of the context before this call.
func (e *Builder) TokensBefore() tensor.Factor {
	if e.tokensBefore == nil {
		e.tokensBefore = e.Func.Param(ir.Position)
		if e.tokensBefore == nil {
			var axes []*ir.Axis
			if e.Batch != nil {
				axes = []*ir.Axis{e.Batch.Axis}
			}
			e.tokensBefore = e.Func.AddParam(ir.Position, ir.State, ir.Int, axes...)
		}
	}
	f := tensor.Factor{Val: e.tokensBefore}
	if len(e.tokensBefore.Axes) > 0 {
		f.Sub = []tensor.Subscript{{Visible: -1, Affine: tensor.AffineOf(e.Batch)}}
	}
	return f
}

// timeIsAxis reports whether there is no context: time begins where the input
// of an operation begins.
func (e *Builder) timeIsAxis() bool {
	return e.Block.Unit.Kind == notation.OpUnit || e.Block.Unit.Kind == notation.FuncUnit
}

// TimeAxis is the axis of tokens.
func (e *Builder) TimeAxis() *ir.Axis {
	if e.Token != nil && !e.timeIsAxis() {
		return e.Token.Axis
	}
	if a := e.Block.Axes["T"]; a != nil {
		return e.Axis(a)
	}
	return nil
}

// position is the number of tokens of the context before a token; in an operation, which has
// no context, that of its input.
func (e *Builder) position(x *notation.Call) *tensor.Tensor {
	if !e.arity(x, len(x.Args), 1) {
		return nil
	}
	var token *tensor.LoopVar
	if id, ok := x.Args[0].(*notation.Ident); ok && e.Counter == nil {
		if b := e.Local(id.Name.Text); b != nil && b.Index != nil && b.Index.Axis == e.TimeAxis() {
			token = b.Index
		} else if b == nil && id.Name.Text == e.Block.Time {
			token = e.Token
		}
	}
	if token == nil {
		e.Errorf(diag.NotSupported, x, "position takes the token of an equation that reads no state").
			Hint("give it an equation of its own: p[t∈T] = position(t), in a rule p_t = position(t)")
		return nil
	}
	if e.timeIsAxis() {
		return e.Position(tensor.AffineOf(token))
	}
	return e.Count(token, e.TokensBefore())
}
