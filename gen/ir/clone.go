package ir

import (
	"maps"
	"slices"
)

// A Cloner copies instructions of one program into another. Values that Map
// does not hold yet are copied under fresh names; axes are shared.
type Cloner struct {
	To    *Func
	Map   map[*Value]*Value
	scans map[*Instr]*scanCopy // copies of scans, for the backward scans that refer to them
}

// NewCloner returns a Cloner into f.
func NewCloner(f *Func) *Cloner { return &Cloner{f, map[*Value]*Value{}, map[*Instr]*scanCopy{}} }

// Value returns the copy of v; a value that was never copied is itself.
func (c *Cloner) Value(v *Value) *Value {
	if n, ok := c.Map[v]; ok {
		return n
	}
	return v
}

func (c *Cloner) define(v *Value) *Value {
	if v == nil {
		return nil
	}
	n := &Value{Name: c.To.Fresh(v.Name), Elem: v.Elem, Axes: v.Axes, NoGrad: v.NoGrad}
	c.Map[v] = n
	return n
}

// Own copies the slices of an instruction, which instructions share until one of them is
// changed.
func (in *Instr) Own() {
	in.Loops, in.Coef, in.Over = slices.Clone(in.Loops), slices.Clone(in.Coef), slices.Clone(in.Over)
	in.Args, in.To, in.Guard = slices.Clone(in.Args), cloneSubs(in.To), cloneSubs(in.Guard)
	for i, a := range in.Args {
		in.Args[i].Sub = cloneSubs(a.Sub)
	}
}

func cloneSubs(subs []Sub) []Sub {
	out := slices.Clone(subs)
	for i, s := range out {
		out[i].Terms = slices.Clone(s.Terms)
		if s.Indirect != nil {
			out[i].Indirect = &Arg{s.Indirect.Val, cloneSubs(s.Indirect.Sub)}
		}
	}
	return out
}

// Instr appends a copy of in to the target program.
func (c *Cloner) Instr(in *Instr) *Instr {
	n := new(Instr)
	*n = *in
	n.Out, n.Scan = nil, nil
	n.Own()
	n.EachRead(func(v **Value) { *v = c.Value(*v) })
	var inner *Cloner
	if in.Scan != nil {
		n.Scan, inner = c.scan(in.Scan)
	}
	if in.Out != nil {
		n.Out = c.define(in.Out)
		n.Out.Def = n
	}
	c.To.Body = append(c.To.Body, n)
	if n.Scan != nil {
		for _, v := range n.Defines() {
			v.Def = n
		}
	}
	if in.Scan != nil {
		c.scans[in] = &scanCopy{n, inner}
	}
	return n
}

// scan copies a scan; its body becomes a program of its own.
func (c *Cloner) scan(s *Scan) (*Scan, *Cloner) {
	body, inner := s.Body.clone()
	n := &Scan{Batch: s.Batch, Time: s.Time, Body: body, Reverse: s.Reverse}
	for _, k := range s.Carry {
		m := ScanState{Param: inner.Value(k.Param), Next: inner.Value(k.Next), Final: c.define(k.Final)}
		if k.Init != nil {
			m.Init = c.Value(k.Init)
		}
		n.Carry = append(n.Carry, m)
	}
	for _, t := range s.Tokens {
		n.Tokens = append(n.Tokens, ScanInput{inner.Value(t.Param), c.Value(t.Val), t.Window, t.Base, t.Count})
	}
	for _, v := range s.Shared {
		n.Shared = append(n.Shared, SharedArg{inner.Value(v.Param), c.Value(v.Val), v.PerBatch})
	}
	for _, o := range s.Outs {
		n.Outs = append(n.Outs, ScanOutput{inner.Value(o.Val), c.define(o.Out), o.Sum, o.PerBatch})
	}
	if s.Primal == nil {
		return n, inner
	}
	p := c.scans[s.Primal]
	if p == nil {
		p = c.detached(s.Primal)
	}
	n.Primal = p.instr
	for _, r := range s.Replay {
		n.Replay = append(n.Replay, Replayed{inner.Value(r.Param), p.inner.Value(r.Primal)})
	}
	return n, inner
}

// detached copies a primal scan that does not belong to the target program:
// the backward refers to it for its body and for what it read.
func (c *Cloner) detached(in *Instr) *scanCopy {
	outer := &Cloner{To: &Func{}, Map: maps.Clone(c.Map), scans: map[*Instr]*scanCopy{}}
	s, inner := outer.scan(in.Scan)
	p := &scanCopy{&Instr{Op: ScanOp, Scan: s, Eq: in.Eq, Span: in.Span}, inner}
	c.scans[in] = p
	return p
}

// A scanCopy is the copy of a scan and the map of its body's values.
type scanCopy struct {
	instr *Instr
	inner *Cloner
}

// Clone returns a copy of f and the map from its values to their copies.
func (f *Func) Clone() (*Func, map[*Value]*Value) {
	g, c := f.clone()
	return g, c.Map
}

func (f *Func) clone() (*Func, *Cloner) {
	g := &Func{Name: f.Name, Axes: slices.Clone(f.Axes)}
	c := NewCloner(g)
	for _, p := range f.Params {
		n := c.define(p)
		n.Role = p.Role
		g.Params = append(g.Params, n)
	}
	for _, in := range f.Body {
		c.Instr(in)
	}
	for _, r := range f.Results {
		g.Results = append(g.Results, Result{r.Name, c.Value(r.Val), r.State, r.Eq})
	}
	return g, c
}

// Inline appends a copy of g's body to f with g's parameters replaced by args,
// and returns the copies of g's results by name.
func (b *Builder) Inline(g *Func, args map[*Value]*Value) map[string]*Value {
	c := NewCloner(b.F)
	for _, a := range g.Axes {
		if !slices.Contains(b.F.Axes, a) {
			b.F.Axes = append(b.F.Axes, a)
		}
	}
	for p, v := range args {
		c.Map[p] = v
	}
	for _, in := range g.Body {
		c.Instr(in)
	}
	out := map[string]*Value{}
	for _, r := range g.Results {
		out[r.Name] = c.Value(r.Val)
	}
	return out
}
