package interval

import (
	"maps"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A forward data-flow analysis over a program: one interval for all entries of an
// array. Where each parameter enters a value at one place only, interval arithmetic has
// no dependency problem and the interval is the image of the value: it comes as near to
// every number of the interval as one wishes. So a narrower declared range is wrong.
// Parameters are learned ones and inputs; a state may be any number, or lie in its
// declared range, which its caller then proves by induction.

// A Range is the interval of a value and what the value depends on.
type Range struct {
	Interval
	Image   bool               // the interval is the image
	free    bool               // a parameter whose entries are independent of one another
	sources map[*ir.Value]bool // the parameters that the value depends on
}

// An analyser computes the ranges of one program.
type analyser struct {
	frees  map[string]irbuild.Free
	states map[string]Interval // assumed of the states, by name
	vals   map[*ir.Value]Range
}

// Of returns the ranges of a program's results, given the ranges of its states.
func Of(f *ir.Func, frees map[string]irbuild.Free, states map[string]Interval) map[string]Range {
	r := &analyser{frees: frees, states: states, vals: map[*ir.Value]Range{}}
	for _, p := range f.Params {
		r.vals[p] = r.param(p)
	}
	r.body(f)
	out := map[string]Range{}
	for _, x := range f.Results {
		out[x.Name] = r.vals[x.Val]
	}
	return out
}

func (r *analyser) param(p *ir.Value) Range {
	free := r.frees[p.Name]
	out := Range{Interval: Everything, sources: map[*ir.Value]bool{p: true}}
	switch {
	case p.Elem == ir.Bool:
		out.Interval = truths
	case p.Elem == ir.Int:
		if t := free.Type; t == nil || t.Kind != notation.IntType || len(t.Members) == 0 {
			out.Lo, out.LoOpen = 0, false
		}
	case p.Role == ir.State:
		if iv, ok := r.states[p.Name]; ok {
			out.Interval = iv
		}
	case p.Role == ir.Input || p.Role == ir.Outer:
		out.Interval, out.Image = Declared(free.Type), !p.NoGrad
		out.free = out.Image
		if t := free.Type; t != nil && proof.HasNormalisedRows(t.Kind) {
			out.Interval, out.Image, out.free = Interval{-1, 1, false, false}, false, false
		}
	}
	return out
}

func (r *analyser) body(f *ir.Func) {
	for _, in := range f.Body {
		if in.Scan != nil {
			r.scan(in.Scan)
			continue
		}
		r.vals[in.Out] = r.instr(in)
	}
}

// scan computes the ranges of one token, whatever its states are.
func (r *analyser) scan(s *ir.Scan) {
	for _, c := range s.Carry {
		v := Range{Interval: Everything, sources: map[*ir.Value]bool{c.Param: true}}
		if iv, ok := r.states[c.Param.Name]; ok {
			v.Interval = iv
		}
		r.vals[c.Param] = v
	}
	for _, t := range s.Tokens {
		v := r.vals[t.Val]
		if t.Count {
			v = Range{Interval: Interval{0, math.Inf(1), false, true}, sources: map[*ir.Value]bool{t.Param: true}}
		}
		if t.Window != nil {
			v.Interval, v.Image, v.free = v.hull(point(0)), false, false
		}
		r.vals[t.Param] = v
	}
	for _, x := range s.Shared {
		r.vals[x.Param] = r.vals[x.Val]
	}
	r.body(s.Body)
	for _, o := range s.Outs {
		r.vals[o.Out] = r.vals[o.Val]
		if o.Sum {
			r.vals[o.Out] = Range{Interval: Everything}
		}
	}
	for _, c := range s.Carry {
		if c.Final == nil {
			continue
		}
		v := r.vals[c.Next]
		if c.Init != nil { // after no token
			v.Interval = v.hull(r.vals[c.Init].Interval)
		}
		v.Image = false
		r.vals[c.Final] = v
	}
}

// instr is the range of an instruction's output.
func (r *analyser) instr(in *ir.Instr) Range {
	out := Range{Image: true, sources: map[*ir.Value]bool{}}
	args := make([]Range, len(in.Args))
	for i, a := range in.Args {
		args[i] = r.vals[a.Val]
		for _, s := range a.Sub {
			if s.Indirect != nil { // outside of a table it reads zero
				args[i].Interval, args[i].Image = args[i].hull(point(0)), false
			}
		}
		out.Image = out.Image && args[i].Image && independent(out.sources, args[i].sources)
		maps.Copy(out.sources, args[i].sources)
	}
	switch in.Op {
	case ir.Prod:
		r.product(in, args, &out)
	case ir.Lin:
		r.sum(in, args, &out)
	case ir.Const:
		out.Interval = point(in.Coef[0])
	case ir.SizeOf:
		out.Interval, out.Image = sizeRange(in.Poly), false
	case ir.Iota:
		out.Interval, out.Image = Interval{0, math.Inf(1), false, true}, false
	case ir.Reshape, ir.Narrow:
		out.Interval = args[0].Interval
	case ir.Stack:
		out.Interval, out.Image = args[0].Interval, false
		for _, a := range args[1:] {
			out.Interval = out.hull(a.Interval)
		}
	case ir.Max:
		out.Interval, out.Image = args[0].Interval, false
		if len(in.Guard) > 0 { // of nothing
			out.Lo, out.LoOpen = math.Inf(-1), true
		}
	case ir.Softmax:
		out.Interval, out.Image = Interval{0, 1, true, false}, false
	case ir.LogSumExp:
		out.Interval, out.Image = Interval{args[0].Lo, math.Inf(1), args[0].LoOpen, true}, false
		if len(in.Guard) > 0 {
			out.Interval = Everything
		}
	case ir.Select:
		out.Interval, out.Image = args[1].hull(args[2].Interval), false
	case ir.SolveOp:
		out.Interval, out.Image = Interval{args[0].Lo, args[1].Hi, args[0].LoOpen, args[1].HiOpen}, false
	case ir.TriSolve:
		out.Interval, out.Image = Everything, false
	default:
		f, ok := functions[in.Op]
		if !ok {
			panic("interval: BUG: no image for " + in.Op.String())
		}
		out.Interval = f.image(args[0].Interval, args[len(args)-1].Interval)
		out.Image = out.Image && f.onto
	}
	if len(in.Guard) > 0 || !coversOutput(in) { // zero elsewhere
		out.Interval, out.Image = out.hull(point(0)), false
	}
	return out
}

// product is a product of factors, reduced over the loops that the output lacks. A
// factor that occurs n times enters as an nth power.
func (r *analyser) product(in *ir.Instr, args []Range, out *Range) {
	out.Interval = point(in.Coef[0])
	done := make([]bool, len(args))
	for i, a := range in.Args {
		n := 0
		for k, b := range in.Args {
			if !done[k] && (k == i || a.Val == b.Val && slices.EqualFunc(a.Sub, b.Sub, ir.Sub.Equal)) {
				done[k] = true
				n++
			}
		}
		if n > 0 {
			out.Interval = out.mul(args[i].power(n))
		}
	}
	plain := len(in.To) == 0 || permutes(in)
	if len(in.Loops) == len(in.Out.Axes) && plain {
		return
	}
	// With a parameter among the factors of which nothing else depends, one summand can
	// be any number and the others zero.
	free := false
	for i := range args {
		free = free || args[i].free && args[i].Interval == Everything
	}
	out.Image = out.Image && free && out.Interval == Everything
	terms := shape.Int(1)
	kept := map[int]bool{}
	for _, s := range in.To {
		for _, t := range s.Terms {
			kept[t.Loop] = true
		}
	}
	for l, a := range in.Loops {
		if !kept[l] {
			terms = terms.Mul(a.Size)
		}
	}
	most := math.Inf(1)
	if n, ok := terms.Const(); ok {
		most = float64(n)
	}
	least := 1.0 // an axis has an entry
	if !plain {  // a scatter: any number of points may write one entry
		least, most = 0, math.Inf(1)
	} else if len(in.Guard) > 0 {
		least = 0
	} else if !math.IsInf(most, 1) {
		least = most
	}
	out.Interval = out.Interval.times(least, most)
}

// times is a sum of at least least and at most most numbers of the interval.
func (a Interval) times(least, most float64) Interval {
	if least == 0 {
		a = a.hull(point(0))
		least = 1
	}
	scale := func(x, n float64) float64 {
		if x == 0 {
			return 0
		}
		return x * n
	}
	out := a
	if a.Lo < 0 {
		out.Lo = scale(a.Lo, most)
		out.LoOpen = a.LoOpen || math.IsInf(most, 1)
	} else {
		out.Lo = scale(a.Lo, least)
	}
	if a.Hi > 0 {
		out.Hi = scale(a.Hi, most)
		out.HiOpen = a.HiOpen || math.IsInf(most, 1)
	} else {
		out.Hi = scale(a.Hi, least)
	}
	return out
}

// sum is a linear combination. A summand that can be any number and is independent of
// the others makes the sum any number.
func (r *analyser) sum(in *ir.Instr, args []Range, out *Range) {
	out.Interval = point(in.Coef[len(args)])
	for i, a := range args {
		if in.Coef[i] != 0 {
			out.Interval = out.Interval.add(a.mul(point(in.Coef[i])))
		}
	}
	for i, a := range args {
		alone := a.Image && a.Interval == Everything && in.Coef[i] != 0
		for k, b := range args {
			alone = alone && (k == i || independent(a.sources, b.sources))
		}
		out.Image = out.Image || alone
	}
}

// independent reports whether two values share no parameter.
func independent(a, b map[*ir.Value]bool) bool {
	for v := range a {
		if b[v] {
			return false
		}
	}
	return true
}

// coversOutput reports whether an instruction writes every entry of its output.
func coversOutput(in *ir.Instr) bool {
	if in.Op == ir.Stack || in.Op.Info().View || in.Op == ir.SizeOf {
		return true
	}
	for i, s := range in.To {
		if l, ok := s.Loop(); !ok || in.Loops[l] != in.Out.Axes[i] && !in.Loops[l].Size.Equal(in.Out.Axes[i].Size) {
			return false
		}
	}
	return permutes(in)
}

// permutes reports whether the subscripts of the output are distinct loops.
func permutes(in *ir.Instr) bool {
	seen := map[int]bool{}
	for _, s := range in.To {
		l, ok := s.Loop()
		if !ok || seen[l] {
			return false
		}
		seen[l] = true
	}
	return true
}

// sizeRange is the range of a polynomial in sizes that are at least one.
func sizeRange(p shape.Poly) Interval {
	if n, ok := p.Const(); ok {
		return point(float64(n))
	}
	for _, n := range []int64{1, 0} {
		if ir.NeverNegative(p.Sub(shape.Int(n))) {
			return Interval{float64(n), math.Inf(1), false, true}
		}
	}
	return Everything
}
