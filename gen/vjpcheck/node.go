package vjpcheck

import (
	"fmt"
	"slices"
	"strings"
)

// A kind tells nodes apart; the zero value is invalid.
type kind int

const (
	_         kind = iota
	number         // 1e-8
	name           // x, or an index letter
	index          // kids[0][kids[1], …]
	span           // kids[0]..kids[1], inside an index
	call           // text(kids…)
	reduce         // text_letters(kids[0]): sum, mean, max, min
	negate         // −kids[0]
	binary         // kids[0] text kids[1]: + - * / @ ⊗
	transpose      // kids[0]^T
	power          // kids[0]^kids[1]
	norm           // ||kids[0]||
	relation       // kids[0] text kids[1]: == != < <= > >=
	truth          // 1_{kids[0]} and (kids[0]) as f32
)

// A node is an expression of the pseudo-language.
type node struct {
	kind    kind
	text    string
	value   float64
	letters []string // of a reduction; nil where it names none
	kids    []*node
}

func named(text string) *node { return &node{kind: name, text: text} }

func indexed(x *node, at ...*node) *node {
	if len(at) == 0 {
		return x
	}
	return &node{kind: index, kids: append([]*node{x}, at...)}
}

// String prints a node so that equal nodes print alike.
func (n *node) String() string {
	kids := make([]string, len(n.kids))
	for i, k := range n.kids {
		kids[i] = k.String()
	}
	switch n.kind {
	case number:
		return fmt.Sprint(n.value)
	case name:
		return n.text
	}
	return fmt.Sprintf("(%d %s%s %s)", n.kind, n.text, strings.Join(n.letters, ","), strings.Join(kids, " "))
}

// rewrite copies a node; f may replace a node before its parts are copied.
func (n *node) rewrite(f func(*node) *node) *node {
	if r := f(n); r != nil {
		return r
	}
	m := *n
	m.kids = make([]*node, len(n.kids))
	for i, k := range n.kids {
		m.kids[i] = k.rewrite(f)
	}
	return &m
}

// walk calls f for n and everything below it.
func (n *node) walk(f func(*node)) {
	f(n)
	for _, k := range n.kids {
		k.walk(f)
	}
}

// contains reports whether any node below n meets the condition.
func (n *node) contains(f func(*node) bool) bool {
	return f(n) || slices.ContainsFunc(n.kids, func(k *node) bool { return k.contains(f) })
}

// mentions reports whether a name occurs.
func (n *node) mentions(text string) bool {
	return n.contains(func(m *node) bool { return m.kind == name && m.text == text })
}

// substitute replaces names.
func (n *node) substitute(by map[string]*node) *node {
	return n.rewrite(func(m *node) *node {
		if m.kind == name {
			return by[m.text]
		}
		return nil
	})
}

// A gap is something that an entry leaves open.
type gap struct{ text string }

func (g *gap) Error() string { return g.text }

func open(format string, args ...any) error { return &gap{fmt.Sprintf(format, args...)} }

// A misfit is a pair of shapes that do not go together.
type misfit struct{ text string }

func (m *misfit) Error() string { return m.text }

func misfitf(format string, args ...any) error { return &misfit{fmt.Sprintf(format, args...)} }
