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

// A WindowState is what a context keeps of a series for one window.
type WindowState struct {
	series string
	window *ir.Axis
	eq     string // the equation that looks back
	param  *ir.Value
}

// NameWindowStates gives each tail of a series that several windows look back at the
// name of its width too, k.w.tail: names stand in checkpoints, and the order in
// which the windows were built must not show.
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

// SeparateWindowStates gives the tails of different stages that would have one name that
// of the equation that looks back, X.out.tail: each stage keeps its own.
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

func IsWindowState(e *Builder, name string) bool {
	return slices.ContainsFunc(e.WindowStates, func(t WindowState) bool { return t.param.Name == name })
}

// NameWindowStatesAs names the tails of a read as its rule does: they are the same memory.
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

// seriesName is the name that a tail gets: that of the series, in whatever
// shape it is read, or else that of the equation that reads it. It is stored in
// checkpoints, so the order in which equations are built must not show.
func (e *Builder) seriesName(v *ir.Value) string {
	for v.Def != nil && v.Name[0] == '%' {
		if v.Def.Op != ir.Reshape {
			return e.eqName() + ".series"
		}
		v = v.Def.Args[0].Val
	}
	return v.Name
}

// eqName is the name of the equation at hand.
func (e *Builder) eqName() string { return e.Eq[strings.LastIndexByte(e.Eq, '.')+1:] }

// WithHistory puts what the context kept of a series before this chunk in front of
// it: the last w−1 entries, which the call returns as part of the context. The
// result's time axis starts at moment −(w−1).
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
		e.IR.Eq, e.IR.Span = e.Eq, e.Span
		ext = e.IR.Stack(long, n+i, tail, v)
		e.extended[key] = ext
		// The last w−1 moments of what was read are the context's new tail.
		sub := ir.Ls(len(axes))
		sub[n+i].Const = v.Axes[n+i].Size
		next := e.IR.Prod(axes, axes, ir.Ls(len(axes)), 1, ir.Arg{Val: ext, Sub: sub})
		e.Func.Results = append(e.Func.Results, ir.Result{Name: tail.Name, Val: next, State: true})
	}
	axes := append([]*ir.Axis{}, t.Axes...)
	axes[i] = ext.Axes[n+i]
	return e.FromValue(ext, e.BatchVars(), axes), base
}

// BatchVars is the lane variable, where there is one.
func (e *Builder) BatchVars() []*tensor.LoopVar {
	if e.Batch == nil {
		return nil
	}
	return []*tensor.LoopVar{e.Batch}
}

// endsNow refuses a window that ends before its reader's own moment, outside of
// operations: its tail would have to reach further back than the window.
func (e *Builder) endsNow(x notation.Expr, end tensor.Affine) bool {
	if e.timeIsAxis() {
		return true
	}
	if v := end.Var(); v != nil && v.Axis == e.TimeAxis() {
		return true
	}
	e.Errorf(diag.NotSupported, x, "a window ends at the moment of its equation, and %s is another", Text(x)).
		Hint("write window(t, w)")
	return false
}

// CountFrom counts from an integer instead of from the token.
func (e *Builder) CountFrom(at tensor.Affine, count *ir.Value) tensor.Affine {
	rest := at.Add(tensor.AffineOf(e.Token), -1)
	return tensor.Affine{Terms: slices.Clone(rest.Terms), Const: rest.Const, Via: &tensor.Factor{Val: count}}
}

// sinceStart is ≥ 0 exactly where a moment of this chunk, or one before it,
// lies in the context. A local window reaches back to the start of the chunk.
func (e *Builder) sinceStart(at tensor.Affine, local bool) tensor.Affine {
	if local || e.timeIsAxis() {
		return at
	}
	if e.Step != nil {
		return e.Step.SinceStart(e, at)
	}
	p := e.TokensBefore()
	return tensor.Affine{Terms: slices.Clone(at.Terms), Const: at.Const, Via: &p}
}

// TokensBefore is how many tokens of the context came before this chunk.
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
