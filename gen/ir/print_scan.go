package ir

import (
	"fmt"
	"strconv"
)

// A scan prints as a block: what its body reads and from where, the body, and
// its outputs. A backward scan names its primal by label; a primal that is
// not itself part of the program is printed before it, marked `primal`.
//
//	scan delta.step over L, T as @1 { ; delta
//	  carry M [d_v, d_k] from M to M.next
//	  token x [w, d] from x window w base w - 1
//	  shared W [d, d] from W
//	  …
//	  next M = %5
//	  give y [L, T, d_v] = %6
//	}
func (p *printer) scan(indent string, in *Instr, mark string) {
	s, b := in.Scan, &p.b
	if s.Primal != nil && p.labels[s.Primal] == "" {
		p.scan(indent, s.Primal, "primal ")
	}
	p.scans++
	p.labels[in] = "@" + strconv.Itoa(p.scans)
	fmt.Fprintf(b, "%s%sscan %s over %s, %s as %s", indent, mark, name(s.Body.Name),
		name(p.axisName(s.Batch)), name(p.axisName(s.Time)), p.labels[in])
	if s.Reverse {
		b.WriteString(" reverse")
	}
	if s.Primal != nil {
		b.WriteString(" of " + p.labels[s.Primal])
	}
	b.WriteString(" {" + eqText(in.Eq) + "\n")
	for _, v := range in.Defines() {
		p.value(v) // numbered out here, not in the body
	}
	labels, fresh := p.labels, p.fresh
	p.labels, p.fresh = map[*Instr]string{}, 0
	p.scanInputs(indent+"  ", s)
	p.body(indent+"  ", s.Body)
	p.scanOutputs(indent+"  ", s)
	p.labels, p.fresh = labels, fresh
	fmt.Fprintf(b, "%s}\n", indent)
}

func (p *printer) scanInputs(indent string, s *Scan) {
	for _, c := range s.Carry {
		fmt.Fprintf(&p.b, "%scarry %s %s", indent, p.value(c.Param), p.typ(c.Param))
		if c.Init != nil {
			fmt.Fprintf(&p.b, " from %s", p.value(c.Init))
		}
		if c.Final != nil {
			fmt.Fprintf(&p.b, " to %s %s", p.value(c.Final), p.typ(c.Final))
		}
		p.b.WriteString("\n")
	}
	for _, t := range s.Tokens {
		fmt.Fprintf(&p.b, "%stoken %s %s%s from %s", indent, p.value(t.Param), p.typ(t.Param), nograd(t.Param), p.value(t.Val))
		if t.Count {
			p.b.WriteString(" count")
		}
		if t.Window != nil {
			fmt.Fprintf(&p.b, " window %s", name(p.axisName(t.Window)))
		}
		if !t.Base.IsZero() {
			fmt.Fprintf(&p.b, " base %s", polyText(t.Base))
		}
		p.b.WriteString("\n")
	}
	for _, v := range s.Shared {
		fmt.Fprintf(&p.b, "%sshared %s %s%s from %s%s\n", indent, p.value(v.Param), p.typ(v.Param), nograd(v.Param), p.value(v.Val), lane(v.PerBatch))
	}
	for _, r := range s.Replay {
		fmt.Fprintf(&p.b, "%sreplay %s %s %s%s from %s\n", indent, r.Param.Role, p.value(r.Param), p.typ(r.Param), nograd(r.Param), p.value(r.Primal))
	}
}

func (p *printer) scanOutputs(indent string, s *Scan) {
	for _, c := range s.Carry {
		fmt.Fprintf(&p.b, "%snext %s = %s\n", indent, p.value(c.Param), p.value(c.Next))
	}
	for _, o := range s.Outs {
		verb := "give"
		if o.Sum {
			verb = "sum"
		}
		fmt.Fprintf(&p.b, "%s%s %s %s = %s%s\n", indent, verb, p.value(o.Out), p.typ(o.Out), p.value(o.Val), lane(o.PerBatch))
	}
}

func lane(yes bool) string {
	if yes {
		return " by lane"
	}
	return ""
}

// loopNames are the names of n loops: letters from i on that are no size.
func (p *printer) loopNames(n int) []string {
	const letters = "ijklmnopqrstuvwxyzabcdefgh"
	var out []string
	for round := 0; len(out) < n; round++ {
		for _, r := range letters {
			s := string(r)
			if round > 0 {
				s += strconv.Itoa(round)
			}
			if !p.avoid[s] && len(out) < n {
				out = append(out, s)
			}
		}
	}
	return out
}

// axisName is the axis' own name, with a number when another axis has it too.
func (p *printer) axisName(a *Axis) string {
	if n, ok := p.axes[a]; ok {
		return n
	}
	n := a.Name
	for k := 2; p.axisNames[n]; k++ {
		n = fmt.Sprintf("%s.%d", a.Name, k)
	}
	p.axes[a], p.axisNames[n] = n, true
	return n
}

// collectAxes lists the declared axes of f, and those it uses without
// declaring them, scan bodies included.
func collectAxes(f *Func) []*Axis {
	var out []*Axis
	seen := map[*Axis]bool{}
	add := func(axes ...*Axis) {
		for _, a := range axes {
			if !seen[a] {
				seen[a] = true
				out = append(out, a)
			}
		}
	}
	f.eachAxes(add)
	return out
}

// eachAxes calls add for the axes that f uses, scan bodies included.
func (f *Func) eachAxes(add func(...*Axis)) {
	add(f.Axes...)
	for _, v := range f.Params {
		add(v.Axes...)
	}
	for _, in := range f.Body {
		add(in.Loops...)
		if in.Scan != nil {
			in.Scan.eachAxes(add)
			continue
		}
		add(in.Out.Axes...)
	}
}

// eachAxes is the same for a scan. Its outputs have the axes of the values in the body.
func (s *Scan) eachAxes(add func(...*Axis)) {
	add(s.Batch, s.Time)
	s.Body.eachAxes(add)
	if s.Primal != nil {
		s.Primal.Scan.eachAxes(add)
	}
}
