package plan

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Operations counts what a kernel computes, for given sizes, as scalar operations.
//
// Arithmetic is everything that a processor has an instruction for: sums, products, fused
// multiply-adds, comparisons, selections. Functions are the quotients, roots and
// transcendental functions, by primitive. Each is counted as often as it runs, with the
// bounds that its loops have in each iteration of those around them. A search for a root
// counts as the two ends of its range, the fewest it can take, and a gathered index is zero.
type Operations struct {
	Arithmetic int64
	Functions  map[ir.Op]int64
}

// Operations counts for sizes that must have all of k.Sizes. A buffer that may be absent is
// present.
func (k *Kernel) Operations(sizes map[string]int) Operations {
	c := &operationCounter{sizes: k.values(sizes), at: map[*Var]int64{}}
	return c.nodes(k.Body)
}

type operationCounter struct {
	sizes map[string]int
	at    map[*Var]int64 // values of the variables of loops that are run through
}

func (o *Operations) add(p Operations, times int64) {
	o.Arithmetic += times * p.Arithmetic
	for f, n := range p.Functions {
		o.call(f, times*n)
	}
}

func (o *Operations) call(f ir.Op, n int64) {
	if o.Functions == nil {
		o.Functions = map[ir.Op]int64{}
	}
	o.Functions[f] += n
}

func (c *operationCounter) nodes(ns []Node) (out Operations) {
	for _, n := range ns {
		out.add(c.node(n), 1)
	}
	return out
}

func (c *operationCounter) node(n Node) (out Operations) {
	EachExpr(n, out.count)
	switch n := n.(type) {
	case *Loop:
		return c.loop(n)
	case *If:
		for _, x := range n.Cond {
			if c.index(x) < 0 {
				return out
			}
		}
		return c.nodes(n.Body)
	case *FindRoot:
		out.add(c.nodes(n.Body), 2)
		WalkExpr(n.Val, out.count) // the residual, a second time
	case *Region:
		return c.nodes(n.Body)
	case *Accumulate:
		if !n.Set {
			out.Arithmetic++
		}
	case *Store:
		out.Arithmetic += int64(len(n.Vals))
		if !n.Add {
			out.Arithmetic--
		}
	case *Gemm:
		out.Arithmetic += c.size(n.M) * c.size(n.N) * c.size(n.K)
	case *TriSolve:
		m := c.size(n.M)
		out.Arithmetic += m * (m - 1) / 2 * c.size(n.N)
	}
	return out
}

// loop runs through the iterations only where what is inside depends on them.
func (c *operationCounter) loop(n *Loop) (out Operations) {
	least, most := c.index(n.Hi[0]), c.index(n.Lo[0])
	for _, hi := range n.Hi[1:] {
		least = min(least, c.index(hi))
	}
	for _, lo := range n.Lo[1:] {
		most = max(most, c.index(lo))
	}
	if !bounds(n.Body, n.Var) {
		out.add(c.nodes(n.Body), max(0, least-most))
		return out
	}
	for i := most; i < least; i++ {
		c.at[n.Var] = i
		out.add(c.nodes(n.Body), 1)
	}
	delete(c.at, n.Var)
	return out
}

// bounds reports whether a bound or a condition among nodes depends on a variable.
func bounds(ns []Node, v *Var) (out bool) {
	depends := func(x Index) bool { return !x.Coef(v).IsZero() }
	Walk(ns, func(n Node) {
		switch n := n.(type) {
		case *Loop:
			out = out || slices.ContainsFunc(n.Lo, depends) || slices.ContainsFunc(n.Hi, depends)
		case *If:
			out = out || slices.ContainsFunc(n.Cond, depends)
		}
	})
	return out
}

func (c *operationCounter) size(p shape.Poly) int64 { return evaluate(p, c.sizes) }

func (c *operationCounter) index(x Index) int64 {
	out := c.size(x.Const)
	for _, t := range x.Terms {
		out += c.size(t.Coef) * c.at[t.Var]
	}
	return out
}

// count adds what an expression computes itself, without its arguments.
func (o *Operations) count(e Expr) {
	product := func(coef float64) int64 {
		if coef == 1 || coef == -1 {
			return 0
		}
		return 1
	}
	switch e := e.(type) {
	case Prod:
		o.Arithmetic += int64(len(e.Args)) - 1 + product(e.Coef)
	case Lin:
		o.Arithmetic += int64(len(e.Args)) - 1
		if e.Const != 0 {
			o.Arithmetic++
		}
		for _, c := range e.Coef {
			o.Arithmetic += product(c)
		}
	case Fma:
		o.Arithmetic++
	case Call:
		if e.Op.Info().Cost == ir.Function {
			o.call(e.Op, 1)
		} else {
			o.Arithmetic++
		}
	}
}
