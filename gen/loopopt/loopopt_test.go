package loopopt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/loopopt"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

var n = shape.Sym("n")

func buffer(name string, rank int) *plan.Buffer {
	b := &plan.Buffer{Name: name, Elem: ir.Real}
	for range rank {
		b.Dims = append(b.Dims, n)
	}
	return b
}

func load(b *plan.Buffer, vars ...*plan.Var) plan.Load { return plan.Load{Access: at(b, vars...)} }

func at(b *plan.Buffer, vars ...*plan.Var) plan.Access {
	a := plan.Access{Buf: b}
	for _, v := range vars {
		a.Index = append(a.Index, plan.At(v))
	}
	return a
}

func loop(kind plan.LoopKind, v *plan.Var, body ...plan.Node) *plan.Loop {
	return &plan.Loop{Kind: kind, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(n)}, Body: body}
}

func text(ns []plan.Node) string {
	out := (&plan.Kernel{Name: "k", Body: ns}).String()
	return out[strings.Index(out, "workspace: 0\n")+len("workspace: 0\n"):]
}

// optimise runs the passes with names w.1, w.2, ….
func optimise(ns ...plan.Node) string {
	k := 0
	return text(loopopt.Optimize(ns, func(name string) string {
		k++
		return fmt.Sprintf("%s.%d", name, k)
	}))
}

// TestOptimize has one program per optimisation.
func TestOptimize(t *testing.T) {
	i, j := &plan.Var{Name: "i"}, &plan.Var{Name: "j"}
	a, x, y := buffer("a", 1), buffer("x", 1), buffer("y", 2)
	local := func(name string) *plan.Local { return &plan.Local{Name: name, Elem: ir.Real} }
	exp := func(e plan.Expr) plan.Expr { return plan.Call{Op: ir.Exp, Args: []plan.Expr{e}} }
	product := func(es ...plan.Expr) plan.Expr { return plan.Prod{Coef: 1, Args: es} }
	store := func(to plan.Access, e plan.Expr) plan.Node { return &plan.Store{To: to, Vals: []plan.Expr{e}} }
	s, u := local("s"), local("u")
	for _, c := range []struct {
		name string
		body []plan.Node
		want []string
		not  string
	}{
		{"an invariant leaves the inner loop",
			[]plan.Node{loop(plan.Plain, i, loop(plan.Plain, j, store(at(y, i, j), product(exp(load(a, i)), load(x, j)))))},
			[]string{"for i", "\tw.1 = exp(a[i])", "\tfor j", "\t\ty[i, j] = w.1·x[j]"}, ""},
		{"a load that the loop overwrites stays",
			[]plan.Node{loop(plan.Plain, i, loop(plan.Plain, j, store(at(a, j), product(load(a, i), load(x, j)))))},
			[]string{"\t\ta[j] = a[i]·x[j]"}, "w."},
		{"a repeated load is one scalar",
			[]plan.Node{loop(plan.Plain, i, store(at(a, i), product(load(x, i), load(x, i))))},
			[]string{"\tx.entry.1 = x[i]", "\ta[i] = x.entry.1·x.entry.1"}, ""},
		{"a copy is propagated and a dead scalar is removed",
			[]plan.Node{loop(plan.Plain, i, &plan.Let{To: s, Val: load(x, i)}, &plan.Let{To: u, Val: plan.Ref{To: s}}, store(at(a, i), plan.Ref{To: u}))},
			[]string{"\ta[i] = x[i]"}, "u ="},
		{"an accumulator is no invariant",
			[]plan.Node{&plan.Let{To: s, Val: plan.Num{}}, loop(plan.Reduction, i, &plan.Accumulate{To: s, Val: load(x, i)}), store(plan.Access{Buf: buffer("z", 0)}, plan.Ref{To: s})},
			[]string{"s = 0", "\ts += x[i]", "z[] = s"}, ""},
	} {
		got := optimise(c.body...)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q in\n%s", c.name, c.not, got)
		}
	}
}

// TestUnrollAndJam: what two rows share is loaded once, sums that both add to
// are added in order.
func TestUnrollAndJam(t *testing.T) {
	i, j := &plan.Var{Name: "i"}, &plan.Var{Name: "j"}
	x, y, total := buffer("x", 1), buffer("y", 2), buffer("total", 1)
	rows := loop(plan.Row, i, loop(plan.Plain, j, &plan.Store{To: at(total, j), Add: true,
		Vals: []plan.Expr{plan.Prod{Coef: 1, Args: []plan.Expr{load(x, j), load(y, i, j)}}}}))
	got := text(loopopt.UnrollAndJam(rows, 2))
	last := -1
	for _, w := range []string{"for j", "total.sum = total[j]", "total.sum += x.entry·y[i, j]", "total.sum += x.entry·y[i + 1, j]", "total[j] = total.sum"} {
		at := strings.Index(got, w)
		if at <= last {
			t.Errorf("no %q in its place in\n%s", w, got)
		}
		last = at
	}
	if strings.Count(got, "= x[j]") != 1 {
		t.Errorf("x is not loaded once:\n%s", got)
	}
}

// TestDropRedundantStores: a store of an entry to itself is removed, with its loop.
func TestDropRedundantStores(t *testing.T) {
	i, x := &plan.Var{Name: "i"}, buffer("x", 1)
	if got := loopopt.DropRedundantStores([]plan.Node{loop(plan.Plain, i, &plan.Store{To: at(x, i), Vals: []plan.Expr{load(x, i)}})}); len(got) != 0 {
		t.Errorf("left: %s", text(got))
	}
}
