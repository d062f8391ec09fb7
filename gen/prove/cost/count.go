package cost

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Count is the cost of a program.
type Count struct {
	Adds  shape.Poly            // multiply-adds
	Funcs map[string]shape.Poly // exp, log, … by name
}

func (c Count) String() string {
	out := c.Adds.String()
	var names []string
	for n := range c.Funcs {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		out += fmt.Sprintf(", %s·(%s)", n, c.Funcs[n])
	}
	return out
}

// CostOf counts one run of a program, a scan's body aside.
func Of(f *ir.Func) Count {
	c := Count{Funcs: map[string]shape.Poly{}}
	uses := f.Uses()
	for _, in := range f.Body {
		if in.Scan == nil {
			c.instr(in, uses)
		}
	}
	return c
}

func (c *Count) instr(in *ir.Instr, uses map[*ir.Value]int) {
	box := shape.Int(1)
	for _, a := range in.Loops {
		box = box.Mul(a.Size)
	}
	n := int64(0)
	switch in.Op {
	case ir.Prod:
		n = products(in)
		if len(in.Loops) > len(in.Out.Axes) {
			n = max(n, 1)
		}
	case ir.Lin:
		n = sums(in, uses)
	case ir.Softmax, ir.LogSumExp:
		c.Funcs["exp"] = c.Funcs["exp"].Add(box)
		n = 2
	case ir.SolveOp:
		c.solve(in)
	case ir.TriSolve:
		// A row takes one for each row before it.
		t, _ := in.Triangle()
		c.Adds = c.Adds.Add(box.Sub(boxWithout(in, t)).Mul(shape.Ratio(1, 2)))
	case ir.Div, ir.Pow, ir.Exp, ir.Log, ir.Log1p, ir.Expm1, ir.Sqrt, ir.Tanh, ir.Sigmoid, ir.Softplus, ir.Sin, ir.Cos, ir.Erf:
		c.Funcs[in.Op.String()] = c.Funcs[in.Op.String()].Add(box)
	}
	c.Adds = c.Adds.Add(box.Mul(shape.Int(n)))
}

// columnsOf is the box of an instruction without one of its loops.
func boxWithout(in *ir.Instr, loop int) shape.Poly {
	n := shape.Int(1)
	for l, a := range in.Loops {
		if l != loop {
			n = n.Mul(a.Size)
		}
	}
	return n
}

// search counts a solve: a function at each of its points, and its equation
// once there, however often it is tried.
func (c *Count) solve(in *ir.Instr) {
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

// products is how many products a point of a Prod takes.
func products(in *ir.Instr) int64 {
	n := int64(len(in.Args))
	if c := in.Coef[0]; c != 1 && c != -1 {
		n++
	}
	return max(n-1, 0)
}

// sums is how many operations an entry of a Lin takes: its own products, and
// the additions that no product is left to be merged with.
func sums(in *ir.Instr, uses map[*ir.Value]int) int64 {
	own, merged := int64(0), int64(0)
	for i, a := range in.Args {
		d := a.Val.Def
		switch {
		case in.Coef[i] != 1 && in.Coef[i] != -1:
			own++
		case d != nil && d.Op == ir.Prod && uses[a.Val] == 1 && products(d) > 0 && len(d.Loops) == len(d.Out.Axes):
			merged++
		}
	}
	additions := int64(len(in.Args)) - 1
	if in.Coef[len(in.Args)] != 0 {
		additions++
	}
	return own + max(0, additions-own-merged)
}

// StepCost is the cost of one token of a rule: the body of its scan. ok is
// false for a rule without a state.
func OfToken(f *ir.Func) (Count, bool) {
	if r := recurrence.Of(f); r != nil {
		r.Scan.SetResults(nil)
		return Of(r.Scan.Body), true
	}
	return Count{}, false
}

func (c *Count) add(d Count) {
	c.Adds = c.Adds.Add(d.Adds)
	for n, x := range d.Funcs {
		c.Funcs[n] = c.Funcs[n].Add(x)
	}
}
