package tape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
)

// Under Arena.Trace a tape records which node computed which value, and checks the
// adjoints after every node of a backward. So it can say which number went bad
// first, and where: that of the earliest node, and within a node that of the
// earliest token; of a backward, which begins at the end, the latest.

// A Fault is a number of a record that is NaN or infinite.
type Fault struct {
	Node     string   // package.kernel of the node, "deltarule.step"; "" for a leaf
	Tensor   string   // what holds it: a parameter, a state that was carried in, a field of the node's call
	Leaves   []string // parameters that the node reads; if it reads none, those that its arguments were computed from
	Token    int      // of the call, -1 where the tensor has no tokens
	Index    int      // element of the tensor
	Value    float64
	Backward bool // it is an adjoint
}

// String is the fault in one line.
func (f Fault) String() string {
	s := f.Tensor
	if f.Node != "" {
		s = f.Node + ": " + s
	}
	if f.Backward {
		s = "backward of " + s
	}
	if f.Token >= 0 {
		s += fmt.Sprintf(", token %d", f.Token)
	}
	return fmt.Sprintf("%s, element %d is %v", s, f.Index, f.Value)
}

// traced is a recorded value and the node that was pushed last before it.
type traced[F num.Float] struct {
	data []F
	node int // -1: a leaf
}

// Fault returns the first bad number of a scope under Arena.Trace: of the values
// in the order in which they were recorded, or else of the adjoints, after
// Reverse. state names numbers that were carried in, "" if they were not; it may
// be nil.
func (t *Tape[F]) Fault(state func(data []F) string) (Fault, bool) {
	for i, v := range t.traced {
		at := bad(v.data)
		switch {
		case at < 0:
			continue
		case v.node < 0:
			return Fault{Tensor: t.leaf(int32(i + 1)), Token: -1, Index: at, Value: float64(device.Host(v.data)[at])}, true
		}
		return t.within(v, at, state), true
	}
	return t.fault, t.fault.Node != ""
}

// bad is the index of the first NaN or infinity, -1 if there is none.
func bad[F num.Float](data []F) int {
	for i, x := range device.Host(data) {
		if !num.IsFinite(x) {
			return i
		}
	}
	return -1
}

// notParam is what leaf says of a value that has no name.
const notParam = "input"

// leaf is the name of a recorded leaf.
func (t *Tape[F]) leaf(id int32) string {
	for _, p := range t.params {
		if p.id == id {
			return p.name
		}
	}
	return notParam
}

// leaves are the parameters that a node reads, or else those that the nodes before it read.
func (t *Tape[F]) leaves(v view[F]) []string {
	names := t.leavesBefore(v, map[int]bool{})
	slices.Sort(names)
	return slices.Compact(names)
}

// leavesBefore is leaves without the nodes of seen: a value that a node recorded for itself, such as a state that
// begins, counts as the node's.
func (t *Tape[F]) leavesBefore(v view[F], seen map[int]bool) (names []string) {
	for _, x := range v.values {
		if l := t.leaf(x.id); x.id != 0 && l != notParam {
			names = append(names, l)
		}
	}
	if len(names) > 0 {
		return names
	}
	for _, x := range v.values {
		if x.id == 0 || int(x.id) > len(t.traced) {
			continue
		}
		if n := t.traced[x.id-1].node; n >= 0 && !seen[n] {
			seen[n] = true
			names = append(names, t.leavesBefore(inspect(t.nodes[n]), seen)...)
		}
	}
	return names
}

// within inspects the node that computed the first bad value: for a state that
// came in bad, or else for the tensor whose bad number is of the earliest token,
// one that was kept on the way before one that is a result.
func (t *Tape[F]) within(v traced[F], at int, state func([]F) string) Fault {
	n := inspect(t.nodes[v.node])
	f := Fault{Node: n.name, Tensor: "output", Leaves: t.leaves(n), Token: n.token(at, len(v.data)), Index: at, Value: float64(device.Host(v.data)[at])}
	kept := false
	for _, x := range n.call {
		i := bad(x.data)
		if i < 0 {
			continue
		}
		if s := named(state, x.data); s != "" {
			f.Tensor, f.Token, f.Index, f.Value = "state "+s, -1, i, float64(device.Host(x.data)[i])
			return f
		}
		k := n.token(i, len(x.data))
		switch {
		case &x.data[0] == &v.data[0]:
			if !kept {
				f.Tensor = x.name
			}
		case x.between() || k < 0 || f.Token >= 0 && (k > f.Token || k == f.Token && kept):
		default:
			f.Tensor, f.Token, f.Index, f.Value, kept = x.name, k, i, float64(device.Host(x.data)[i]), true
		}
	}
	return f
}

func named[F num.Float](state func([]F) string, data []F) string {
	if state == nil {
		return ""
	}
	return state(data)
}

// watch remembers the first bad adjoint after a node's backward: of the tensors
// that have tokens that of the latest one.
func (t *Tape[F]) watch(node Node[F]) {
	if t.fault.Node != "" {
		return
	}
	n := inspect(node)
	for i, v := range n.values {
		if v.id == 0 || int(v.id) >= len(t.adjoints) {
			continue
		}
		g := t.adjoints[v.id]
		at := bad(g)
		if at < 0 {
			continue
		}
		f := Fault{Node: n.name, Tensor: strings.TrimPrefix(n.labels[i], "v"), Leaves: t.leaves(n), Token: -1, Index: at, Backward: true}
		if l := t.leaf(v.id); l != notParam {
			f.Tensor = l
		} else {
			for next := at; next >= 0; next = after(g, at) {
				at = next
			}
			f.Index, f.Token = at, n.token(at, len(g))
		}
		f.Value = float64(g[f.Index])
		if t.fault.Node == "" || f.Token > t.fault.Token {
			t.fault = f
		}
	}
}

// after is the index of the next bad number.
func after[F num.Float](data []F, at int) int {
	if next := bad(data[at+1:]); next >= 0 {
		return at + 1 + next
	}
	return -1
}
