package consumeonce

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// A walker takes a state through one function, expression by expression in the
// order of evaluation.
type walker struct {
	*checker
	root      ast.Node         // the function
	lent      *types.Signature // of a function that borrows
	reporting bool
	ranges    map[ast.Expr]bool // keys and values of range statements
	comms     map[ast.Stmt]bool // the communications of select
	ret       *captures         // of a literal: what it does to what it captures
}

// prepare finds the operations that the blocks of the graph show at another place
// than where they happen: range assigns at the start of each iteration, select sends
// and receives in the chosen case.
func (w *walker) prepare() {
	w.ranges, w.comms = map[ast.Expr]bool{}, map[ast.Stmt]bool{}
	ast.Inspect(w.root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == w.root
		case *ast.RangeStmt:
			w.ranges[n.Key], w.ranges[n.Value] = n.Key != nil, n.Value != nil
		case *ast.CommClause:
			if n.Comm != nil {
				w.comms[n.Comm] = true
			}
		}
		return true
	})
}

// block takes a state through a block.
func (w *walker) block(b *cfg.Block, s state) {
	switch b.Kind {
	case cfg.KindRangeBody:
		r := b.Stmt.(*ast.RangeStmt)
		w.assign(s, r.Key)
		w.assign(s, r.Value)
	case cfg.KindSelectCaseBody:
		if comm := b.Stmt.(*ast.CommClause).Comm; comm != nil {
			w.node(s, comm)
		}
	}
	for i, n := range b.Nodes {
		if e, ok := n.(ast.Expr); ok && (w.ranges[e] || i == 0 && b.Kind == cfg.KindSelectCaseBody && w.received(b, e)) {
			continue
		}
		if stmt, ok := n.(ast.Stmt); ok && w.comms[stmt] {
			continue
		}
		w.node(s, n)
	}
}

// received reports whether an expression is what a case of select assigns to.
func (w *walker) received(b *cfg.Block, e ast.Expr) bool {
	a, ok := b.Stmt.(*ast.CommClause).Comm.(*ast.AssignStmt)
	return ok && a.Lhs[0] == e
}

// node takes a state through a statement or an expression of a block.
func (w *walker) node(s state, n ast.Node) {
	switch n := n.(type) {
	case ast.Expr:
		w.read(s, n)
	case *ast.ExprStmt:
		w.read(s, n.X)
	case *ast.AssignStmt:
		w.assignment(s, n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		for _, e := range n.Values {
			w.move(s, e)
		}
		for _, name := range n.Names {
			w.assign(s, name)
		}
	case *ast.ReturnStmt:
		for _, e := range n.Results {
			w.move(s, e)
		}
	case *ast.SendStmt:
		w.read(s, n.Chan)
		w.move(s, n.Value)
	case *ast.IncDecStmt:
		w.assign(s, n.X)
	case *ast.GoStmt:
		w.call(s, n.Call, once)
	case *ast.DeferStmt:
		w.call(s, n.Call, later)
	}
}

// assignment moves the right side and then makes the left one live.
func (w *walker) assignment(s state, lhs, rhs []ast.Expr) {
	for i, e := range rhs {
		if len(lhs) == len(rhs) && blank(lhs[i]) {
			w.read(s, e)
			continue
		}
		w.move(s, e)
	}
	for _, e := range lhs {
		w.assign(s, e)
	}
	if len(rhs) == 1 {
		w.mayFail(s, lhs[len(lhs)-1], rhs[0])
	}
}

// mayFail records the error that says whether a value was taken.
func (w *walker) mayFail(s state, lhs, rhs ast.Expr) {
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	id, named := lhs.(*ast.Ident)
	if !ok || !named {
		return
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || w.marks.OwnFunc(w.callee(call))&mark.Takes == 0 {
		return
	}
	v, ok := w.pass.TypesInfo.ObjectOf(id).(*types.Var)
	if p, isPlace := w.place(sel.X); ok && isPlace && s[p].out {
		st := s[p]
		st.err = v
		s[p] = st
	}
}

// edge is the edge to a successor of a condition: where an error is not nil, the value
// that could not be taken is still in its place.
func (w *walker) edge(b *cfg.Block, succ int, s state) {
	if len(b.Succs) != 2 || len(b.Nodes) == 0 {
		return
	}
	cond, ok := b.Nodes[len(b.Nodes)-1].(*ast.BinaryExpr)
	if !ok || !w.pass.TypesInfo.Types[cond.Y].IsNil() || (cond.Op != token.NEQ || succ != 0) && (cond.Op != token.EQL || succ != 1) {
		return
	}
	id, ok := ast.Unparen(cond.X).(*ast.Ident)
	if !ok {
		return
	}
	for p, st := range s {
		if st.err != nil && st.err == w.pass.TypesInfo.ObjectOf(id) {
			delete(s, p)
		}
	}
}

func blank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// assign makes the assigned place live.
func (w *walker) assign(s state, e ast.Expr) {
	if e == nil || blank(e) {
		return
	}
	p, ok := w.place(e)
	if !ok {
		w.inner(s, e)
		return
	}
	s.assign(p)
	if p.path == "" {
		s.changed(p.root)
	}
	if w.ret != nil {
		w.ret.assigned[p] = true
	}
}

// move is an expression whose value goes elsewhere.
func (w *walker) move(s state, e ast.Expr) {
	t := w.pass.TypesInfo.TypeOf(e)
	if p, ok := w.place(e); ok && w.once(t) {
		w.inner(s, e)
		w.use(s, p, e, gone)
		return
	}
	w.read(s, e)
}

// read is an expression whose value is read, or made here.
func (w *walker) read(s state, e ast.Expr) {
	t := w.pass.TypesInfo.TypeOf(e)
	if p, ok := w.place(e); ok {
		if w.once(t) {
			w.use(s, p, e, kept)
		}
		w.inner(s, e)
		return
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		w.call(s, e, now)
	case *ast.FuncLit:
		w.closure(s, e, again)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			w.move(s, x)
		}
	case *ast.BinaryExpr:
		w.read(s, e.X)
		if e.Op != token.LAND && e.Op != token.LOR {
			w.read(s, e.Y)
			return
		}
		some := s.Clone()
		w.read(some, e.Y)
		s.Join(some)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			w.address(s, e)
		} else {
			w.read(s, e.X)
		}
	default:
		w.inner(s, e)
	}
}

// address is an expression that points at another one. Who has the address of a
// struct may fill what was moved out of it.
func (w *walker) address(s state, e *ast.UnaryExpr) {
	if _, ok := w.place(e.X); !ok {
		w.read(s, e.X)
		return
	}
	w.inner(s, e.X)
	if t := w.pass.TypesInfo.TypeOf(e.X); w.reporting && w.marks.Type(t)&mark.ConsumeOnce != 0 {
		w.report(e, "the address of a %s is a second claim that cannot be followed; pass the value on", w.name(t))
	}
}

// inner walks the operands of an expression.
func (w *walker) inner(s state, e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		w.bare(s, e.X)
	case *ast.SelectorExpr:
		if sel, ok := w.pass.TypesInfo.Selections[e]; ok {
			if sel.Kind() == types.MethodVal && w.once(w.pass.TypesInfo.TypeOf(e.X)) && w.reporting {
				w.report(e, "a method value keeps a second claim to the %s; call the method", w.name(w.pass.TypesInfo.TypeOf(e.X)))
			}
			w.bare(s, e.X)
		}
	case *ast.IndexExpr:
		w.bare(s, e.X)
		w.read(s, e.Index)
	case *ast.IndexListExpr:
		w.bare(s, e.X)
	case *ast.SliceExpr:
		w.bare(s, e.X)
		for _, x := range []ast.Expr{e.Low, e.High, e.Max} {
			if x != nil {
				w.read(s, x)
			}
		}
	case *ast.TypeAssertExpr:
		w.read(s, e.X)
	case *ast.KeyValueExpr:
		w.read(s, e.Value)
	}
}

// bare walks the expression under a selector or an index: reading a part of a place is
// not a use of all of it.
func (w *walker) bare(s state, e ast.Expr) {
	if _, ok := w.place(e); ok {
		w.inner(s, e)
		return
	}
	w.read(s, e)
}

// callee is the function that a call calls, if that is known.
func (w *walker) callee(call *ast.CallExpr) *types.Func {
	f, _ := typeutil.Callee(w.pass.TypesInfo, call).(*types.Func)
	return f
}
