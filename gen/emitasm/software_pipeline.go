package emitasm

import (
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Software pipelining of a loop over time. A token of a recurrence passes over the state
// more than once: its first vector loop reads it (the error needs M·k), its last one writes
// it. The first loop of a token runs together with the last one of the token before, entry
// by entry, so that the state passes through the registers once a token:
//
//	x = 0; for j { x += M[j]·k[0, j] }          prologue: the first loop of the first token
//	time a { n = the token after a
//		e = x − v[a]; x' = x; x = 0
//		for j { M[j] = …; y += …; x += M[j]·k[n, j] }
//		y[a] = y }
//
// Where the first loop only reads, what it computes for the token after the last one is
// dropped; where it stores, the last token runs by itself. A number that the last loop writes
// for the first one alone stays in a register. The order of every sum and so every bit stays.
// A form may do without (see form): two loops have fewer live values than one.
type pipelinedLoop struct {
	prologue []plan.Node // in front of the loop, at its first iteration
	next     *plan.Next  // nil where the token before the last is the last that has one
	body     []plan.Node
	last     []plan.Node // at its last iteration, or nil where that is as the others
}

// all are the statements of a pipelined loop, for passes over all of them.
func (r *pipelinedLoop) all() []plan.Node {
	out := append([]plan.Node(nil), r.prologue...)
	if r.next != nil {
		out = append(out, r.next)
	}
	return append(append(out, r.body...), r.last...)
}

// pipeline returns a region with its loop over time pipelined, or the region as it
// is where that cannot be.
func pipeline(r *plan.Region) (*plan.Region, *pipelinedLoop) {
	loop, ok := r.Body[0].(*plan.Loop)
	if r.Row == nil || !ok || loop.Kind != plan.Time {
		return r, nil
	}
	t := newPipeliner(r, loop)
	if t == nil {
		return r, nil
	}
	turned := t.result()
	l, out := *loop, *r
	l.Body = turned.all()
	out.Body = []plan.Node{&l}
	return &out, turned
}

// A pipeliner divides a loop over time: Lets for the first vector loop, that loop, what
// follows, the last vector loop, and what follows that.
type pipeliner struct {
	r          *plan.Region
	loop       *plan.Loop
	lets       []*plan.Let
	first      *plan.Loop
	middle     []plan.Node
	final      *plan.Loop
	end        []plan.Node
	sums       map[*plan.Local]bool
	stores     bool // the first vector loop stores
	later, new map[*plan.Local]*plan.Local
}

// newPipeliner returns nil where the parts depend on each other in another way.
func newPipeliner(r *plan.Region, loop *plan.Loop) *pipeliner {
	t := &pipeliner{r: r, loop: loop, sums: map[*plan.Local]bool{}}
	first, final := -1, -1
	for i, n := range loop.Body {
		if _, ok := n.(*plan.Loop); ok {
			if first < 0 {
				first = i
			}
			final = i
		}
	}
	if first == final {
		return nil
	}
	t.first, t.final = loop.Body[first].(*plan.Loop), loop.Body[final].(*plan.Loop)
	t.middle, t.end = loop.Body[first+1:final], loop.Body[final+1:]
	for _, n := range loop.Body[:first] {
		switch n := n.(type) {
		case *plan.Note:
		case *plan.Let:
			t.lets = append(t.lets, n)
		default:
			return nil
		}
	}
	if len(t.first.Hi) != 1 || len(t.final.Hi) != 1 || !t.first.Hi[0].Equal(t.final.Hi[0]) || !t.firstLoop() || !t.mayRunAhead() {
		return nil
	}
	return t
}

// firstLoop checks the first vector loop: sums that a Let begins, and stores.
func (t *pipeliner) firstLoop() bool {
	begun := map[*plan.Local]bool{}
	for _, l := range t.lets {
		begun[l.To] = true
	}
	for _, n := range t.first.Body {
		switch n := n.(type) {
		case *plan.Accumulate:
			if n.Max || !begun[n.To] {
				return false
			}
			t.sums[n.To] = true
		case *plan.Store:
			t.stores = true
		case *plan.Let, *plan.Note:
		default:
			return false
		}
	}
	return t.stores || !t.loop.Down
}

// mayRunAhead reports whether the first vector loop of a token may run before the rest of the
// token before has: it reads what the last vector loop writes only entry by entry, and
// writes what only it touches, or what the last vector loop has read at the same entry.
func (t *pipeliner) mayRunAhead() bool {
	rest := append(append([]plan.Node(nil), t.middle...), t.end...)
	touched, written := touches(rest), plan.Written(append(rest, t.final))
	inFinal := touches([]plan.Node{t.final})
	ok := true
	for _, n := range t.first.Body {
		plan.EachAccess(n, func(a plan.Access) {
			b := a.Buf.Base()
			ok = ok && (!written[b] || t.r.IsPrivate(b) && !plan.Written(rest)[b])
		})
		if s, store := n.(*plan.Store); store {
			b := s.To.Buf.Base()
			ok = ok && !touched[b] && (!inFinal[b] || t.r.IsPrivate(b))
		}
	}
	for _, l := range t.lets {
		plan.EachAccess(l, func(a plan.Access) { ok = ok && !written[a.Buf.Base()] && !t.r.IsPrivate(a.Buf) })
	}
	return ok
}

func touches(ns []plan.Node) map[*plan.Buffer]bool {
	out := map[*plan.Buffer]bool{}
	plan.Walk(ns, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) { out[a.Buf.Base()] = true })
	})
	return out
}

// result puts the parts together again.
func (t *pipeliner) result() *pipelinedLoop {
	r := &pipelinedLoop{}
	next := t.nextToken()
	if !t.stores {
		r.next = &plan.Next{To: &plan.Var{Name: t.loop.Var.Name + ".next"}, Of: t.loop.Var}
		next = plan.At(r.next.To)
	}
	for _, l := range t.lets {
		r.prologue = append(r.prologue, l)
	}
	r.prologue = append(r.prologue, t.first)
	rest := append(append([]plan.Node{t.final}, t.middle...), t.end...)
	t.later, t.new = map[*plan.Local]*plan.Local{}, map[*plan.Local]*plan.Local{}
	var again, keep, begin []plan.Node
	for _, l := range t.lets {
		switch {
		case t.sums[l.To]:
			begin = append(begin, l)
			if uses(append([]plan.Node{t.final}, t.end...), l.To) {
				t.later[l.To] = &plan.Local{Name: l.To.Name + ".asked", Elem: l.To.Elem}
				keep = append(keep, &plan.Let{To: t.later[l.To], Val: plan.Ref{To: l.To}})
			}
		default:
			t.new[l.To] = &plan.Local{Name: l.To.Name + ".next", Elem: l.To.Elem}
			if uses(rest, l.To) {
				again = append(again, l)
			}
		}
	}
	for _, l := range t.lets {
		if !t.sums[l.To] {
			begin = append(begin, &plan.Let{To: t.new[l.To], Val: t.shifted(next).Expr(l.Val)})
		}
	}
	asked := plan.Substitute(t.later, nil)
	front := append(append(again, t.middle...), keep...)
	r.body = append(append(append([]plan.Node(nil), front...), begin...), t.fusedLoop(next))
	r.body = append(r.body, asked.Nodes(t.end)...)
	if t.stores {
		r.last = append(append(append([]plan.Node(nil), front...), asked.Node(t.final)), asked.Nodes(t.end)...)
	}
	return r
}

// nextToken is the token after the present one.
func (t *pipeliner) nextToken() plan.Index {
	step := int64(1)
	if t.loop.Down {
		step = -1
	}
	return plan.At(t.loop.Var).Add(plan.Fixed(shape.Int(step)), shape.Int(1))
}

// shifted is the change of the statements of the first vector loop to the next token.
func (t *pipeliner) shifted(next plan.Index) plan.Copier {
	return plan.Substitute(t.new, map[*plan.Var]plan.Index{t.loop.Var: next, t.first.Var: plan.At(t.final.Var)})
}

// fusedLoop is the last vector loop of a token fused with the first one of the next.
func (t *pipeliner) fusedLoop(next plan.Index) *plan.Loop {
	out := *t.final
	out.Sums = max(t.first.Sums, t.final.Sums)
	written := plan.Substitute(t.later, nil).Nodes(t.final.Body)
	asking := t.shifted(next).Nodes(t.first.Body)
	out.Body = append(written, asking...)
	for i, n := range written {
		s, ok := n.(*plan.Store)
		if !ok || !t.r.IsPrivate(s.To.Buf) || !t.onlyReadByFirst(s.To) {
			continue
		}
		x := &plan.Local{Name: s.To.Buf.Name + ".entry", Elem: s.To.Buf.Elem}
		out.Body[i] = &plan.Let{To: x, Val: s.Vals[0]}
		for _, n := range asking {
			plan.MapExprs(n, func(e plan.Expr) plan.Expr {
				return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
					if l, ok := e.(plan.Load); ok && l.Access.String() == s.To.String() {
						return plan.Ref{To: x}
					}
					return e
				})
			})
		}
	}
	return &out
}

// onlyReadByFirst reports whether what is stored at an entry of a row's own buffer is
// read by the first vector loop alone, at that entry.
func (t *pipeliner) onlyReadByFirst(to plan.Access) bool {
	all := append(append([]plan.Node{t.final}, t.middle...), t.end...)
	only := true
	plan.Walk(all, func(n plan.Node) {
		plan.EachLoad(n, func(a plan.Access) { only = only && a.Buf.Base() != to.Buf.Base() })
	})
	at := t.shifted(plan.At(t.loop.Var))
	for _, n := range t.first.Body {
		plan.EachLoad(n, func(a plan.Access) {
			if a.Buf.Base() == to.Buf.Base() {
				only = only && len(a.Index) == 1 && at.Access(a).String() == to.String()
			}
		})
		if s, ok := n.(*plan.Store); ok {
			only = only && s.To.Buf.Base() != to.Buf.Base()
		}
	}
	return only
}

// uses reports whether statements mention a scalar.
func uses(ns []plan.Node, x *plan.Local) bool {
	found := false
	plan.Walk(ns, func(n plan.Node) {
		plan.EachRef(n, func(l *plan.Local) { found = found || l == x })
	})
	return found
}
