package lower

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// Recomputation of states in a backward (activation checkpointing, Griewank's
// schedule with one level): the states of a segment are recomputed from its
// checkpoint by the forward's step, with saved values in the place of those
// that it computed.

// resolveReplay turns the values that a backward replays of its forward into
// inputs of its own: tokens and shared values are read again, and the states
// come from a replay of the forward's step.
func (l *lowerer) resolveReplay(rec *recurrence) {
	s, primal := rec.s, rec.s.Primal.Scan
	states := map[*ir.Value]*ir.Value{} // primal carry → parameter of the backward body
	for _, r := range s.Replay {
		if r.Primal.Def != nil {
			fail("the backward of a recurrence replays the computed value %s", r.Primal.Name)
		}
		if r.Primal.Role == ir.Carry {
			states[r.Primal] = r.Param
			continue
		}
		for _, t := range primal.Tokens {
			if t.Param == r.Primal {
				s.Tokens = append(s.Tokens, ir.ScanInput{Param: r.Param, Val: t.Val, Window: t.Window, Base: t.Base, Count: t.Count})
			}
		}
		for _, v := range primal.Shared {
			if v.Param == r.Primal {
				s.Shared = append(s.Shared, ir.SharedArg{Param: r.Param, Val: v.Val, PerBatch: v.PerBatch})
			}
		}
	}
	if len(states) == 0 {
		return
	}
	if rec.link == nil {
		fail("the backward of a recurrence needs its forward: see Pair")
	}
	if rec.chunks {
		for i, c := range primal.Carry {
			rec.storedStates = append(rec.storedStates, c.Param)
			if q := states[c.Param]; q != nil {
				rec.before[q] = i
				rec.link.states[c.Param.Name] = l.fresh(c.Param.Name + ".states")
			}
		}
		return
	}
	rec.replay = l.forwardStep(rec.link, primal, states)
	for i, c := range rec.replay.Carry {
		for p, q := range states {
			if p.Name == c.Param.Name {
				rec.before[q] = i
			}
		}
	}
	for _, c := range rec.replay.Carry {
		rec.link.states[c.Param.Name] = l.fresh(c.Param.Name + ".checkpoints")
	}
}

// forwardStep is the primal's step reduced to the states that are needed,
// reading saved values instead of computing them.
func (l *lowerer) forwardStep(mark *scanLink, primal *ir.Scan, states map[*ir.Value]*ir.Value) *ir.Scan {
	body, m := primal.Body.Clone()
	out := &ir.Scan{Batch: primal.Batch, Time: primal.Time, Body: body}
	for _, t := range primal.Tokens {
		out.Tokens = append(out.Tokens, ir.ScanInput{Param: m[t.Param], Val: t.Val, Window: t.Window, Base: t.Base, Count: t.Count})
	}
	for _, v := range primal.Shared {
		out.Shared = append(out.Shared, ir.SharedArg{Param: m[v.Param], Val: v.Val, PerBatch: v.PerBatch})
	}
	for _, c := range primal.Carry {
		out.Carry = append(out.Carry, ir.ScanState{Param: m[c.Param], Next: m[c.Next]})
	}
	order := slices.Clone(body.Body)
	l.factorOutScalings(body.Body) // as the passes over the forward do
	factor(body)
	sortFactors(body.Body, nil)
	for _, k := range slices.Sorted(maps.Keys(mark.saved)) {
		v := order[k].Out
		saved := l.f.Param(mark.saved[k])
		p := body.AddParam(saved.Name, ir.Token, ir.Real, v.Axes...)
		out.Tokens = append(out.Tokens, ir.ScanInput{Param: p, Val: saved})
		out.ReplaceInBody(v, p)
	}
	needed := map[string]bool{}
	for p := range states {
		needed[p.Name] = true
	}
	l.closeOver(out, needed)
	out.Carry = slices.DeleteFunc(out.Carry, func(c ir.ScanState) bool { return !needed[c.Param.Name] })
	return out
}

// closeOver adds the states that the needed states are computed from.
func (l *lowerer) closeOver(s *ir.Scan, needed map[string]bool) {
	for changed := true; changed; {
		changed = false
		for _, c := range s.Carry {
			if needed[c.Param.Name] {
				continue
			}
			reach := s.Body.DependsOn(c.Param)
			for _, d := range s.Carry {
				if needed[d.Param.Name] && reach[d.Next] {
					needed[c.Param.Name], changed = true, true
				}
			}
		}
	}
}

// matchStates finds values of the backward body that are a state after the
// token, the same function of the same values as in the replay. They are read instead
// of computed again.
func (l *lowerer) matchStates(rec *recurrence) {
	values := simplify.NewValues(rec.replay.Body)
	for _, t := range rec.replay.Tokens {
		for _, u := range rec.s.Tokens {
			if t.Val == u.Val && t.Window == u.Window && t.Base.Equal(u.Base) && t.Count == u.Count {
				values.Define(u.Param, t.Param)
			}
		}
	}
	for _, t := range rec.replay.Shared {
		for _, u := range rec.s.Shared {
			if t.Val == u.Val {
				values.Define(u.Param, t.Param)
			}
		}
	}
	for p, i := range rec.before {
		values.Define(p, rec.replay.Carry[i].Param)
	}
	for i, c := range rec.replay.Carry {
		for _, in := range rec.s.Body.Body {
			if in.Out != nil && slices.Equal(in.Out.Axes, c.Next.Axes) && values.Equal(in.Out, c.Next) {
				rec.after[in.Out] = i
			}
		}
	}
	l.dropReplayed(rec)
}

// dropReplayed makes states after the token parameters of the backward body.
func (l *lowerer) dropReplayed(rec *recurrence) {
	body := rec.s.Body
	for _, in := range slices.Clone(body.Body) {
		i, ok := rec.after[in.Out]
		if !ok {
			continue
		}
		p := body.AddParam(in.Out.Name, ir.Token, ir.Real, in.Out.Axes...)
		body.Replace(in.Out, p)
		delete(rec.after, in.Out)
		rec.after[p] = i
		body.Body = slices.Delete(body.Body, slices.Index(body.Body, in), slices.Index(body.Body, in)+1)
	}
	rec.s.TakeResults()
	l.mergeAndSweep(rec.s)
}
