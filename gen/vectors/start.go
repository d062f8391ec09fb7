package vectors

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Where the first state of a rule is learned, the tape puts it in place of the memory of
// every sequence whose context starts with the call, and passes its adjoint back. In the
// program of the rule the state is an input. So the interpreter runs the program of the
// first states before it, and their backward after it.

// A learned is the program of a rule's first states, where they are learned.
type learned struct {
	prefix string
	pair   *evaluated
}

// startsOf finds the learned first states of a block and its parts.
func startsOf(b *check.Block, prefix string) []learned {
	var out []learned
	if b.Unit.Kind == notation.RuleUnit {
		var ds diag.List
		if f := irbuild.Start(b, &ds); f != nil && !ds.HasErrors() {
			s := learned{prefix, newEvaluated(f)}
			if slices.ContainsFunc(f.Results, func(r ir.Result) bool { return s.learns(r.Val) }) {
				out = append(out, s)
			}
		}
	}
	for _, p := range b.Parts {
		out = append(out, startsOf(p.Block, prefix+ident.ASCII(p.Name)+".")...)
	}
	return out
}

// learns reports whether a first state depends on a parameter, or is a number;
// a new memory is zero anyway.
func (s learned) learns(v *ir.Value) bool {
	switch {
	case v.Def == nil:
		return true
	case len(v.Def.Args) == 0 && len(v.Def.Coef) > 0:
		return v.Def.Coef[0] != 0
	}
	return slices.ContainsFunc(v.Def.Reads(), s.learns)
}

// setPositions gives every learned start a sequence whose context starts here and one whose
// context does not.
func (c *testCase) setPositions() {
	for _, s := range c.starts {
		if name := s.prefix + ir.Position; c.in[name] == nil {
			c.in[name] = interp.NewTensor(c.sizes["L"])
			c.in[name].Data[0] = 2
		}
	}
}

// learnedParams are the parameters of the starts that the program itself does not have.
func (c *testCase) learnedParams() []*ir.Value {
	var out []*ir.Value
	seen := map[string]bool{}
	add := func(name string, role ir.Role, elem ir.Elem) {
		if c.pair.f.Param(name) == nil && !seen[name] {
			seen[name] = true
			out = append(out, &ir.Value{Name: name, Role: role, Elem: elem})
		}
	}
	for _, s := range c.starts {
		for _, p := range s.pair.f.Params {
			add(s.prefix+p.Name, p.Role, p.Elem)
		}
		add(s.prefix+ir.Position, ir.State, ir.Int)
	}
	return out
}

// begin gives sequences whose context starts here their learned first states.
func (c *testCase) begin() (in tensors, started []tensors) {
	for _, s := range c.starts {
		sizes := c.inside(s)
		args := tensors{}
		for _, p := range s.pair.f.Params {
			name := s.prefix + p.Name
			if c.in[name] == nil {
				c.in[name] = interp.NewTensor(interp.Shape(p.Axes, sizes)...)
				c.fill(c.in[name])
			}
			args[p.Name] = c.in[name]
		}
		started = append(started, args)
	}
	in = maps.Clone(c.in)
	for i, s := range c.starts {
		first := s.pair.Fwd.Run(c.inside(s), started[i])
		for _, r := range s.pair.f.Results {
			old := in[s.prefix+r.Name]
			if old == nil || !s.learns(r.Val) {
				continue
			}
			t := old.Clone()
			c.fresh(s, func(slot int) { copy(row(t, slot), row(first[r.Name], slot)) })
			in[s.prefix+r.Name] = t
		}
	}
	return in, started
}

// learn passes the adjoints of first states to the parameters that they depend on.
func (c *testCase) learn(started []tensors, grads tensors) {
	for i, s := range c.starts {
		_, g := s.pair.Run(c.inside(s), started[i], func(r ir.Result, out *interp.Tensor) *interp.Tensor {
			t := interp.NewTensor(out.Shape...)
			if bar := grads[s.prefix+r.Name]; bar != nil && s.learns(r.Val) {
				c.fresh(s, func(slot int) { copy(row(t, slot), row(bar, slot)) })
			}
			return t
		})
		for _, p := range s.pair.f.Params {
			part, name := g[p.Name], s.prefix+p.Name
			switch {
			case part == nil:
			case grads[name] == nil:
				grads[name] = part
			default:
				for k, x := range part.Data {
					grads[name].Data[k] += x
				}
			}
		}
	}
}

// fresh calls f for the sequences of a part whose context starts here.
func (c *testCase) fresh(s learned, f func(slot int)) {
	for slot, pos := range c.in[s.prefix+ir.Position].Data {
		if pos == 0 {
			f(slot)
		}
	}
}

// row is the part of a tensor of one sequence.
func row(t *interp.Tensor, slot int) []float64 {
	n := len(t.Data) / t.Shape[0]
	return t.Data[slot*n : (slot+1)*n]
}

// inside are the sizes of a part by its own names.
func (c *testCase) inside(s learned) map[string]int {
	out := maps.Clone(c.sizes)
	for n, v := range c.sizes {
		if own, ok := strings.CutPrefix(n, s.prefix); ok {
			out[own] = v
		}
	}
	return out
}
