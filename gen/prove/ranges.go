package prove

import (
	"maps"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The range of every value of a program, by interval arithmetic: one interval for
// all entries of an array. Where each parameter enters a value at one place only,
// the interval is also the image: the value comes as near to every number of it
// as one wishes. A range that such a value is said to stay in, and that is
// narrower, is false. A parameter is a learned one or an input; states may be any
// number, or what their page declares, which is then proved by induction.

// A ranged value is where it lies, and what it is made of.
type ranged struct {
	interval
	image bool               // every number of the interval is reached
	raw   bool               // a parameter, whose entries have nothing to do with one another
	of    map[*ir.Value]bool // parameters that it depends on
}

// A ranger computes ranges of one program.
type ranger struct {
	frees  map[string]irbuild.Free
	states map[string]interval // assumed of states, by name
	vals   map[*ir.Value]ranged
}

// rangesOf computes the ranges of a program's results, given those of its states.
func rangesOf(f *ir.Func, frees map[string]irbuild.Free, states map[string]interval) map[string]ranged {
	r := &ranger{frees: frees, states: states, vals: map[*ir.Value]ranged{}}
	for _, p := range f.Params {
		r.vals[p] = r.param(p)
	}
	r.body(f)
	out := map[string]ranged{}
	for _, x := range f.Results {
		out[x.Name] = r.vals[x.Val]
	}
	return out
}

func (r *ranger) param(p *ir.Value) ranged {
	free := r.frees[p.Name]
	out := ranged{interval: everything, of: map[*ir.Value]bool{p: true}}
	switch {
	case p.Elem == ir.Bool:
		out.interval = truths
	case p.Elem == ir.Int:
		if t := free.Type; t == nil || t.Kind != notation.IntType || len(t.Members) == 0 {
			out.lo, out.loOpen = 0, false
		}
	case p.Role == ir.State:
		if iv, ok := r.states[p.Name]; ok {
			out.interval = iv
		}
	case p.Role == ir.Input || p.Role == ir.Outer:
		out.interval, out.image = declaredInterval(free.Type), !p.NoGrad
		out.raw = out.image
		if t := free.Type; t != nil && ofRows(t.Kind) {
			out.interval, out.image, out.raw = interval{-1, 1, false, false}, false, false
		}
	}
	return out
}

func (r *ranger) body(f *ir.Func) {
	for _, in := range f.Body {
		if in.Scan != nil {
			r.scan(in.Scan)
			continue
		}
		r.vals[in.Out] = r.instr(in)
	}
}

// scan computes the ranges of one step, whatever its states are.
func (r *ranger) scan(s *ir.Scan) {
	for _, c := range s.Carry {
		v := ranged{interval: everything, of: map[*ir.Value]bool{c.Param: true}}
		if iv, ok := r.states[c.Param.Name]; ok {
			v.interval = iv
		}
		r.vals[c.Param] = v
	}
	for _, t := range s.Tokens {
		v := r.vals[t.Val]
		if t.Count {
			v = ranged{interval: interval{0, math.Inf(1), false, true}, of: map[*ir.Value]bool{t.Param: true}}
		}
		if t.Window != nil {
			v.interval, v.image, v.raw = v.union(exactly(0)), false, false
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
			r.vals[o.Out] = ranged{interval: everything}
		}
	}
	for _, c := range s.Carry {
		if c.Final == nil {
			continue
		}
		v := r.vals[c.Next]
		if c.Init != nil { // after no token
			v.interval = v.union(r.vals[c.Init].interval)
		}
		v.image = false
		r.vals[c.Final] = v
	}
}

// instr is the range of what an instruction gives.
func (r *ranger) instr(in *ir.Instr) ranged {
	out := ranged{image: true, of: map[*ir.Value]bool{}}
	args := make([]ranged, len(in.Args))
	for i, a := range in.Args {
		args[i] = r.vals[a.Val]
		for _, s := range a.Sub {
			if s.Indirect != nil { // outside of a table lies zero
				args[i].interval, args[i].image = args[i].union(exactly(0)), false
			}
		}
		out.image = out.image && args[i].image && disjoint(out.of, args[i].of)
		maps.Copy(out.of, args[i].of)
	}
	switch in.Op {
	case ir.Prod:
		r.product(in, args, &out)
	case ir.Lin:
		r.sum(in, args, &out)
	case ir.Const:
		out.interval = exactly(in.Coef[0])
	case ir.SizeOf:
		out.interval, out.image = sizeRange(in.Poly), false
	case ir.Iota:
		out.interval, out.image = interval{0, math.Inf(1), false, true}, false
	case ir.Reshape:
		out.interval = args[0].interval
	case ir.Stack:
		out.interval, out.image = args[0].interval, false
		for _, a := range args[1:] {
			out.interval = out.union(a.interval)
		}
	case ir.Max:
		out.interval, out.image = args[0].interval, false
		if len(in.Guard) > 0 { // of nothing
			out.lo, out.loOpen = math.Inf(-1), true
		}
	case ir.Softmax:
		out.interval, out.image = interval{0, 1, true, false}, false
	case ir.LogSumExp:
		out.interval, out.image = interval{args[0].lo, math.Inf(1), args[0].loOpen, true}, false
		if len(in.Guard) > 0 {
			out.interval = everything
		}
	case ir.Select:
		out.interval, out.image = args[1].union(args[2].interval), false
	case ir.SolveOp:
		out.interval, out.image = interval{args[0].lo, args[1].hi, args[0].loOpen, args[1].hiOpen}, false
	case ir.TriSolve:
		out.interval, out.image = everything, false
	default:
		switch {
		case in.Op.Unary() != nil && len(args) == 1:
			out.interval = unary(in.Op, args[0].interval)
			out.image = out.image && (rising[in.Op] && in.Op != ir.Floor || in.Op == ir.Abs || in.Op == ir.Stop)
		case len(args) == 2:
			out.interval = binary(in.Op, args[0].interval, args[1].interval)
			out.image = out.image && (in.Op == ir.Max2 || in.Op == ir.Min2)
		default:
			out.interval, out.image = everything, false
		}
	}
	if len(in.Guard) > 0 || !covers(in) { // elsewhere lies zero
		out.interval, out.image = out.union(exactly(0)), false
	}
	return out
}

// product is a product of factors, summed over the loops that the output lacks.
// The same factor twice is a square.
func (r *ranger) product(in *ir.Instr, args []ranged, out *ranged) {
	out.interval = exactly(in.Coef[0])
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
			out.interval = out.mul(args[i].power(n))
		}
	}
	plain := len(in.To) == 0 || placed(in)
	if len(in.Loops) == len(in.Out.Axes) && plain {
		return
	}
	// With a parameter among the factors and all else free of it, one summand is
	// anything and the others are zero.
	free := false
	for i := range args {
		free = free || args[i].raw && args[i].interval == everything
	}
	out.image = out.image && free && out.interval == everything
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
	if !plain {  // any number of points may fall on one entry
		least, most = 0, math.Inf(1)
	} else if len(in.Guard) > 0 {
		least = 0
	} else if !math.IsInf(most, 1) {
		least = most
	}
	out.interval = out.interval.times(least, most)
}

// times is a sum of so many numbers of the interval.
func (a interval) times(least, most float64) interval {
	if least == 0 {
		a = a.union(exactly(0))
		least = 1
	}
	scale := func(x, n float64) float64 {
		if x == 0 {
			return 0
		}
		return x * n
	}
	out := a
	if a.lo < 0 {
		out.lo = scale(a.lo, most)
		out.loOpen = a.loOpen || math.IsInf(most, 1)
	} else {
		out.lo = scale(a.lo, least)
	}
	if a.hi > 0 {
		out.hi = scale(a.hi, most)
		out.hiOpen = a.hiOpen || math.IsInf(most, 1)
	} else {
		out.hi = scale(a.hi, least)
	}
	return out
}

// sum is a linear combination. A summand of any size that shares nothing with the
// others makes the sum anything.
func (r *ranger) sum(in *ir.Instr, args []ranged, out *ranged) {
	out.interval = exactly(in.Coef[len(args)])
	for i, a := range args {
		if in.Coef[i] != 0 {
			out.interval = out.interval.add(a.mul(exactly(in.Coef[i])))
		}
	}
	for i, a := range args {
		alone := a.image && a.interval == everything && in.Coef[i] != 0
		for k, b := range args {
			alone = alone && (k == i || disjoint(a.of, b.of))
		}
		out.image = out.image || alone
	}
}

func disjoint(a, b map[*ir.Value]bool) bool {
	for v := range a {
		if b[v] {
			return false
		}
	}
	return true
}

// covers reports whether an instruction writes every entry of its output.
func covers(in *ir.Instr) bool {
	if in.Op == ir.Stack || in.Op == ir.Reshape || in.Op == ir.SizeOf {
		return true
	}
	for i, s := range in.To {
		if l, ok := s.Loop(); !ok || in.Loops[l] != in.Out.Axes[i] && !in.Loops[l].Size.Equal(in.Out.Axes[i].Size) {
			return false
		}
	}
	return placed(in)
}

// placed reports whether each subscript of the output is a loop of its own.
func placed(in *ir.Instr) bool {
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

// sizeRange is what a size can be when all sizes are at least one.
func sizeRange(p shape.Poly) interval {
	if n, ok := p.Const(); ok {
		return exactly(float64(n))
	}
	for _, n := range []int64{1, 0} {
		if ir.NeverNegative(p.Sub(shape.Int(n))) {
			return interval{float64(n), math.Inf(1), false, true}
		}
	}
	return everything
}
