package ir

import "slices"

// Reads returns the values that an instruction reads, subscripts included.
func (in *Instr) Reads() []*Value {
	var out []*Value
	add := func(subs []Sub) {
		for _, s := range subs {
			if s.Indirect != nil {
				out = append(out, s.Indirect.Val)
			}
		}
	}
	for _, a := range in.Args {
		out = append(out, a.Val)
		add(a.Sub)
	}
	add(in.To)
	add(in.Guard)
	if s := in.Scan; s != nil {
		for _, c := range s.Carry {
			if c.Init != nil {
				out = append(out, c.Init)
			}
		}
		for _, t := range s.Tokens {
			out = append(out, t.Val)
		}
		for _, v := range s.Shared {
			out = append(out, v.Val)
		}
		if s.Primal != nil {
			out = append(out, s.Primal.Reads()...)
		}
	}
	return out
}

// Defines returns the values that an instruction defines.
func (in *Instr) Defines() []*Value {
	if in.Scan == nil {
		return []*Value{in.Out}
	}
	var out []*Value
	for _, c := range in.Scan.Carry {
		if c.Final != nil {
			out = append(out, c.Final)
		}
	}
	for _, s := range in.Scan.Outs {
		out = append(out, s.Out)
	}
	return out
}

// Sweep removes what no result needs: instructions, and outputs of scans. What
// a backward scan replays of its primal is needed, wherever the primal is.
func (f *Func) Sweep() {
	live := map[*Value]bool{}
	for _, r := range f.Results {
		live[r.Val] = true
	}
	replayed := f.Replayed()
	var kept []*Instr
	for i := len(f.Body) - 1; i >= 0; i-- {
		in := f.Body[i]
		if in.Scan != nil {
			in.Scan.sweep(live, replayed[in])
			if p := in.Scan.Primal; p != nil && !slices.Contains(f.Body, p) {
				p.Scan.sweep(nil, replayed[p])
			}
		}
		if !slices.ContainsFunc(in.Defines(), func(v *Value) bool { return live[v] }) {
			continue
		}
		for _, v := range in.Reads() {
			live[v] = true
		}
		kept = append(kept, in)
	}
	slices.Reverse(kept)
	f.Body = kept
}

// Replayed lists, for every scan that a scan of f replays, the values of its
// body that are read.
func (f *Func) Replayed() map[*Instr][]*Value {
	out := map[*Instr][]*Value{}
	for _, in := range f.Body {
		if in.Scan == nil || in.Scan.Primal == nil {
			continue
		}
		p := in.Scan.Primal
		for _, r := range in.Scan.Replay {
			out[p] = append(out[p], r.Primal)
		}
	}
	return out
}

// SetResults makes the next states, the outputs of the step and the values in
// keep the results of the body, in this order.
func (s *Scan) SetResults(keep []*Value) {
	s.Body.Results = nil
	for _, c := range s.Carry {
		s.Body.Results = append(s.Body.Results, Result{Name: c.Param.Name, Val: c.Next, State: true})
	}
	for _, o := range s.Outs {
		s.Body.Results = append(s.Body.Results, Result{Name: o.Out.Name, Val: o.Val})
	}
	for _, v := range keep {
		s.Body.Results = append(s.Body.Results, Result{Name: v.Name, Val: v})
	}
}

// sweep drops outputs that nothing reads, and what only they needed; it keeps
// the values in keep.
func (s *Scan) sweep(live map[*Value]bool, keep []*Value) {
	s.Outs = slices.DeleteFunc(s.Outs, func(o ScanOutput) bool { return !live[o.Out] })
	for i := range s.Carry {
		if c := &s.Carry[i]; c.Final != nil && !live[c.Final] {
			c.Final = nil
		}
	}
	for {
		s.SetResults(keep)
		s.Body.Sweep()
		if !s.dropCarry(keep) {
			break
		}
	}
	used := s.Body.used()
	s.SetResults(nil)
	s.Tokens = slices.DeleteFunc(s.Tokens, func(t ScanInput) bool { return !used[t.Param] })
	s.Shared = slices.DeleteFunc(s.Shared, func(t SharedArg) bool { return !used[t.Param] })
	s.Replay = slices.DeleteFunc(s.Replay, func(t Replayed) bool { return !used[t.Param] })
	s.Body.Params = slices.DeleteFunc(s.Body.Params, func(p *Value) bool { return !used[p] && p.Role != Carry })
}

// dropCarry removes carries whose last value nothing reads and which feed only
// themselves.
func (s *Scan) dropCarry(keep []*Value) bool {
	for i, c := range s.Carry {
		if c.Final != nil {
			continue
		}
		reach := s.Body.DependsOn(c.Param)
		feeds := slices.ContainsFunc(keep, func(v *Value) bool { return reach[v] })
		for j, d := range s.Carry {
			feeds = feeds || (j != i && reach[d.Next])
		}
		for _, o := range s.Outs {
			feeds = feeds || reach[o.Val]
		}
		if !feeds {
			s.Carry = slices.Delete(s.Carry, i, i+1)
			s.Body.Params = slices.DeleteFunc(s.Body.Params, func(p *Value) bool { return p == c.Param })
			return true
		}
	}
	return false
}

func (f *Func) used() map[*Value]bool {
	used := map[*Value]bool{}
	for _, in := range f.Body {
		for _, v := range in.Reads() {
			used[v] = true
		}
	}
	for _, r := range f.Results {
		used[r.Val] = true
	}
	return used
}

// DependsOn returns v and every value computed from it.
func (f *Func) DependsOn(v *Value) map[*Value]bool {
	out := map[*Value]bool{v: true}
	for _, in := range f.Body {
		if slices.ContainsFunc(in.Reads(), func(x *Value) bool { return out[x] }) {
			for _, d := range in.Defines() {
				out[d] = true
			}
		}
	}
	return out
}

// Uses counts how often each value is read in the body or is a result.
func (f *Func) Uses() map[*Value]int {
	n := map[*Value]int{}
	for _, in := range f.Body {
		for _, v := range in.Reads() {
			n[v]++
		}
	}
	for _, r := range f.Results {
		n[r.Val]++
	}
	return n
}

// Replace makes every reader of old read new.
func (f *Func) Replace(old, new *Value) {
	subs := func(ss []Sub) {
		for _, s := range ss {
			if s.Indirect != nil && s.Indirect.Val == old {
				s.Indirect.Val = new
			}
		}
	}
	for _, in := range f.Body {
		for i := range in.Args {
			if in.Args[i].Val == old {
				in.Args[i].Val = new
			}
			subs(in.Args[i].Sub)
		}
		subs(in.To)
		subs(in.Guard)
		if in.Scan != nil {
			in.Scan.replace(old, new)
		}
	}
	for i := range f.Results {
		if f.Results[i].Val == old {
			f.Results[i].Val = new
		}
	}
}

func (s *Scan) replace(old, new *Value) {
	for i := range s.Carry {
		if s.Carry[i].Init == old {
			s.Carry[i].Init = new
		}
	}
	for i := range s.Tokens {
		if s.Tokens[i].Val == old {
			s.Tokens[i].Val = new
		}
	}
	for i := range s.Shared {
		if s.Shared[i].Val == old {
			s.Shared[i].Val = new
		}
	}
	if s.Primal != nil { // it may belong to no program but this scan
		s.Primal.Scan.replace(old, new)
	}
}

// ReplaceInBody makes every reader of old in the body read new, the next states
// and the outputs too.
func (s *Scan) ReplaceInBody(old, new *Value) {
	s.Body.Replace(old, new)
	for i := range s.Carry {
		if s.Carry[i].Next == old {
			s.Carry[i].Next = new
		}
	}
	for i := range s.Outs {
		if s.Outs[i].Val == old {
			s.Outs[i].Val = new
		}
	}
}
