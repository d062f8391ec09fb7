package consumeonce

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// A use is the effect of an expression on a place.
type use uint8

const (
	kept     use = iota // read
	gone                // moved
	taken               // its content taken out
	returned            // its content given back
)

// When a call or a literal runs.
type when uint8

const (
	now   when = iota
	once       // exactly once, from here on: go
	later      // exactly once, at the end: defer
	again      // nobody knows how often
)

// use reports a use of a place that may be dead, and records the effect.
func (w *walker) use(s state, p place, e ast.Expr, how use) {
	w.capture(s, p)
	bad, blocked := s.blocking(p)
	if how == returned && !bad.dead {
		if w.reporting && !blocked && w.local(p.root) {
			w.report(e, "%s is given back and was not taken; take it first", types.ExprString(e))
		}
	} else if blocked && w.reporting {
		w.stale(e, bad)
	}
	if how == kept {
		return
	}
	if w.reporting && w.isLent(p.root) {
		w.report(e, "%s is borrowed: a function marked borrows cannot move it on", types.ExprString(e))
	}
	s.assign(p)
	if how == taken {
		s[p] = status{out: true, at: e.Pos()}
	} else {
		s[p] = status{dead: true, at: e.Pos()}
	}
}

// stale reports why a place cannot be used.
func (w *walker) stale(e ast.Expr, bad status) {
	name, line := types.ExprString(e), w.pass.Fset.Position(bad.at).Line
	switch {
	case bad.at == e.Pos():
		w.report(e, "%s is moved in a loop and not assigned again before the next round; assign what the call returns to it", name)
	case bad.dead:
		w.report(e, "%s was moved in line %d; use what that call returned", name, line)
	default:
		w.report(e, "%s was taken in line %d and not yet returned", name, line)
	}
}

// local reports whether a variable is declared in the function, and not a
// parameter.
func (w *walker) local(v *types.Var) bool {
	return v != nil && v.Pos() >= w.root.Pos() && v.Pos() < w.root.End() && !w.isParam(v)
}

func (w *walker) isParam(v *types.Var) bool {
	var t *ast.FuncType
	switch f := w.root.(type) {
	case *ast.FuncDecl:
		t = f.Type
	case *ast.FuncLit:
		t = f.Type
	}
	return v.Pos() < t.End()
}

func (w *walker) isLent(v *types.Var) bool {
	if w.lent == nil {
		return false
	}
	for p := range w.lent.Params().Variables() {
		if p == v {
			return true
		}
	}
	return v == w.lent.Recv()
}

// call takes a state through a call: receiver and arguments, and then what the
// call may have changed.
func (w *walker) call(s state, call *ast.CallExpr, when when) {
	info := w.pass.TypesInfo
	if tv := info.Types[call.Fun]; tv.IsType() { // a conversion
		for _, e := range call.Args {
			w.move(s, e)
			w.hides(tv.Type, e)
		}
		return
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		w.args(s, call, 0)
		w.closure(s, lit, when)
		return
	}
	marks := w.marks.OwnFunc(w.callee(call))
	w.receiver(s, call, marks)
	w.args(s, call, marks)
	for _, e := range call.Args {
		w.given(s, e)
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil {
		w.given(s, &ast.UnaryExpr{Op: token.AND, X: sel.X})
	}
}

// receiver is the effect of a method on its receiver.
func (w *walker) receiver(s state, call *ast.CallExpr, marks mark.Set) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || w.pass.TypesInfo.Selections[sel] == nil {
		w.bare(s, call.Fun)
		return
	}
	p, isPlace := w.place(sel.X)
	if f := w.callee(call); !isPlace || f == nil || !w.once(w.pass.TypesInfo.TypeOf(sel.X)) {
		w.bare(s, sel.X)
		return
	} else if _, pointer := f.Signature().Recv().Type().(*types.Pointer); pointer {
		marks |= mark.Borrows
	}
	w.inner(s, sel.X)
	switch {
	case marks&mark.Takes != 0:
		w.use(s, p, sel.X, taken)
	case marks&mark.Returns != 0:
		w.use(s, p, sel.X, returned)
	case marks&mark.Borrows != 0:
		w.use(s, p, sel.X, kept)
	default:
		w.use(s, p, sel.X, gone)
	}
}

// args moves or borrows the arguments.
func (w *walker) args(s state, call *ast.CallExpr, marks mark.Set) {
	sig, _ := w.pass.TypesInfo.TypeOf(call.Fun).Underlying().(*types.Signature)
	for i, e := range call.Args {
		lit, ok := ast.Unparen(e).(*ast.FuncLit)
		switch {
		case ok && w.effects.RunsOnce(call, i):
			w.closure(s, lit, once)
		case marks&mark.Borrows != 0:
			w.read(s, e)
		default:
			w.move(s, e)
		}
		if sig != nil {
			w.hides(mark.Parameter(sig, i, call.Ellipsis.IsValid()), e)
		}
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && w.reporting {
		if b, ok := w.pass.TypesInfo.Uses[id].(*types.Builtin); ok && b.Name() == "copy" {
			if list, ok := w.pass.TypesInfo.TypeOf(call.Args[1]).Underlying().(*types.Slice); ok && w.once(list.Elem()) {
				w.report(call, "copy makes a second claim to every %s of the list", w.name(list.Elem()))
			}
		}
	}
}

// hides reports an interface that a value goes into.
func (w *walker) hides(to types.Type, e ast.Expr) {
	from := w.pass.TypesInfo.TypeOf(e)
	if to == nil || !w.reporting || !types.IsInterface(to) || !w.once(from) {
		return
	}
	if _, generic := types.Unalias(to).(*types.TypeParam); !generic {
		w.report(e, "an interface hides the %s in %s, and it cannot be followed", w.name(from), types.ExprString(e))
	}
}

// given is an argument through which a call may assign to other places.
func (w *walker) given(s state, e ast.Expr) {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		if p, ok := w.place(u.X); ok && w.marks.Type(w.pass.TypesInfo.TypeOf(u.X))&mark.ConsumeOnce == 0 {
			s.inside(p)
		}
		return
	}
	if p, ok := w.place(e); ok && mark.Pointerish(w.pass.TypesInfo.TypeOf(e)) && !w.once(w.pass.TypesInfo.TypeOf(e)) {
		s.inside(p)
	}
}
