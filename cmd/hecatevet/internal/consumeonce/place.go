package consumeonce

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strings"
)

// A place is a variable, or something inside of it: fields and elements under an
// index that is a constant or a variable. Two places overlap if one is part of
// the other.
type place struct {
	root *types.Var
	path string // ".field", "[const]", "[%p]" of a variable, one after the other
}

// status is what may be true of a place, on some path. A place that is not in a state
// is live on all paths.
type status struct {
	out  bool // taken, not yet returned
	dead bool // moved
	at   token.Pos
	err  *types.Var // not nil: it was not taken after all
}

// state is the places that may be other than live.
type state map[place]status

// Clone returns a copy.
func (s state) Clone() state { return maps.Clone(s) }

// Join adds what may be true on another path.
func (s state) Join(o state) (news bool) {
	for p, b := range o {
		a := s[p]
		m := status{a.out || b.out, a.dead || b.dead, max(a.at, b.at), a.err}
		if a == (status{}) {
			m.err = b.err
		} else if a.err != b.err {
			m.err = nil
		}
		if m != a {
			s[p], news = m, true
		}
	}
	return news
}

// within reports whether a path is another one or inside it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// assign makes a place live, with all places inside it.
func (s state) assign(p place) {
	for q := range s {
		if q.root == p.root && within(q.path, p.path) {
			delete(s, q)
		}
	}
}

// changed forgets what is known of a variable's content and of the elements that
// it is an index of.
func (s state) changed(v *types.Var) {
	key := index(v)
	for q, st := range s {
		if q.root == v || strings.Contains(q.path, key) {
			delete(s, q)
		} else if st.err == v {
			st.err = nil
			s[q] = st
		}
	}
}

// inside forgets the places inside a place that was passed to other code.
func (s state) inside(p place) {
	for q := range s {
		if q.root == p.root && q.path != p.path && within(q.path, p.path) {
			delete(s, q)
		}
	}
}

// blocking returns the status of the places that overlap a place; of more than one,
// that of the one moved last.
func (s state) blocking(p place) (worst status, blocked bool) {
	for q, st := range s {
		if q.root == p.root && (within(q.path, p.path) || within(p.path, q.path)) && (st.dead || st.out) && (!blocked || st.at > worst.at) {
			worst, blocked = st, true
		}
	}
	return worst, blocked
}

func index(v *types.Var) string { return fmt.Sprintf("[%p]", v) }

// place returns the place that an expression denotes.
func (w *walker) place(e ast.Expr) (place, bool) {
	info := w.pass.TypesInfo
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := info.ObjectOf(e).(*types.Var); ok && e.Name != "_" {
			return place{v, ""}, true
		}
	case *ast.StarExpr:
		return w.place(e.X)
	case *ast.SelectorExpr:
		sel, ok := info.Selections[e]
		if !ok { // of a package
			v, ok := info.Uses[e.Sel].(*types.Var)
			return place{v, ""}, ok
		}
		if sel.Kind() != types.FieldVal {
			return place{}, false
		}
		p, ok := w.place(e.X)
		return place{p.root, p.path + "." + e.Sel.Name}, ok
	case *ast.IndexExpr:
		p, ok := w.place(e.X)
		if !ok {
			return place{}, false
		}
		if v := info.Types[e.Index].Value; v != nil {
			return place{p.root, p.path + "[" + v.ExactString() + "]"}, true
		}
		if id, ok := ast.Unparen(e.Index).(*ast.Ident); ok {
			if v, ok := info.ObjectOf(id).(*types.Var); ok {
				return place{p.root, p.path + index(v)}, true
			}
		}
	}
	return place{}, false
}
