package gen

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// Every generated unit comes with a test, and every test with vectors: what
// the interpreter makes of the unit's program, a whole composition or model as
// one, at a few awkward sizes. The interpreter shares neither loops nor buffers
// with the emitted kernels, so the vectors are a second opinion on everything
// behind the tensor program. (internal/vectors, the text form of the files, is
// the one package that the compiler and the runtime both read.)

// vectorSteps and kernelSteps are the tokens of the cases of a whole unit and
// of a pair of kernels, in step with the sizes of a trial.
var (
	vectorSteps = []int{5, 3, 1}
	kernelSteps = []int{3, 2, 5}
)

// stepsOf are the tokens of a case: those of the table, and of a unit that is
// computed in chunks so many in two of the cases that there are whole ones and a
// rest.
func stepsOf(u *plan.Unit, table []int, i int) int {
	return table[i] + []int{2, 0, 1}[i]*u.Chunk
}

// vectorLanes is their number of lanes.
const vectorLanes = 2

// addTests adds the tests of all units and their vectors. A unit that gives no
// numbers for the numbers that its tests begin with is an error of its page.
func addTests(s *Source, units []*plan.Unit, files map[string][]byte) (ds diag.List) {
	m := &testMaker{src: s, units: units, files: files}
	for _, u := range units {
		if bad := m.unit(u); bad != "" {
			ds.Errorf(diag.NotFinite, s.Tree.Units[u.Name].Name.Span, "%s is not finite where every number that goes in lies between −1 and 1", bad).
				Hint("generated tests begin there: guard the function, or widen the range of what is solved for")
		}
	}
	if !ds.HasErrors() {
		emitgo.Tests(units, m.trials, files)
	}
	return ds
}

// notFinite is the panic of a vector that is no number: what it belongs to.
type notFinite string

// unit adds the trials of one unit; it returns what is no number in them.
func (m *testMaker) unit(u *plan.Unit) (bad notFinite) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notFinite:
			bad = r
		default:
			panic(r)
		}
	}()
	switch u.Kind {
	case plan.OpUnit:
		m.op(u)
	case plan.UpdateUnit:
		m.update(u)
	case plan.RuleUnit, plan.ComposeUnit:
		m.blocks(u)
	case plan.ModelUnit:
		for _, in := range u.Instances {
			m.whole(emitgo.NewTrial(m.units, in.Root, in.Name), m.block(in.Name))
		}
	}
	return ""
}

// A testMaker builds trials and evaluates them.
type testMaker struct {
	src    *Source
	units  []*plan.Unit
	files  map[string][]byte
	trials []*emitgo.Trial
}

// block instantiates a unit of the pages by name. The pages were clean.
func (m *testMaker) block(name string) *check.Block {
	b, ds := check.Instantiate(m.src.Tree, m.src.Tree.Units[name])
	if ds.HasErrors() {
		panic("gen: BUG: " + name + " does not instantiate twice: " + ds.Error())
	}
	return b
}

// blocks tests a rule or composition: one with parts with every set of parts
// that a named instance gives it, or with the first units that fit.
func (m *testMaker) blocks(u *plan.Unit) {
	if len(u.Parts) == 0 {
		m.whole(emitgo.NewTrial(m.units, plan.Applied{Unit: u.Name}, u.Name), m.block(u.Name))
		return
	}
	uses := m.uses(u)
	if len(uses) == 0 {
		uses = m.anyParts(u)
	}
	for _, x := range uses {
		m.whole(emitgo.NewTrial(m.units, x.of, strings.Join(names(x.of), "_")), x.blk)
	}
}

// names are the units of a formula in order.
func names(a plan.Applied) []string {
	out := []string{a.Unit}
	for _, p := range a.Parts {
		out = append(out, names(p)...)
	}
	return out
}

// A use is a unit with its parts.
type use struct {
	of  plan.Applied
	blk *check.Block
}

// uses finds the unit in the named instances, each set of parts once.
func (m *testMaker) uses(u *plan.Unit) []use {
	var out []use
	seen := map[string]bool{}
	var visit func(a plan.Applied, b *check.Block)
	visit = func(a plan.Applied, b *check.Block) {
		if key := strings.Join(names(a), " "); a.Unit == u.Name && !seen[key] {
			seen[key] = true
			out = append(out, use{a, b})
		}
		for i, p := range a.Parts {
			visit(p, b.Parts[i].Block)
		}
	}
	for _, v := range m.units {
		for _, in := range v.Instances {
			visit(in.Root, m.block(in.Name))
		}
	}
	return out
}

// anyParts gives each part a unit of its kind that has none itself, and a list of
// parts several. A unit for whose parts there is nothing is not tested as a whole.
func (m *testMaker) anyParts(u *plan.Unit) []use {
	apply := &notation.Apply{Name: notation.Word{Text: u.Name}}
	of := plan.Applied{Unit: u.Name}
	for _, p := range u.Parts {
		n := 1
		if p.Count != "" {
			n = listedParts
		}
		units := m.small(p.Kind)
		if len(units) == 0 {
			return nil
		}
		o := &notation.Override{}
		for i := range n {
			v := units[i%len(units)]
			part := &notation.Apply{Name: notation.Word{Text: v.Name}}
			if p.Count == "" {
				o.Apply = part
				of.Parts = append(of.Parts, plan.Applied{Unit: v.Name, Part: p.Name})
			} else {
				o.List = append(o.List, part)
				of.Parts = append(of.Parts, plan.Applied{Unit: v.Name, Part: check.MemberOf(p.Name, i)})
			}
		}
		apply.Args = append(apply.Args, o)
	}
	b, ds := check.InstantiateFormula(m.src.Tree, u.Name, &notation.Formula{Parts: []*notation.Apply{apply}}, nil)
	if b == nil || ds.HasErrors() {
		return nil
	}
	return []use{{of, b}}
}

// listedParts is how many pages a list of parts is tested with.
const listedParts = 3

// small lists the units without parts that fit a kind of part, those of fewest
// parameters and states first.
func (m *testMaker) small(kind string) []*plan.Unit {
	kinds := map[string]plan.UnitKind{"Rule": plan.RuleUnit, "Composition": plan.ComposeUnit, "Block": plan.RuleUnit}
	var out []*plan.Unit
	for _, v := range m.units {
		if v.Kind == kinds[kind] && len(v.Parts) == 0 {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b *plan.Unit) int { return len(a.Weights) + len(a.States) - len(b.Weights) - len(b.States) })
	return out
}

// whole adds a trial of a rule, composition or model with the vectors of the
// unit as one program, and those of its kernels where all are its own.
func (m *testMaker) whole(t *emitgo.Trial, blk *check.Block) {
	var ds diag.List
	f := irbuild.Whole(blk, &ds)
	if f == nil || ds.HasErrors() {
		panic("gen: BUG: " + t.Name + " is not one program: " + ds.Error())
	}
	t.Causal, t.Cuts, t.Mixed = causal(blk), len(irbuild.Cuts(f)) > 0, mixed(blk)
	for _, name := range irbuild.Stopped(f) {
		if t.Unit.Kind == plan.ModelUnit && !slices.Contains(t.Gates, name) {
			name = strings.TrimPrefix(name, "block.")
		}
		t.Gates = append(t.Gates, name)
	}
	out := &vectors.File{}
	one := newEvaluated(f)
	whole := &evaluator{trial: t, out: out, kind: "whole", pair: one, starts: startsOf(blk, "")}
	whole.run(vectorSteps)
	for i := range t.Unit.Stages {
		st := &t.Unit.Stages[i]
		if len(t.Unit.Parts) > 0 {
			break
		}
		step := &evaluator{trial: t, out: out, kind: lowerFirst(st.Name), pair: one, kernel: true}
		step.run(kernelSteps)
		if st.Frozen.Fwd != nil {
			read := &evaluator{trial: t, out: out, kind: "read", pair: newEvaluated(irbuild.Frozen(blk, &ds)), kernel: true}
			read.run(kernelSteps)
		}
	}
	m.add(t, out)
}

// add keeps a trial and writes its vectors, a model's beside the registry.
func (m *testMaker) add(t *emitgo.Trial, v *vectors.File) {
	m.trials = append(m.trials, t)
	path, _ := emitgo.Package(t.Unit)
	if t.Unit.Kind == plan.ModelUnit {
		path = "generated/registry"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Code generated by hecategen from %s. DO NOT EDIT.\n", t.Unit.Page)
	if err := vectors.Write(&b, v); err != nil {
		panic("gen: BUG: " + err.Error())
	}
	m.files[path+"/testdata/"+t.File] = b.Bytes()
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// causal reports whether the pages of a block and of all its parts provide it.
func causal(b *check.Block) bool {
	own := b.Unit.Kind == notation.ModelUnit
	for _, p := range b.Provides {
		own = own || !p.Needs && slices.ContainsFunc(p.Marks, func(k *notation.Mark) bool { return k.Name.Text == "Causal" })
	}
	for _, p := range b.Parts {
		own = own && p.Block != nil && causal(p.Block)
	}
	return own
}

// mixed reports whether an answer reads states both as they were before a token
// and as they are after it, so that no memory gives it in a frozen read.
func mixed(b *check.Block) bool {
	before, after := moments(b)
	return before && after
}

func moments(b *check.Block) (before, after bool) {
	if b.Unit.Kind == notation.RuleUnit {
		before, after = check.ReadMoments(b)
	}
	for _, eq := range b.Eqs {
		if _, frozen := eq.Value().(*notation.Frozen); frozen {
			before = true
		}
	}
	for _, p := range b.Parts {
		x, y := moments(p.Block)
		before, after = before || x, after || y
	}
	return before, after
}
