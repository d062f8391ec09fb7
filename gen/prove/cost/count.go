// Package cost counts the operations of tensor programs and holds the cost lines of
// pages to the counts.
//
// The cost of a program is a polynomial in its sizes: the multiply-adds of its
// simplified form. a·b + c counts one, and so does a single product or a single sum;
// a copy, a change of sign and a comparison count nothing, and functions such as exp
// are counted apart, each call once. An addition is free where it follows a product
// that nothing else reads, since the two are one fused multiply-add: ρM − (θe)kᵀ
// costs two per entry.
package cost

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Count is the cost of a program.
type Count struct {
	Adds  shape.Poly            // multiply-adds
	Funcs map[string]shape.Poly // calls of exp, log, … by name
}

func (c Count) String() string {
	out := c.Adds.String()
	for _, n := range slices.Sorted(maps.Keys(c.Funcs)) {
		out += fmt.Sprintf(", %s·(%s)", n, c.Funcs[n])
	}
	return out
}

// Of counts one run of a program without its scans.
func Of(f *ir.Func) Count {
	c := Count{Funcs: map[string]shape.Poly{}}
	uses := f.Uses()
	for _, in := range f.Body {
		add := chargeOf(in.Op)
		if add == nil {
			panic("cost: BUG: no cost for " + in.Op.String())
		}
		points := shape.Int(1)
		for _, a := range in.Loops {
			points = points.Mul(a.Size)
		}
		add(&c, in, points, uses)
	}
	return c
}

// OfToken is the cost of one token of a rule, the body of its scan. ok is false for a
// rule without a recurrence.
func OfToken(f *ir.Func) (c Count, ok bool) {
	r := recurrence.Of(f)
	if r == nil {
		return Count{}, false
	}
	r.Scan.SetResults(nil)
	return Of(r.Scan.Body), true
}

func (c *Count) add(d Count) {
	c.Adds = c.Adds.Add(d.Adds)
	for n, x := range d.Funcs {
		c.Funcs[n] = c.Funcs[n].Add(x)
	}
}

// A charge adds the cost of one instruction, whose iteration space has so many points;
// uses counts the readers of each value.
type charge func(c *Count, in *ir.Instr, points shape.Poly, uses map[*ir.Value]int)

// chargeOf is the cost of every primitive, nil for one that the table lacks.
func chargeOf(op ir.Op) charge {
	switch op {
	case ir.Prod:
		return chargeProduct
	case ir.Lin:
		return chargeSum
	case ir.Softmax, ir.LogSumExp:
		return chargeExponentials
	case ir.SolveOp:
		return chargeRoot
	case ir.TriSolve:
		return chargeTriangle
	case ir.Stack, ir.Reshape, ir.Narrow, ir.Max, ir.ScanOp: // copies, comparisons; a body is counted by OfToken
		return free
	}
	switch info := op.Info(); {
	case info.Cost == ir.Function:
		return chargeCall
	case info.Elementwise && info.Cost != 0: // a copy, an index, a comparison or a rounding
		return free
	}
	return nil
}

func free(*Count, *ir.Instr, shape.Poly, map[*ir.Value]int) {}

// chargeCall counts one call of a function at each point.
func chargeCall(c *Count, in *ir.Instr, points shape.Poly, _ map[*ir.Value]int) {
	c.Funcs[in.Op.String()] = c.Funcs[in.Op.String()].Add(points)
}

// chargeExponentials counts an exponential, a subtraction of the maximum and an
// addition or division at each point.
func chargeExponentials(c *Count, _ *ir.Instr, points shape.Poly, _ map[*ir.Value]int) {
	c.Funcs["exp"] = c.Funcs["exp"].Add(points)
	c.Adds = c.Adds.Add(points.Mul(shape.Int(2)))
}

// chargeProduct counts the products of a point, and at least the addition where the
// instruction reduces.
func chargeProduct(c *Count, in *ir.Instr, points shape.Poly, _ map[*ir.Value]int) {
	n := products(in)
	if len(in.Loops) > len(in.Out.Axes) {
		n = max(n, 1)
	}
	c.Adds = c.Adds.Add(points.Mul(shape.Int(n)))
}

// products is the number of products at a point of a Prod.
func products(in *ir.Instr) int64 {
	n := int64(len(in.Args))
	if c := in.Coef[0]; c != 1 && c != -1 {
		n++
	}
	return max(n-1, 0)
}

// chargeSum counts an entry of a linear combination: its own products, and those
// additions that cannot be fused with a product.
func chargeSum(c *Count, in *ir.Instr, points shape.Poly, uses map[*ir.Value]int) {
	scaled, fused := int64(0), int64(0)
	for i, a := range in.Args {
		d := a.Val.Def
		switch {
		case in.Coef[i] != 1 && in.Coef[i] != -1:
			scaled++
		case d != nil && d.Op == ir.Prod && uses[a.Val] == 1 && products(d) > 0 && len(d.Loops) == len(d.Out.Axes):
			fused++
		}
	}
	additions := int64(len(in.Args)) - 1
	if in.Coef[len(in.Args)] != 0 {
		additions++
	}
	c.Adds = c.Adds.Add(points.Mul(shape.Int(scaled + max(0, additions-scaled-fused))))
}

// chargeTriangle counts forward substitution: a row takes one multiply-add for each row
// before it.
func chargeTriangle(c *Count, in *ir.Instr, points shape.Poly, _ map[*ir.Value]int) {
	t, _ := in.Triangle()
	diagonal := shape.Int(1)
	for l, a := range in.Loops {
		if l != t {
			diagonal = diagonal.Mul(a.Size)
		}
	}
	c.Adds = c.Adds.Add(points.Sub(diagonal).Mul(shape.Ratio(1, 2)))
}

// chargeRoot counts a search for a root at each point of the output: one call, and the
// residual once, however often it is evaluated.
func chargeRoot(c *Count, in *ir.Instr, _ shape.Poly, _ map[*ir.Value]int) {
	points := shape.Int(1)
	for _, a := range in.Out.Axes {
		points = points.Mul(a.Size)
	}
	once := Of(in.Solve.Residual)
	once.Funcs[in.Op.String()] = once.Funcs[in.Op.String()].Add(shape.Int(1))
	c.Adds = c.Adds.Add(once.Adds.Mul(points))
	for f, n := range once.Funcs {
		c.Funcs[f] = c.Funcs[f].Add(n.Mul(points))
	}
}
