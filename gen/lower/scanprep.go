package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A recurrence is a scan that was prepared for writing.
type recurrence struct {
	in     *ir.Instr
	s      *ir.Scan
	replay *ir.Scan           // backward: the forward's step, from what it saved
	old    map[*ir.Value]int  // backward: parameter that is a state before the token → carry of replay
	next   map[*ir.Value]int  // backward: value that is a state after the token → carry of replay
	stream map[*ir.Value]bool // values that are computed where they are read
	rows   *rows              // of s
	again  *rows              // of replay
	behind int                // instructions put behind it
	number int                // among the recurrences of the program
	mark   *mark
	chunks bool        // a step takes several tokens: its states are stored at each step
	stored []*ir.Value // then, backward: the carries of the forward
}

// prepareScan moves what a recurrence computes without its state out of it
// and finds its rows.
func (l *lowerer) prepareScan(in *ir.Instr, n int) *recurrence {
	s := in.Scan
	rec := &recurrence{in: in, s: s, number: n, old: map[*ir.Value]int{}, next: map[*ir.Value]int{}, stream: map[*ir.Value]bool{}}
	if s.Reverse {
		rec.mark = l.marks.find(n)
		rec.chunks = rec.mark != nil && rec.mark.chunks
		l.absorb(rec)
		l.through(s.Body.Body)
	} else {
		rec.chunks = len(s.ChunkAxes()) > 0
		l.canonical(s)
	}
	for _, c := range rec.scans() {
		l.tidy(c)
	}
	l.matchNext(rec)
	for _, c := range slices.Backward(rec.scans()) { // what both have is computed as the replay has it
		l.lift(rec, c)
	}
	rec.find()
	switch {
	case rec.rows != nil:
		l.spread(rec)
		l.sink(rec)
	case s.Reverse:
		factor(s.Body)
		l.tidy(s)
	}
	if rec.chunks {
		l.chunkStep(s)
	}
	l.settle(rec)
	if rec.rows != nil {
		rec.refind()
	}
	if s.Reverse {
		sortFactors(s.Body.Body, rec.rows)
	}
	return rec
}

// canonical fixes the order of every product in a forward's step, in the
// forward and in its replay alike, before the two are treated differently: a
// replay has the bits of the forward. It looks at one product at a time, for the
// step of a replay may have fewer states, and rows elsewhere.
func (l *lowerer) canonical(s *ir.Scan) {
	l.through(s.Body.Body)
	factor(s.Body)
	sortFactors(s.Body.Body, nil)
}

func (rec *recurrence) scans() []*ir.Scan {
	if rec.replay != nil {
		return []*ir.Scan{rec.s, rec.replay}
	}
	return []*ir.Scan{rec.s}
}

// find looks for rows that do not see each other. A step that takes several
// tokens at once has none: what it consists of are products of matrices, which
// stay whole.
func (rec *recurrence) find() {
	if rec.chunks {
		return
	}
	rec.found(findRows(rec.steps()))
}

func (rec *recurrence) found(all []*rows) {
	if all == nil {
		return
	}
	rec.rows = all[0]
	if rec.replay != nil {
		rec.again = all[1]
	}
}

// refind repeats the analysis after the body was rewritten. The rows stay those
// that the rewriting was for, though others may have become possible by it.
func (rec *recurrence) refind() {
	of := rec.rows.of
	rec.rows, rec.again = nil, nil
	if rec.found(tryRows(rec.steps(), of)); rec.rows == nil {
		panic("lower: BUG: rows were lost")
	}
}

// steps describes the bodies to the analysis of rows. A state of the forward
// has the same row as parameter of the replay, and before and after the token
// in the backward.
func (rec *recurrence) steps() []step {
	var out []step
	for i, s := range rec.scans() {
		st := step{body: s.Body.Body}
		for n, c := range s.Carry {
			st.states, st.next = append(st.states, c.Param), append(st.next, c.Next)
			if i == 0 {
				n = -1 - n
			}
			st.same = append(st.same, n)
		}
		if i == 0 {
			st.states, st.same = rec.replayed(st.states, st.same)
		}
		out = append(out, st)
	}
	return out
}

// replayed appends the states of the forward that the backward body reads.
func (rec *recurrence) replayed(states []*ir.Value, same []int) ([]*ir.Value, []int) {
	for _, p := range rec.s.Body.Params {
		n, old := rec.old[p]
		if m, next := rec.next[p]; next {
			n, old = m, true
		}
		if old {
			states, same = append(states, p), append(same, n)
		}
	}
	return states, same
}

// replace makes the replay read new where it read old.
func (rec *recurrence) replace(old, new *ir.Value) {
	if rec.replay == nil {
		return
	}
	for i := range rec.replay.Tokens {
		if t := &rec.replay.Tokens[i]; t.Val == old {
			t.Val = new
		}
	}
	for i := range rec.replay.Shared {
		if t := &rec.replay.Shared[i]; t.Val == old {
			t.Val = new
		}
	}
}

// reads is what the recurrence reads of the program around it.
func (rec *recurrence) reads() []*ir.Value {
	var out []*ir.Value
	for _, s := range rec.scans() {
		if s == rec.s {
			for _, c := range s.Carry {
				if c.Init != nil {
					out = append(out, c.Init)
				}
			}
		}
		for _, t := range s.Tokens {
			out = append(out, t.Val)
		}
		for _, v := range s.Shared {
			out = append(out, v.Val)
		}
	}
	return out
}

// tidy makes equal instructions of a body one and removes what nothing needs.
func (l *lowerer) tidy(s *ir.Scan) {
	s.Body.Results = nil
	for _, c := range s.Carry {
		s.Body.Results = append(s.Body.Results, ir.Result{Name: c.Param.Name, Val: c.Next})
	}
	for i, o := range s.Outs {
		s.Body.Results = append(s.Body.Results, ir.Result{Name: string(rune('a' + i)), Val: o.Val})
	}
	merge(s.Body, s.Body.Replace)
	l.pointResults(s)
	s.Body.Sweep()
	used := map[*ir.Value]bool{}
	for _, in := range s.Body.Body {
		for _, v := range in.Reads() {
			used[v] = true
		}
	}
	for _, r := range s.Body.Results {
		used[r.Val] = true
	}
	s.Tokens = slices.DeleteFunc(s.Tokens, func(t ir.ScanInput) bool { return !used[t.Param] })
	s.Shared = slices.DeleteFunc(s.Shared, func(t ir.SharedArg) bool { return !used[t.Param] })
}

// dependent marks what depends on the state in a body.
func (rec *recurrence) dependent(s *ir.Scan) map[*ir.Value]bool {
	dep := map[*ir.Value]bool{}
	for _, c := range s.Carry {
		dep[c.Param] = true
	}
	for p := range rec.old {
		dep[p] = true
	}
	for p := range rec.next {
		dep[p] = true
	}
	for _, in := range s.Body.Body {
		if slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return dep[v] }) {
			for _, v := range in.Defines() {
				dep[v] = true
			}
		}
	}
	return dep
}

// lift moves what does not depend on the state in front of the recurrence,
// for all tokens at once, unless it is as large as the state: then it is
// computed where it is read, or at its token.
func (l *lowerer) lift(rec *recurrence, s *ir.Scan) {
	dep := rec.dependent(s)
	rank := 1
	for _, c := range s.Carry {
		rank = max(rank, len(c.Param.Axes))
	}
	var kept []*ir.Instr
	for _, in := range s.Body.Body {
		switch {
		case in.Out == nil || dep[in.Out]:
			kept = append(kept, in)
		case free(in) || pointwise(in) && (len(in.Out.Axes) >= rank || len(in.Out.Axes) == 0 && !dear(in)):
			rec.stream[in.Out] = true
			kept = append(kept, in)
		case !rec.liftable(s, in) || len(in.Out.Axes) >= rank:
			kept = append(kept, in)
		default:
			l.outside(rec, s, in, true)
		}
	}
	s.Body.Body = kept
}

// liftable reports whether an instruction reads only what is known outside.
func (rec *recurrence) liftable(s *ir.Scan, in *ir.Instr) bool {
	return all(in.Reads(), func(v *ir.Value) bool {
		return slices.ContainsFunc(s.Tokens, func(t ir.ScanInput) bool {
			return t.Param == v && (in.Op != ir.Reshape || t.Window == nil)
		}) || in.Op != ir.Reshape && slices.ContainsFunc(s.Shared, func(t ir.SharedArg) bool { return t.Param == v })
	})
}

// outside appends to the program a copy of a body's instruction that runs for
// all lanes and tokens, in front of the recurrence or behind it, and returns
// its output. In front, the body sees it as a token.
func (l *lowerer) outside(rec *recurrence, s *ir.Scan, in *ir.Instr, front bool) *ir.Value {
	if in.Op == ir.Reshape {
		return l.reshapeOutside(rec, s, in, front)
	}
	over := append([]*ir.Axis{s.Batch, s.Time}, in.Loops...)
	out := &ir.Instr{Op: in.Op, Loops: over, Coef: in.Coef, Poly: in.Poly, Eq: in.Eq, Span: in.Span, Solve: in.Solve}
	for _, o := range in.Over {
		out.Over = append(out.Over, o+2)
	}
	out.Guard = l.outerSubs(s, in.Guard)
	out.To = append(ir.Ls(2), l.outerSubs(s, in.To)...)
	for _, a := range in.Args {
		out.Args = append(out.Args, l.outerArg(s, a))
	}
	axes := append([]*ir.Axis{s.Batch, s.Time}, in.Out.Axes...)
	out.Out = &ir.Value{Name: l.f.Fresh(in.Out.Name), Elem: in.Out.Elem, Axes: axes, Def: out}
	l.insert(rec, out, front)
	if front {
		s.Tokens = append(s.Tokens, ir.ScanInput{Param: in.Out, Val: out.Out})
		in.Out.Def = nil
	}
	return out.Out
}

// insert puts an instruction in front of a recurrence or behind it and behind
// what was put there before.
func (l *lowerer) insert(rec *recurrence, in *ir.Instr, front bool) {
	at := slices.Index(l.f.Body, rec.in)
	if !front {
		at += 1 + rec.behind
		rec.behind++
	}
	l.f.Body = slices.Insert(l.f.Body, at, in)
}

// reshapeOutside is outside for a reshaped token, or for what was moved behind
// the recurrence before.
func (l *lowerer) reshapeOutside(rec *recurrence, s *ir.Scan, in *ir.Instr, front bool) *ir.Value {
	var t ir.ScanInput
	if v := l.sunk[in.Args[0].Val]; v != nil {
		t.Val = v
	} else {
		t = s.Tokens[slices.IndexFunc(s.Tokens, func(t ir.ScanInput) bool { return t.Param == in.Args[0].Val })]
	}
	axes := append(slices.Clone(t.Val.Axes[:2]), in.Out.Axes...)
	out := &ir.Instr{Op: ir.Reshape, Args: []ir.Arg{{Val: t.Val}}, Eq: in.Eq, Span: in.Span}
	out.Out = &ir.Value{Name: l.f.Fresh(in.Out.Name), Elem: in.Out.Elem, Axes: axes, Def: out}
	l.insert(rec, out, front)
	if front {
		s.Tokens = append(s.Tokens, ir.ScanInput{Param: in.Out, Val: out.Out, Base: t.Base})
		in.Out.Def = nil
	}
	return out.Out
}

// outerSubs moves subscripts past the two loops of lanes and tokens.
func (l *lowerer) outerSubs(s *ir.Scan, subs []ir.Sub) []ir.Sub {
	out := make([]ir.Sub, len(subs))
	for i, x := range subs {
		out[i].Const = x.Const
		for _, t := range x.Terms {
			out[i].Terms = append(out[i].Terms, ir.Term{Loop: t.Loop + 2, Coef: t.Coef})
		}
		if x.Indirect != nil {
			a := l.outerArg(s, *x.Indirect)
			out[i].Indirect = &a
			if counted(s, x.Indirect.Val) {
				out[i].Terms = append(out[i].Terms, ir.Term{Loop: 1, Coef: 1})
			}
		}
	}
	return out
}

// counted reports whether a value of a body counts tokens.
func counted(s *ir.Scan, v *ir.Value) bool {
	return slices.ContainsFunc(s.Tokens, func(t ir.ScanInput) bool { return t.Param == v && t.Count })
}

// outerArg reads outside what a body reads as a token or a shared value.
func (l *lowerer) outerArg(s *ir.Scan, a ir.Arg) ir.Arg {
	sub := l.outerSubs(s, a.Sub)
	if v := l.sunk[a.Val]; v != nil {
		return ir.Arg{Val: v, Sub: append(ir.Ls(2), sub...)}
	}
	for _, t := range s.Tokens {
		if t.Param != a.Val {
			continue
		}
		if t.Count {
			return ir.Arg{Val: t.Val, Sub: ir.Ls(1)}
		}
		time := ir.Sub{Terms: []ir.Term{{Loop: 1, Coef: 1}}, Const: t.Base}
		if t.Window != nil {
			for _, x := range sub[0].Terms {
				time.Terms = append(time.Terms, ir.Term{Loop: x.Loop, Coef: -x.Coef})
			}
			time.Const = time.Const.Sub(sub[0].Const)
			sub = sub[1:]
		}
		return ir.Arg{Val: t.Val, Sub: append([]ir.Sub{ir.L(0), time}, sub...)}
	}
	for _, v := range s.Shared {
		if v.Param != a.Val {
			continue
		}
		if v.PerBatch {
			sub = append([]ir.Sub{ir.L(0)}, sub...)
		}
		return ir.Arg{Val: v.Val, Sub: sub}
	}
	for _, o := range s.Outs {
		if o.Val == a.Val && !o.Sum {
			return ir.Arg{Val: o.Out, Sub: append(ir.Ls(2), sub...)}
		}
	}
	panic("lower: BUG: " + a.Val.Name + " is not known outside the recurrence")
}
