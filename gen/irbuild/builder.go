package irbuild

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A builder writes one program. Expressions report what is wrong with them and
// return nil; whoever receives nil returns nil without another message.
type builder struct {
	ds     *diag.List
	blk    *check.Block
	f      *ir.Func
	b      *ir.Builder
	axes   map[*check.Axis]*ir.Axis
	sized  map[string]*ir.Axis // axes of a size that no dims line names, by size
	scopes []*scope
	names  namer
	seq    int
	lane   *loopVar
	token  *loopVar
	safe   []choice // the branches of piecewise definitions that are being built
	eq     string
	span   notation.Span
	depth  int
	calls  []notation.Expr               // the calls being built, outermost first
	shifts map[*ir.Value][]notation.Span // where a value is read at a sum of indices
	cyclic map[string]bool               // functions that were found to call themselves
	inCall bool                          // an operation is written out
	exts   map[extKey]*ir.Value
	tails  []keptTail
	pos    *ir.Value
	step   stepper         // where the token is no loop: the body of a scan, a claim
	chunk  *chunkNames     // where the token is a loop over a chunk
	locals []*binding      // the local definitions built since an unknown came into scope
	solves int             // the unknowns in scope
	own    map[string]bool // names whose replacement is being built: there they mean what they meant
	tall   bool            // iterations that hold for the transpose are computed on it
	trace  *[]gradSite     // where the gradients inside equations are, when someone asks
}

// A namer finds the value of a block's name at a moment.
type namer interface {
	name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten
}

// A stepper serves a program of one token: its windows count from the start of
// the context, and no loop stands for the token.
type stepper interface {
	sinceStart(e *builder, at affine) affine
}

// A moment is when a name is read; the zero moment is a bare name.
type moment struct {
	now, before, initial bool
	first                bool     // of an update: the first fire
	at                   *binding // a bound moment
}

// A scope maps names to what they are bound to: arguments of a function, local
// definitions, indices. A fence hides the block's names: a function of a page
// of its own does not see its caller.
type scope struct {
	names map[string]*binding
	fence bool
}

// A binding is one local name.
type binding struct {
	val  *ten
	idx  *loopVar
	time *affine     // a moment
	loop *loopVar    // of a moment in a window: the loop behind it
	wide *ir.Axis    // window axis of a moment that may lie before this chunk
	pick *unionIndex // an index over a union
	axis *ir.Axis    // an axis that a signature introduced
	turn *turn       // the index of a round
	expr *withExpr   // a local definition; val is what it was last built as
	safe []choice    // inside these branches

	busy   int  // of a local definition: it is being built, inside so many unknowns and one
	failed bool // it cannot be built
}

// A choice is a branch under construction: its condition, and whether the
// branch is taken when it holds.
type choice struct {
	cond *ten
	when bool
}

func newBuilder(blk *check.Block, name string, ds *diag.List) *builder {
	f := &ir.Func{Name: name}
	return &builder{ds: ds, blk: blk, f: f, b: &ir.Builder{F: f}, axes: map[*check.Axis]*ir.Axis{}, sized: map[string]*ir.Axis{},
		exts: map[extKey]*ir.Value{}, cyclic: map[string]bool{}, shifts: map[*ir.Value][]notation.Span{}, own: map[string]bool{}}
}

// axis is the program's axis for a block's axis.
func (e *builder) axis(a *check.Axis) *ir.Axis {
	if x := e.axes[a]; x != nil {
		return x
	}
	size := renamed(a.Size)
	x := e.sized[size.String()]
	if x == nil || a.Free {
		x = e.f.NewSizedAxis(ident.ASCII(a.Name), size)
	}
	e.axes[a] = x
	return x
}

// renamed spells the sizes of a polynomial in ASCII.
func renamed(p shape.Poly) shape.Poly {
	for _, s := range p.Symbols() {
		if n := ident.ASCII(s); n != s {
			p = p.Replace(s, shape.Sym(n))
		}
	}
	return p
}

// sizedAxis is the axis of a size that is written without a name, such as
// d_k + d_v: the one axis for which a dims line computes this size, or else one
// of its own. Equal sizes are the same axis: the size is the only name it has.
func (e *builder) sizedAxis(p shape.Poly) *ir.Axis {
	if x := e.sized[p.String()]; x != nil {
		return x
	}
	x := e.computed(p)
	if x == nil {
		x = e.f.NewSizedAxis(p.String(), p)
	}
	e.sized[p.String()] = x
	return x
}

// computed is the one axis of the block whose size a dims line computes to be p.
func (e *builder) computed(p shape.Poly) *ir.Axis {
	var found *check.Axis
	for _, a := range e.blk.AxisSeq {
		if _, fixed := a.Size.Const(); a.Free || fixed || renamed(a.Size).String() != p.String() {
			continue
		}
		if found != nil {
			return nil
		}
		found = a
	}
	if found == nil {
		return nil
	}
	return e.axis(found)
}

func (e *builder) push(s *scope) { e.scopes = append(e.scopes, s) }
func (e *builder) pop()          { e.scopes = e.scopes[:len(e.scopes)-1] }

// bind adds a local name to the innermost scope.
func (e *builder) bind(name string, b *binding) {
	s := e.scopes[len(e.scopes)-1]
	if s.names == nil {
		s.names = map[string]*binding{}
	}
	s.names[name] = b
}

// local finds a local name.
func (e *builder) local(name string) *binding {
	for i := len(e.scopes) - 1; i >= 0; i-- {
		if b := e.scopes[i].names[name]; b != nil {
			return b
		}
		if e.scopes[i].fence {
			return nil
		}
	}
	return nil
}

// newVar makes an index over an axis.
func (e *builder) newVar(name string, axis *ir.Axis) *loopVar {
	e.seq++
	return &loopVar{name: name, axis: axis, seq: e.seq}
}

// errorf reports an error; inside a function it says which call led there.
func (e *builder) errorf(code diag.Code, x notation.Expr, format string, args ...any) *diag.Diagnostic {
	d := e.ds.Errorf(code, x.Where(), format, args...)
	if len(e.calls) > 0 {
		d.See(e.calls[0].Where(), "in this call")
	}
	return d
}

// named gives a value the name of its equation.
func (e *builder) named(v *ir.Value, name string) *ir.Value {
	if v.Def != nil && v.Name[0] == '%' {
		v.Name = e.f.Fresh(ident.ASCII(name))
	}
	return v
}

// typ prints the type of t as a message shows it.
func (e *builder) typ(t *ten) string {
	switch {
	case t == nil:
		return "?"
	case t.elem == ir.Int && len(t.axes) == 0:
		return "an index"
	case t.elem == ir.Bool && len(t.axes) == 0:
		return "a condition"
	case len(t.axes) == 0:
		return "a number"
	}
	s := ""
	for i, a := range t.axes {
		if i > 0 {
			s += "×"
		}
		s += e.axisName(a)
	}
	if t.row {
		return fmt.Sprintf("a row of ℝ^{%s}", s)
	}
	return fmt.Sprintf("ℝ^{%s}", s)
}

// axisName is an axis as a message shows it: that of any one shape has no name.
func (e *builder) axisName(a *ir.Axis) string {
	if a == e.sized[anyShape] {
		return "…"
	}
	return a.Name
}

// shapeOf reads a declared shape into axes; undeclared names are what generic
// makes of them.
func (e *builder) shapeOf(t *notation.Type, generic func(id *notation.Ident) *ir.Axis) ([]*ir.Axis, bool) {
	var out []*ir.Axis
	for _, s := range t.Shape {
		a := e.axisExpr(s, generic)
		if a == nil {
			return nil, false
		}
		out = append(out, a)
	}
	return out, true
}

func (e *builder) axisExpr(s notation.Expr, generic func(id *notation.Ident) *ir.Axis) *ir.Axis {
	if id, ok := s.(*notation.Ident); ok {
		if b := e.local(id.Name.Text); b != nil && b.axis != nil {
			return b.axis
		}
		if a := e.blk.AxisOf(id.Name.Text); a != nil && !(e.fenced() && generic != nil) {
			return e.axis(a)
		}
		if generic != nil {
			return generic(id)
		}
	}
	size, ok := e.size(s, generic)
	if !ok {
		e.errorf(diag.UnknownAxis, s, "%s is not a size", notation.Print(s, notation.Unicode)).Hint("%s", check.SizeHint(s))
		return nil
	}
	return e.sizedAxis(size)
}

// size reads a size expression in the program's own names.
func (e *builder) size(s notation.Expr, generic func(id *notation.Ident) *ir.Axis) (shape.Poly, bool) {
	return e.blk.SizeOf(s, func(id *notation.Ident) *check.Axis {
		if b := e.local(id.Name.Text); b != nil && b.axis != nil {
			return &check.Axis{Size: b.axis.Size}
		}
		if a := e.blk.AxisOf(id.Name.Text); a != nil {
			return &check.Axis{Size: renamed(a.Size)}
		}
		if generic != nil {
			if a := generic(id); a != nil {
				return &check.Axis{Size: a.Size}
			}
		}
		return nil
	})
}
