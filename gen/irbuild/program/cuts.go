package program

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Cut analysis. A program runs over the tokens of one call, and states carry what
// later calls need, so for most programs the results do not depend on where a
// sequence is cut into calls. The exceptions are found by a walk from the results
// to their definitions: a state that is read as the call found it, a recurrence
// that starts again with every call, a sum over the tokens of a call, and a position
// or a window that counts from the start of the call.

// Cuts says in which ways the results of a program depend on how a sequence is cut into
// calls. It is empty where they do not. A result without tokens, such as a loss, is about
// its call anyway.
func Cuts(f *ir.Func) []string {
	c := &cutFinder{f: f, written: map[*ir.Value]bool{}, done: map[*ir.Instr]bool{}}
	for _, p := range f.Params { // states that are another after the call
		c.written[p] = p.Role == ir.State && p.Elem == ir.Real && f.Result(p.Name) != nil && f.Result(p.Name) != p
	}
	for _, r := range f.Results {
		if r.State || slices.ContainsFunc(r.Val.Axes, isTokens) {
			c.visit(r.Val)
		}
	}
	return c.out
}

// A cutFinder walks from the results of a program to their definitions.
type cutFinder struct {
	f       *ir.Func
	written map[*ir.Value]bool
	done    map[*ir.Instr]bool
	out     []string
}

func (c *cutFinder) add(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(c.out, s) {
		c.out = append(c.out, s)
	}
}

func (c *cutFinder) visit(v *ir.Value) {
	in := v.Def
	if in == nil || c.done[in] {
		return
	}
	c.done[in] = true
	if in.Scan != nil {
		c.scan(in.Scan)
	} else {
		c.instr(in)
	}
	for _, x := range in.Reads() {
		c.visit(x)
	}
}

func (c *cutFinder) scan(s *ir.Scan) {
	if len(s.Time.Size.Quotients()) > 0 {
		if _, whole := s.Time.Size.Symbol(); whole {
			c.add("sums are taken chunk by chunk, counted from the start of the call")
		}
	}
	for _, x := range s.Carry {
		if init := beforeReshape(x.Init); init == nil || init.Role != ir.State && (init.Def == nil || init.Def.Scan == nil) {
			c.add("%s begins anew with every call", x.Param.Name)
		}
	}
	for _, v := range s.Shared {
		if c.written[beforeReshape(v.Val)] {
			c.add("%s is read as the call found it", v.Val.Name)
		}
	}
}

func (c *cutFinder) instr(in *ir.Instr) {
	for _, a := range in.Args {
		if c.written[beforeReshape(a.Val)] && in.Op != ir.Stack && in.Op != ir.Reshape { // a window state is prepended to its series
			c.add("%s is read as the call found it", a.Val.Name)
		}
	}
	switch {
	case reducesOverTokens(in):
		c.add("%s sums over the tokens of the call", spelled(in))
	case usesTokenIndex(in):
		c.add("%s counts from the start of the call", spelled(in))
	}
}

// beforeReshape is the value that reshapes were applied to.
func beforeReshape(v *ir.Value) *ir.Value {
	for v != nil && v.Def != nil && v.Def.Op == ir.Reshape {
		v = v.Def.Args[0].Val
	}
	return v
}

// reducesOverTokens reports whether an instruction sums or normalises over tokens.
func reducesOverTokens(in *ir.Instr) bool {
	for l, a := range in.Loops {
		if !isTokens(a) || in.Op == ir.Stack || in.Op == ir.Iota {
			continue
		}
		placed := slices.ContainsFunc(in.To, func(s ir.Sub) bool {
			return slices.ContainsFunc(s.Terms, func(t ir.Term) bool { return t.Loop == l })
		})
		if !placed || slices.Contains(in.Over, l) {
			return true
		}
	}
	return false
}

// usesTokenIndex reports whether an instruction reads the number of a token in its call:
// as a number, or in a guard that does not count the context's tokens.
func usesTokenIndex(in *ir.Instr) bool {
	ofTime := func(s ir.Sub) bool {
		return s.Indirect == nil && slices.ContainsFunc(s.Terms, func(t ir.Term) bool { return isTokens(in.Loops[t.Loop]) })
	}
	return in.Op == ir.Iota && len(in.Args) == 0 && slices.ContainsFunc(in.Loops, isTokens) || slices.ContainsFunc(in.Guard, ofTime)
}

func isTokens(a *ir.Axis) bool {
	s, ok := a.Size.Symbol()
	return ok && s == "T"
}

func spelled(in *ir.Instr) string {
	if in.Eq != "" {
		return in.Eq
	}
	return in.Out.Name
}

// Stop-gradients: which parameters have one on a path to a result, found by a depth-first walk over
// definitions.

// Stopped lists the learned parameters, inputs and states that a stopped value of
// a program depends on: the gradient that they receive is not the derivative of
// the result.
func Stopped(f *ir.Func) []string {
	seen := map[*ir.Value]bool{}
	var out []string
	var visit func(v *ir.Value)
	visit = func(v *ir.Value) {
		switch {
		case seen[v]:
			return
		case v.Def == nil && (v.Role == ir.Outer || v.Role == ir.Input || v.Role == ir.State):
			out = append(out, v.Name)
		}
		seen[v] = true
		if v.Def != nil {
			for _, x := range v.Def.Reads() {
				visit(x)
			}
		}
	}
	var find func(g *ir.Func)
	find = func(g *ir.Func) {
		for _, in := range g.Body {
			if in.Op == ir.Stop && !slices.ContainsFunc(f.Results, func(r ir.Result) bool { return r.State && r.Val == in.Out }) {
				visit(in.Args[0].Val)
			}
			if in.Scan != nil {
				find(in.Scan.Body)
			}
		}
	}
	find(f)
	slices.Sort(out)
	return out
}
