package gradient

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
)

// stop(x) is the number that x is, without its gradient. Differences cannot
// know that: they see x move. So for differences every stopped value is held at
// what it is at the point in question: the program is run once, and the values
// become parameters of the program that is differenced, token by token where
// they stand in a recurrence.

// holdStopped holds the stopped values of f at what they are for the given
// parameters, to which it adds them. A program without any is f itself.
func holdStopped(f *ir.Func, sizes map[string]int, params numeric.Tensors) *ir.Func {
	if !hasStops(f) {
		return f
	}
	seen, _ := f.Clone()
	seen.Results = nil
	n := 0
	exposeStopped(seen, func(v *ir.Value) {
		seen.Results = append(seen.Results, ir.Result{Name: fmt.Sprintf("stopped%d", n), Val: v})
		n++
	})
	values := interp.Run(seen, sizes, params)
	g, _ := f.Clone()
	stoppedToParams(g, g, nil)
	for _, p := range g.Params {
		if v := values[p.Name]; v != nil {
			params[p.Name] = v
		}
	}
	return g
}

func hasStops(f *ir.Func) bool {
	return slices.ContainsFunc(f.Body, func(in *ir.Instr) bool {
		return in.Op == ir.Stop || in.Scan != nil && hasStops(in.Scan.Body)
	})
}

// exposeStopped gives out every stopped value, those of a scan as series.
func exposeStopped(f *ir.Func, give func(*ir.Value)) {
	for _, in := range f.Body {
		if in.Op == ir.Stop {
			give(in.Out)
		}
		if s := in.Scan; s != nil {
			exposeStopped(s.Body, func(v *ir.Value) {
				out := &ir.Value{Name: f.Fresh("stopped"), Elem: v.Elem, Axes: append([]*ir.Axis{s.Batch, s.Time}, v.Axes...), Def: in}
				s.Outs = append(s.Outs, ir.ScanOutput{Val: v, Out: out})
				give(out)
			})
		}
	}
}

// stoppedToParams turns the stopped values of a program, or of the body of one of its
// scans, into parameters, in the order of expose.
func stoppedToParams(top, f *ir.Func, s *ir.Scan) {
	for _, in := range slices.Clone(f.Body) {
		if in.Scan != nil {
			stoppedToParams(top, in.Scan.Body, in.Scan)
		}
		if in.Op != ir.Stop {
			continue
		}
		v := in.Out
		axes := v.Axes
		if s != nil {
			axes = append([]*ir.Axis{s.Batch, s.Time}, axes...)
		}
		name := ""
		for k := 0; name == "" || top.Param(name) != nil; k++ {
			name = fmt.Sprintf("stopped%d", k)
		}
		p := top.AddParam(name, ir.Constant, v.Elem, axes...)
		v.Def = nil
		f.Body = slices.DeleteFunc(f.Body, func(x *ir.Instr) bool { return x == in })
		if s == nil {
			f.Replace(v, p)
			continue
		}
		v.Role = ir.Token
		f.Params = append(f.Params, v)
		s.Tokens = append(s.Tokens, ir.ScanInput{Param: v, Val: p})
	}
}
