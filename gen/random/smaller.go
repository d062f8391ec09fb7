package random

import (
	"slices"
	"strings"
)

// Smaller lists the pages that are one step simpler: without a line, or with a
// part of an expression, or something that can be read, in the place of a whole
// one. Many of them are no pages any more, because something reads what is gone.
func (p *Page) Smaller() []*Page {
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
			for _, s := range simpler(e, leaves) {
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

// Named is the page under another name of its unit.
func (p *Page) Named(unit string) *Page {
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

// simpler lists what may stand for an expression.
func simpler(e *expr, leaves map[string][]*expr) []*expr {
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
		for _, s := range simpler(a, leaves) {
			c := *e
			c.args = slices.Clone(e.args)
			c.args[i] = s
			out = append(out, &c)
		}
	}
	return out
}
