package ir

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/shape"
)

// eachSub calls f for the subscripts in subs and for those inside them.
func eachSub(subs []Sub, f func(*Sub)) {
	for i := range subs {
		f(&subs[i])
		if a := subs[i].Indirect; a != nil {
			eachSub(a.Sub, f)
		}
	}
}

// eachSub calls f for every subscript of an instruction.
func (in *Instr) eachSub(f func(*Sub)) {
	for _, a := range in.Args {
		eachSub(a.Sub, f)
	}
	eachSub(in.To, f)
	eachSub(in.Guard, f)
}

// EachRead calls f for every reference of an instruction to a value that it
// reads, subscripts included; f may replace the value.
func (in *Instr) EachRead(f func(v **Value)) {
	indirect := func(s *Sub) {
		if s.Indirect != nil {
			f(&s.Indirect.Val)
		}
	}
	for i := range in.Args {
		f(&in.Args[i].Val)
		eachSub(in.Args[i].Sub, indirect)
	}
	eachSub(in.To, indirect)
	eachSub(in.Guard, indirect)
	if in.Scan != nil {
		in.Scan.EachRead(f)
		if in.Scan.Primal != nil { // it may belong to no program but this scan
			in.Scan.Primal.EachRead(f)
		}
	}
}

// EachRead calls f for every reference of a scan to a value of the program
// around it, those of its primal aside.
func (s *Scan) EachRead(f func(v **Value)) {
	for i := range s.Carry {
		if c := &s.Carry[i]; c.Init != nil {
			f(&c.Init)
		}
	}
	for i := range s.Tokens {
		f(&s.Tokens[i].Val)
	}
	for i := range s.Shared {
		f(&s.Shared[i].Val)
	}
}

// Reads returns the values that an instruction reads, subscripts included.
func (in *Instr) Reads() []*Value {
	var out []*Value
	in.EachRead(func(v **Value) { out = append(out, *v) })
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

// TakeResults makes the results of the body the next states and the outputs of the step,
// after a rewrite of the body, and returns those in keep.
func (s *Scan) TakeResults() (keep []Result) {
	r := s.Body.Results
	for i := range s.Carry {
		s.Carry[i].Next, r = r[0].Val, r[1:]
	}
	for i := range s.Outs {
		s.Outs[i].Val, r = r[0].Val, r[1:]
	}
	return r
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
	uses := s.Body.Uses()
	s.SetResults(nil)
	s.DropUnread(uses)
	s.Replay = slices.DeleteFunc(s.Replay, func(t Replayed) bool { return uses[t.Param] == 0 })
	s.Body.Params = slices.DeleteFunc(s.Body.Params, func(p *Value) bool { return uses[p] == 0 && p.Role != Carry })
}

// DropUnread removes the tokens and the shared values without uses in the body.
func (s *Scan) DropUnread(uses map[*Value]int) {
	s.Tokens = slices.DeleteFunc(s.Tokens, func(t ScanInput) bool { return uses[t.Param] == 0 })
	s.Shared = slices.DeleteFunc(s.Shared, func(t SharedArg) bool { return uses[t.Param] == 0 })
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
		in.EachRead(func(v **Value) { n[*v]++ })
	}
	for _, r := range f.Results {
		n[r.Val]++
	}
	return n
}

// Replace makes every reader of old read new.
func (f *Func) Replace(old, new *Value) {
	for _, in := range f.Body {
		in.EachRead(func(v **Value) {
			if *v == old {
				*v = new
			}
		})
	}
	for i := range f.Results {
		if f.Results[i].Val == old {
			f.Results[i].Val = new
		}
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

// EachSize calls f for the sizes that a program mentions: of the axes of its values and
// loops, in subscripts, and as numbers; in the bodies of scans and residuals too.
func (f *Func) EachSize(size func(shape.Poly)) {
	axes := func(list []*Axis) {
		for _, a := range list {
			size(a.Size)
		}
	}
	for _, p := range f.Params {
		axes(p.Axes)
	}
	for _, in := range f.Body {
		size(in.Poly)
		axes(in.Loops)
		in.eachSub(func(s *Sub) { size(s.Const) })
		if in.Out != nil {
			axes(in.Out.Axes)
		}
		if in.Solve != nil {
			in.Solve.Residual.EachSize(size)
		}
		for s := in.Scan; s != nil; {
			axes([]*Axis{s.Batch, s.Time})
			for _, t := range s.Tokens {
				size(t.Base)
			}
			s.Body.EachSize(size)
			if s.Primal == nil {
				break
			}
			s = s.Primal.Scan
		}
	}
}
