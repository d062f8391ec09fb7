package fuse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// TestNests: which nests become regions, and which partial sums they get.
func TestNests(t *testing.T) {
	x, y, grid := buffer("x", n), buffer("y", n), buffer("grid", m, n)
	flag := &plan.Buffer{Name: "flag", Of: "flag", Elem: ir.Bool, Dims: []shape.Poly{n}, Role: plan.Read}
	s := ref("s")
	col, next := plan.At(j), plan.At(j).Add(plan.Fixed(shape.Int(1)), shape.Int(-1))
	picked := &plan.Var{Name: "p", Gathered: true}
	call := func(op ir.Op, args ...plan.Expr) plan.Expr { return plan.Call{Op: op, Args: args} }
	cases := []struct {
		name string
		in   []plan.Node
		want string // "no region", or the region and the partial sums of its loops
	}{
		{"entry by entry", []plan.Node{set(at(y, col), call(ir.Exp, load(x, col)))}, "Nest1 across columns"},
		{"in place", []plan.Node{set(at(y, col), prod(load(y, col), a))}, "Nest1 across columns"},
		{"a neighbour of another buffer", []plan.Node{set(at(y, col), prod(load(x, next), a))}, "Nest1 across columns"},
		{"a sum", []plan.Node{&plan.Accumulate{To: s.To, Val: prod(load(x, col), load(y, col))}}, "Nest1 across columns by 16"},
		{"a maximum", []plan.Node{&plan.Accumulate{To: s.To, Max: true, Val: load(x, col)}}, "Nest1 across columns by 16"},
		{"a sum into an entry", []plan.Node{add(at(y, plan.Index{}), prod(load(x, col), a))}, "Nest1 across columns by 16"},

		{"a batch that reads its neighbour", []plan.Node{set(at(y, col), prod(load(y, next), a))}, "no region"},
		{"one that writes its neighbour", []plan.Node{set(at(y, next), a), set(at(y, col), a)}, "no region"},
		{"a store at an invariant index", []plan.Node{set(at(y, plan.Index{}), load(x, col))}, "no region"},
		{"every second entry", []plan.Node{set(at(y, col), load(x, col.Add(col, shape.Int(1))))}, "no region"},
		{"a column of a matrix", []plan.Node{set(at(y, col), prod(load(grid, col, plan.Index{}), a))}, "no region"},
		{"a position as a number", []plan.Node{set(at(y, col), plan.IndexExpr{Index: col})}, "no region"},
		{"a picked entry", []plan.Node{set(at(y, col), load(x, plan.At(picked)))}, "no region"},
		{"an if", []plan.Node{&plan.If{Cond: []plan.Index{next}, Body: []plan.Node{set(at(y, col), a)}}}, "no region"},
		{"truth values, which are bytes", []plan.Node{set(at(y, col), call(ir.Select, load(flag, col), a, b))}, "no region"},
		{"a copy", []plan.Node{set(at(y, col), load(x, col))}, "no region"},
	}
	for _, op := range []ir.Op{ir.Sin, ir.Cos, ir.Pow} {
		args := []plan.Expr{load(x, col), load(x, col)}[:op.Info().Args]
		cases = append(cases, struct {
			name string
			in   []plan.Node
			want string
		}{op.String() + ", which has no steps", []plan.Node{set(at(y, col), call(op, args...))}, "no region"})
	}
	for _, c := range cases {
		nest := loop(plan.Plain, i, m, &plan.Let{To: s.To, Val: plan.Num{}}, loop(plan.Reduction, j, n, c.in...))
		k := fuse.Kernel(&plan.Kernel{Name: "K", Body: []plan.Node{nest}})
		if got := regionsOf(k); got != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.name, got, c.want, k)
		}
	}
}

// TestTotals: a total goes through a cell, and each row of a nest adds its own
// sum to it; what one row accumulates is not one.
func TestTotals(t *testing.T) {
	x, y, grid := buffer("x", n), buffer("y", m), buffer("grid", m, n)
	s, row := ref("s"), ref("row")
	product := prod(load(grid, plan.At(i), plan.At(j)), load(x, plan.At(j)))
	gather := func(to plan.Ref) plan.Node {
		return loop(plan.Reduction, j, n, &plan.Accumulate{To: to.To, Val: product})
	}
	for _, c := range []struct {
		name string
		in   plan.Node
		want string
	}{
		{"of a vector", loop(plan.Reduction, j, n, &plan.Accumulate{To: s.To, Val: load(x, plan.At(j))}),
			"region Nest1 across columns\n\ts = s\n\tsum j in [0, n) by 16\n\t\ts = s + x[j]\n\ts.total[0] = s\ns = s.total[0]\n"},
		{"of a matrix", loop(plan.Reduction, i, m, gather(s)),
			"region Nest1 across columns\n\ts = s\n\tsum i in [0, m)\n\t\ts.row = 0\n\t\tsum j in [0, n) by 16\n\t\t\ts.row = fma(+grid[i, j], x[j], s.row)\n\t\ts = s + s.row\n\ts.total[0] = s\ns = s.total[0]\n"},
		{"of a row", loop(plan.Plain, i, m, &plan.Let{To: row.To, Val: plan.Num{}}, gather(row), set(at(y, plan.At(i)), row)),
			"region Nest1 across columns\n\tfor i in [0, m)\n\t\trow = 0\n\t\tsum j in [0, n) by 16\n\t\t\trow = fma(+grid[i, j], x[j], row)\n\t\ty[i] = row\n"},
	} {
		if got := fused(c.in); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// regionsOf names the regions of a kernel and the partial sums in them.
func regionsOf(k *plan.Kernel) string {
	var out []string
	plan.Walk(k.Body, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Region:
			out = append(out, n.Name+" across "+n.Across.String())
		case *plan.Loop:
			if n.Sums > 0 && len(out) > 0 {
				out = append(out, fmt.Sprintf("by %d", n.Sums))
			}
		}
	})
	if len(out) == 0 {
		return "no region"
	}
	return strings.Join(out, " ")
}

// TestRows: the rows that run side by side in a recurrence, and the sums over rows that
// have no order by blocks.
func TestRows(t *testing.T) {
	l, r, time := variable("l"), variable("r"), variable("t")
	batches, rows, tokens := shape.Sym("L"), shape.Sym("r"), shape.Sym("T")
	state := buffer("S", n)
	state.Role = plan.Private
	k, y := buffer("k", batches, tokens, n), buffer("y", batches, tokens, rows)
	in, out := buffer("M", batches, rows, n), buffer("M.out", batches, rows, n)
	sum, all := buffer("sum", batches, tokens, n), buffer("all", tokens, n)
	s := ref("s")
	cell, key := load(state, plan.At(j)), load(k, plan.At(l), plan.At(time), plan.At(j))
	read := loop(plan.Reduction, j, n, &plan.Accumulate{To: s.To, Val: prod(cell, key)})
	write := loop(plan.Plain, j, n, set(at(state, plan.At(j)), lin(0, 1, cell, 1, prod(s, key))))
	give := set(at(y, plan.At(l), plan.At(time), plan.At(r)), s)
	recurrence := func(more ...plan.Node) *plan.Loop {
		step := append([]plan.Node{&plan.Let{To: s.To, Val: plan.Num{}}, read, write, give}, more...)
		row := loop(plan.Row, r, rows,
			loop(plan.Plain, j, n, set(at(state, plan.At(j)), load(in, plan.At(l), plan.At(r), plan.At(j)))),
			loop(plan.Time, time, tokens, step...),
			loop(plan.Plain, j, n, set(at(out, plan.At(l), plan.At(r), plan.At(j)), cell)))
		row.Private = []*plan.Buffer{state}
		return loop(plan.Batch, l, batches, row)
	}
	over := func(b *plan.Buffer, xs ...plan.Index) plan.Node {
		return loop(plan.Plain, j, n, add(at(b, append(xs, plan.At(j))...), prod(s, cell)))
	}
	for _, c := range []struct {
		name string
		more []plan.Node
		want string
	}{
		{"no sum over rows", nil, "Time1 across rows by 2"},
		{"a sum over rows of each batch", []plan.Node{over(sum, plan.At(l), plan.At(time))}, "Time1 across columns by 16"},
		{"one of all batches", []plan.Node{over(all, plan.At(time))}, "refused"},
		{"a sum over batches of each row", []plan.Node{add(at(buffer("b", rows), plan.At(r)), s)}, "refused"},
		{"one that rows read", []plan.Node{over(sum, plan.At(l), plan.At(time)),
			&plan.Let{To: s.To, Val: load(sum, plan.At(l), plan.At(time), plan.Index{})}}, "refused"},
		{"one that rows overwrite", []plan.Node{loop(plan.Plain, j, n, set(at(sum, plan.At(l), plan.At(time), plan.At(j)), cell))}, "refused"},
		{"an elementary function without steps", []plan.Node{set(at(y, plan.At(l), plan.At(time), plan.At(r)),
			plan.Call{Op: ir.Sin, Args: []plan.Expr{s}})}, "no region"},
	} {
		got := "refused"
		if k := fuse.Kernel(&plan.Kernel{Name: "K", Body: []plan.Node{recurrence(c.more...)}}); k != nil {
			got = regionsOf(k)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPages holds the regions of the project's pages to a table: which parts of
// every kernel vectors may compute, and what stays outside for which reason.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	src, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	units, ds := gen.Compile(src)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	var b strings.Builder
	for _, f := range emitgo.KernelFiles(abi.WithFunctions(units)) {
		for _, k := range f.Kernels {
			fmt.Fprintf(&b, "%s %s\n", strings.TrimPrefix(f.Path, "generated/"), k.Name)
			if k = fuse.Kernel(k); k == nil {
				b.WriteString("\tportable only\n")
				continue
			}
			describe(&b, k.Body)
		}
	}
	golden := filepath.Join("testdata", "regions.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Errorf("wrote %s", golden)
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("regions (UPDATE=1 writes them): %s", d)
	}
}

// describe lists regions, products and the innermost loops outside of both.
func describe(b *strings.Builder, ns []plan.Node) {
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Region:
			fmt.Fprintf(b, "\t%s\n", regionsOf(&plan.Kernel{Body: []plan.Node{n}}))
		case *plan.Gemm:
			b.WriteString("\tgemm\n")
		case *plan.FindRoot:
			b.WriteString("\toutside: a search\n")
		case *plan.If:
			describe(b, n.Body)
		case *plan.Loop:
			if plan.TransposeOf(n) != nil {
				fmt.Fprintf(b, "\toutside: %s over %s: transposes\n", n.Kind, n.Var.Name)
				continue
			}
			if innermost(n) {
				fmt.Fprintf(b, "\toutside: %s over %s: %s\n", n.Kind, n.Var.Name, reason(n))
				continue
			}
			describe(b, n.Body)
		}
	}
}

func innermost(n *plan.Loop) bool {
	inner := true
	plan.Walk(n.Body, func(n plan.Node) {
		_, is := n.(*plan.Loop)
		inner = inner && !is
	})
	return inner
}

// reason is the first thing about a loop that no vector does.
func reason(n *plan.Loop) string {
	if plan.CopyStore(n) != nil {
		return "copies"
	}
	var out []string
	note := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	one := shape.Int(1)
	plan.Walk(n.Body, func(x plan.Node) {
		plan.EachAccess(x, func(a plan.Access) {
			c := a.Flat().Coef(n.Var)
			switch {
			case len(a.Gathered()) > 0:
				note("picks entries of " + a.Buf.Name)
			case a.Buf.Elem != ir.Real:
				note(a.Buf.Name + " is not of numbers")
			case !c.IsZero() && !c.Equal(one):
				note("walks across " + a.Buf.Name)
			}
		})
		plan.EachExpr(x, func(e plan.Expr) {
			switch e := e.(type) {
			case plan.IndexExpr:
				note("a position as a number")
			case plan.Call:
				if !e.Op.Info().Vector {
					note("calls " + e.Op.String())
				}
			}
		})
		switch x := x.(type) {
		case *plan.FindRoot:
			note("a search")
		case *plan.Store:
			if x.To.Flat().Coef(n.Var).IsZero() {
				note("stores where the loop does not move")
			}
		}
	})
	if len(out) == 0 {
		return "its nest is none"
	}
	return strings.Join(out, ", ")
}
