package irbuild_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/random"
	"github.com/nl-hecate/hecate/gen/source"
)

// pageHead is a page up to its block.
const pageHead = "# Page\n\n```text\nCONTRACT\n  Purpose: P\n  Expects: E\n  Guarantees: G\n  Cost: C\n  Trade-off: T\n  Position: here\n  Source: none\n```\n\n```hecate\n"

// TestHeadsOfEveryRule gives heads to every rule of the library whose front has
// them, those that a strategy computes too. The step, the frozen read, the first
// states and the gradients of all three are those of the rule run once for each
// head, with that head's parameters and states; the answers lie side by side, and
// the adjoint of the tokens is the sum.
func TestHeadsOfEveryRule(t *testing.T) {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	var page strings.Builder
	page.WriteString(pageHead)
	var names []string
	for _, u := range s.Tree.Kinds(notation.RuleUnit) {
		if b := instance(t, s, u.Name.Text); !u.Example && b.Options["heads"] != nil {
			names = append(names, u.Name.Text)
			fmt.Fprintf(&page, "rule InHeads%s = %[1]s(heads = 3)\n\n", u.Name.Text)
		}
	}
	page.WriteString("```\n")
	s, ds = gen.LoadWith([]string{"../../specs"}, source.NewFile("page.md", page.String()))
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	t.Logf("%d rules", len(names))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			copiesOfHeads(t, instance(t, s, "InHeads"+name))
		})
	}
}

// TestHeadsOfRandomPages is the same for rules that nobody wrote.
func TestHeadsOfRandomPages(t *testing.T) {
	const pages = 60
	var files []*source.File
	var names []string
	for seed := uint64(1); len(names) < pages; seed++ {
		if p := random.New(seed); p.Kind == "heads" {
			files, names = append(files, source.NewFile(p.Unit+".md", p.Text())), append(names, p.Unit)
		}
	}
	s, ds := gen.LoadWith([]string{"../../specs"}, files...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { copiesOfHeads(t, instance(t, s, name)) })
	}
}

// copiesOfHeads holds the programs of a rule in heads to those of one head.
func copiesOfHeads(t *testing.T, many *check.Block) {
	t.Helper()
	if many.Heads == nil {
		t.Fatal("it has no heads")
	}
	one := *many
	one.Heads = nil
	if many.Strategy != nil {
		rule := *many.Strategy.Rule
		rule.Heads = nil
		st := *many.Strategy
		st.Rule, one.Strategy = &rule, &st
	}
	for _, build := range []func(*check.Block, *diag.List) *ir.Func{irbuild.Rule, irbuild.Frozen, irbuild.Start} {
		var ds diag.List
		f, g := build(many, &ds), build(&one, &ds)
		if ds.HasErrors() {
			t.Fatal(ds.Error())
		}
		if err := ir.Verify(f); err != nil {
			t.Fatal(err)
		}
		tokens := 5
		if many.Strategy != nil && !many.Strategy.Frozen {
			tokens += 2 * many.Strategy.Length()
		}
		sameInHeads(t, f, g, tokens)
		p, q := autodiff.NewPair(f), autodiff.NewPair(g)
		if p.Bwd != nil {
			sameInHeads(t, whole(p), whole(q), tokens)
		}
	}
}

// instance resolves a unit.
func instance(t *testing.T, s *gen.Source, name string) *check.Block {
	t.Helper()
	b, ds := check.Instantiate(s.Tree, s.Tree.Units[name])
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return b
}

// whole is a program with the adjoints of what it reads as further results, from
// adjoints of what it gives as further inputs.
func whole(p *ir.Pair) *ir.Func {
	f, _ := p.Fwd.Clone()
	b := &ir.Builder{F: f}
	args := map[*ir.Value]*ir.Value{}
	for _, q := range p.Bwd.Params {
		switch {
		case q.Role == ir.Adjoint:
			args[q] = f.AddParam(q.Name, q.Role, q.Elem, q.Axes...)
		case f.Param(q.Name) != nil:
			args[q] = f.Param(q.Name)
		default:
			args[q] = f.Result(q.Name)
		}
	}
	f.Results = slices.DeleteFunc(f.Results, func(r ir.Result) bool { return slices.Contains(p.Saved, r.Name) })
	for name, v := range b.Inline(p.Bwd, args) {
		f.Results = append(f.Results, ir.Result{Name: name, Val: v, State: true})
	}
	return f
}

// sameInHeads runs a program of three heads, and that of one for each of them.
func sameInHeads(t *testing.T, many, one *ir.Func, tokens int) {
	t.Helper()
	const heads, batch = 6, 2 // no axis has that size
	sizes := map[string]int{"L": batch, "T": tokens, "heads": heads}
	names := irbuild.Sizes(one)
	for _, in := range one.Body { // that no axis has
		names = append(names, in.Poly.Symbols()...)
	}
	for i, s := range names {
		if sizes[s] == 0 {
			sizes[s] = 4 + i%2
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	in := map[string]*interp.Tensor{}
	for _, p := range many.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = rng.Float64() - 0.5
			if p.Elem == ir.Int {
				x.Data[i] = float64(3 * i)
			}
		}
		in[p.Name] = x
	}
	all := interp.Run(many, sizes, in)
	sum := map[string][]float64{}
	for h := range heads {
		mine := map[string]*interp.Tensor{}
		for _, p := range one.Params {
			mine[p.Name] = ofHead(in[p.Name], interp.Shape(p.Axes, sizes), h, heads)
		}
		for name, got := range interp.Run(one, sizes, mine) {
			if want := all[name]; want == nil {
				t.Fatalf("%s: %s is no result of all heads", many.Name, name)
			} else if slices.Equal(got.Shape, want.Shape) && strings.HasSuffix(name, ".bar") {
				if sum[name] == nil {
					sum[name] = make([]float64, len(got.Data))
				}
				for i, x := range got.Data {
					sum[name][i] += x
				}
			} else if part := ofHead(want, got.Shape, h, heads); !near(part.Data, got.Data) {
				t.Errorf("%s: %s of head %d is %v, alone it is %v", many.Name, name, h, part.Data, got.Data)
			}
		}
	}
	for name, want := range sum {
		if !near(all[name].Data, want) {
			t.Errorf("%s: %s is %v, the sum of the heads %v", many.Name, name, all[name].Data, want)
		}
	}
}

// ofHead is the part of one head: of the first axis that is longer than it is alone,
// or the last axis cut into heads, or all of it.
func ofHead(x *interp.Tensor, shape []int, h, heads int) *interp.Tensor {
	out := interp.NewTensor(shape...)
	switch last := len(shape) - 1; {
	case slices.Equal(x.Shape, shape):
		return x
	case len(x.Shape) == len(shape):
		n := shape[last]
		for i := range out.Data {
			out.Data[i] = x.Data[(i/n*heads+h)*n+i%n]
		}
	default:
		before := 1
		if len(shape) > 0 && len(x.Shape) > 1 && x.Shape[1] == heads && x.Shape[0] == shape[0] {
			before = shape[0] // the batch comes first
		}
		n := len(out.Data) / before
		for i := range out.Data {
			out.Data[i] = x.Data[(i/n*heads+h)*n+i%n]
		}
	}
	return out
}

// near compares to a few roundings: sums over heads and slots have another order.
func near(a, b []float64) bool {
	const roundings = 1e-12
	size := 1e-3
	for _, x := range b {
		size = max(size, math.Abs(x))
	}
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= roundings*size || x == y })
}
