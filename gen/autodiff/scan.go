package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// The adjoint of a recurrence (backpropagation through time).

// scan adds the backward of a recurrence: a scan over the same tokens in
// reverse, whose carries are the adjoints of the states. Its body replays the
// primal step from the state before the token and then reverses it. Lowering
// decides where the primal's states come from: checkpoints, recomputation or a
// store.
func (r *reverser) scan(in *ir.Instr) {
	s := in.Scan
	if s.Reverse {
		panic("autodiff: BUG: the adjoint of a backward scan was asked for")
	}
	if !r.reached(in) {
		return
	}
	g := &gradScan{r: r, in: in, primal: s, back: &ir.Scan{Batch: s.Batch, Time: s.Time, Reverse: true, Primal: in,
		Body: &ir.Func{Name: s.Body.Name + ".adjoint"}}}
	g.replay()
	g.seed()
	g.reverse()
	g.insert()
}

func (r *reverser) reached(in *ir.Instr) bool {
	return slices.ContainsFunc(in.Defines(), func(v *ir.Value) bool { return r.active[v] && len(r.contributions[v]) > 0 })
}

// A gradScan is the backward of one scan while it is built.
type gradScan struct {
	r      *reverser
	in     *ir.Instr
	primal *ir.Scan
	back   *ir.Scan
	b      *ir.Builder // of the backward body
	clone  *ir.Cloner
	seeds  map[*ir.Value]*ir.Value
	states []*ir.Value // adjoint carry of each primal carry
}

// replay puts the primal step into the backward body, its parameters replayed.
func (g *gradScan) replay() {
	body := g.back.Body
	body.Axes = slices.Clone(g.primal.Body.Axes)
	g.b = &ir.Builder{F: body}
	g.clone = ir.NewCloner(body)
	for _, p := range g.primal.Body.Params {
		v := body.AddParam(p.Name, p.Role, p.Elem, p.Axes...)
		if p.Role == ir.Carry {
			v.Role = ir.Token
		}
		g.clone.Map[p] = v
		g.back.Replay = append(g.back.Replay, ir.Replayed{Param: v, Primal: p})
	}
	for _, in := range g.primal.Body.Body {
		g.clone.Instr(in)
	}
}

// seed adds the incoming adjoints of a step: those of the states after it and
// of its outputs.
func (g *gradScan) seed() {
	parts := map[*ir.Value][]*ir.Value{}
	for _, c := range g.primal.Carry {
		v := g.b.F.AddParam(ir.AdjointName(c.Param.Name), ir.Carry, ir.Real, c.Param.Axes...)
		g.states = append(g.states, v)
		next := g.clone.Value(c.Next)
		parts[next] = append(parts[next], v)
	}
	for _, o := range g.primal.Outs {
		bar := g.r.adjoint(o.Out)
		if bar == nil {
			continue
		}
		v := g.b.F.AddParam(ir.AdjointName(o.Out.Name), ir.Token, ir.Real, o.Val.Axes...)
		g.back.Tokens = append(g.back.Tokens, ir.ScanInput{Param: v, Val: bar})
		val := g.clone.Value(o.Val)
		parts[val] = append(parts[val], v)
	}
	g.seeds = map[*ir.Value]*ir.Value{}
	for v, ps := range parts {
		g.seeds[v] = ps[0]
		for _, p := range ps[1:] {
			g.seeds[v] = g.b.Lin(v.Axes, 0, []float64{1, 1}, ir.All(g.seeds[v]), ir.All(p))
		}
	}
}

// reverse reverses the step and makes the adjoint of each state the next carry.
func (g *gradScan) reverse() {
	var wrt []*ir.Value
	for _, p := range g.primal.Body.Params {
		if p.Elem == ir.Real && !p.NoGrad {
			wrt = append(wrt, g.clone.Value(p))
		}
	}
	// Seeds that were summed lie in the body already; only the step before
	// them is reversed.
	adj := Reverse(g.b, g.seeds, wrt)
	for i, c := range g.primal.Carry {
		next := adj[g.clone.Value(c.Param)]
		if next == nil {
			next = g.b.Const(0, c.Param.Axes...)
		}
		carry := ir.ScanState{Param: g.states[i], Next: next}
		if c.Final != nil {
			carry.Init = g.r.adjoint(c.Final)
		}
		if c.Init != nil && g.r.active[c.Init] {
			carry.Final = g.outer(c.Init.Axes)
		}
		g.back.Carry = append(g.back.Carry, carry)
	}
	for _, t := range g.primal.Tokens {
		if a := adj[g.clone.Value(t.Param)]; a != nil && g.r.active[t.Val] {
			axes := append([]*ir.Axis{g.primal.Batch, g.primal.Time}, t.Param.Axes...)
			g.back.Outs = append(g.back.Outs, ir.ScanOutput{Val: a, Out: g.outer(axes)})
			g.foldWindow(t, g.back.Outs[len(g.back.Outs)-1].Out)
		}
	}
	for _, v := range g.primal.Shared {
		if a := adj[g.clone.Value(v.Param)]; a != nil && g.r.active[v.Val] {
			out := g.outer(v.Val.Axes)
			g.back.Outs = append(g.back.Outs, ir.ScanOutput{Val: a, Out: out, Sum: true, PerBatch: v.PerBatch})
			g.contribute(v.Val, out)
		}
	}
}

func (g *gradScan) outer(axes []*ir.Axis) *ir.Value {
	return &ir.Value{Name: g.r.b.F.Fresh("%"), Elem: ir.Real, Axes: axes}
}

func (g *gradScan) contribute(v, part *ir.Value) {
	g.r.contributions[v] = append(g.r.contributions[v], part)
}

// insert inserts the backward scan before the folds of window adjoints, which
// were built first and read it.
func (g *gradScan) insert() {
	in := &ir.Instr{Op: ir.ScanOp, Scan: g.back, Eq: g.in.Eq, Span: g.in.Span}
	body := g.r.b.F.Body
	at := len(body)
	for at > 0 && reads(body[at-1], g.back) {
		at--
	}
	g.r.b.F.Body = slices.Insert(slices.Clip(body), at, in)
	for _, v := range in.Defines() {
		v.Def = in
	}
	for i, c := range g.primal.Carry {
		if f := g.back.Carry[i].Final; f != nil {
			g.contribute(c.Init, f)
		}
	}
}

func reads(in *ir.Instr, s *ir.Scan) bool {
	return slices.ContainsFunc(s.Outs, func(o ir.ScanOutput) bool { return slices.Contains(in.Reads(), o.Out) })
}

// foldWindow adds the adjoint of a series' slices to the adjoint of the
// series.
func (g *gradScan) foldWindow(t ir.ScanInput, part *ir.Value) {
	if t.Window == nil && t.Base.IsZero() {
		g.contribute(t.Val, part)
		return
	}
	loops := part.Axes
	to := []ir.Sub{ir.L(0), {Terms: []ir.Term{{Loop: 1, Coef: 1}}, Const: t.Base}}
	rest := 2
	if t.Window != nil {
		to[1].Terms = append(to[1].Terms, ir.Term{Loop: 2, Coef: -1})
		rest = 3
	}
	for i := rest; i < len(loops); i++ {
		to = append(to, ir.L(i))
	}
	g.contribute(t.Val, g.r.b.Prod(loops, t.Val.Axes, to, 1, ir.All(part)))
}
