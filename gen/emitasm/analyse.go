package emitasm

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// analyse finds the streams of a region, and which scalars differ between rows
// and between columns.
func (f *function) analyse() {
	for _, v := range f.r.InnerVars() {
		if f.counter[v] == "" {
			f.counter[v] = f.word()
		}
	}
	plan.Walk(f.r.Body, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) { f.stream(a) })
	})
	for before := -1; before != f.dependent(); {
		before = f.dependent()
		f.mark(f.r.Body, nil)
	}
}

// dependent counts what was found to differ.
func (f *function) dependent() int {
	n := 0
	for _, d := range f.depends {
		if d.row {
			n++
		}
		if d.column {
			n++
		}
	}
	return n
}

func (f *function) mark(ns []plan.Node, lane *plan.Loop) {
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Loop:
			in := lane
			if f.isVectorLoop(n) {
				in = n
			}
			f.mark(n.Body, in)
		case *plan.If:
			f.mark(n.Body, lane)
		case *plan.Let:
			f.add(n.To, f.depend(n.Val, lane))
		case *plan.Accumulate:
			f.add(n.To, depends{row: f.depend(n.Val, lane).row})
		}
	}
}

func (f *function) add(l *plan.Local, d depends) {
	old := f.depends[l]
	f.depends[l] = depends{old.row || d.row, old.column || d.column}
}

// depend is what an expression changes with.
func (f *function) depend(e plan.Expr, lane *plan.Loop) depends {
	var d depends
	plan.WalkExpr(e, func(e plan.Expr) {
		var x depends
		switch e := e.(type) {
		case plan.Load:
			x = f.accessDepends(e.Access, lane)
		case plan.Ref:
			x = f.depends[e.To]
		}
		d = depends{d.row || x.row, d.column || x.column}
	})
	return d
}

func (f *function) accessDepends(a plan.Access, lane *plan.Loop) depends {
	if f.r.IsPrivate(a.Buf) {
		return depends{row: f.rowsInVector(), column: true}
	}
	flat := a.Flat()
	d := depends{row: f.rowsInVector() && !flat.Coef(f.r.Row).IsZero()}
	d.column = lane != nil && !flat.Coef(lane.Var).IsZero()
	return d
}

// isVectorLoop reports whether a loop runs on vectors: an innermost one.
func (f *function) isVectorLoop(n *plan.Loop) bool {
	lane := n.Kind != plan.Time
	for _, x := range n.Body {
		switch x.(type) {
		case *plan.Loop, *plan.If, *plan.Gather:
			lane = false
		}
	}
	return lane
}

// stream finds or makes the stream of an access.
func (f *function) stream(a plan.Access) *stream {
	own := f.r.IsPrivate(a.Buf)
	walk := f.r.StreamOf(a)
	if own {
		walk = f.ownWalk(a)
	}
	key := keyOf(walk)
	if s := f.streams[key]; s != nil {
		return s
	}
	s := &stream{key: key, walk: walk, access: a, own: own}
	f.streams[key] = s
	f.order = append(f.order, s)
	return s
}

// keyOf names a walk: equal keys touch the same entries.
func keyOf(w plan.Stream) string {
	key := w.Buf.Name + "+" + w.Base.String()
	for i, v := range w.Vars {
		key += fmt.Sprintf(" %s*%p", w.Stride[i], v)
	}
	return key
}

// ownWalk is the walk over all but the last index of a row's own buffer.
func (f *function) ownWalk(a plan.Access) plan.Stream {
	n := len(a.Index) - 1
	x, mul := plan.Index{}, shape.Int(1)
	for i := n - 1; i >= 0; i-- {
		x = x.Add(a.Index[i], mul)
		mul = mul.Mul(a.Buf.Dims[i])
	}
	s := plan.Stream{Buf: a.Buf.Base(), Base: x}
	for _, v := range f.r.InnerVars() {
		if c := s.Base.Coef(v); !c.IsZero() {
			s.Vars, s.Stride = append(s.Vars, v), append(s.Stride, c)
			s.Base = s.Base.Subst(v, plan.Index{})
		}
	}
	return s
}
