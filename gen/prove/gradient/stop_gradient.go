package gradient

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
)

// Stop-gradients under finite differences. stop(x) has the value of x and no gradient,
// but a finite difference moves x. So every stopped value is held constant: the program
// runs once, and its stopped values become parameters of the program that is differenced,
// token by token inside a scan.

// holdStopped is f with its stopped values as parameters, whose values at the given
// parameters it adds to them. A program without stop is f itself.
func holdStopped(f *ir.Func, sizes map[string]int, params numeric.Tensors) *ir.Func {
	if !hasStops(f) {
		return f
	}
	seen, _ := f.Clone()
	seen.Results = nil
	stopped := func(_ *ir.Func, in *ir.Instr) *ir.Value {
		if in.Op == ir.Stop {
			return in.Out
		}
		return nil
	}
	for n, v := range expose(seen, "stopped", stopped) {
		seen.Results = append(seen.Results, ir.Result{Name: fmt.Sprintf("stopped%d", n), Val: v})
	}
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
