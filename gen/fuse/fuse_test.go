package fuse_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Names of small plans: sizes, buffers, scalars and indices.
var (
	n, m    = shape.Sym("n"), shape.Sym("m")
	a, b, c = ref("a"), ref("b"), ref("c")
	i, j    = variable("i"), variable("j")
)

func ref(name string) plan.Ref                { return plan.Ref{To: &plan.Local{Name: name, Elem: ir.Real}} }
func variable(name string) *plan.Var          { return &plan.Var{Name: name} }
func prod(args ...plan.Expr) plan.Expr        { return plan.Prod{Coef: 1, Args: args} }
func minus(args ...plan.Expr) plan.Expr       { return plan.Prod{Coef: -1, Args: args} }
func scaled(c float64, x plan.Expr) plan.Expr { return plan.Prod{Coef: c, Args: []plan.Expr{x}} }

// lin is Σ coef·arg + constant.
func lin(constant float64, pairs ...any) plan.Expr {
	x := plan.Lin{Const: constant}
	for k := 0; k < len(pairs); k += 2 {
		x.Coef = append(x.Coef, float64(pairs[k].(int)))
		x.Args = append(x.Args, pairs[k+1].(plan.Expr))
	}
	return x
}

func buffer(name string, dims ...shape.Poly) *plan.Buffer {
	return &plan.Buffer{Name: name, Of: name, Elem: ir.Real, Dims: dims, Role: plan.Read}
}

func at(b *plan.Buffer, xs ...plan.Index) plan.Access { return plan.Access{Buf: b, Index: xs} }

func load(b *plan.Buffer, xs ...plan.Index) plan.Expr { return plan.Load{Access: at(b, xs...)} }

func set(to plan.Access, v plan.Expr) *plan.Store { return &plan.Store{To: to, Vals: []plan.Expr{v}} }

func add(to plan.Access, vs ...plan.Expr) *plan.Store {
	return &plan.Store{To: to, Add: true, Vals: vs}
}

func loop(kind plan.LoopKind, v *plan.Var, end shape.Poly, body ...plan.Node) *plan.Loop {
	return &plan.Loop{Kind: kind, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(end)}, Body: body}
}

// fused is the text of a body in fused arithmetic, or "refused".
func fused(body ...plan.Node) string {
	k := fuse.Kernel(&plan.Kernel{Name: "K", Body: body})
	if k == nil {
		return "refused"
	}
	_, text, _ := strings.Cut(k.String(), "entries of workspace: 0\n")
	return text
}

// TestProducts: which products are fused with which sums, and in which order.
func TestProducts(t *testing.T) {
	for _, c := range []struct {
		name string
		in   plan.Expr
		want string
	}{
		{"a product alone", prod(a, b), "a·b"},
		{"a product of three and a sum", lin(0, 1, prod(a, b, c), 1, a), "fma(+a·b, c, a)"},
		{"the product first", lin(0, 1, prod(a, b), 1, c), "fma(+a, b, c)"},
		{"the product second", lin(0, 1, c, 1, prod(a, b)), "fma(+a, b, c)"},
		{"a product taken away", lin(0, 1, c, -1, prod(a, b)), "fma(-a, b, c)"},
		{"a negative product", lin(0, 1, c, 1, minus(a, b)), "fma(-a, b, c)"},
		{"a negative product taken away", lin(0, 1, c, -1, minus(a, b)), "fma(+a, b, c)"},
		{"two products", lin(0, 1, prod(a, b), 1, prod(b, c)), "fma(+b, c, a·b)"},
		{"three products", lin(0, 1, prod(a, b), 1, prod(b, c), -1, prod(a, c)), "fma(-a, c, fma(+b, c, a·b))"},
		{"no product", lin(0, 1, a, -1, b), "a - b"},
		{"three numbers", lin(0, 1, a, 1, b, -1, c), "a + b - c"},
		{"a constant", lin(1, -1, a), "1 - a"},
		{"a constant and a product", lin(1, -1, prod(a, b)), "fma(-a, b, 1)"},
		{"a coefficient", lin(0, 1, a, 2, b), "fma(+2, b, a)"},
		{"a negative coefficient", lin(0, 1, a, -2, b), "fma(-2, b, a)"},
		{"a coefficient of a product", lin(0, 1, a, -2, prod(b, c)), "fma(-2·b, c, a)"},
		{"a scaled number", lin(0, 1, a, 1, scaled(0.5, b)), "fma(+0.5, b, a)"},
		{"a negated number", lin(0, 1, a, 1, minus(b)), "a - b"},
		{"inside a call", plan.Call{Op: ir.Exp, Args: []plan.Expr{lin(0, 1, a, 1, prod(b, c))}}, "exp(fma(+b, c, a))"},
		{"a sum in a product", prod(a, lin(0, 1, b, 1, prod(a, c))), "a·fma(+a, c, b)"},
	} {
		x := buffer("x", n)
		got := fused(set(at(x, plan.Index{}), c.in))
		if want := "x[0] = " + c.want + "\n"; got != want {
			t.Errorf("%s: %s becomes %s, want %s", c.name, plan.ExprString(c.in), got, want)
		}
	}
}

// TestOnto: what is added to an entry or a scalar starts from it.
func TestOnto(t *testing.T) {
	x, s := buffer("x", n), ref("s")
	entry := plan.At(i)
	for _, c := range []struct {
		name string
		in   plan.Node
		want string
	}{
		{"a product", add(at(x, entry), prod(a, b)), "x[i] = fma(+a, b, x[i])"},
		{"a number", add(at(x, entry), a), "x[i] = x[i] + a"},
		{"a negated number", add(at(x, entry), minus(a)), "x[i] = x[i] - a"},
		{"two values", add(at(x, entry), prod(a, b), prod(b, c)), "x[i] = fma(+b, c, fma(+a, b, x[i]))"},
		{"a sum of products", add(at(x, entry), lin(0, 1, prod(a, b), -1, prod(b, c))), "x[i] = fma(-b, c, fma(+a, b, x[i]))"},
		{"a scalar", &plan.Accumulate{To: s.To, Val: prod(a, b)}, "s = fma(+a, b, s)"},
		{"a scalar that gathers a number", &plan.Accumulate{To: s.To, Val: a}, "s = s + a"},
		{"a maximum", &plan.Accumulate{To: s.To, Max: true, Val: lin(0, 1, a, 1, prod(b, c))}, "s max= fma(+b, c, a)"},
	} {
		if got := fused(c.in); got != c.want+"\n" {
			t.Errorf("%s: %swant %s", c.name, got, c.want)
		}
	}
}

// TestTighten: a loop whose whole body asks for an index runs over the range
// where it holds; at position 0 that is one token.
func TestTighten(t *testing.T) {
	x, y, w := buffer("x", n), buffer("y", n), buffer("w", m)
	pos := &plan.Buffer{Name: "pos", Of: "pos", Elem: ir.Int, Dims: []shape.Poly{n}, Role: plan.Read}
	p := variable("p")
	one := plan.Fixed(shape.Int(1))
	back := plan.At(i).Add(plan.At(j), shape.Int(-1))
	inner := add(at(y, plan.At(i)), prod(load(w, plan.At(j)), load(x, back)))
	asks := func(x plan.Index, body ...plan.Node) *plan.If { return &plan.If{Cond: []plan.Index{x}, Body: body} }
	for _, c := range []struct {
		name string
		in   []plan.Node
		want string // lines of what is in the outer loop
	}{
		{"an index that falls", []plan.Node{asks(back, inner)}, "sum j in [0, min(m, i + 1))"},
		{"one that falls from a picked position", []plan.Node{
			&plan.Gather{To: p, From: at(pos, plan.At(i)), Plus: back}, asks(plan.At(p), inner)}, "p = pos[i]\ny.sum = y[i]\nsum j in [0, min(m, p + i + 1))"},
		{"one that rises", []plan.Node{asks(plan.At(i).Add(plan.At(j), shape.Int(1)).Add(one, shape.Int(-1)), inner)}, "sum j in [0, m)\n\tif i + j - 1 ≥ 0"},
		{"one step of two", []plan.Node{asks(plan.At(i).Add(plan.At(j), shape.Int(-2)), inner)}, "sum j in [0, m)\n\tif i - 2·j ≥ 0"},
		{"half of the body", []plan.Node{asks(back, inner), set(at(w, plan.At(j)), a)}, "sum j in [0, m)\n\tif i - j ≥ 0"},
		{"two indices", []plan.Node{&plan.If{Cond: []plan.Index{back, plan.At(j)}, Body: []plan.Node{inner}}}, "sum j in [0, m)\n\tif i - j ≥ 0, j ≥ 0"},
		{"a position that the body uses", []plan.Node{
			&plan.Gather{To: p, From: at(pos, plan.At(i)), Plus: back}, asks(plan.At(p), add(at(y, plan.At(i)), load(x, plan.At(p))))}, "sum j in [0, m)\n\tp = pos[i] + i - j"},
	} {
		got := fused(loop(plan.Plain, i, n, loop(plan.Reduction, j, m, c.in...)))
		if lines := dedent(got); !strings.Contains("\n"+lines, "\n"+c.want+"\n") {
			t.Errorf("%s:\n%swant\n%s", c.name, lines, c.want)
		}
	}
}

// dedent drops the lines of regions and of the loop over i.
func dedent(text string) string {
	var out strings.Builder
	depth := 0
	for line := range strings.Lines(text) {
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "region ") || strings.HasPrefix(s, "for i ") {
			depth = len(line) - len(strings.TrimLeft(line, "\t")) + 1
			continue
		}
		out.WriteString(strings.TrimPrefix(line, strings.Repeat("\t", depth)))
	}
	return out.String()
}

// TestGathers: a sum into one entry is a sum of a scalar, unless the loop
// touches the entry's buffer elsewhere.
func TestGathers(t *testing.T) {
	x, y, w := buffer("x", n), buffer("y", n), buffer("w", n)
	dot := func(to plan.Access) plan.Node { return add(to, prod(load(x, plan.At(j)), load(w, plan.At(j)))) }
	at0 := at(y, plan.Index{})
	if got := fused(loop(plan.Reduction, j, n, dot(at0))); !strings.Contains(got, "y.sum = y[0]\n") ||
		!strings.Contains(got, "y.sum = fma(+x[j], w[j], y.sum)\n") || !strings.Contains(got, "y[0] = y.sum\n") {
		t.Errorf("a dot product:\n%s", got)
	}
	for name, body := range map[string][]plan.Node{
		"a store at the loop's index":   {dot(at(y, plan.At(j)))},
		"a buffer that the loop reads":  {dot(at0), set(at(x, plan.At(j)), load(y, plan.At(j)))},
		"two sums into one buffer":      {dot(at0), dot(at(y, plan.Fixed(shape.Int(1))))},
		"a store that is no sum":        {set(at0, load(x, plan.At(j)))},
		"an entry that the loop writes": {set(at(y, plan.At(j)), a), dot(at0)},
	} {
		if got := fused(loop(plan.Reduction, j, n, body...)); strings.Contains(got, ".sum") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestSkew: a scatter over a window becomes a sum for each entry, and what adds to entries in
// another order, or to others meanwhile, stays.
func TestSkew(t *testing.T) {
	k, p := variable("k"), variable("p")
	tokens, window, columns := shape.Sym("T"), shape.Sym("w"), shape.Sym("d")
	stack := buffer("y", tokens.Add(window), columns)
	weights, x := buffer("a", tokens, window), buffer("x", tokens, columns)
	entry := plan.At(j).Add(plan.At(k), shape.Int(-1)).Add(plan.Fixed(window.Sub(shape.Int(1))), shape.Int(1))
	scatter := add(at(stack, entry, plan.At(p)), prod(load(weights, plan.At(j), plan.At(k)), load(x, plan.At(j), plan.At(p))))
	onto := func(e plan.Expr) *plan.Store { return add(at(stack, entry, plan.At(p)), e) }
	nest := func(body ...plan.Node) plan.Node {
		return loop(plan.Plain, j, tokens, loop(plan.Reduction, k, window, loop(plan.Plain, p, columns, body...)))
	}
	for _, c := range []struct {
		name string
		in   plan.Node
		want string // the first lines, "" where the nest stays
	}{
		{"a window", nest(scatter), "for k in [0, T + w - 1)\n\tsum j in [max(0, k - w + 1), min(T, k + 1))\n\t\tfor p in [0, d)\n\t\t\ty[k, p] = fma(+a[j, j - k + w - 1], x[j, p], y[k, p])\n"},
		{"the window outside", loop(plan.Plain, k, window, loop(plan.Plain, j, tokens, loop(plan.Plain, p, columns, scatter))), ""},
		{"a further sum between", loop(plan.Plain, j, tokens, loop(plan.Reduction, i, n, loop(plan.Reduction, k, window, loop(plan.Plain, p, columns, onto(load(buffer("z", n, tokens), plan.At(i), plan.At(j))))))), ""},
		{"what it reads of its own", nest(onto(load(stack, plan.At(j), plan.At(p)))), ""},
		{"no sum", nest(set(at(stack, entry, plan.At(p)), load(x, plan.At(j), plan.At(p)))), ""},
		{"a window whose end moves", loop(plan.Plain, j, tokens, &plan.Loop{Kind: plan.Reduction, Var: k, Lo: []plan.Index{{}},
			Hi: []plan.Index{plan.Fixed(window), plan.At(j)}, Body: []plan.Node{loop(plan.Plain, p, columns, scatter)}}), ""},
	} {
		got := fused(c.in)
		_, lines, _ := strings.Cut(got, "columns\n")
		lines = strings.ReplaceAll(strings.TrimPrefix(lines, "\t"), "\n\t", "\n")
		if c.want != "" && !strings.HasPrefix(lines, c.want) {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
		if c.want == "" && strings.Contains(got, "max(0") {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

// TestHoisted: a gather leaves the loops in which it is the same, but for the last one and those
// that write what it reads.
func TestHoisted(t *testing.T) {
	k, p := variable("k"), variable("p")
	pos := &plan.Buffer{Name: "pos", Of: "pos", Elem: ir.Int, Dims: []shape.Poly{n}, Role: plan.Read}
	y := buffer("y", n, n, n)
	one := plan.Fixed(shape.Int(1))
	store := set(at(y, plan.At(i), plan.At(j), plan.At(p)), a)
	nest := func(from plan.Index, further ...plan.Node) plan.Node {
		inner := append([]plan.Node{&plan.Gather{To: p, From: at(pos, from)}}, further...)
		return loop(plan.Plain, i, n, loop(plan.Plain, j, n, loop(plan.Plain, k, n, append(inner, store)...)))
	}
	for _, c := range []struct {
		name, want string
		in         plan.Node
	}{
		{"of the outer loop", "for i in [0, n)\n\tp = pos[i]\n\tfor j", nest(plan.At(i))},
		{"of the loop between", "\tfor j in [0, n)\n\t\tp = pos[j]\n\t\tfor k", nest(plan.At(j))},
		{"of its own loop", "\t\tfor k in [0, n)\n\t\t\tp = pos[k]\n", nest(plan.At(k))},
		{"of none", "\t\tfor k in [0, n)\n\t\t\tp = pos[1]\n", nest(one)},
		{"of what the loop writes", "\t\tfor k in [0, n)\n\t\t\tp = pos[i]\n", nest(plan.At(i), set(at(pos, plan.At(i)), a))},
	} {
		if got := fused(c.in); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}
