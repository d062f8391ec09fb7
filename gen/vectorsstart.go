package gen

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

// Where the first state of a rule is learned, the tape puts it in place of the
// memory in every lane whose context starts with the call, and hands its
// adjoint on. The program of the rule knows nothing of that: its state is
// given. So the interpreter runs the program of the start before it and the
// start's backward after it.

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
// one that starts from zero is what a new memory holds anyway.
func (s learned) learns(v *ir.Value) bool {
	switch {
	case v.Def == nil:
		return true
	case len(v.Def.Args) == 0 && len(v.Def.Coef) > 0:
		return v.Def.Coef[0] != 0
	}
	return slices.ContainsFunc(v.Def.Reads(), s.learns)
}

// ages gives every learned start a lane that begins and one that does not.
func (c *vectorCase) ages() {
	for _, s := range c.starts {
		if name := s.prefix + ir.Position; c.in[name] == nil {
			c.in[name] = interp.NewTensor(c.sizes["L"])
			c.in[name].Data[0] = 2
		}
	}
}

// learnedParams are what the starts read and the program itself does not.
func (c *vectorCase) learnedParams() []*ir.Value {
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

// begin gives lanes whose context starts here their learned first states.
func (c *vectorCase) begin() (in tensors, started []tensors) {
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
		first := s.pair.fwd.Run(c.inside(s), started[i])
		for _, r := range s.pair.f.Results {
			old := in[s.prefix+r.Name]
			if old == nil || !s.learns(r.Val) {
				continue
			}
			t := old.Clone()
			c.fresh(s, func(lane int) { copy(row(t, lane), row(first[r.Name], lane)) })
			in[s.prefix+r.Name] = t
		}
	}
	return in, started
}

// learn hands the adjoints of first states on to what they were learned from.
func (c *vectorCase) learn(started []tensors, grads tensors) {
	for i, s := range c.starts {
		_, g := s.pair.run(c.inside(s), started[i], func(r ir.Result, out *interp.Tensor) *interp.Tensor {
			t := interp.NewTensor(out.Shape...)
			if bar := grads[ir.AdjointName(s.prefix+r.Name)]; bar != nil && s.learns(r.Val) {
				c.fresh(s, func(lane int) { copy(row(t, lane), row(bar, lane)) })
			}
			return t
		})
		for _, p := range s.pair.f.Params {
			part, name := g[ir.AdjointName(p.Name)], ir.AdjointName(s.prefix+p.Name)
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

// fresh calls f for the lanes of a part whose context starts here.
func (c *vectorCase) fresh(s learned, f func(lane int)) {
	for lane, pos := range c.in[s.prefix+ir.Position].Data {
		if pos == 0 {
			f(lane)
		}
	}
}

// row is what a tensor has of one lane.
func row(t *interp.Tensor, lane int) []float64 {
	n := len(t.Data) / t.Shape[0]
	return t.Data[lane*n : (lane+1)*n]
}

// inside are the sizes of a part by its own names.
func (c *vectorCase) inside(s learned) map[string]int {
	out := maps.Clone(c.sizes)
	for n, v := range c.sizes {
		if own, ok := strings.CutPrefix(n, s.prefix); ok {
			out[own] = v
		}
	}
	return out
}
