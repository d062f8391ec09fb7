package fuse_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/plan"
)

// TestAsked: what a loop stores only where it is wanted goes in front of it,
// with the scalars that it needs, unless the loop changes what those read.
func TestAsked(t *testing.T) {
	x, y, kept := buffer("x", n), buffer("y", n), buffer("kept", n)
	v, s := ref("v"), ref("s")
	at0, col := plan.Index{}, plan.At(j)
	wanted := func(body ...plan.Node) plan.Node { return &plan.If{Present: kept, Body: body} }
	keep := func(e plan.Expr) plan.Node { return wanted(set(at(kept, col), e)) }
	let := func(to plan.Ref, e plan.Expr) plan.Node { return &plan.Let{To: to.To, Val: e} }
	for _, c := range []struct {
		name  string
		in    []plan.Node
		front bool
	}{
		{"a number that was read", []plan.Node{keep(load(x, col)), set(at(y, col), load(x, col))}, true},
		{"a scalar", []plan.Node{let(v, prod(load(x, col), a)), keep(v), set(at(y, col), v)}, true},
		{"a scalar of another", []plan.Node{let(s, load(x, col)), let(v, prod(s, a)), keep(v), set(at(y, col), v)}, true},

		{"a number that the loop writes", []plan.Node{set(at(x, col), prod(load(x, col), a)), keep(load(x, col))}, false},
		{"a scalar of what the loop writes", []plan.Node{set(at(x, col), a), let(v, load(x, col)), keep(v)}, false},
		{"one that the loop gathers", []plan.Node{&plan.Accumulate{To: s.To, Val: load(x, col)}, keep(s)}, false},
		{"a picked entry", []plan.Node{&plan.Gather{To: variable("p"), From: at(x, col)}, keep(load(y, col))}, false},
		{"a sum", []plan.Node{wanted(add(at(kept, at0), load(x, col))), set(at(y, col), load(x, col))}, false},
		{"what the loop reads", []plan.Node{keep(load(x, col)), set(at(y, col), load(kept, col))}, false},
	} {
		got := fused(loop(plan.Plain, j, n, c.in...))
		if front := strings.HasPrefix(got, "if kept"); front != c.front {
			t.Errorf("%s: in front is %v, want %v:\n%s", c.name, front, c.front, got)
		}
	}
}
