package effect

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"golang.org/x/tools/go/cfg"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/flow"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// Memory says whose memory the lists in variables may be: the parameters' of a
// function as bits, and ReadOnly.
type Memory map[*types.Var]uint64

// Clone returns a copy.
func (m Memory) Clone() Memory { return maps.Clone(m) }

// Join adds what may be true on another path.
func (m Memory) Join(o Memory) (news bool) {
	for v, bits := range o {
		if m[v]|bits != m[v] {
			m[v] |= bits
			news = true
		}
	}
	return news
}

// tracer follows lists through one function.
type tracer struct {
	*Effects
	writes    func(at ast.Node, of uint64, how string)
	returns   func(of uint64)
	reporting bool
	ranges    map[ast.Expr]bool
	depth     int // of function literals
}

// Trace follows lists through a function, *ast.FuncDecl or *ast.FuncLit, from what
// is known at its start. It calls writes for every change of elements that have an
// owner, and returns for every list that is returned.
func (e *Effects) Trace(fn ast.Node, entry Memory, writes func(at ast.Node, of uint64, how string), returns func(of uint64)) {
	t := &tracer{Effects: e, writes: writes, returns: returns}
	t.function(fn, entry)
}

func (t *tracer) function(fn ast.Node, entry Memory) {
	var g *cfg.CFG
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		g = t.cfgs.FuncDecl(fn)
	case *ast.FuncLit:
		g = t.cfgs.FuncLit(fn)
	}
	outer, reporting := t.ranges, t.reporting
	t.ranges, t.reporting = map[ast.Expr]bool{}, false
	ast.Inspect(fn, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok {
			t.ranges[r.Key], t.ranges[r.Value] = r.Key != nil, r.Value != nil
		}
		return true
	})
	flow.Solve(g, entry, t.block, func(*cfg.Block, int, Memory) {}, func(b *cfg.Block, m Memory) {
		t.reporting = true
		t.block(b, m)
	})
	t.ranges, t.reporting = outer, reporting
}

func (t *tracer) block(b *cfg.Block, m Memory) {
	if b.Kind == cfg.KindRangeBody {
		r := b.Stmt.(*ast.RangeStmt)
		t.set(m, r.Key, 0)
		t.set(m, r.Value, t.of(m, r.X))
	}
	for _, n := range b.Nodes {
		if e, ok := n.(ast.Expr); ok && t.ranges[e] {
			continue
		}
		t.node(m, n)
	}
}

// node finds writes in a statement, and then applies its assignments.
func (t *tracer) node(m Memory, n ast.Node) {
	if t.reporting {
		t.look(m, n)
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		t.assign(m, n)
	case *ast.ValueSpec:
		for i, name := range n.Names {
			of := uint64(0)
			if len(n.Values) == len(n.Names) {
				of = t.of(m, n.Values[i])
			} else if len(n.Values) == 1 {
				of = t.of(m, n.Values[0])
			}
			t.set(m, name, of)
		}
	case *ast.ReturnStmt:
		if t.reporting && t.depth == 0 {
			for _, e := range n.Results {
				t.returns(t.of(m, e))
			}
		}
	}
}

func (t *tracer) assign(m Memory, n *ast.AssignStmt) {
	from := make([]uint64, len(n.Lhs))
	for i := range n.Lhs {
		if len(n.Rhs) == len(n.Lhs) {
			from[i] = t.of(m, n.Rhs[i])
		} else {
			from[i] = t.of(m, n.Rhs[0])
		}
	}
	for i, e := range n.Lhs {
		t.set(m, e, from[i])
	}
}

// set records the memory of a variable.
func (t *tracer) set(m Memory, e ast.Expr, of uint64) {
	id, ok := e.(*ast.Ident)
	if !ok {
		return
	}
	v, ok := t.info.ObjectOf(id).(*types.Var)
	switch {
	case !ok:
	case of == 0 || !mark.Pointerish(v.Type()) && !list(v.Type()):
		delete(m, v)
	default:
		m[v] = of
	}
}

// of returns whose memory an expression is.
func (t *tracer) of(m Memory, e ast.Expr) uint64 {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := t.info.ObjectOf(e).(*types.Var); ok {
			return m[v]
		}
	case *ast.SelectorExpr:
		if v, ok := t.info.Uses[e.Sel].(*types.Var); ok && v.IsField() && t.foreign(v) && t.marks.Of(v)&mark.ReadOnly != 0 {
			return ReadOnly
		}
	case *ast.SliceExpr:
		return t.of(m, e.X)
	case *ast.IndexExpr:
		if _, ok := t.info.TypeOf(e.X).Underlying().(*types.Map); !ok && mark.Pointerish(t.info.TypeOf(e)) {
			return t.of(m, e.X)
		}
	case *ast.UnaryExpr:
		if x, ok := ast.Unparen(e.X).(*ast.IndexExpr); ok && e.Op == token.AND {
			return t.of(m, x.X)
		}
	case *ast.CompositeLit:
		if _, ok := t.info.TypeOf(e).Underlying().(*types.Slice); !ok {
			return 0
		}
		of := uint64(0)
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			of |= t.of(m, x)
		}
		return of
	case *ast.CallExpr:
		return t.result(m, e)
	}
	return 0
}

// foreign reports whether an object is of another package: a package is not held
// to the marks of its own.
func (t *tracer) foreign(v *types.Var) bool { return t.marks.Foreign(v) }

// result returns whose memory the result of a call is.
func (t *tracer) result(m Memory, call *ast.CallExpr) (of uint64) {
	if t.info.Types[call.Fun].IsType() {
		return t.of(m, call.Args[0])
	}
	switch f := typeutil.Callee(t.info, call).(type) {
	case *types.Builtin:
		if f.Name() == "append" && !full(call.Args[0]) {
			return t.of(m, call.Args[0])
		}
	case *types.Func:
		if t.marks.Func(f)&mark.ReadOnly != 0 {
			return ReadOnly
		}
		gives := t.Of(f).Gives
		for i, e := range call.Args {
			if gives>>parameter(f.Signature(), i)&1 == 1 {
				of |= t.of(m, e)
			}
		}
		return of | gives&ReadOnly
	}
	return 0
}

// lists reports whether a type is a list of elements that share memory.
func lists(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && mark.Pointerish(s.Elem())
}

// full reports whether a list ends where its memory does, s[i:j:j], so that append
// makes a copy.
func full(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SliceExpr)
	return ok && s.Slice3
}
