package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// updateNames serves an update. The clock and the options are numbers, the same
// for the whole parameter. In an update of entries every other name is one
// entry, under the loops of the parameter; in one of matrices w, g and the
// slots are the whole matrix, with its axes.
type updateNames struct {
	loops []*loopVar
	axes  []*ir.Axis
	clock *ten            // nil: a parameter
	vals  map[string]*ten // after this fire
	old   map[string]*ten // before it

	failed map[string]bool // equations with an error, which has been reported
}

// Update builds an update: the parameter, its gradient, its slots, the clock
// and the options in; the parameter and the slots out. A parameter under an
// update of entries is one row of them.
func Update(blk *check.Block, ds *diag.List) *ir.Func { return update(blk, ds, false, false) }

// UpdateOfMatrix is Update of a parameter that is a matrix, for an update of
// entries as well: so that the two can be compared.
func UpdateOfMatrix(blk *check.Block, ds *diag.List) *ir.Func { return update(blk, ds, true, false) }

// UpdateTall is Update with every iteration that is said to hold for the
// transpose computed on the transpose: of a matrix of more rows than columns,
// X Xᵀ is then the smaller product. It is nil where there is no such iteration,
// and in an update of entries.
func UpdateTall(blk *check.Block, ds *diag.List) *ir.Func {
	_, _, matrices := blk.Matrices()
	for _, eq := range blk.Eqs {
		if eq.Iter == nil || !eq.Iter.Orient || !matrices {
			continue
		}
		var own diag.List
		f := update(blk, &own, true, true)
		if own.HasErrors() {
			ds.Errorf(diag.NotSupported, eq.Iter.Step.Where(), "this step does not fit the transpose of %s", eq.Name).
				Labelf("it reads something that has the rows of the parameter").Hint("take orient away")
			return nil
		}
		return f
	}
	return nil
}

func update(blk *check.Block, ds *diag.List, matrix, tall bool) *ir.Func {
	e := newBuilder(blk, blk.ID, ds)
	e.tall = tall
	n := newUpdateNames(e, matrix)
	e.names = n
	before := ds.Len()
	for _, s := range blk.SymSeq {
		switch s.Kind {
		case check.State, check.Input:
			n.before(e, s)
		case check.Clock:
			e.f.AddParam(ident.ASCII(s.Name), ir.Constant, ir.Real)
		}
	}
	n.fire(e)
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	for _, s := range blk.SymSeq {
		if s.Kind == check.State && n.vals[s.Name] != nil {
			v := e.pack(n.vals[s.Name], n.loops)
			e.f.Results = append(e.f.Results, ir.Result{Name: ident.ASCII(s.Name), Val: v, State: true, Eq: blk.ID + "." + ident.ASCII(s.Name)})
		}
	}
	adopt(e.f)
	return e.f
}

// newUpdateNames makes the loops of an update of entries, over a matrix where it
// is asked for one, or the axes of an update of matrices.
func newUpdateNames(e *builder, matrix bool) *updateNames {
	n := &updateNames{vals: map[string]*ten{}, old: map[string]*ten{}, failed: map[string]bool{}}
	switch rows, cols, ok := e.blk.Matrices(); {
	case ok:
		n.axes = []*ir.Axis{e.axis(rows), e.axis(cols)}
	case matrix:
		n.loops = []*loopVar{e.newVar("row", e.f.NewAxis("r")), e.newVar("column", e.f.NewAxis("c"))}
	default:
		n.loops = []*loopVar{e.newVar("entry", e.f.NewAxis("n"))}
	}
	return n
}

// fire builds the equations in order.
func (n *updateNames) fire(e *builder) {
	for _, eq := range e.blk.Eqs {
		e.eq, e.span = eq.ID, eq.Span()
		t := e.column(e.real(e.side(eq), eq.Value()), eq.Value())
		if t == nil || !n.shaped(e, eq, t) {
			n.failed[eq.Name] = true
			continue
		}
		t = e.one(t)
		e.named(t.fs[0].val, eq.Name)
		n.vals[eq.Name] = t
	}
}

// shaped wants of what an update carries the shape of the parameter.
func (n *updateNames) shaped(e *builder, eq *check.Equation, t *ten) bool {
	if s := e.blk.Symbols[eq.Name]; s == nil || s.Kind != check.State {
		return true
	}
	if w := (&ten{axes: n.axes, elem: ir.Real}); !sameAxes(t, w) {
		e.errorf(diag.WrongResult, eq.Value(), "%s is %s, and a fire makes it %s", eq.Name, e.typ(w), e.typ(t)).Labelf("%s", e.typ(t))
		return false
	}
	return true
}

// before is a slot, the parameter or the gradient as the fire finds it.
func (n *updateNames) before(e *builder, s *check.Symbol) *ten {
	if n.old[s.Name] == nil {
		role := ir.State
		if s.Kind == check.Input {
			role = ir.Input
		}
		v := e.f.AddParam(ident.ASCII(s.Name), role, ir.Real, append(axesOf(n.loops), n.axes...)...)
		n.old[s.Name] = e.ofValue(v, n.loops, n.axes)
	}
	return n.old[s.Name]
}

func (n *updateNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	switch {
	case sym.Kind == check.Clock && n.clock != nil:
		return n.clock
	case sym.Kind == check.Clock:
		return &ten{elem: ir.Real, coef: 1, fs: []factor{{val: e.f.Param(ident.ASCII(sym.Name))}}}
	case sym.Kind == check.Input && (when.now || when == moment{}):
		return n.before(e, sym)
	case sym.Kind == check.State && when.before:
		return n.before(e, sym)
	case when.now || when == (moment{}):
		if t := n.vals[sym.Name]; t != nil {
			return t
		}
		if n.failed[sym.Name] {
			return nil
		}
	}
	d := e.ds.Errorf(diag.TimeSuffix, span, "%s has no value at this moment", sym.Name)
	if sym.Kind == check.Input {
		d.Hint("a gradient is that of this fire, %s_%s; keep an older one in a slot", sym.Name, e.blk.Time)
		return nil
	}
	d.Hint("read it before this fire, %s_{%s−1}, or after its equation, %s_%s", sym.Name, e.blk.Time, sym.Name, e.blk.Time)
	return nil
}
