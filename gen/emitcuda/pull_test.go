package emitcuda

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// TestPulled: a scatter is a gather only where each entry is added to once, from one place.
func TestPulled(t *testing.T) {
	n, r := shape.Sym("n"), shape.Sym("r")
	y := &plan.Buffer{Name: "y", Elem: ir.Real, Dims: []shape.Poly{n, n}, Role: plan.Write}
	x := &plan.Buffer{Name: "x", Elem: ir.Real, Dims: []shape.Poly{r, n}, Role: plan.Read}
	pos := &plan.Buffer{Name: "pos", Elem: ir.Int, Dims: []shape.Poly{r}, Role: plan.Read}
	j, k, p := &plan.Var{Name: "j"}, &plan.Var{Name: "k"}, &plan.Var{Name: "p", Gathered: true}
	at := func(b *plan.Buffer, xs ...plan.Index) plan.Access { return plan.Access{Buf: b, Index: xs} }
	loop := func(v *plan.Var, to shape.Poly, body ...plan.Node) *plan.Loop {
		return &plan.Loop{Kind: plan.Plain, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(to)}, Body: body}
	}
	first, twice := at(pos, plan.Index{}), plan.At(j).Add(plan.At(j), shape.Int(1))
	good := func() (*plan.Gather, *plan.Store) {
		return &plan.Gather{To: p, From: first, Plus: plan.At(j)}, &plan.Store{To: at(y, plan.At(p), plan.At(k)), Add: true, Vals: []plan.Expr{plan.Load{Access: at(x, plan.At(j), plan.At(k))}}}
	}
	for _, c := range []struct {
		name  string
		spoil func(g *plan.Gather, s *plan.Store, outer *plan.Loop)
		want  bool
	}{
		{"a shift", func(*plan.Gather, *plan.Store, *plan.Loop) {}, true},
		{"a shift of each entry", func(g *plan.Gather, _ *plan.Store, _ *plan.Loop) { g.From = at(pos, plan.At(j)) }, false},
		{"two steps for one", func(g *plan.Gather, _ *plan.Store, _ *plan.Loop) { g.Plus = twice }, false},
		{"what is written, not added", func(_ *plan.Gather, s *plan.Store, _ *plan.Loop) { s.Add = false }, false},
		{"the source twice", func(_ *plan.Gather, s *plan.Store, _ *plan.Loop) { s.Vals = append(s.Vals, s.Vals[0]) }, false},
		{"a source with a factor", func(_ *plan.Gather, s *plan.Store, _ *plan.Loop) { s.Vals[0] = plan.Prod{Coef: 2, Args: s.Vals} }, false},
		{"the target as source", func(_ *plan.Gather, s *plan.Store, _ *plan.Loop) {
			s.Vals[0] = plan.Load{Access: at(y, plan.At(j), plan.At(k))}
		}, false},
		{"a place that moves along two axes", func(_ *plan.Gather, s *plan.Store, _ *plan.Loop) { s.To.Index[1] = plan.At(p) }, false},
		{"a target that the loop moves otherwise", func(_ *plan.Gather, s *plan.Store, _ *plan.Loop) { s.To.Index[1] = plan.At(j) }, false},
		{"a part of the source", func(_ *plan.Gather, _ *plan.Store, outer *plan.Loop) { outer.Hi[0] = plan.Fixed(r.Sub(shape.Int(1))) }, false},
		{"a loop from behind", func(_ *plan.Gather, _ *plan.Store, outer *plan.Loop) { outer.Down = true }, false},
	} {
		g, s := good()
		outer := loop(j, r, g, loop(k, n, s))
		c.spoil(g, s, outer)
		got := pulled([]plan.Node{outer})[0]
		if (got != plan.Node(outer)) != c.want {
			t.Errorf("%s: a gather: %v", c.name, !c.want)
		}
		if !c.want {
			continue
		}
		const want = "for p in [0, n)\n\tshift = pos[0]\n\tfor k in [0, n)\n\t\ty[p, k] += x[p - shift, k]\n"
		text := (&plan.Kernel{Name: "K", Body: []plan.Node{got}}).String()
		if !strings.Contains(text, want) {
			t.Errorf("%s:\n%swant\n%s", c.name, text, want)
		}
	}
}
