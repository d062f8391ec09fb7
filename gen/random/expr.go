package random

import (
	"fmt"
	"strings"
)

// A production is one way to make an expression of a type; it returns nil where it
// cannot. More weight makes it more frequent.
type production struct {
	weight int
	make   func(g *grower, s *scope, t axesType, depth int) *expr
}

// The productions by the number of axes.
var productions [3][]production

func init() { // what they make is made of all of them
	anywhere := []production{
		{12, (*grower).mapped}, {8, (*grower).times}, {10, (*grower).plus}, {6, (*grower).scaled}, {3, (*grower).choice},
		{3, (*grower).over}, {2, (*grower).larger}, {1, (*grower).stopped}, {3, (*grower).windowed}, {2, (*grower).byEntry},
	}
	productions[0] = append([]production{
		{8, (*grower).dot}, {4, (*grower).norm}, {8, (*grower).reduced}, {2, (*grower).sized},
	}, anywhere...)
	productions[1] = append([]production{
		{16, (*grower).matrixTimes}, {4, (*grower).softmax}, {4, (*grower).stacked}, {4, (*grower).gradient}, {2, (*grower).unit}, {4, (*grower).summed},
	}, anywhere...)
	productions[2] = append([]production{
		{12, (*grower).outer}, {8, (*grower).product}, {4, (*grower).transposed}, {6, (*grower).gradient}, {2, (*grower).rows},
	}, anywhere...)
}

// expr makes an expression of a type, so deep at most.
func (g *grower) expr(s *scope, t axesType, depth int) *expr {
	if depth > 0 && g.chance(85) && len(t) < len(productions) {
		all, sum := productions[len(t)], 0
		for _, p := range all {
			sum += p.weight
		}
		for range 4 {
			n := g.rng.IntN(sum)
			for _, p := range all {
				if n -= p.weight; n < 0 {
					if e := p.make(g, s, t, depth-1); e != nil && whole(e) {
						e.typ = t
						return e
					}
					break
				}
			}
		}
	}
	if e := g.leaf(s, t); e != nil {
		return e
	}
	return g.made(s, t)
}

// whole reports whether no argument is missing.
func whole(e *expr) bool {
	for _, a := range e.args {
		if a == nil {
			return false
		}
	}
	return true
}

// made makes something of a type where nothing of it can be read.
func (g *grower) made(s *scope, t axesType) *expr {
	switch len(t) {
	case 1:
		i := g.fresh("i")
		if e := g.expr(s.bind(index{i, t[0]}), nil, 1); e != nil {
			return &expr{typ: t, form: "softmax_{" + i + "∈" + t[0] + "}(#)", args: []*expr{e}, closed: true}
		}
	case 2:
		return &expr{typ: t, form: "% %ᵀ", args: []*expr{g.expr(s, t[:1], 0), g.expr(s, t[1:], 0)}}
	}
	return nil
}

// entrywise are functions of every entry that have numbers everywhere, and none
// that grow fast.
var entrywise = []string{"tanh(#)", "sigmoid(#)", "softplus(#)", "sin(#)", "cos(#)", "erf(#)", "|%|", "silu(#)", "expm1(tanh(#))", "exp(−|%|)",
	"log1p(exp(tanh(#)))", "log1p(sigmoid(#))", "log(1.5 + sin(#))", "sqrt(1.5 + cos(#))", "sign(#)", "floor(3 tanh(#))"}

func (g *grower) mapped(s *scope, t axesType, depth int) *expr {
	form := pick(g, entrywise[:len(entrywise)-2])
	if g.chance(4) {
		form = pick(g, entrywise) // those that jump are rare
	}
	if strings.HasPrefix(form, "|") {
		form = "abs(#)"
	}
	form = strings.ReplaceAll(form, "|%|", "abs(#)")
	return &expr{form: form, args: []*expr{g.expr(s, t, depth)}, closed: true}
}

func (g *grower) times(s *scope, t axesType, depth int) *expr {
	form := "% ⊙ %"
	switch {
	case len(t) == 0:
		form = "% · %"
	}
	return &expr{form: form, args: []*expr{g.expr(s, t, depth), g.expr(s, t, depth)}}
}

func (g *grower) plus(s *scope, t axesType, depth int) *expr {
	if g.chance(20) {
		return &expr{form: pick(g, []string{"1 − %", "% + 0.5", "0.3 − %"}), args: []*expr{g.expr(s, t, depth)}}
	}
	return &expr{form: pick(g, []string{"% + %", "% − %", "% + %"}), args: []*expr{g.expr(s, t, depth), g.expr(s, t, depth)}}
}

func (g *grower) scaled(s *scope, t axesType, depth int) *expr {
	if g.chance(40) {
		return &expr{form: pick(g, []string{"0.5 %", "−%", "0.3 %", "2 %", "−0.7 %"}), args: []*expr{g.expr(s, t, depth)}}
	}
	if len(t) == 0 {
		return nil
	}
	return &expr{form: "% %", args: []*expr{g.expr(s, nil, depth), g.expr(s, t, depth)}}
}

// choice chooses by data: as a whole, or entry by entry through a function.
func (g *grower) choice(s *scope, t axesType, depth int) *expr {
	cond, args := g.condition(s, depth)
	return &expr{form: "{ # if " + cond + " ; # otherwise }", args: append([]*expr{g.expr(s, t, depth)}, append(args, g.expr(s, t, depth))...), closed: true}
}

func (g *grower) condition(s *scope, depth int) (string, []*expr) {
	a, b := g.expr(s, nil, min(depth, 1)), g.expr(s, nil, min(depth, 1))
	switch g.rng.IntN(5) {
	case 0:
		return "% ≤ % < % + 1", []*expr{a, b, a}
	case 1:
		return "% > % and % < 0.8", []*expr{a, b, b}
	case 2:
		return "% < %", []*expr{a, b}
	}
	return "% > 0.1", []*expr{a}
}

// over divides by what is at least one.
func (g *grower) over(s *scope, t axesType, depth int) *expr {
	a := g.expr(s, t, depth)
	switch {
	case len(t) == 0:
		return &expr{form: "% / (1 + %²)", args: []*expr{a, g.expr(s, nil, depth)}}
	case g.chance(50):
		return &expr{form: "% / (1 + ‖#‖²)", args: []*expr{a, g.expr(s, t, depth)}}
	}
	b := g.expr(s, t, depth)
	return &expr{form: "% / (1 + % ⊙ %)", args: []*expr{a, b, b}}
}

func (g *grower) larger(s *scope, t axesType, depth int) *expr {
	f := pick(g, []string{"max", "min"})
	if g.chance(40) {
		return &expr{form: f + "(#, 0.2)", args: []*expr{g.expr(s, t, depth)}, closed: true}
	}
	return &expr{form: f + "(#, #)", args: []*expr{g.expr(s, t, depth), g.expr(s, t, depth)}, closed: true}
}

func (g *grower) stopped(s *scope, t axesType, depth int) *expr {
	return &expr{form: "stop(#)", args: []*expr{g.expr(s, t, depth)}, closed: true}
}

// byEntry calls a function of numbers that the page defines.
func (g *grower) byEntry(s *scope, t axesType, depth int) *expr {
	if len(g.maps) == 0 || s.pure {
		return nil
	}
	f := pick(g, g.maps)
	if len(f.params) == 1 {
		return &expr{form: f.name + "(#)", args: []*expr{g.expr(s, t, depth)}, closed: true}
	}
	return &expr{form: f.name + "(#, #)", args: []*expr{g.expr(s, t, depth), g.expr(s, nil, depth)}, closed: true}
}

// windowed sums series over a window, which the state at the token may weigh.
func (g *grower) windowed(s *scope, t axesType, depth int) *expr {
	if !s.window || len(s.series) == 0 {
		return nil
	}
	in := &scope{series: s.series, types: s.types, index: s.index, states: s.states}
	m := g.fresh("s")
	for _, n := range s.series {
		in.vals = append(in.vals, value{n + "_" + m, s.types[n]})
	}
	some := in.vals
	in.vals = append(in.vals, s.vals...)
	w := g.window()
	var e *expr
	if w != "3" && g.chance(40) {
		tap := value{g.fresh("c"), append(axesType{w}, t...)}
		g.declare(fmt.Sprintf("outer %s ∈ %s ~ normal(0, 1)", tap.text, tap.typ.declared()))
		form := tap.text + "[t−" + m + "] ⊙ %"
		if len(t) == 0 {
			form = tap.text + "[t−" + m + "] · %"
		}
		e = &expr{typ: t, form: form, args: []*expr{g.expr(in, t, depth)}}
	} else {
		in.vals = append(some, in.vals...)
		e = g.expr(in, t, depth)
	}
	end := "∈window(t," + w + ")"
	if !s.states && g.chance(20) {
		end += " per chunk"
	}
	if g.chance(30) {
		return &expr{form: "mean_{" + m + end + "}(#)", args: []*expr{e}, closed: true}
	}
	return &expr{form: "Σ_{" + m + end + "} %", args: []*expr{e}}
}

// window is the axis of a window, or a number.
func (g *grower) window() string {
	for _, a := range g.axes {
		if strings.HasPrefix(a.name, "w") {
			return a.name
		}
	}
	return "3"
}
