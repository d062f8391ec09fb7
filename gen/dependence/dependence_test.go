package dependence_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// What may run side by side, on nests that are written down here: i and j run
// over n and m, k over 3.

type nestMaker struct {
	i, j, k *plan.Var
	sum     *plan.Local
	x, y, z *plan.Buffer
	ids     *plan.Buffer
}

func newNestMaker() *nestMaker {
	n, m := shape.Sym("n"), shape.Sym("m")
	return &nestMaker{i: &plan.Var{Name: "i"}, j: &plan.Var{Name: "j"}, k: &plan.Var{Name: "k"},
		sum: &plan.Local{Name: "sum", Elem: ir.Real},
		x:   &plan.Buffer{Name: "x", Elem: ir.Real, Dims: []shape.Poly{n, m}, Role: plan.Read},
		y:   &plan.Buffer{Name: "y", Elem: ir.Real, Dims: []shape.Poly{n, m.Add(shape.Int(3))}, Role: plan.Write},
		z:   &plan.Buffer{Name: "z", Elem: ir.Real, Dims: []shape.Poly{m}, Role: plan.Write},
		ids: &plan.Buffer{Name: "ids", Elem: ir.Int, Dims: []shape.Poly{n}, Role: plan.Read}}
}

func loopOver(v *plan.Var, n shape.Poly, body ...plan.Node) *plan.Loop {
	return &plan.Loop{Kind: plan.Plain, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(n)}, Body: body}
}

// both puts nodes into the loops over i and j.
func (m *nestMaker) both(body ...plan.Node) plan.Node {
	return loopOver(m.i, shape.Sym("n"), loopOver(m.j, shape.Sym("m"), body...))
}

func (m *nestMaker) load() plan.Expr {
	return plan.Load{Access: plan.Access{Buf: m.x, Index: []plan.Index{plan.At(m.i), plan.At(m.j)}}}
}

func (m *nestMaker) store(b *plan.Buffer, add bool, at ...plan.Index) plan.Node {
	return &plan.Store{To: plan.Access{Buf: b, Index: at}, Add: add, Vals: []plan.Expr{m.load()}}
}

func TestSpread(t *testing.T) {
	m := newNestMaker()
	i, j, k, one := plan.At(m.i), plan.At(m.j), plan.At(m.k), shape.Int(1)
	picked := &plan.Var{Name: "p", Gathered: true}
	pick := func(at, plus plan.Index) plan.Node {
		return &plan.Gather{To: picked, From: plan.Access{Buf: m.ids, Index: []plan.Index{at}}, Plus: plus}
	}
	begin := &plan.Let{To: m.sum, Val: plan.Num{V: 0}}
	gather := &plan.Accumulate{To: m.sum, Val: m.load()}
	prefix := &plan.Store{To: plan.Access{Buf: m.y, Index: []plan.Index{i, j}}, Vals: []plan.Expr{plan.Ref{To: m.sum}}}
	for _, c := range []struct {
		name string
		nest plan.Node
		want string
	}{
		{"entry by entry", m.both(m.store(m.y, false, i, j)), "i j"},
		{"moved by a constant", m.both(m.store(m.y, true, i, j.Add(plan.Fixed(one), one))), "i j"},
		{"a sum over i", m.both(m.store(m.z, true, j)), "j"},
		{"two buffers", m.both(m.store(m.y, false, i, j), m.store(m.z, true, j)), "j"},
		{"a scatter", m.both(loopOver(m.k, shape.Int(3), m.store(m.y, true, i, j.Add(k, one)))), "i"},
		{"a window that is read", m.both(m.store(m.y, false, i, j), &plan.Let{To: m.sum,
			Val: plan.Load{Access: plan.Access{Buf: m.y, Index: []plan.Index{i, j.Add(plan.Fixed(one), one)}}}}), "i"},
		{"a sum of a row", loopOver(m.i, shape.Sym("n"), begin, loopOver(m.j, shape.Sym("m"), gather), m.store(m.y, false, i, plan.Index{})), "i"},
		{"a running sum", loopOver(m.i, shape.Sym("n"), begin, loopOver(m.j, shape.Sym("m"), gather, prefix)), "i"},
		{"picked by j", m.both(pick(j, plan.Index{}), m.store(m.y, true, i, plan.At(picked))), "i"},
		{"picked by i, with j added", m.both(pick(i, j), m.store(m.y, true, i, plan.At(picked))), "i j"},
		{"picked by i alone", m.both(pick(i, plan.Index{}), m.store(m.y, true, i, plan.At(picked))), "i"},
		{"both in one index", m.both(m.store(m.z, true, i.Add(j, one))), ""},
	} {
		var got []string
		for _, l := range dependence.Of(c.nest).Independent() {
			got = append(got, l.Var.Name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: spread over %q, want %q", c.name, s, c.want)
		}
	}
}
