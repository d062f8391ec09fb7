package simplify

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Canonical forms. A program is a polynomial over opaque atoms: every result
// is written as a sum of products of atoms over summed loops, which is a
// normal form up to the order of the summed loops.

// Canon is a canonical text of what a program computes: every result as a sum
// of products of atoms over summed loops. Products over sums are expanded,
// like terms added in exact rationals, factors sorted and loops renamed. An
// atom is a parameter, or a function that is no polynomial, of arguments in
// the same form. Two programs with the same text are the same function on
// reals; the converse does not hold.
func Canon(f *ir.Func) string { return newCanon(f).program(f) }

// program is the text of all results.
func (c *canon) program(f *ir.Func) string {
	var out []string
	for _, r := range f.Results {
		form := c.form(r.Val)
		out = append(out, fmt.Sprintf("%s %v %v = %s", r.Name, r.State, axesText(r.Val.Axes), c.text(form, freeNames(len(r.Val.Axes)))))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// Equal reports whether two programs provably have the same results as
// functions of parameters of the same names; false means that it does not
// know.
func Equal(f, g *ir.Func) bool { return Canon(f) == Canon(g) }

// EqualGradients is Equal, and the gradients are equal too: a value under Stop
// or Override is an atom of its own.
func EqualGradients(f, g *ir.Func) bool {
	a, b := newCanon(f), newCanon(g)
	a.gradients, b.gradients = true, true
	return a.program(f) == b.program(g)
}

// A form is a sum of products. Its variables are numbered: first the axes of
// the value, then for each product its own summed loops.
type form []monomial

// A monomial is coef · Π facs, summed over bound, where all conds hold. Variable
// number free+i is bound[i].
type monomial struct {
	coef  *big.Rat
	bound []*ir.Axis
	facs  []ir.Arg // of atoms
	conds []cond
}

// A cond is a condition on a subscript: ≥ 0, = 0, or within an axis.
type cond struct {
	kind string
	sub  ir.Sub
}

// Limits beyond which a product is not expanded.
const (
	maxTerms = 300
	maxFacs  = 40
	// maxVolume bounds the factors of all terms together. A polynomial of a
	// matrix, iterated, has hundreds of terms of dozens of factors; it is compared by
	// the values that it is made of, not expanded.
	maxVolume = 300

	maxPermuted = 5   // loops of one kind whose orders are tried
	maxOrders   = 200 // orders of all kinds together
)

type canon struct {
	forms map[*ir.Value]form
	keys  map[*ir.Value]string
	atoms map[string]*ir.Value
	scans map[*ir.Instr]string
	param map[*ir.Value]string // names of parameters
	depth int                  // of scans in scans

	gradients bool               // tell programs apart that have other gradients
	real      map[*ir.Value]bool // atoms that are parameters: zero outside a gather's table
}

func newCanon(f *ir.Func) *canon {
	c := &canon{forms: map[*ir.Value]form{}, keys: map[*ir.Value]string{}, atoms: map[string]*ir.Value{}, scans: map[*ir.Instr]string{},
		param: map[*ir.Value]string{}, real: map[*ir.Value]bool{}}
	for _, p := range f.Params {
		c.param[p] = p.Name
	}
	return c
}

func axesText(axes []*ir.Axis) string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = a.Name + "=" + a.Size.String()
	}
	return "[" + strings.Join(out, ",") + "]"
}

// atom returns the value of an atom's text.
func (c *canon) atom(text string, axes []*ir.Axis) *ir.Value {
	key := short(text)
	if c.atoms[key] == nil {
		c.atoms[key] = &ir.Value{Name: key, Elem: ir.Real, Axes: axes}
	}
	return c.atoms[key]
}

func number(x float64) *big.Rat {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return new(big.Rat).SetFloat64(x)
}

// form returns what v is at its entries.
func (c *canon) form(v *ir.Value) form {
	if f, ok := c.forms[v]; ok {
		return f
	}
	var f form
	switch {
	case v.Def == nil:
		n, ok := c.param[v]
		if !ok {
			n = fmt.Sprintf("%s at %p", v.Name, v)
		}
		a := c.atom(fmt.Sprintf("param %q %v %s", n, v.Elem, axesText(v.Axes)), v.Axes)
		c.real[a] = true
		f = single(ir.Arg{Val: a, Sub: ir.Ls(len(v.Axes))})
	case v.Def.Scan != nil:
		a := c.atom(c.scanOut(v), v.Axes)
		c.real[a] = true
		f = single(ir.Arg{Val: a, Sub: ir.Ls(len(v.Axes))})
	default:
		f = c.instr(v.Def)
	}
	c.forms[v] = f
	return f
}

// key is a text that values of one kind share which are provably the same
// function.
func (c *canon) key(v *ir.Value) string {
	if _, ok := c.keys[v]; !ok {
		c.keys[v] = kind(v) + c.text(c.form(v), freeNames(len(v.Axes)))
	}
	return c.keys[v]
}

// kind is the text of what equal values must have in common beside their form:
// the shape and the operation, because 1 − σ(x) is σ(−x) but less exact. Sums
// and products count as one operation.
func kind(v *ir.Value) string {
	op := ir.Prod
	if v.Def != nil && v.Def.Op != ir.Lin {
		op = v.Def.Op
	}
	return fmt.Sprint(op, v.Elem, axesText(v.Axes))
}

func single(facs ...ir.Arg) form { return form{{coef: big.NewRat(1, 1), facs: facs}} }

// instr is the form of an instruction's output.
func (c *canon) instr(in *ir.Instr) form {
	x := &instrCanon{canon: c, in: in, n: len(in.Loops)}
	body := x.body()
	for _, g := range in.Guard {
		sub, ok := x.sub(g)
		if !ok {
			return x.opaque()
		}
		for i := range body {
			body[i].conds = append(slices.Clone(body[i].conds), cond{"≥0", sub})
		}
	}
	if body == nil && x.failed {
		return x.opaque()
	}
	return c.combineLikeTerms(x.publish(body), in.Out.Axes)
}
