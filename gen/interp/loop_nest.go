package interp

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A nest is the loop nest of an instruction with the addresses of its operands. It runs
// row by row: a row is the innermost loop, along which every address has a constant
// stride. Affine guards cut a row to the interval where they hold; an indirect subscript
// is looked up once a row. Where the innermost loop itself indexes an integer tensor, a
// loop of one iteration is added inside it, and a row is an entry.
type nest struct {
	dims   []int
	to     access
	args   []access
	guards []access
	idx    []int
	row    row
}

// A row is the innermost loop of a nest at one point of the outer ones.
type row struct {
	n    int // entries
	from int // the innermost loop's first value
	to   cursor
	args []cursor
}

// A cursor walks along a row.
type cursor struct {
	data       []float64
	at, stride int
}

// An access is a tensor with its address as a function of the loops, or a
// plain number when the tensor is nil.
type access struct {
	t      *Tensor
	base   int
	stride []int // per loop
	dyn    []dynamic
	at     int // the affine part at the current row
}

// A dynamic part of an address is the entry of an integer tensor plus an
// affine part.
type dynamic struct {
	via    *access
	shift  *access
	stride int
	extent int
}

func (m *machine) nest(in *ir.Instr, args []ir.Arg) *nest {
	n := &nest{dims: m.shape(in.Loops)}
	n.to = m.access(m.vals[in.Out], in.To, len(n.dims))
	for _, a := range args {
		n.args = append(n.args, m.access(m.vals[a.Val], a.Sub, len(n.dims)))
	}
	for _, g := range in.Guard {
		n.guards = append(n.guards, m.affine(g, len(n.dims), true))
	}
	return n
}

// prepare chooses the innermost loop.
func (n *nest) prepare() *nest {
	last := len(n.dims) - 1
	if last < 0 || n.any(func(a *access) bool { return a.moves(last) }) {
		n.dims = append(slices.Clone(n.dims), 1)
		n.each(func(a *access) { a.pad() })
	} else if len(n.guards) == 0 {
		n.collapse()
	}
	n.idx = make([]int, len(n.dims))
	n.row.args = make([]cursor, len(n.args))
	return n
}

func (n *nest) each(f func(a *access)) {
	f(&n.to)
	for i := range n.args {
		f(&n.args[i])
	}
	for i := range n.guards {
		f(&n.guards[i])
	}
}

func (n *nest) any(f func(a *access) bool) bool {
	hit := false
	n.each(func(a *access) { hit = hit || f(a) })
	return hit
}

// moves reports whether an integer tensor is indexed by loop l.
func (a *access) moves(l int) bool {
	for _, d := range a.dyn {
		if d.via.stride[l] != 0 || d.shift.stride[l] != 0 || d.via.moves(l) {
			return true
		}
	}
	return false
}

func (a *access) pad() {
	a.stride = append(slices.Clone(a.stride), 0)
	for _, d := range a.dyn {
		d.via.pad()
		d.shift.pad()
	}
}

// collapse fuses the last loops while every address has one stride over both.
func (n *nest) collapse() {
	for l := len(n.dims) - 2; l >= 0; l-- {
		d := n.dims[l+1]
		if n.any(func(a *access) bool { return len(a.dyn) > 0 || a.stride[l] != a.stride[l+1]*d }) {
			return
		}
		n.dims = append(slices.Clone(n.dims[:l]), n.dims[l]*d)
		n.each(func(a *access) { a.stride = append(slices.Clone(a.stride[:l]), a.stride[l+1]) })
	}
}

func (m *machine) access(t *Tensor, subs []ir.Sub, loops int) access {
	a := access{t: t, stride: make([]int, loops)}
	mul := 1
	for i := len(subs) - 1; i >= 0; i-- {
		aff := m.affine(subs[i], loops, false)
		if s := subs[i]; s.Indirect != nil {
			via := m.access(m.vals[s.Indirect.Val], s.Indirect.Sub, loops)
			a.dyn = append(a.dyn, dynamic{via: &via, shift: &aff, stride: mul, extent: t.Shape[i]})
		} else {
			a.base += aff.base * mul
			for l, c := range aff.stride {
				a.stride[l] += c * mul
			}
		}
		mul *= t.Shape[i]
	}
	return a
}

// affine is the affine part of a subscript; its indirect part is left to the caller, or
// kept as a dynamic part.
func (m *machine) affine(s ir.Sub, loops int, whole bool) access {
	a := access{base: m.size(s.Const), stride: make([]int, loops)}
	for _, t := range s.Terms {
		a.stride[t.Loop] += t.Coef
	}
	if s.Indirect != nil && whole {
		via := m.access(m.vals[s.Indirect.Val], s.Indirect.Sub, loops)
		zero := access{stride: make([]int, loops)}
		a.dyn = append(a.dyn, dynamic{via: &via, shift: &zero, stride: 1, extent: -1})
	}
	return a
}

// value is the address, or the number, at idx; ok is false where a gather is outside of
// its table.
func (a *access) value(idx []int) (int, bool) {
	v := a.base
	for l, s := range a.stride {
		v += s * idx[l]
	}
	d, ok := a.lookup(idx)
	return v + d, ok
}

// lookup is the dynamic part of the address.
func (a *access) lookup(idx []int) (int, bool) {
	sum := 0
	for i := range a.dyn {
		d := &a.dyn[i]
		v, _ := d.shift.value(idx)
		if o, ok := d.via.value(idx); ok {
			v += int(d.via.t.Data[o])
		}
		if d.extent >= 0 && (v < 0 || v >= d.extent) {
			return 0, false
		}
		sum += v * d.stride
	}
	return sum, true
}

// run calls f for every row of the box that is not empty.
func (n *nest) run(f func(r *row)) {
	for _, d := range n.dims {
		if d == 0 {
			return
		}
	}
	clear(n.idx)
	n.each(func(a *access) { a.at = a.base })
	last := len(n.dims) - 1
	for {
		n.one(last, f)
		l := last - 1
		for ; l >= 0; l-- {
			n.idx[l]++
			if n.idx[l] < n.dims[l] {
				n.step(l, 1)
				break
			}
			n.step(l, 1-n.dims[l])
			n.idx[l] = 0
		}
		if l < 0 {
			return
		}
	}
}

func (n *nest) step(l, by int) {
	n.to.at += by * n.to.stride[l]
	for i := range n.args {
		n.args[i].at += by * n.args[i].stride[l]
	}
	for i := range n.guards {
		n.guards[i].at += by * n.guards[i].stride[l]
	}
}

var zeros = make([]float64, 1)

// one calls f with the row at the current point.
func (n *nest) one(last int, f func(r *row)) {
	lo, hi := 0, n.dims[last]
	for i := range n.guards {
		g := &n.guards[i]
		at := g.at
		if len(g.dyn) > 0 {
			d, _ := g.lookup(n.idx)
			at += d
		}
		lo, hi = cut(at, g.stride[last], lo, hi)
	}
	if lo >= hi {
		return
	}
	r := &n.row
	r.n, r.from = hi-lo, lo
	if !n.to.cursor(&r.to, n.idx, last, lo) {
		return
	}
	for i := range n.args {
		if !n.args[i].cursor(&r.args[i], n.idx, last, lo) {
			r.args[i] = cursor{zeros, 0, 0}
		}
	}
	f(r)
}

func (a *access) cursor(c *cursor, idx []int, last, lo int) bool {
	c.data, c.stride = a.t.Data, a.stride[last]
	c.at = a.at + lo*c.stride
	if len(a.dyn) > 0 {
		d, ok := a.lookup(idx)
		c.at += d
		return ok
	}
	return true
}

// cut narrows lo ≤ i < hi to where at + stride·i ≥ 0.
func cut(at, stride, lo, hi int) (int, int) {
	switch {
	case stride == 0:
		if at < 0 {
			return 0, 0
		}
	case stride > 0:
		if at < 0 {
			lo = max(lo, (-at+stride-1)/stride)
		}
	default:
		if at < 0 {
			return 0, 0
		}
		hi = min(hi, at/-stride+1)
	}
	return lo, hi
}
