package ir

import "github.com/nl-hecate/hecate/gen/shape"

// Relabel replaces axes by others and sizes by polynomials, everywhere in f,
// scan bodies included. It changes f; callers relabel a clone.
func (f *Func) Relabel(axes map[*Axis]*Axis, sizes map[string]shape.Poly) {
	newRelabeler(axes, sizes).fn(f)
}

// NameQuotients makes the quotients of sizes in f, scan bodies included, sizes
// of their own with names. It changes f; callers pass a clone.
func (f *Func) NameQuotients(name func(shape.Quotient) string) {
	r := newRelabeler(map[*Axis]*Axis{}, nil)
	r.name = name
	r.fn(f)
}

type relabeler struct {
	axes  map[*Axis]*Axis
	sizes map[string]shape.Poly
	name  func(shape.Quotient) string // of quotients that become sizes
	done  map[*Func]bool
	seen  map[*Value]bool
	solve map[*Solve]*Solve
	scans map[*Scan]bool
}

func newRelabeler(axes map[*Axis]*Axis, sizes map[string]shape.Poly) *relabeler {
	return &relabeler{axes: axes, sizes: sizes, done: map[*Func]bool{}, seen: map[*Value]bool{}, solve: map[*Solve]*Solve{}, scans: map[*Scan]bool{}}
}

// solved returns a copy of a Solve, which instructions may share, under the
// new names.
func (r *relabeler) solved(s *Solve) *Solve {
	if n := r.solve[s]; n != nil {
		return n
	}
	n := &Solve{Tol: s.Tol}
	n.Residual, _ = s.Residual.Clone()
	r.fn(n.Residual)
	r.solve[s] = n
	return n
}

func (r *relabeler) axis(a *Axis) *Axis {
	if n := r.axes[a]; n != nil {
		return n
	}
	if r.name != nil && a != nil && len(a.Size.Quotients()) > 0 {
		n := &Axis{Name: a.Name, Size: r.poly(a.Size)}
		r.axes[a], r.axes[n] = n, n
		return n
	}
	return a
}

func (r *relabeler) list(as []*Axis) []*Axis {
	out := make([]*Axis, len(as))
	for i, a := range as {
		out[i] = r.axis(a)
	}
	return out
}

func (r *relabeler) value(v *Value) {
	if v != nil && !r.seen[v] {
		r.seen[v] = true
		v.Axes = r.list(v.Axes)
	}
}

func (r *relabeler) poly(p shape.Poly) shape.Poly {
	if r.name != nil {
		for _, q := range p.Quotients() {
			p = p.Call(q, r.name(q))
		}
		return p
	}
	// Through names that no size has, so that a replacement cannot meet
	// another one's result.
	for _, s := range p.Symbols() {
		if _, ok := r.sizes[s]; ok {
			p = p.Replace(s, shape.Sym("\x00"+s))
		}
	}
	for _, s := range p.Symbols() {
		if s[0] == 0 {
			p = p.Replace(s, r.sizes[s[1:]])
		}
	}
	return p
}

// Resize applies the same replacement to one polynomial.
func Resize(p shape.Poly, sizes map[string]shape.Poly) shape.Poly {
	return (&relabeler{sizes: sizes}).poly(p)
}

func (r *relabeler) fn(f *Func) {
	if f == nil || r.done[f] {
		return
	}
	r.done[f] = true
	f.Axes = r.list(f.Axes)
	for _, p := range f.Params {
		r.value(p)
	}
	for _, in := range f.Body {
		r.instr(in)
	}
}

func (r *relabeler) instr(in *Instr) {
	in.Loops = r.list(in.Loops)
	in.Poly = r.poly(in.Poly)
	r.value(in.Out)
	in.eachSub(func(s *Sub) { s.Const = r.poly(s.Const) })
	if s := in.Scan; s != nil {
		r.scan(s)
	}
	if in.Solve != nil {
		in.Solve = r.solved(in.Solve)
	}
}

func (r *relabeler) scan(s *Scan) {
	if r.scans[s] {
		return
	}
	r.scans[s] = true
	s.Batch, s.Time = r.axis(s.Batch), r.axis(s.Time)
	for _, c := range s.Carry {
		r.value(c.Final)
	}
	for i, t := range s.Tokens {
		if t.Window != nil {
			s.Tokens[i].Window = r.axis(t.Window)
		}
		s.Tokens[i].Base = r.poly(t.Base)
	}
	for _, o := range s.Outs {
		r.value(o.Out)
	}
	r.fn(s.Body)
	if s.Primal != nil {
		r.scan(s.Primal.Scan)
	}
}
