package protocol

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

type tensors = map[string]*interp.Tensor

// An oracle is a model as one program that gives its adjoints too, and the programs
// of its first states.
type oracle struct {
	f       *ir.Func
	blk     *check.Block
	program *interp.Program
	sizes   map[string]int
	starts  []start
	bare    string // what the table of parameters leaves out in front of a name
}

// A start is the program of the first states of one rule, and the same with adjoints.
type start struct {
	prefix         string
	f              *ir.Func
	first, program *interp.Program
	sizes          map[string]int
}

// withAdjoints is a program that, for the adjoints of some results, gives those of its
// parameters as well. Nothing is simplified and nothing divided, unlike on the way to
// generated code.
func withAdjoints(f *ir.Func, of func(r ir.Result) bool) *interp.Program {
	g, _ := f.Clone()
	b := &ir.Builder{F: g}
	seeds := map[*ir.Value]*ir.Value{}
	for _, r := range g.Results {
		if r.Val.Elem != ir.Real || !of(r) {
			continue
		}
		bar := g.AddParam(ir.AdjointName(r.Name), ir.Adjoint, ir.Real, r.Val.Axes...)
		if old := seeds[r.Val]; old != nil {
			bar = b.Lin(r.Val.Axes, 0, []float64{1, 1}, ir.All(old), ir.All(bar))
		}
		seeds[r.Val] = bar
	}
	var wrt []*ir.Value
	for _, v := range g.Params {
		if v.Elem == ir.Real && !v.NoGrad && (v.Role == ir.Outer || v.Role == ir.State) {
			wrt = append(wrt, v)
		}
	}
	adjoints := autodiff.Reverse(b, seeds, wrt)
	for _, v := range wrt {
		if a := adjoints[v]; a != nil {
			g.Results = append(g.Results, ir.Result{Name: ir.AdjointName(v.Name), Val: a})
		}
	}
	return interp.Compile(g)
}

// newOracle builds the program of a scenario, its closed levels frozen, at the sizes of
// a subject.
func newOracle(s *subject[float64]) *oracle {
	s.t.Helper()
	o := newStarts(s)
	var ds diag.List
	o.f = irbuild.WholeAt(o.blk, s.x.closed, &ds)
	if o.f == nil || ds.HasErrors() {
		s.t.Fatalf("%v is not one program: %s", s.x, ds.Error())
	}
	o.program = withAdjoints(o.f, func(r ir.Result) bool { return !r.State })
	o.sizes = solve(o.f, s.sizes.program, "", o.shapes(s), s.batch, s.steps)
	return o
}

// newStarts is an oracle of first states alone.
func newStarts(s *subject[float64]) *oracle {
	s.t.Helper()
	o := &oracle{blk: blockOf(s.t, s.x.formula())}
	if s.bare() {
		o.bare = "block."
	}
	o.addStarts(s.t, o.blk, "", s, o.shapes(s))
	return o
}

// addStarts adds the first states of a block's rules and of its parts'.
func (o *oracle) addStarts(t testing.TB, b *check.Block, prefix string, s *subject[float64], shapes map[string][]int) {
	if b.Unit.Kind == notation.RuleUnit {
		var ds diag.List
		f := irbuild.Start(b, &ds)
		if ds.HasErrors() {
			t.Fatal(ds.Error())
		}
		o.starts = append(o.starts, start{prefix, f, interp.Compile(f), withAdjoints(f, func(ir.Result) bool { return true }),
			solve(f, s.sizes.program, prefix, shapes, s.batch, s.steps)})
	}
	for _, p := range b.Parts {
		o.addStarts(t, p.Block, prefix+ident.ASCII(p.Name)+".", s, shapes)
	}
}

// shapes are those of all parameters and states, under the program's names.
func (o *oracle) shapes(s *subject[float64]) map[string][]int {
	out := map[string][]int{}
	v := s.set.View()
	for i := range v.Len() {
		out[o.inside(v.Name(i))] = v.Param(i).Shape
	}
	s.mem.Each("", func(name string, shape []int, _ []float64) { out[name] = shape })
	return out
}

// inside is the program's name of a parameter of the table: only E and H are the
// model's own where its block has no name there.
func (o *oracle) inside(name string) string {
	if name == "E" || name == "H" {
		return name
	}
	return o.bare + name
}

// An answer is what the interpreter says of one call, by the names of the model.
type answer struct {
	outs, grads, memory map[string][]float64
}

// run evaluates the call of a subject.
func (o *oracle) run(s *subject[float64]) answer {
	s.t.Helper()
	in := o.inputs(s)
	args := o.begin(in)
	args[ir.AdjointName("loss")] = &interp.Tensor{Shape: []int{s.batch}, Data: s.lossBar}
	args[ir.AdjointName(o.logits())] = &interp.Tensor{Shape: []int{s.batch, s.steps, s.model.Vocabulary()}, Data: s.logitsBar}
	out := o.program.Run(o.sizes, args)
	o.learn(in, out)
	a := o.named(s, out)
	s.mem.Each("", func(name string, _ []int, _ []float64) {
		if a.memory[name] == nil { // a frozen program does not give out what stays
			a.memory[name] = args[name].Data
		}
	})
	return a
}

// logits is the program's name of what the loss is computed from.
func (o *oracle) logits() string {
	i := slices.IndexFunc(o.f.Results, func(r ir.Result) bool { return !r.State && r.Name != "loss" })
	return o.f.Results[i].Name
}

// inputs are all numbers of a call by the program's names.
func (o *oracle) inputs(s *subject[float64]) tensors {
	in := tensors{}
	ints := func(name string, shape []int, x []int32) {
		t := interp.NewTensor(shape...)
		for i, v := range x {
			t.Data[i] = float64(v)
		}
		in[name] = t
	}
	ints("ids", []int{s.batch, s.steps}, s.ids)
	ints("next", []int{s.batch, s.steps}, s.next)
	v := s.set.View()
	for i := range v.Len() {
		in[o.inside(v.Name(i))] = &interp.Tensor{Shape: v.Param(i).Shape, Data: slices.Clone(v.Data(i))}
	}
	s.mem.Each("", func(name string, shape []int, data []float64) {
		in[name] = &interp.Tensor{Shape: slices.Clone(shape), Data: slices.Clone(data)}
	})
	s.mem.EachPos("", func(name string, pos []int32) { ints(name, []int{s.batch}, pos) })
	return in
}

// begin puts first states into the sequences whose context starts with the call.
func (o *oracle) begin(in tensors) tensors {
	args := maps.Clone(in)
	for _, st := range o.starts {
		first := st.first.Run(st.sizes, st.args(in))
		for _, r := range st.f.Results {
			name := st.prefix + r.Name
			t := args[name].Clone()
			st.newSequences(in, func(sequence int) { copy(row(t, sequence), row(first[r.Name], sequence)) })
			args[name] = t
		}
	}
	return args
}

// learn hands the adjoints of first states on to what they were learned from.
func (o *oracle) learn(in, grads tensors) {
	for _, st := range o.starts {
		all := st.args(in)
		for _, r := range st.f.Results {
			bar := interp.NewTensor(in[st.prefix+r.Name].Shape...)
			if g := grads[ir.AdjointName(st.prefix+r.Name)]; g != nil {
				st.newSequences(in, func(sequence int) { copy(row(bar, sequence), row(g, sequence)) })
			}
			all[ir.AdjointName(r.Name)] = bar
		}
		for name, g := range st.program.Run(st.sizes, all) {
			if !strings.HasSuffix(name, ir.AdjointName("")) {
				continue // a first state itself
			}
			if old := grads[st.prefix+name]; old != nil {
				for i := range g.Data {
					g.Data[i] += old.Data[i]
				}
			}
			grads[st.prefix+name] = g
		}
	}
}

// args are the arguments of a first state by its own names.
func (st start) args(in tensors) tensors {
	out := tensors{}
	for _, p := range st.f.Params {
		out[p.Name] = in[st.prefix+p.Name]
	}
	return out
}

// named puts results and gradients under the names of the model.
func (o *oracle) named(s *subject[float64], out tensors) answer {
	a := answer{map[string][]float64{}, map[string][]float64{}, map[string][]float64{}}
	for _, r := range o.f.Results {
		switch {
		case r.State:
			a.memory[r.Name] = out[r.Name].Data
		case r.Name == "loss":
			a.outs["loss"] = out[r.Name].Data
		default:
			a.outs["logits"] = out[r.Name].Data
		}
	}
	v := s.set.View()
	for i := range v.Len() {
		name := o.inside(v.Name(i))
		if g := out[ir.AdjointName(name)]; g != nil {
			a.grads[v.Name(i)] = g.Data
		}
	}
	return a
}

// row is what a tensor has of one sequence.
func row(t *interp.Tensor, sequence int) []float64 {
	n := len(t.Data) / t.Shape[0]
	return t.Data[sequence*n : (sequence+1)*n]
}

// newSequences calls f for the sequences in which a rule's context starts with the call.
func (st start) newSequences(in tensors, f func(sequence int)) {
	for sequence, pos := range in[st.prefix+"pos"].Data {
		if pos == 0 {
			f(sequence)
		}
	}
}
