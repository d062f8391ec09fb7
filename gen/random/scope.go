package random

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A grower grows one page.
type grower struct {
	rng    *rand.Rand
	page   *Page
	axes   []axis
	outers []value // learned parameters
	losses []function
	maps   []function // of numbers, written out entry by entry
	names  int
	size   int // of expressions and of the page: 0 for most, 2 at most
	header int // the place of the next declaration
}

// An axis has a size of its own, a number, or is the sum of two.
type axis struct {
	name  string
	fixed int
	parts [2]string
}

// A value is what an expression may read: the text is the name with its time.
type value struct {
	text string
	typ  axesType
}

// A function of a page. What a loss is differentiated by is its first parameter.
type function struct {
	name   string
	params []axesType
}

// A scope is what the expressions of one place may read.
type scope struct {
	vals   []value
	index  []index
	series []string // series that a window may read, without their time
	types  map[string]axesType
	window bool // a window may be opened
	states bool // states may be read: no window counts from the start of the call
	pure   bool // no functions of the page, and no further parameter: it is one itself
}

// An index is bound over an axis.
type index struct{ name, axis string }

func (s *scope) bind(more ...index) *scope {
	c := *s
	c.index = append(slices.Clone(s.index), more...)
	return &c
}

func (g *grower) fresh(letter string) string {
	g.names++
	return fmt.Sprintf("%s%d", letter, g.names)
}

// chance is true in the given percentage of cases.
func (g *grower) chance(percent int) bool { return g.rng.IntN(100) < percent }

// upTo is a number from 0 to n of a large page, to less of others.
func (g *grower) upTo(n int) int { return g.rng.IntN(max(1, n-2+g.size) + 1) }

// deep is how deep the main expressions of the page are.
func (g *grower) deep() int { return 2 + (g.size+1)/2 }

func pick[E any](g *grower, list []E) E { return list[g.rng.IntN(len(list))] }

// number spells one of a few numbers.
func (g *grower) literal() string {
	return pick(g, []string{"0.25", "0.5", "0.75", "1.25", "0.3", "(−0.4)", "½", "0.1"})
}

// axis finds an axis by name.
func (g *grower) axis(name string) axis {
	i := slices.IndexFunc(g.axes, func(a axis) bool { return a.name == name })
	if i < 0 {
		return axis{name: name}
	}
	return g.axes[i]
}

// indexOf is a random subscript of an axis in a scope: an index that is bound over
// it, a place of one that has few, or an index over a part of it.
func (g *grower) indexOf(s *scope, name string) (string, bool) {
	var out []string
	for _, i := range s.index {
		if i.axis == name {
			out = append(out, i.name, i.name)
		}
		if a := g.axis(name); a.parts[1] == i.axis {
			out = append(out, i.name+"+"+a.parts[0])
		}
	}
	if a := g.axis(name); a.fixed > 0 {
		out = append(out, fmt.Sprint(g.rng.IntN(a.fixed)))
	}
	if len(out) == 0 {
		return "", false
	}
	return pick(g, out), true
}

// reading is a value at subscripts that leave it the type t, or nil.
func (g *grower) reading(s *scope, v value, t axesType) *expr {
	n := len(v.typ) - len(t)
	if n < 0 || !v.typ[n:].equal(t) {
		return nil
	}
	if n == 0 {
		return &expr{typ: t, form: v.text, closed: true}
	}
	var subs []string
	for _, a := range v.typ[:n] {
		x, ok := g.indexOf(s, a)
		if !ok {
			return nil
		}
		subs = append(subs, x)
	}
	return &expr{typ: t, form: v.text + "[" + strings.Join(subs, ",") + "]", closed: true}
}

// leaf reads a value of a type, or a parameter that is declared for it.
func (g *grower) leaf(s *scope, t axesType) *expr {
	var own, learned []*expr
	for _, v := range s.vals {
		if e := g.reading(s, v, t); e != nil {
			own = append(own, e)
		}
	}
	for _, v := range g.outers {
		if e := g.reading(s, v, t); e != nil && !s.pure {
			learned = append(learned, e)
		}
	}
	switch {
	case len(own) > 0 && g.chance(75):
		return pick(g, own)
	case len(learned) > 0 && g.chance(60):
		return pick(g, learned)
	case len(own) > 0 && (s.pure || g.chance(40)):
		return pick(g, own)
	case len(t) == 0 && len(own) == 0 && g.chance(60):
		return g.contracted(s)
	case len(t) == 0 && (s.pure || g.chance(30)):
		return &expr{form: g.literal(), closed: true}
	case s.pure:
		return nil
	}
	return g.learned(t)
}

// contracted makes a number of an array that can be read.
func (g *grower) contracted(s *scope) *expr {
	if len(s.vals) == 0 {
		return &expr{form: g.literal(), closed: true}
	}
	v := pick(g, s.vals)
	if len(v.typ) == 0 {
		return &expr{form: v.text, closed: true}
	}
	for i := range len(v.typ) {
		if e := g.reading(s, v, v.typ[i:]); e != nil {
			return &expr{form: "tanh(½ norm(#)²)", args: []*expr{e}, closed: true}
		}
	}
	return nil
}

// learned declares a parameter; some have an axis more, of few places, and are
// read at one of them.
func (g *grower) learned(t axesType) *expr {
	v := value{g.fresh("W"), t}
	at := ""
	if few := g.few(); few != "" && g.chance(20) {
		v.typ = append(axesType{few}, t...)
		at = fmt.Sprintf("[%d]", g.rng.IntN(g.axis(few).fixed))
	}
	g.declare(fmt.Sprintf("outer %s ∈ %s ~ normal(0, 1)", v.text, v.typ.declared()))
	g.outers = append(g.outers, v)
	return &expr{typ: t, form: v.text + at, closed: true}
}

// few is the axis of few places, if the page has one.
func (g *grower) few() string {
	for _, a := range g.axes {
		if a.fixed > 0 {
			return a.name
		}
	}
	return ""
}

// declare puts a declaration before all equations; a page orders none of them.
func (g *grower) declare(form string, parts ...*expr) {
	g.page.lines = slices.Insert(g.page.lines, g.header, &line{form: form, parts: parts})
	g.header++
}

// add puts a line at the end.
func (g *grower) add(form string, parts ...*expr) *line {
	l := &line{form: form, parts: parts}
	g.page.lines = append(g.page.lines, l)
	return l
}
