package ir

import "slices"

// scan checks that the ends of a recurrence meet: parameters of the body and
// what they are bound to, states and series.
func (v *verifier) scan(in *Instr) {
	s := in.Scan
	if s == nil || s.Batch == nil || s.Time == nil || s.Body == nil {
		v.bad("scan without batch, time or body")
		return
	}
	v.where += ": scan " + s.Body.Name
	v.known("batch and time", []*Axis{s.Batch, s.Time})
	v.bindings(s)
	if s.Primal != nil {
		for _, x := range s.Primal.Reads() {
			v.read(x, "the primal")
		}
	}
	if s.Primal != nil && !s.Reverse {
		v.bad("a scan with a primal runs backward")
	}
	v.program(s.Body, v.where)
	inner := map[*Value]bool{}
	for _, p := range s.Body.Params {
		inner[p] = true
	}
	for _, b := range s.Body.Body {
		for _, d := range b.Defines() {
			inner[d] = true
		}
	}
	batch, time := []*Axis{s.Batch}, []*Axis{s.Batch, s.Time}
	for _, c := range s.Carry {
		if !inner[c.Next] || !sameAxes(c.Next.Axes, c.Param.Axes) {
			v.bad("the next state of %s has other axes or is no value of the body", c.Param.Name)
		}
		if c.Final != nil {
			v.axesAre(c.Final, batch, c.Param.Axes)
		}
	}
	for _, o := range s.Outs {
		switch {
		case !inner[o.Val]:
			v.bad("output %s is no value of the body", o.Out.Name)
		case o.Sum && o.PerBatch:
			v.axesAre(o.Out, batch, o.Val.Axes)
		case o.Sum:
			v.axesAre(o.Out, nil, o.Val.Axes)
		default:
			v.axesAre(o.Out, time, o.Val.Axes)
		}
	}
}

func sameAxes(a, b []*Axis) bool { return slices.Equal(a, b) }

func (v *verifier) axesAre(x *Value, first, rest []*Axis) {
	if !sameAxes(x.Axes, append(append([]*Axis{}, first...), rest...)) {
		v.bad("%s does not have the axes of what it is bound to", x.Name)
	}
}

// bindings checks that every parameter of the body is bound exactly once, in
// its role, to a value of the right axes.
func (v *verifier) bindings(s *Scan) {
	batch := []*Axis{s.Batch}
	bound := map[*Value]bool{}
	bind := func(p *Value, roles ...Role) {
		ok := false
		for _, r := range roles {
			ok = ok || p.Role == r
		}
		if !ok || bound[p] {
			v.bad("parameter %s has role %v, or is bound twice", p.Name, p.Role)
		}
		bound[p] = true
	}
	for _, c := range s.Carry {
		bind(c.Param, Carry)
		if c.Init != nil && v.read(c.Init, "carry "+c.Param.Name) {
			v.axesAre(c.Init, batch, c.Param.Axes)
		}
	}
	for _, t := range s.Tokens {
		bind(t.Param, Token)
		if v.read(t.Val, "token "+t.Param.Name) {
			v.series(s, t)
		}
	}
	for _, h := range s.Shared {
		bind(h.Param, Shared)
		if v.read(h.Val, "shared "+h.Param.Name) {
			v.axesAre(h.Val, batch[:btoi(h.PerBatch)], h.Param.Axes)
		}
	}
	for _, r := range s.Replay {
		bind(r.Param, Token, Shared, Saved)
		if s.Primal == nil || !sameAxes(r.Param.Axes, r.Primal.Axes) {
			v.bad("replay of %s has no primal, or other axes", r.Param.Name)
		}
	}
	for _, p := range s.Body.Params {
		if !bound[p] {
			v.bad("parameter %s of the body is bound to nothing", p.Name)
		}
	}
}

// count checks a token that counts from an integer of the batch.
func (v *verifier) count(s *Scan, t ScanInput) {
	if t.Window != nil || !t.Base.IsZero() || t.Param.Elem != Int || t.Val.Elem != Int || len(t.Param.Axes) > 0 ||
		!sameAxes(t.Val.Axes, []*Axis{s.Batch}) {
		v.bad("token %s counts on from %s, which is not an integer for each slot", t.Param.Name, t.Val.Name)
	}
	for _, in := range s.Body.Body {
		if slices.ContainsFunc(in.Args, func(a Arg) bool { return a.Val == t.Param }) {
			v.bad("%s reads the count %s, which stands in subscripts and guards only", in.Op, t.Param.Name)
		}
	}
}

// series checks a token: the series has batch and time first; the time axis of
// a window is longer than the scan's.
func (v *verifier) series(s *Scan, t ScanInput) {
	axes, rest := t.Val.Axes, t.Param.Axes
	if t.Count {
		v.count(s, t)
		return
	}
	if t.Window != nil {
		if len(rest) == 0 || rest[0] != t.Window {
			v.bad("token %s does not start with its window", t.Param.Name)
			return
		}
		rest = rest[1:]
	}
	if len(axes) < 2 || axes[0] != s.Batch || !sameAxes(axes[2:], rest) {
		v.bad("token %s does not have the axes of its series %s", t.Param.Name, t.Val.Name)
	} else if t.Window == nil && t.Base.IsZero() && axes[1] != s.Time {
		v.bad("series %s does not run over the time of the scan", t.Val.Name)
	}
}
