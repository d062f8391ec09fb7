package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// allocate assigns memory to values between nests. A value without loops stays
// a scalar, unless a recurrence reads it: its steps address memory only.
func (r *region) allocate() {
	r.placeParts()
	for n, g := range r.groups {
		for _, m := range g.members {
			if r.sumOf[m.in] != nil {
				r.placeSum(m.in)
				continue
			}
			if m.special != nil {
				r.allocateOwn(m.in)
				continue
			}
			v := m.in.Out
			if r.l.places[v] != nil || r.rowless(v) == 0 && m.depth >= 0 && !r.scanned(v) || m.row {
				continue
			}
			if m.depth < 0 || r.readOutside(v, n) {
				r.l.places[v] = r.local(v, r.alloc(v))
			}
		}
	}
}

// allocateOwn assigns memory to an instruction that is not lowered to an
// ordinary nest.
func (r *region) allocateOwn(in *ir.Instr) {
	if in.Op.Info().View {
		if r.l.places[in.Out] != nil {
			return // in a concatenation
		}
		r.view(in)
		return
	}
	if r.wholeProducts && in.Op == ir.TriSolve {
		r.reuse(in)
	}
	for _, v := range in.Defines() {
		if r.l.places[v] == nil && r.rowless(v) == 0 && in.Scan == nil && in.Op != ir.Stack {
			continue
		}
		if r.l.places[v] == nil {
			r.l.places[v] = r.local(v, r.alloc(v))
		}
	}
}

// placeParts lets what a concatenation is made of be computed in its memory, where that is a
// value of the region without a place: the longest such part of each.
func (r *region) placeParts() {
	if !r.top() {
		return
	}
	for _, in := range r.body {
		if in.Op != ir.Stack {
			continue
		}
		n, axis := r.partInPlace(in), in.Over[0]
		if n < 0 {
			continue
		}
		if r.l.places[in.Out] == nil {
			r.l.places[in.Out] = r.local(in.Out, r.alloc(in.Out))
		}
		stack, from := r.l.places[in.Out], plan.Fixed(in.Args[n].Sub[axis].Const)
		inside := func(stack place) place {
			return func(idx []plan.Index) plan.Access {
				idx = slices.Clone(idx)
				idx[axis] = idx[axis].Add(from, shape.Int(-1))
				return stack(idx)
			}
		}
		part := in.Args[n].Val
		r.l.places[part] = inside(stack)
		if part.Def.Op == ir.Reshape {
			source := part.Def.Args[0].Val
			to := stack(make([]plan.Index, len(in.Loops))).Buf
			view := &plan.Buffer{Name: r.l.fresh(to.Name + ".view"), Elem: to.Elem, Dims: dims(source.Axes), Role: plan.View, ViewOf: to}
			view.Dims[axis] = to.Dims[axis]
			r.l.k.Work = append(r.l.k.Work, view)
			r.l.places[source] = inside(whole(view))
		}
	}
}

// partInPlace is the number of the part that can be computed in place, or −1.
func (r *region) partInPlace(in *ir.Instr) int {
	best := -1
	for n, a := range in.Args {
		v := a.Val
		d := v.Def
		if d != nil && d.Op == ir.Reshape && !r.hasPlace(v) && slices.Contains(r.body, d) && sameUpTo(d.Args[0].Val.Axes, v.Axes, in.Over[0]) {
			v = d.Args[0].Val // its memory has the same entries before the stacked axis
			d = v.Def
		}
		if d == nil || d.Op == ir.Stack || d.Op.Info().View || d.Scan != nil || r.inline[v] || r.hasPlace(v) || v.Elem != in.Out.Elem || !slices.Contains(r.body, d) || r.sumOf[d] != nil || len(r.summands[d]) > 0 {
			continue
		}
		viewed := func(in *ir.Instr) bool { // a view of a part of a buffer would begin at the buffer
			return in.Op.Info().View && in != a.Val.Def && (in.Args[0].Val == v || in.Args[0].Val == a.Val)
		}
		if slices.ContainsFunc(r.body, viewed) || !fills(d) || len(d.Guard) > 0 || !ir.Identity(withoutConst(a.Sub), len(in.Loops)) {
			continue
		}
		if best < 0 || v.Axes[in.Over[0]].Size.Sub(in.Args[best].Val.Axes[in.Over[0]].Size).NonNegative() {
			best = n
		}
	}
	return best
}

// sameUpTo reports whether axes are the same up to number n.
func sameUpTo(a, b []*ir.Axis, n int) bool {
	return len(a) > n && len(b) > n && slices.Equal(a[:n+1], b[:n+1])
}

func withoutConst(subs []ir.Sub) []ir.Sub {
	out := slices.Clone(subs)
	for i := range out {
		out[i].Const = shape.Poly{}
	}
	return out
}

// local addresses memory that lacks the bound row.
func (r *region) local(v *ir.Value, b *plan.Buffer) place {
	pos := r.rowOf(v)
	return func(idx []plan.Index) plan.Access {
		out := slices.Clone(idx)
		if pos >= 0 {
			out = slices.Delete(out, pos, pos+1)
		}
		return plan.Access{Buf: b, Index: append(slices.Clone(r.point), out...)}
	}
}

func (r *region) rowOf(v *ir.Value) int {
	if r.rows == nil {
		return -1
	}
	return r.rows.posOf(v)
}

// rowless counts the axes of a value without the bound row.
func (r *region) rowless(v *ir.Value) int {
	n := len(v.Axes)
	if r.rowOf(v) >= 0 {
		n--
	}
	return n
}

// scanned reports whether a recurrence of the region reads v.
func (r *region) scanned(v *ir.Value) bool {
	return slices.ContainsFunc(r.body, func(in *ir.Instr) bool {
		return in.Scan != nil && slices.Contains(r.l.reads(in), v)
	})
}

// readOutside reports whether another nest than n reads v.
func (r *region) readOutside(v *ir.Value, n int) bool {
	for k, g := range r.groups {
		if k == n {
			continue
		}
		if slices.ContainsFunc(g.members, func(m *member) bool { return slices.Contains(r.valuesRead(m.in), v) }) {
			return true
		}
	}
	return false
}

// valuesRead lists the values that an instruction reads, through inlined values.
func (r *region) valuesRead(in *ir.Instr) []*ir.Value {
	if in.Scan != nil {
		return r.l.reads(in)
	}
	var out []*ir.Value
	for _, x := range r.reads(in, make([]plan.Index, len(in.Loops))) {
		out = append(out, x.val)
	}
	return out
}

// A nestWriter writes the nest of a group.
type nestWriter struct {
	r    *region
	n    int
	g    *group
	here map[*ir.Value]*plan.Local
	accs map[*member]*plan.Local
}

func (r *region) group(n int, g *group) []plan.Node {
	var out []plan.Node
	if g.members[0].in.Op == ir.Reshape {
		return nil
	}
	if len(g.eqs) > 0 && g.members[0].in.Op != ir.Narrow {
		out = append(out, &plan.Note{Eqs: g.eqs})
	}
	if m := g.members[0]; m.special != nil {
		return append(out, m.special(r, m.in)...)
	}
	w := &nestWriter{r, n, g, map[*ir.Value]*plan.Local{}, map[*member]*plan.Local{}}
	for _, m := range g.members {
		if w.zeroed(m) {
			w.home(m)
			out = append(out, r.clear(m.in.Out)...)
		}
	}
	return append(out, w.at(0)...)
}

// zeroed reports whether the nest leaves entries of the output out, or adds to
// them in memory.
func (w *nestWriter) zeroed(m *member) bool {
	if m.row {
		return false
	}
	if m.depth < 0 {
		t := w.r.sumOf[m.in]
		return t == nil || !t.add
	}
	for _, g := range m.in.Guard {
		if p := w.position(m, g); p < m.depth {
			return true
		}
	}
	return false
}

// clear sets the entries of a value to zero: its buffer, or its part of one.
func (r *region) clear(v *ir.Value) []plan.Node {
	idx, vars := make([]plan.Index, len(v.Axes)), make([]*plan.Var, len(v.Axes))
	for i := range v.Axes {
		if i == r.rowOf(v) {
			idx[i] = plan.At(r.row)
			continue
		}
		vars[i] = r.l.loopVar(i, r)
		idx[i] = plan.At(vars[i])
	}
	at, whole := r.place(v)(idx), true
	for i, x := range at.Index {
		k := slices.Index(vars, x.Var())
		whole = whole && x.Var() != nil && k >= 0 && v.Axes[k].Size.Equal(at.Buf.Dims[i])
	}
	if whole {
		return []plan.Node{&plan.Zero{Buf: at.Buf}}
	}
	return around(loopNumbers(len(idx)), vars, v.Axes, []plan.Node{&plan.Store{To: at, Vals: []plan.Expr{plan.Num{}}}})
}

// home is the buffer that holds a member's output.
func (w *nestWriter) home(m *member) *plan.Buffer {
	p := w.r.l.places[m.in.Out]
	if p == nil {
		w.r.l.places[m.in.Out] = w.r.local(m.in.Out, w.r.alloc(m.in.Out))
		p = w.r.l.places[m.in.Out]
	}
	return p(make([]plan.Index, len(m.in.Out.Axes))).Buf
}

// position is the innermost loop of the nest that a guard depends on, or −1.
func (w *nestWriter) position(m *member, g ir.Sub) int {
	p := -1
	for i, l := range m.order {
		if uses([]ir.Sub{g}, l) {
			p = i
		}
	}
	return p
}

// at writes the nest from loop d inwards.
func (w *nestWriter) at(d int) []plan.Node {
	if d == len(w.g.vars) {
		return w.guarded(d-1, w.inner())
	}
	var pre, post []plan.Node
	kind := plan.Plain
	for _, m := range w.g.members {
		if m.reduced[d] {
			kind = plan.Reduction
		}
		if m.depth == d && m.depth < len(m.order) {
			acc := &plan.Local{Name: w.r.l.fresh(m.in.Out.Name), Elem: ir.Real}
			w.accs[m] = acc
			pre = append(pre, &plan.Let{To: acc, Val: plan.Num{}})
		}
	}
	loop := &plan.Loop{Kind: kind, Var: w.g.vars[d], Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(w.g.sizes[d])}}
	w.bound(loop, d)
	loop.Body = w.at(d + 1)
	for _, m := range w.g.members {
		if m.depth == d && m.depth < len(m.order) {
			post = append(post, w.finish(m)...)
		}
	}
	return w.guarded(d-1, append(append(pre, loop), post...))
}

// finish multiplies a sum by its coefficient and stores it.
func (w *nestWriter) finish(m *member) []plan.Node {
	leaf := w.r.leaf(w.here)
	sum := w.accs[m]
	if c := m.in.Coef[0]; c != 1 {
		sum = leaf.let(m.in.Out, product(c, []plan.Expr{plan.Ref{To: sum}}))
	}
	if w.r.rowless(m.in.Out) == 0 && !m.row {
		w.r.l.locals[m.in.Out] = sum
	}
	leaf.store(m, plan.Ref{To: sum})
	return leaf.nodes
}

// summand is what a sum adds at one point, without the coefficient.
func (w *leaf) summand(m *member) plan.Expr {
	args := make([]plan.Expr, len(m.in.Args))
	for i, a := range m.in.Args {
		args[i] = w.arg(a, m.loops)
	}
	return product(1, args)
}

// guards of the group that depend on loop d and no later one, as conditions.
// The guards of all members are the same.
func (w *nestWriter) guards(d int, f func(leaf *leaf, m *member, g ir.Sub)) []plan.Node {
	m := w.g.members[0]
	leaf := w.r.leaf(w.here)
	for _, g := range m.in.Guard {
		if w.position(m, g) == d {
			f(leaf, m, g)
		}
	}
	return leaf.nodes
}

// boundary reports whether a guard is a bound of the loop, and its sign.
func (w *nestWriter) boundary(m *member, g ir.Sub, d int) int {
	if d < 0 || g.Indirect != nil {
		return 0
	}
	c := 0
	for _, t := range g.Terms {
		if t.Loop == m.order[d] {
			c += t.Coef
		}
	}
	if c == 1 || c == -1 {
		return c
	}
	return 0
}

// bound narrows loop d by the guards that are bounds of it.
func (w *nestWriter) bound(loop *plan.Loop, d int) {
	w.guards(d, func(leaf *leaf, m *member, g ir.Sub) {
		sign := w.boundary(m, g, d)
		if sign == 0 {
			return
		}
		x := leaf.index(g, m.loops)
		rest := x.Add(plan.At(loop.Var), shape.Int(int64(-sign)))
		if sign > 0 {
			loop.Lo = append(loop.Lo, plan.Index{}.Add(rest, shape.Int(-1)))
		} else {
			loop.Hi = append(loop.Hi, rest.Add(plan.Fixed(shape.Int(1)), shape.Int(1)))
		}
	})
}

// guarded wraps nodes in the conditions of the guards at loop d that are not
// bounds.
func (w *nestWriter) guarded(d int, nodes []plan.Node) []plan.Node {
	var conds []plan.Index
	pre := w.guards(d, func(leaf *leaf, m *member, g ir.Sub) {
		if w.boundary(m, g, d) == 0 {
			conds = append(conds, leaf.index(g, m.loops))
		}
	})
	if len(conds) == 0 {
		return nodes
	}
	return append(pre, &plan.If{Cond: conds, Body: nodes})
}

// inner writes the innermost body: values and sums first, stores last, so that
// every read sees the state before this point.
func (w *nestWriter) inner() []plan.Node {
	leaf := w.r.leaf(w.here)
	var stores []func()
	several := w.stored() > 1
	for _, m := range w.g.members {
		if acc := w.accs[m]; acc != nil {
			leaf.nodes = append(leaf.nodes, &plan.Accumulate{To: acc, Val: leaf.summand(m)})
			continue
		}
		val := leaf.expr(m.in, m.loops)
		if m.depth == len(m.order) && (several || !m.row && w.named(m)) {
			t := leaf.let(m.in.Out, val)
			val = plan.Ref{To: t}
			if !m.row {
				w.here[m.in.Out] = t
			}
			if !m.row && len(w.g.vars) == 0 {
				w.r.l.locals[m.in.Out] = t
			}
		} else if w.overwritten(m) {
			val = plan.Ref{To: leaf.let(m.in.Out, val)}
		}
		stores = append(stores, func() { leaf.store(m, val) })
	}
	for _, s := range stores {
		s()
	}
	return leaf.nodes
}

// overwritten reports whether a member that adds in memory reads what another
// member stores here: a state that the next one overwrites.
func (w *nestWriter) overwritten(m *member) bool {
	if m.depth >= 0 {
		return false
	}
	for _, x := range w.r.reads(m.in, m.loops) {
		from := w.r.l.places[x.val]
		if from == nil {
			continue
		}
		buf := from(make([]plan.Index, len(x.val.Axes))).Buf
		for _, o := range w.g.members {
			if o != m && o.in.Out != x.val && w.accs[o] == nil && w.r.l.places[o.in.Out] != nil && w.home(o) == buf {
				return true
			}
		}
	}
	return false
}

// stored counts the members that store in the innermost body.
func (w *nestWriter) stored() int {
	n := 0
	for _, m := range w.g.members {
		if w.accs[m] == nil && (m.row || w.r.l.places[m.in.Out] != nil || len(w.r.l.alsoTo[m.in.Out]) > 0) {
			n++
		}
	}
	return n
}

// named reports whether a value of the innermost body is read there, or
// stored more than once, or has no loops and is read elsewhere.
func (w *nestWriter) named(m *member) bool {
	v := m.in.Out
	if len(w.g.vars) == 0 || len(w.r.l.alsoTo[v]) > 1 || len(w.r.l.alsoTo[v]) == 1 && w.r.l.places[v] != nil {
		return true
	}
	for _, o := range w.g.members {
		if o != m && slices.Contains(w.r.valuesRead(o.in), v) {
			return true
		}
	}
	return false
}

// store writes a member's value to all its places.
func (w *leaf) store(m *member, val plan.Expr) {
	idx := w.indices(m.in.To, m.loops)
	if p := w.r.l.places[m.in.Out]; p != nil {
		add := m.depth < 0 || m.row
		w.nodes = append(w.nodes, &plan.Store{To: p(idx), Add: add, Vals: []plan.Expr{val}})
	}
	for _, t := range w.r.l.alsoTo[m.in.Out] {
		s := plan.Node(&plan.Store{To: t.at(idx), Add: t.add || m.row, Vals: []plan.Expr{val}})
		if t.opt != nil {
			s = &plan.If{Present: t.opt, Body: []plan.Node{s}}
		}
		w.nodes = append(w.nodes, s)
	}
}
