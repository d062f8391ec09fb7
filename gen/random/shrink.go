package random

import (
	"slices"
	"strings"
)

// Shrinking of failing pages (as in delta debugging and QuickCheck).

// Shrunk lists the pages that are one step simpler: without a line, or with a
// subexpression, or a value in scope, in the place of an expression. Many of
// them are invalid, because something reads what was removed.
func (p *Page) Shrunk() []*Page {
	var out []*Page
	for i, l := range p.lines {
		if !l.keep {
			c := *p
			c.lines = slices.Delete(slices.Clone(p.lines), i, i+1)
			out = append(out, &c)
		}
	}
	leaves := p.leaves()
	for i, l := range p.lines {
		for k, e := range l.parts {
			for _, s := range replacements(e, leaves) {
				c, m := *p, *l
				m.parts = slices.Clone(l.parts)
				m.parts[k] = s
				c.lines = slices.Clone(p.lines)
				c.lines[i] = &m
				if c.Block() != p.Block() {
					out = append(out, &c)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *Page) int { return len(a.Block()) - len(b.Block()) })
	return out
}

// Renamed is the page with another name of its unit.
func (p *Page) Renamed(unit string) *Page {
	c := *p
	c.Unit = unit
	return &c
}

// leaves are what the expressions of a page read, by type.
func (p *Page) leaves() map[string][]*expr {
	out := map[string][]*expr{"": {{form: "0.5", closed: true}}}
	var visit func(e *expr)
	visit = func(e *expr) {
		key := strings.Join(e.typ, "×")
		if len(e.args) == 0 && !slices.ContainsFunc(out[key], func(o *expr) bool { return o.form == e.form }) {
			out[key] = append(out[key], e)
		}
		for _, a := range e.args {
			visit(a)
		}
	}
	for _, l := range p.lines {
		for _, e := range l.parts {
			visit(e)
		}
	}
	return out
}

// most is how many values are tried in the place of an expression.
const most = 4

// replacements lists the simpler expressions that may replace e.
func replacements(e *expr, leaves map[string][]*expr) []*expr {
	var out []*expr
	for _, a := range e.args {
		if a.typ.equal(e.typ) {
			out = append(out, a)
		}
	}
	same := leaves[strings.Join(e.typ, "×")]
	for _, l := range same[:min(len(same), most)] {
		if len(e.args) > 0 || l.form < e.form {
			out = append(out, l)
		}
	}
	for i, a := range e.args {
		for _, s := range replacements(a, leaves) {
			c := *e
			c.args = slices.Clone(e.args)
			c.args[i] = s
			out = append(out, &c)
		}
	}
	return out
}
