package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A recurrence is a scan that was prepared for writing.
type recurrence struct {
	in           *ir.Instr
	s            *ir.Scan
	replay       *ir.Scan           // backward: the forward's step, from what it saved
	before       map[*ir.Value]int  // backward: parameter that is a state before the token → carry of replay
	after        map[*ir.Value]int  // backward: value that is a state after the token → carry of replay
	inline       map[*ir.Value]bool // values that are computed where they are read
	rows         *independentRows   // of s
	replayRows   *independentRows   // of replay
	inserted     int                // instructions that were inserted after it
	index        int                // among the recurrences of the program
	link         *scanLink
	chunks       bool        // a step takes several tokens: its states are stored at each step
	storedStates []*ir.Value // then, backward: the carries of the forward
}

func (rec *recurrence) scans() []*ir.Scan {
	if rec.replay != nil {
		return []*ir.Scan{rec.s, rec.replay}
	}
	return []*ir.Scan{rec.s}
}

// findRows looks for independent rows. A step over a chunk of tokens has none:
// its matrix products stay whole.
func (rec *recurrence) findRows() {
	rec.found(findRows(rec.steps()))
}

func (rec *recurrence) found(all []*independentRows) {
	if all == nil {
		return
	}
	rec.rows = all[0]
	if rec.replay != nil {
		rec.replayRows = all[1]
	}
}

// confirmRows repeats the analysis after the body was rewritten, for the same
// choice of rows, though others may have become possible.
func (rec *recurrence) confirmRows() {
	of := rec.rows.of
	rec.rows, rec.replayRows = nil, nil
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
		n, old := rec.before[p]
		if m, next := rec.after[p]; next {
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
	rec.replay.EachRead(func(v **ir.Value) {
		if *v == old {
			*v = new
		}
	})
}

// reads is what the recurrence reads of the program around it.
func (rec *recurrence) reads() []*ir.Value {
	var out []*ir.Value
	for _, s := range rec.scans() {
		s.EachRead(func(v **ir.Value) { out = append(out, *v) })
	}
	return out
}

// mergeAndSweep merges equal instructions of a body and removes dead ones.
func (l *lowerer) mergeAndSweep(s *ir.Scan) {
	s.SetResults(nil)
	merge(s.Body, s.Body.Replace)
	s.TakeResults()
	s.Body.Sweep()
	s.DropUnread(s.Body.Uses())
}

// materialise makes every state and output an instruction of its own that can
// store to its place: a copy where it is a parameter, equals another state, or
// is accumulated in memory.
func (l *lowerer) materialise(rec *recurrence) {
	for _, s := range rec.scans() {
		taken := map[*ir.Value]bool{}
		b := &ir.Builder{F: s.Body, Eq: rec.in.Eq, Span: rec.in.Span}
		for i := range s.Carry {
			c := &s.Carry[i]
			if taken[c.Next] || !rec.direct(c.Next) && !normalised(c.Next.Def) {
				c.Next = b.Lin(c.Next.Axes, 0, []float64{1}, ir.All(c.Next))
			}
			taken[c.Next] = true
		}
		for i := range s.Outs {
			o := &s.Outs[i]
			if !rec.direct(o.Val) || o.Sum && writesWhole(o.Val.Def) {
				o.Val = b.Lin(o.Val.Axes, 0, []float64{1}, ir.All(o.Val))
			}
		}
		for _, in := range slices.Clone(s.Body.Body) {
			if in.Op == ir.Reshape && in.Args[0].Val.Def == nil {
				v := in.Args[0].Val
				c := b.Lin(v.Axes, 0, []float64{1}, ir.All(v))
				s.Body.Body = s.Body.Body[:len(s.Body.Body)-1]
				s.Body.Body = slices.Insert(s.Body.Body, slices.Index(s.Body.Body, in), c.Def)
				in.Args[0].Val = c
			}
		}
	}
}

// normalised reports whether a state is a softmax, which stores each entry, but to one place.
func normalised(in *ir.Instr) bool {
	return in != nil && in.Op == ir.Softmax && len(in.Guard) == 0 && fills(in)
}

// direct reports whether the instruction of a value stores single entries.
func (rec *recurrence) direct(v *ir.Value) bool {
	in := v.Def
	if in == nil || rec.inline[v] {
		return false
	}
	if pointwise(in) || rec.chunks && writesWhole(in) {
		return true
	}
	if rec.rows == nil || in.Op != ir.Prod {
		return false
	}
	return rec.rows.sums[in] || len(in.Guard) == 0 && len(in.Out.Axes) == 1
}
