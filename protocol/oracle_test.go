package protocol

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/formula"
)

// pages are the pages of the project, as the compiler reads them.
var pages = sync.OnceValue(func() *check.Tree {
	s, ds := gen.Load("../specs")
	if ds.HasErrors() {
		panic("protocol: BUG: the pages have errors: " + ds.Error())
	}
	return s.Tree
})

// blockOf is a formula as the compiler sees it: the same pages in the same places.
func blockOf(t testing.TB, text string) *check.Block {
	t.Helper()
	f, err := formula.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b, ds := check.InstantiateFormula(pages(), f.Name, &notation.Formula{Parts: []*notation.Apply{applied(f)}}, nil)
	if ds.HasErrors() {
		t.Fatalf("%s: %s", text, ds.Error())
	}
	return b
}

// applied is a formula as the parser of pages gives it.
func applied(f formula.Formula) *notation.Apply {
	a := &notation.Apply{Name: notation.Word{Text: f.Name}}
	for _, arg := range f.Args {
		o := &notation.Override{Name: notation.Word{Text: arg.Name}}
		if arg.List {
			o.Value = listed(arg)
		} else {
			o.Apply = applied(arg.Pages[0])
		}
		a.Args = append(a.Args, o)
	}
	return a
}

// listed is a list of pages, which stands where an expression does.
func listed(arg formula.Arg) notation.Expr {
	l := &notation.List{}
	for _, p := range arg.Pages {
		call := &notation.Call{Fun: notation.Word{Text: p.Name}}
		for _, x := range p.Args {
			if x.List {
				call.Args = append(call.Args, listed(x))
			} else {
				call.Args = append(call.Args, listed(x).(*notation.List).Items...)
			}
		}
		l.Items = append(l.Items, call)
	}
	return l
}

type tensors = map[string]*interp.Tensor

// An oracle is a model as one program with its adjoint, and the programs of its
// first states.
type oracle struct {
	f        *ir.Func
	blk      *check.Block
	pair     *autodiff.Pair
	fwd, bwd *interp.Program
	sizes    map[string]int
	starts   []start
	bare     string // what the table of parameters leaves out in front of a name
}

// A start is the program of the first states of one rule.
type start struct {
	prefix   string
	f        *ir.Func
	fwd, bwd *interp.Program
	pair     *autodiff.Pair
	sizes    map[string]int
}

// newOracle builds the program of a trial, its closed levels frozen, at the sizes of
// a subject.
func newOracle(s *subject[float64]) *oracle {
	s.t.Helper()
	o := &oracle{blk: blockOf(s.t, s.x.formula())}
	var ds diag.List
	o.f = irbuild.WholeAt(o.blk, s.x.closed, &ds)
	if o.f == nil || ds.HasErrors() {
		s.t.Fatalf("%v is not one program: %s", s.x, ds.Error())
	}
	model := registry.Pages()[o.blk.Unit.Name.Text]
	if model.Parts[0].Bare {
		o.bare = model.Parts[0].Name + "."
	}
	o.pair = autodiff.NewPair(o.f)
	o.fwd, o.bwd = interp.Compile(o.pair.Fwd), interp.Compile(o.pair.Bwd)
	shapes := o.shapes(s)
	o.sizes = solve(o.f, s.sizes.program, "", shapes, s.lanes, s.steps)
	o.addStarts(s.t, o.blk, "", s, shapes)
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
		p := autodiff.NewPair(f)
		o.starts = append(o.starts, start{prefix, f, interp.Compile(p.Fwd), interp.Compile(p.Bwd), p,
			solve(f, s.sizes.program, prefix, shapes, s.lanes, s.steps)})
	}
	for _, p := range b.Parts {
		o.addStarts(t, p.Block, prefix+check.ASCII(p.Name)+".", s, shapes)
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

// inside is the program's name of a parameter of the table.
func (o *oracle) inside(name string) string {
	if o.bare != "" && o.f.Param(name) == nil {
		return o.bare + name
	}
	return name
}

// solve finds the sizes of a program: those that a table gives under the prefix, and
// the others from the shapes of what exists, one unknown at a time.
func solve(f *ir.Func, given map[string]int, prefix string, shapes map[string][]int, lanes, steps int) map[string]int {
	z := map[string]int{"L": lanes, "T": steps}
	for name, n := range given {
		if own, ok := strings.CutPrefix(name, prefix); ok {
			z[own] = n
		}
	}
	known := map[*ir.Value][]int{}
	for _, p := range f.Params {
		known[p] = shapes[prefix+p.Name]
	}
	for _, r := range f.Results {
		if r.State {
			known[r.Val] = shapes[prefix+r.Name]
		}
	}
	for more := true; more; {
		more = false
		for v, shape := range known {
			for i, a := range v.Axes {
				if i < len(shape) && solveOne(a, shape[i], z) {
					more = true
				}
			}
		}
	}
	return z
}

// solveOne finds the one size of an axis that is not known, if the axis grows with
// it as a straight line does.
func solveOne(a *ir.Axis, n int, z map[string]int) bool {
	unknown := ""
	for _, s := range a.Size.Symbols() {
		if _, ok := z[s]; !ok && unknown != "" {
			return false
		} else if !ok {
			unknown = s
		}
	}
	if unknown == "" {
		return false
	}
	at := func(x int) int {
		z[unknown] = x
		got, err := a.Size.Eval(z)
		delete(z, unknown)
		if err != nil {
			panic("protocol: BUG: " + err.Error())
		}
		return got
	}
	base := at(0)
	slope := at(1) - base
	if slope == 0 || (n-base)%slope != 0 {
		return false
	}
	z[unknown] = (n - base) / slope
	return true
}

// An answer is what the interpreter says of one call, by the names of the model.
type answer struct {
	outs, grads, memory map[string][]float64
	reached             map[string]bool // parameters that the program reads
}

// run evaluates the call of a subject.
func (o *oracle) run(s *subject[float64]) answer {
	s.t.Helper()
	in := o.inputs(s)
	args := o.begin(in)
	out := o.fwd.Run(o.sizes, only(o.pair.Fwd, args))
	all := maps.Clone(out)
	maps.Copy(all, args) // a state before the call, not the one after it
	for _, r := range o.f.Results {
		if r.Val.Elem != ir.Real {
			continue
		}
		bar := interp.NewTensor(out[r.Name].Shape...)
		switch {
		case r.State:
		case r.Name == "loss":
			copy(bar.Data, s.lossBar)
		default:
			copy(bar.Data, s.logitsBar)
		}
		all[autodiff.Bar(r.Name)] = bar
	}
	grads := o.bwd.Run(o.sizes, only(o.pair.Bwd, all))
	o.learn(in, grads)
	a := o.named(s, out, grads)
	s.mem.Each("", func(name string, _ []int, _ []float64) {
		if a.memory[name] == nil { // a frozen program does not give out what stays
			a.memory[name] = args[name].Data
		}
	})
	return a
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
	ints("ids", []int{s.lanes, s.steps}, s.ids)
	ints("next", []int{s.lanes, s.steps}, s.next)
	v := s.set.View()
	for i := range v.Len() {
		in[o.inside(v.Name(i))] = &interp.Tensor{Shape: v.Param(i).Shape, Data: slices.Clone(v.Data(i))}
	}
	s.mem.Each("", func(name string, shape []int, data []float64) {
		in[name] = &interp.Tensor{Shape: slices.Clone(shape), Data: slices.Clone(data)}
	})
	s.mem.EachPos("", func(name string, pos []int32) { ints(name, []int{s.lanes}, pos) })
	return in
}

// begin puts first states into the lanes whose context starts with the call.
func (o *oracle) begin(in tensors) tensors {
	args := maps.Clone(in)
	for _, st := range o.starts {
		first := st.fwd.Run(st.sizes, st.args(in))
		for _, r := range st.f.Results {
			name := st.prefix + r.Name
			t := args[name].Clone()
			st.newLanes(in, func(lane int) { copy(row(t, lane), row(first[r.Name], lane)) })
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
			if g := grads[autodiff.Bar(st.prefix+r.Name)]; g != nil {
				st.newLanes(in, func(lane int) { copy(row(bar, lane), row(g, lane)) })
			}
			all[autodiff.Bar(r.Name)] = bar
		}
		maps.Copy(all, st.fwd.Run(st.sizes, st.args(in)))
		for name, g := range st.bwd.Run(st.sizes, only(st.pair.Bwd, all)) {
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

// learned are the parameters that first states read, by the model's names.
func (o *oracle) learned() map[string]bool {
	out := map[string]bool{}
	for _, st := range o.starts {
		for _, p := range st.f.Params {
			out[strings.TrimPrefix(st.prefix+p.Name, o.bare)] = true
		}
	}
	return out
}

// named puts results and gradients under the names of the model.
func (o *oracle) named(s *subject[float64], out, grads tensors) answer {
	a := answer{map[string][]float64{}, map[string][]float64{}, map[string][]float64{}, map[string]bool{}}
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
		a.reached[v.Name(i)] = o.f.Param(name) != nil
		if g := grads[autodiff.Bar(name)]; g != nil {
			a.grads[v.Name(i)] = g.Data
		}
	}
	return a
}

func only(f *ir.Func, from tensors) tensors {
	out := tensors{}
	for _, v := range f.Params {
		out[v.Name] = from[v.Name]
	}
	return out
}

// row is what a tensor has of one lane.
func row(t *interp.Tensor, lane int) []float64 {
	n := len(t.Data) / t.Shape[0]
	return t.Data[lane*n : (lane+1)*n]
}

// newLanes calls f for the lanes in which a rule's context starts with the call.
func (st start) newLanes(in tensors, f func(lane int)) {
	for lane, pos := range in[st.prefix+"pos"].Data {
		if pos == 0 {
			f(lane)
		}
	}
}
