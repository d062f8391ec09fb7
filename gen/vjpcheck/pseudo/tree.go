package pseudo

import (
	"fmt"
	"slices"
	"strings"
)

// Expressions, and the two kinds of error of a check.

// A Kind is the kind of a node; the zero value is invalid.
type Kind int

const (
	_         Kind = iota
	Number         // 1e-8
	Name           // x, or an index letter
	Index          // kids[0][kids[1], …]
	Span           // kids[0]..kids[1], inside an index
	Call           // text(kids…)
	Reduce         // text_letters(kids[0]): sum, mean, max, min
	Negate         // −kids[0]
	Binary         // kids[0] text kids[1]: + - * / @ ⊗
	Transpose      // kids[0]^T
	Power          // kids[0]^kids[1]
	Norm           // ||kids[0]||
	Relation       // kids[0] text kids[1]: == != < <= > >=
	Truth          // 1_{kids[0]} and (kids[0]) as f32
)

// A Node is an expression of the pseudo-language.
type Node struct {
	Kind    Kind
	Text    string
	Value   float64
	Letters []string // of a reduction; nil without letters
	Kids    []*Node
}

// NameOf is a name as an expression.
func NameOf(text string) *Node { return &Node{Kind: Name, Text: text} }

// IndexOf is x at indices; without indices it is x.
func IndexOf(x *Node, at ...*Node) *Node {
	if len(at) == 0 {
		return x
	}
	return &Node{Kind: Index, Kids: append([]*Node{x}, at...)}
}

// String prints a node so that equal nodes print alike.
func (n *Node) String() string {
	kids := make([]string, len(n.Kids))
	for i, k := range n.Kids {
		kids[i] = k.String()
	}
	switch n.Kind {
	case Number:
		return fmt.Sprint(n.Value)
	case Name:
		return n.Text
	}
	return fmt.Sprintf("(%d %s%s %s)", n.Kind, n.Text, strings.Join(n.Letters, ","), strings.Join(kids, " "))
}

// Rewrite copies a node; f may replace a node before its operands are copied.
func (n *Node) Rewrite(f func(*Node) *Node) *Node {
	if r := f(n); r != nil {
		return r
	}
	m := *n
	m.Kids = make([]*Node, len(n.Kids))
	for i, k := range n.Kids {
		m.Kids[i] = k.Rewrite(f)
	}
	return &m
}

// Walk calls f for n and everything below it.
func (n *Node) Walk(f func(*Node)) {
	f(n)
	for _, k := range n.Kids {
		k.Walk(f)
	}
}

// Contains reports whether n or a node below it meets the condition.
func (n *Node) Contains(f func(*Node) bool) bool {
	return f(n) || slices.ContainsFunc(n.Kids, func(k *Node) bool { return k.Contains(f) })
}

// Mentions reports whether a name occurs.
func (n *Node) Mentions(text string) bool {
	return n.Contains(func(m *Node) bool { return m.Kind == Name && m.Text == text })
}

// Substitute replaces names.
func (n *Node) Substitute(by map[string]*Node) *Node {
	return n.Rewrite(func(m *Node) *Node {
		if m.Kind == Name {
			return by[m.Text]
		}
		return nil
	})
}

// An Error says why an entry cannot be compared: two shapes do not agree, or it leaves
// something open.
type Error struct {
	text   string
	Misfit bool // two shapes do not agree
}

func (e *Error) Error() string { return e.text }

// Gapf returns an error: the entry leaves something open.
func Gapf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...), false} }

// Misfitf returns an error: two shapes do not agree.
func Misfitf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...), true} }
