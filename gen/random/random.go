// Package random generates random pages: well-typed rules and operations of the
// notation, by which the emitted code of every target is tested against the
// interpreter (random differential testing, as Csmith does for C).
//
// A page is grown from a seed, top down by productions. Its units have axes,
// learned parameters, series of tokens, states and functions; each right-hand side
// is a random expression of the type that is wanted, over the values in scope. So
// forms of the language occur together that no hand-written test has: the gradient
// of a loss of a window, independent rows beside dependent ones, a slot of a tensor
// in a choice. The write of a state is damped, so that most pages stay in the range
// of float32.
//
// Expressions are kept as trees, so that a failing page can be shrunk: Shrunk lists
// the pages that are one step simpler, and the caller keeps one that still fails.
package random

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Page is a random page with one unit to emit, and what that unit needs.
type Page struct {
	Seed uint64
	Unit string // the unit under test
	Kind string // what was grown: a key of Kinds

	lines []*line
}

// Kinds are the kinds of page, and how many of a hundred pages are of each.
var Kinds = []struct {
	Name  string
	Share int
	grow  func(*grower)
}{
	{"rule", 88, (*grower).rule},
	{"heads", 12, (*grower).heads},
}

// New grows the page of a seed; the page depends on the seed alone.
func New(seed uint64) *Page {
	g := &grower{rng: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), page: &Page{Seed: seed, Unit: fmt.Sprintf("Page%d", seed)}}
	g.size = []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 2}[g.rng.IntN(10)]
	n := g.rng.IntN(100)
	for _, k := range Kinds {
		if n -= k.Share; n < 0 {
			g.page.Kind = k.Name
			k.grow(g)
			break
		}
	}
	return g.page
}

// Text is the page as markdown, with the header that every page has.
func (p *Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n```text\nCONTRACT\n", p.Unit)
	for _, f := range []string{"Purpose", "Expects", "Guarantees", "Cost", "Trade-off", "Position", "Source"} {
		fmt.Fprintf(&b, "  %-11s none\n", f+":")
	}
	b.WriteString("```\n\n```hecate\n" + p.Block() + "```\n")
	return b.String()
}

// Block is the content of the page's fence.
func (p *Page) Block() string {
	var b strings.Builder
	for _, l := range p.lines {
		b.WriteString(strings.ReplaceAll(l.text(), "$", p.Unit) + "\n")
	}
	return b.String()
}

// A line is a statement: a form with a place for each expression, as in an
// expr. $ is the name of the page's unit.
type line struct {
	form  string
	parts []*expr
	keep  bool // a page needs it
}

func (l *line) text() string { return (&expr{form: l.form, args: l.parts}).text() }

// A axesType is the axes of a value: none of a number, one of a vector.
type axesType []string

func (t axesType) equal(u axesType) bool { return slices.Equal(t, u) }

// declared spells a type after ∈.
func (t axesType) declared() string {
	if len(t) == 0 {
		return "ℝ"
	}
	return "ℝ^{" + strings.Join(t, "×") + "}"
}

// An expr is an expression. Its form is text with a place for each argument: % is
// one that needs parentheses unless it is closed, # one that has some
// already.
type expr struct {
	typ    axesType
	form   string
	args   []*expr
	closed bool
}

func (e *expr) text() string {
	var b strings.Builder
	next := 0
	for _, r := range e.form {
		if r != '%' && r != '#' {
			b.WriteRune(r)
			continue
		}
		a := e.args[next]
		next++
		if r == '%' && !a.closed {
			b.WriteString("(" + a.text() + ")")
		} else {
			b.WriteString(a.text())
		}
	}
	return b.String()
}
