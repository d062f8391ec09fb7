// Package outline takes a function out of a tensor program: it divides a program into
// the instructions of chosen equations, which become a program of their own, and the
// rest, which reads what the function computes as inputs. This is function outlining,
// the inverse of inlining. It runs before differentiation, so each of the two programs
// gets its own forward and backward, and the chain rule between them is the caller's.
//
// A function depends on inputs, learned parameters and convolution states, and on no
// other state: what an equation computes from another state stays in the rest. Two
// callers whose chosen equations compute the same get the same function to the letter,
// because instructions, parameters and results are put into an order that does not
// depend on the caller: that of the chosen equations.
package outline

import (
	"cmp"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A Choice says which equations become the function.
type Choice struct {
	// Rank is the place of an equation in the function, by its id, or −1 for one that
	// is not chosen.
	Rank func(eq string) int
	// Rename is the id of a chosen equation in the function.
	Rename func(eq string) string
}

// A Cut is a program in two parts. Function has the results that Rest reads, in the
// order of the function, and then the convolution states that it moves on. Each of the
// former is an input of the same name in Rest.
type Cut struct {
	Function, Rest *ir.Func
}

// Split divides f, which it leaves as it is. There is no cut where no chosen equation
// computes anything that can be taken out.
func Split(f *ir.Func, name string, choice Choice) *Cut {
	g, _ := f.Clone()
	s := &splitter{Choice: choice, f: g, taken: map[*ir.Instr]bool{}}
	s.take()
	for s.giveBack() {
	}
	if len(s.crossing()) == 0 {
		return nil
	}
	c := &Cut{Function: s.function(name)}
	c.Rest = s.rest()
	return c
}

// A splitter divides one program.
type splitter struct {
	Choice
	f     *ir.Func
	taken map[*ir.Instr]bool // instructions of the function
}

// take marks the instructions that can belong to the function: those of chosen
// equations, and those of no equation or that only stop a gradient, when all that they
// read is known to the function.
func (s *splitter) take() {
	for _, in := range s.f.Body {
		chosen := s.Rank(in.Eq) >= 0 || in.Eq == "" || in.Op == ir.Stop
		if chosen && in.Scan == nil && !slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return !s.known(v) }) {
			s.taken[in] = true
		}
	}
}

// known reports whether the function may read a value.
func (s *splitter) known(v *ir.Value) bool {
	if v.Def != nil {
		return s.taken[v.Def]
	}
	switch v.Role {
	case ir.Input, ir.Outer:
		return true
	case ir.State:
		return v.IsPosition() || v.IsWindow()
	}
	return false
}

// giveBack returns instructions to the rest, and reports whether there were any: one
// that makes an index or a condition for the rest, since only real numbers cross the
// edge, one that copies entries of another value for the rest, one that reads what was
// given back, and one of no chosen equation, or a constant, that the function does not
// need itself.
func (s *splitter) giveBack() bool {
	inside, outside := s.readers()
	n := len(s.taken)
	for _, in := range s.f.Body {
		if !s.taken[in] {
			continue
		}
		needed := inside[in.Out] || s.Rank(in.Eq) >= 0 && !constant(in) || s.moves(in.Out)
		indices := in.Out.Elem != ir.Real && outside[in.Out] && !constant(in)
		if !needed || indices || copies(in) && !inside[in.Out] && !s.moves(in.Out) || slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return !s.known(v) }) {
			delete(s.taken, in)
		}
	}
	return len(s.taken) < n
}

// readers are the values that the function reads and those that the rest reads.
func (s *splitter) readers() (inside, outside map[*ir.Value]bool) {
	inside, outside = map[*ir.Value]bool{}, map[*ir.Value]bool{}
	for _, in := range s.f.Body {
		for _, v := range in.Reads() {
			if s.taken[in] {
				inside[v] = true
			} else {
				outside[v] = true
			}
		}
	}
	for _, r := range s.f.Results {
		if !r.IsWindow() {
			outside[r.Val] = true
		}
	}
	return inside, outside
}

// moves reports whether a value is a convolution state after the call.
func (s *splitter) moves(v *ir.Value) bool {
	return slices.ContainsFunc(s.f.Results, func(r ir.Result) bool { return r.Val == v && r.IsWindow() })
}

// crossing lists the values that the function computes for the rest. A constant is not one:
// the rest computes it again.
func (s *splitter) crossing() []*ir.Value {
	_, outside := s.readers()
	var out []*ir.Value
	for _, in := range s.f.Body {
		if s.taken[in] && outside[in.Out] && !constant(in) {
			out = append(out, in.Out)
		}
	}
	return out
}

// copies reports whether an instruction makes a value without a name of entries of
// another one that the function computes.
func copies(in *ir.Instr) bool {
	return (in.Op == ir.Prod || in.Op == ir.Reshape) && in.Out.Temporary() && len(in.Args) == 1 && len(in.Reads()) == 1 &&
		in.Args[0].Val.Def != nil && len(in.Reduced()) == 0
}

// constant reports whether an instruction reads nothing.
func constant(in *ir.Instr) bool { return len(in.Reads()) == 0 }

// order sorts the taken instructions topologically, those of the first equations first,
// and those of one equation as they were.
func (s *splitter) order() []*ir.Instr {
	var left []*ir.Instr
	for _, in := range s.f.Body {
		if s.taken[in] {
			left = append(left, in)
		}
	}
	rank := s.ranks(left)
	var out []*ir.Instr
	done := map[*ir.Instr]bool{}
	for len(left) > 0 {
		best := -1
		for i, in := range left {
			ready := !slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return v.Def != nil && !done[v.Def] })
			if ready && (best < 0 || cmp.Less(rank[in], rank[left[best]])) {
				best = i
			}
		}
		in := left[best]
		left = slices.Delete(left, best, best+1)
		done[in], out = true, append(out, in)
	}
	return out
}

// ranks are the places of instructions; one of no equation has that of its first reader.
func (s *splitter) ranks(ins []*ir.Instr) map[*ir.Instr]int {
	rank := map[*ir.Instr]int{}
	for _, in := range slices.Backward(ins) {
		rank[in] = s.Rank(in.Eq)
		if rank[in] >= 0 {
			continue
		}
		rank[in] = len(s.f.Body) + len(ins)
		for _, other := range ins {
			if r, ok := rank[other]; ok && slices.Contains(other.Reads(), in.Out) {
				rank[in] = min(rank[in], r)
			}
		}
	}
	return rank
}

// function builds the program of the function.
func (s *splitter) function(name string) *ir.Func {
	g := &ir.Func{Name: name}
	c := ir.NewCloner(g)
	order, made := s.order(), map[*ir.Value]bool{}
	for _, in := range order {
		made[in.Out] = true
	}
	for _, in := range order {
		for _, v := range in.Reads() {
			if v.Def == nil && c.Map[v] == nil {
				p := g.AddParam(v.Name, v.Role, v.Elem, v.Axes...)
				p.NoGrad = v.NoGrad
				c.Map[v] = p
			}
		}
	}
	for _, in := range order {
		eq := in.Eq
		if in.Out.Temporary() {
			in.Out.Name = "%" // numbered by the function, not by the caller
		}
		n := c.Instr(in)
		n.Eq, n.AlsoEqs = s.renamed(eq), nil
		for _, id := range in.AlsoEqs {
			n.AlsoEqs = append(n.AlsoEqs, s.renamed(id))
		}
	}
	crossing := s.crossing()
	for _, in := range order {
		if slices.Contains(crossing, in.Out) {
			if in.Out.Temporary() {
				in.Out.Name = g.Fresh(in.Out.Label())
			}
			g.Results = append(g.Results, ir.Result{Name: in.Out.Name, Val: c.Value(in.Out)})
		}
	}
	for _, p := range g.Params {
		for _, r := range s.f.Results {
			if r.State && r.Name == p.Name && r.Val.Def != nil && made[r.Val] {
				g.Results = append(g.Results, ir.Result{Name: r.Name, Val: c.Value(r.Val), State: true, Eq: s.renamed(r.Eq)})
			}
		}
	}
	g.Axes = axesOf(g)
	return g
}

func (s *splitter) renamed(eq string) string {
	if s.Rank(eq) >= 0 {
		return s.Rename(eq)
	}
	return ""
}

// rest builds the program that is left.
func (s *splitter) rest() *ir.Func {
	crossing := s.crossing()
	g := &ir.Func{Name: s.f.Name, Axes: slices.Clone(s.f.Axes)}
	c := ir.NewCloner(g)
	for _, p := range s.f.Params {
		n := g.AddParam(p.Name, p.Role, p.Elem, p.Axes...)
		n.NoGrad = p.NoGrad
		c.Map[p] = n
	}
	for _, in := range s.f.Body {
		switch {
		case slices.Contains(crossing, in.Out) && in.Out != nil:
			c.Map[in.Out] = g.AddParam(in.Out.Name, ir.Input, ir.Real, in.Out.Axes...)
		case !s.taken[in] || constant(in):
			c.Instr(in)
		}
	}
	for _, r := range s.f.Results {
		if r.State && r.Val.Def != nil && s.taken[r.Val.Def] {
			continue
		}
		g.Results = append(g.Results, ir.Result{Name: r.Name, Val: c.Value(r.Val), State: r.State, Eq: r.Eq})
	}
	g.Sweep()
	used := g.Uses()
	g.Params = slices.DeleteFunc(g.Params, func(p *ir.Value) bool { return used[p] == 0 })
	return g
}

// axesOf lists the axes of the values and loops of a program without scans, each once.
func axesOf(f *ir.Func) []*ir.Axis {
	var out []*ir.Axis
	add := func(axes []*ir.Axis) {
		for _, a := range axes {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	for _, p := range f.Params {
		add(p.Axes)
	}
	for _, in := range f.Body {
		add(in.Loops)
		add(in.Out.Axes)
		if in.Solve != nil {
			add(in.Solve.Residual.Axes)
		}
	}
	return out
}
